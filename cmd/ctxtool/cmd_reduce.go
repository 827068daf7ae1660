package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/plan"
	"ctxtool/replay"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
)

// reduceOptions are the flags of ctxtool reduce.
type reduceOptions struct {
	reduceFlags
	policyName, preset string
	keep               int
	target             string

	// gsh's own keys
	maxOutput, protect int
	threshold          float64
}

func newReduceCommand(e *env) *cobra.Command {
	o := &reduceOptions{reduceFlags: reduceFlags{writeFlags: writeFlags{name: "reduce"}}}
	var names, presets, whose []string
	for _, p := range compact.Policies {
		names = append(names, p.Name)
		first := len(presets)
		for _, s := range p.Presets {
			presets = append(presets, s.Name)
		}
		if own := presets[first:]; len(own) > 0 {
			whose = append(whose, p.Name+" has "+strings.Join(own, ", "))
		}
	}
	cmd := &cobra.Command{
		Short: "Make contexts smaller by a policy, by appending entries",
		Long: "Make contexts smaller as one of the agents would: --policy is a chain of passes, each\n" +
			"with what makes it run. ctxtool policies lists them with their numbers; --preset,\n" +
			"and over it flags, set other ones. The window is --window, else the model's, else\n" +
			"the policy's own.",
		Example: "  ctxtool reduce --policy gsh s.jsonl\n" +
			"  ctxtool reduce --policy pi --if-over 80% sessions/ --write\n" +
			"  ctxtool reduce --policy swe-cli --window 128000 s.jsonl -o - | ctxtool replay -",
	}
	o.reduceFlags.command(e, cmd, func() (err error) {
		o.policy, err = o.choose(e, cmd)
		return err
	})
	o.summaryFlags(cmd)
	f := cmd.Flags()
	choice(cmd, &o.policyName, "policy", "pi", "reduce by `NAME`: "+strings.Join(names, ", ")+", or one of the configuration", names)
	choice(cmd, &o.preset, "preset", "", "the policy's numbers of `NAME`: "+strings.Join(whose, "; "), presets)
	f.IntVar(&o.keep, "keep", 0, "let `N` messages stay after a summary, with pi tokens (default: the policy's)")
	f.StringVar(&o.target, "target", "", "run layer by layer, whatever makes them run, until the context is at most `AMOUNT`: tokens, or a share of the window as 50%")
	f.IntVar(&o.maxOutput, "max-tool-output-bytes", 30000, "gsh: cap each tool result at `N` bytes, 0 for not at all")
	f.IntVar(&o.protect, "prune-protect-tokens", 40000, "gsh: let the results of the last `N` tokens stay")
	f.Float64Var(&o.threshold, "compact-threshold", 0.85, "gsh: summarise above this `SHARE` of the window")
	return cmd
}

// choose is the policy with the numbers of configuration, preset and flags.
func (o *reduceOptions) choose(e *env, cmd *cobra.Command) (*compact.Policy, error) {
	own, err := e.config.policies()
	if err != nil {
		return nil, err
	}
	p, err := compact.FindPolicy(o.policyName, own...)
	if err != nil {
		return nil, err
	}
	given := cmd.Flags().Changed
	if p = p.Copy(); p.Name == compact.GSHPolicy.Name {
		o.gsh(p, func(string) bool { return true })
	}
	if o.preset != "" {
		if p, err = p.With(o.preset); err != nil {
			return nil, err
		}
		if p = p.Copy(); p.Name == compact.GSHPolicy.Name {
			o.gsh(p, given)
		}
	}
	if given("keep") {
		l := p.Layer(&compact.Compact)
		if l == nil || l.Style == compact.StyleGSH || o.keep < 0 {
			return nil, fmt.Errorf("--keep %d: policy %s keeps no messages", o.keep, p.Name)
		}
		l.Keep = o.keep
	}
	p.Target, err = amount("--target", o.target)
	return p, err
}

// gsh sets those of gsh's own numbers that are given.
func (o *reduceOptions) gsh(p *compact.Policy, given func(flag string) bool) {
	set := func(flag string, pass *compact.Pass, to func(l *compact.Layer)) {
		if l := p.Layer(pass); l != nil && given(flag) {
			to(l)
		}
	}
	set("max-tool-output-bytes", &compact.Truncate, func(l *compact.Layer) { l.Max = o.maxOutput })
	set("prune-protect-tokens", &compact.Prune, func(l *compact.Layer) { l.Protect = o.protect })
	set("compact-threshold", &compact.Compact, func(l *compact.Layer) { l.When = &compact.Trigger{Share: o.threshold, Whole: true} })
}

