package main

import (
	"fmt"
	"strings"

	"ctxtool/render"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
)

func newModelsCommand(e *env) *cobra.Command {
	o := &answer{}
	cmd := &cobra.Command{
		Use:   "models [flags] [PATTERN]",
		Short: "List models with their windows and prices",
		Long: "List the models of the table that windows, prices and cache lifetimes are taken from:\n" +
			"the one in the binary, which has a date, and those of the configuration. With PATTERN,\n" +
			"list those whose provider/id contains it, ignoring case. Where none does, list the one\n" +
			"whose figures reports use for a model of that name.\n\n" +
			"Exit status: 0 they were listed, 2 the command line or a configuration file is\n" +
			"wrong, 3 no model fits PATTERN.",
		Example: "  ctxtool models claude-opus\n" +
			"  ctxtool models anthropic/ -f jsonl | jq -r 'select(.contextWindow > 200000).id'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return usage(err)
			}
			table, err := e.config.models()
			if err != nil {
				return usage(err)
			}
			list, err := e.config.modelLines(table, strings.Join(args, ""))
			if err != nil {
				return err
			}
			return e.print(o, nil, render.Models{Schema: "ctxtool/models/1", Date: models.Date, Source: models.Source, Models: list})
		},
	}
	o.flags(cmd, "text", "json", "jsonl")
	return cmd
}

// modelLines are the models whose names contain the pattern, else the one that is found for
// a model of that name.
func (c *config) modelLines(table *models.Table, pattern string) (list []render.ModelLine, err error) {
	add := func(m models.Model) {
		list = append(list, render.ModelLine{Model: m, Date: models.Date, Configured: c.hasModel(m)})
	}
	part := strings.ToLower(pattern)
	for m := range table.All() {
		if strings.Contains(strings.ToLower(m.Provider+"/"+m.ID), part) {
			add(m)
		}
	}
	if m, _, ok := table.Lookup("", pattern); ok && len(list) == 0 {
		add(m)
	}
	if len(list) > 0 {
		return list, nil
	}
	failed := &sessionfmt.Error{Err: fmt.Errorf("no model fits %q", sessionfmt.Clean(pattern))}
	if provider, id, ok := strings.Cut(pattern, "/"); ok {
		failed.Hint = "to configure it: " + models.Ref{Provider: provider, ID: id}.Setting()
	}
	return nil, failed
}

// hasModel reports whether a configuration file sets some of a model.
func (c *config) hasModel(m models.Model) bool {
	for _, l := range c.files {
		if l.Models[m.Provider+"/"+m.ID] != nil {
			return true
		}
	}
	return false
}
