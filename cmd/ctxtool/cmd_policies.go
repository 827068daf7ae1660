package main

import (
	"bufio"
	"cmp"

	"github.com/spf13/cobra"

	"ctxtool/compact"
	"ctxtool/render"
)

func newPoliciesCommand(e *env) *cobra.Command {
	o := &answer{}
	cmd := &cobra.Command{
		Use:   "policies [flags]",
		Short: "List the policies of reduce, with their numbers",
		Long: "List the policies of reduce: their layers in order, each a pass with its numbers and\n" +
			"with what makes it run; their presets; and those of the configuration. A policy of\n" +
			"one's own is a table [policies.NAME] (docs/config.toml).\n\n" +
			"Exit status: 0 they were listed, 2 the command line or a configuration file is\n" +
			"wrong, 3 the output could not be written.",
		Example: "  ctxtool policies\n" +
			"  ctxtool policies -f json | jq '.policies[].name'",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runPolicies(e, o) },
	}
	o.flags(cmd, "text", "json")
	return cmd
}

func runPolicies(e *env, o *answer) error {
	own, err := e.config.policies()
	if err = cmp.Or(o.check(), err); err != nil {
		return usage(err)
	}
	all := append(own, compact.Policies()...)
	return e.answer(o, nil, func(w *bufio.Writer) error {
		if o.format == "json" {
			return render.WriteJSON(w, compact.PolicyList{Schema: "ctxtool/policies/1", Policies: all})
		}
		return render.WritePolicies(w, all)
	})
}