// A passes is what the commands share that run single passes.
type passes struct {
	reduceFlags
	compact.Options
	which []string
}

func newPasses(name string) *passes {
	return &passes{reduceFlags: reduceFlags{writeFlags: writeFlags{name: name}}}
}

// use makes a policy of passes, which runs them whatever the context.
func (o *passes) use(names ...string) error {
	p := &compact.Policy{Name: strings.Join(names, ","), Window: compact.PiPolicy.Window}
	for _, name := range names {
		pass, err := compact.FindPass(name)
		if err != nil {
			return err
		}
		p.Counter = cmp.Or(p.Counter, pass.Defaults.Counter)
		p.Layers = append(p.Layers, compact.Layer{Pass: pass, Options: o.Options})
	}
	o.policy = p
	return nil
}

func newTruncateCommand(e *env) *cobra.Command {
	o, units := newPasses("truncate"), []string{"bytes", "chars", "tokens"}
	cmd := &cobra.Command{
		Short: "Cap long tool results in the context, by appending entries",
		Long: "Cap each tool result in the context. In bytes, as gsh does it, the first and the last\n" +
			"half of the limit stay; in chars (10000 by default) or tokens, as y-agent does it,\n" +
			"the beginning stays. What has been cut is not cut again.",
		Example: "  ctxtool truncate s.jsonl\n" +
			"  ctxtool truncate --unit chars --max 10000 s.jsonl --write\n" +
			"  ctxtool truncate --max 8000 --if-over 50% sessions/",
	}
	o.command(e, cmd, func() error {
		if o.Unit == "chars" && !cmd.Flags().Changed("max") {
			o.Max = 10000
		}
		if !slices.Contains(units, o.Unit) || o.Max < 0 || o.Max == 0 && o.Unit != "bytes" {
			return fmt.Errorf("--max %d --unit %s: want a limit in bytes, chars or tokens", o.Max, sessionfmt.Quote(o.Unit))
		}
		return o.use("truncate")
	})
	f := cmd.Flags()
	f.IntVar(&o.Max, "max", compact.Truncate.Defaults.Max, "let a result have at most `N` units (chars: 10000); 0 bytes is no limit")
	choice(cmd, &o.Unit, "unit", "bytes", "count it in `UNITS`: bytes, chars, tokens", units)
	return cmd
}

// pruning are the passes of ctxtool prune, the default first.
var pruning = []string{"prune", "superseded", "retry-prune", "stale-results", "merge-notes", "progressive"}

func newPruneCommand(e *env) *cobra.Command {
	o, profiles := newPasses("prune"), []string{"seed", "source"}
	about := ""
	for _, name := range pruning {
		if p, err := compact.FindPass(name); err == nil {
			about += fmt.Sprintf("  %-14s %s\n", name, p.About)
		}
	}
	cmd := &cobra.Command{
		Short: "Take old and useless tool results out of the context, by appending entries",
		Long: "Take out of the context what it no longer needs, by these passes (--pass):\n\n" + about +
			"\nCalls keep their results, or both go.",
		Example: "  ctxtool prune --protect 20000 s.jsonl\n" +
			"  ctxtool prune --pass superseded,retry-prune sessions/",
	}
	o.command(e, cmd, func() error {
		if err := oneOf("unknown pass", pruning, o.which...); err != nil {
			return err
		}
		if o.Protect < 0 || o.Requests < 0 || o.MinTokens < 0 {
			return errors.New("--protect, --requests and --min-tokens want numbers from 0 on")
		}
		if err := oneOf("--profile", profiles, o.Profile); err != nil {
			return err
		}
		return o.use(o.which...)
	})
	o.summaryFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&o.which, "pass", pruning[:1], "run these `PASSES`, in this order")
	f.IntVar(&o.Protect, "protect", compact.Prune.Defaults.Protect, "prune: the results of the last `N` tokens stay")
	f.IntVar(&o.Requests, "requests", compact.StaleResults.Defaults.Requests, "stale-results: those that `N` requests have had are stale")
	choice(cmd, &o.Profile, "profile", "seed", "retry-prune: find retries as `PROFILE` does: seed, or source (y-agent's code)", profiles)
	f.BoolVar(&o.IntraTurn, "intra-turn", false, "retry-prune: in the last turn only, and five messages at most")
	f.IntVar(&o.MinTokens, "min-tokens", 0, "retry-prune, progressive: fewer than `N` tokens are not worth it")
	complete(cmd, "pass", pruning)
	return cmd
}

func newStripCommand(e *env) *cobra.Command {
	o := newPasses("strip")
	var thinking, images bool
	cmd := &cobra.Command{
		Short: "Take thinking and images out of the context, by appending entries",
		Long: "Take out of the context the thinking of all answers but the last, and with --images\n" +
			"images, in whose place stands that there was one. Without either flag it is the\n" +
			"thinking alone.",
		Example: "  ctxtool strip s.jsonl\n" +
			"  ctxtool strip --images --keep 5 sessions/ --write",
	}
	o.command(e, cmd, func() error {
		var names []string
		if thinking || !images {
			names = append(names, "strip-thinking")
		}
		if images {
			names = append(names, "drop-images")
		}
		if o.Keep < 0 {
			return fmt.Errorf("--keep %d: want a number of requests", o.Keep)
		}
		return o.use(names...)
	})
	f := cmd.Flags()
	f.BoolVar(&thinking, "thinking", false, "thinking, and <think> in texts")
	f.BoolVar(&images, "images", false, "images, in whose place stands that there was one")
	f.IntVar(&o.Keep, "keep", 0, "let the images of the last `N` requests stay")
	return cmd
}

func newCompactCommand(e *env) *cobra.Command {
	o := newPasses("compact")
	style := ""
	styles := []string{"pi", "gsh", "swe-cli", "y-agent"}
	cmd := &cobra.Command{
		Short: "Put a summary in the place of old history, by appending entries",
		Long: "Put a summary in the place of the history before what stays: by default cut as pi\n" +
			"cuts it, so that about the last 20000 tokens stay. With --style swe-cli the last 20\n" +
			"messages stay, with gsh and y-agent the summary alone. Calls stay with their results.\n" +
			"--if-over says from when on; reduce does it by an agent's own rules.",
		Example: "  ctxtool compact s.jsonl\n" +
			"  ctxtool compact --if-over 80% --summarizer 'exec:claude -p' s.jsonl --write\n" +
			"  ctxtool compact --emit requests.jsonl sessions/\n" +
			"  ctxtool compact --apply answers.jsonl sessions/ --write",
	}
	o.command(e, cmd, func() error {
		if err := oneOf("--style", styles, style); err != nil {
			return err
		}
		o.Style, o.Retries = compact.Style(style), 1
		if !cmd.Flags().Changed("keep") {
			o.Keep = map[string]int{"pi": 20000, "swe-cli": 20}[style]
		}
		if o.Keep < 0 || style == "gsh" && o.Keep > 0 {
			return fmt.Errorf("--keep %d: want a number, and gsh keeps nothing", o.Keep)
		}
		like, err := compact.FindPolicy(style)
		if err = cmp.Or(err, o.use("compact")); err == nil {
			o.policy.Window, o.policy.Counter = like.Window, like.Counter
		}
		return err
	})
	o.summaryFlags(cmd)
	f := cmd.Flags()
	choice(cmd, &style, "style", "pi", "cut as `SYSTEM` does: "+strings.Join(styles, ", "), styles)
	f.IntVar(&o.Keep, "keep", 20000, "let `N` tokens stay; for swe-cli and y-agent N messages, by default 20 and 0")
	return cmd
}

func newUndoCommand(e *env) *cobra.Command {
	o := &writeFlags{name: "undo"}
	cmd := &cobra.Command{
		Use:   "undo [flags] SESSION",
		Short: "Take back the last batch that made a context smaller, by appending entries",
		Long: "Take back what reduce, truncate, prune, strip or compact last appended: by one entry,\n" +
			"while nothing but labels and settings follows. After a message, edits are undone by\n" +
			"edits, one for each message; a compaction or a patch cannot be undone.\n\n" +
			"SESSION is a file (plain, gzip or zstd), - for standard input, or a session's id or\n" +
			"its beginning.\n\n" +
			writingHelp + inUseHelp + "Not where the file ends with what is taken back.\n" + writingStatus,
		Example: "  ctxtool undo s.jsonl\n" +
			"  ctxtool undo s.jsonl --write",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runUndo(e, o, args) },
	}
	o.appendFlags(cmd)
	o.forceFlag(cmd, "append")
	return cmd
}

func runUndo(e *env, o *writeFlags, args []string) error {
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		b, last, err := compact.Undo(replay.New(s, replay.Options{Leaf: s.Leaf()}), o.time)
		if err != nil {
			return nil, err
		}
		p, err := plan.Entries(o.name, f.given, s, b, nil)
		if err == nil {
			p.Guarded = !last // else nobody has written since
		}
		return p, err
	}
	return o.runOne(e, args[0], nil)
}
