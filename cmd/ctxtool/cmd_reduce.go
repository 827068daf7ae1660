package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ctxtool/compact"
	"ctxtool/internal/base/shell"
	"ctxtool/internal/plan"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Without -o and --write a reduction prints a plan.
type reduceOptions struct {
	writeFlags
	replayFlags
	overrideFlags
	summarizerFlags
	policyName string
	passes     []string
	target     string
	at         string
	as         string
	ifOver     string
	counter    string

	policy  *compact.Policy
	byAgent func(name string) (*compact.Policy, error) // returns that of another agent; nil if policy is for all
	asked   *tokens.Counter                            // instead of a policy's own
	job     compact.Job
	replay  replay.Options
}

// words are the other names of ctxtool reduce, and the pass that each runs.
var words = map[string]string{"compact": compact.Compact.Name, "prune": compact.Prune.Name}

func (o *reduceOptions) define(f *flagSet) {
	o.name = "reduce"
	names := append([]string{ofAgent}, namesOf(compact.Policies, func(p *compact.Policy) string { return p.Name })...)
	f.cmd.SetFlagErrorFunc(passFlag)
	o.summaryFlags(f, "pass exec:COMMAND")
	f.choice(&o.policyName, "policy", ofAgent,
		"reduce by the policy `NAME`, NAME:PRESET or NAME:KEY=VALUE,...: "+strings.Join(names, ", ")+", or your own",
		"", names)
	f.StringArrayVar(&o.passes, "pass", nil,
		"run `PASS`, PASS:KEY=VALUE,... or exec:COMMAND instead of a policy (repeatable)")
	f.complete("pass", namesOf(compact.Passes(), func(p *compact.Pass) string { return p.Name }))
	f.StringVar(&o.target, "target", "", "run all layers until the context is at most `AMOUNT`: 50k, 50%")
	f.exclude("pass", "policy")
	o.writeFlags.flags(f, "the session with the new entries to `FILE`, or into a folder",
		"text", "json", "jsonl", "entries")
	o.replayFlags.flags(f)
	o.overrideFlags.flags(f, &o.replay)
	o.nowFlag(f, "the entries")
	o.forceFlag(f)
	f.BoolVar(&o.Write, "write", false, "append the entries to each session")
	f.StringVar(&o.at, "at", "", "plan for the context at `POINT`")
	f.choice(&o.as, "as", string(compact.AsAuto), "store changes as `FORM`:", "--as", asForms)
	o.unmarkedFlag(f)
	f.StringVar(&o.ifOver, "if-over", "", "only contexts over `AMOUNT`: 100k tokens, or 80% of the window")
	f.choice(&o.counter, "counter", "", "count tokens by `COUNTER` (default: the policy's)", "", tokens.Names())
	f.Var(countFlag(&o.jobs), "jobs", "work on `N` sessions at a time (default: number of CPUs)")
	f.before(func() error { return o.check(f.env, f.cmd) })
}

// word adds the pass that the command is called by, unless a --pass names it.
func (o *reduceOptions) word(cmd *cobra.Command) error {
	pass := words[cmd.CalledAs()]
	if pass == "" {
		return nil
	}
	if cmd.Flags().Changed("policy") {
		return sessionfmt.Errorf("ctxtool %s runs the pass %s and no policy", cmd.CalledAs(), pass).
			Hinted("ctxtool reduce --policy runs one")
	}
	if !slices.ContainsFunc(o.passes, func(spec string) bool {
		name, _, _ := strings.Cut(spec, ":")
		return name == pass
	}) {
		o.passes = append(o.passes, pass)
	}
	return nil
}

// passFlag returns an error for an unknown flag with a hint if it is an option of a pass.
func passFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name := unknown.GetSpecifiedName()
	for _, p := range compact.Passes() {
		if slices.ContainsFunc(p.Params(), func(q compact.Param) bool { return q.Name == name }) {
			hint := fmt.Sprintf("--pass %s:%s=N (ctxtool help passes)", p.Name, name)
			return usage(&sessionfmt.Error{Err: err, Hint: hint})
		}
	}
	return err
}

// ofAgent is the name of the policy of the agent whose session it is.
const ofAgent = "agent"

// choose returns the policy of a name with the numbers of configuration, preset and options.
func (o *reduceOptions) choose(e *env, name string) (p *compact.Policy, err error) {
	if len(o.passes) > 0 {
		p, err = o.ofPasses(e)
	} else {
		p, err = e.policy(name)
	}
	if err == nil {
		p.Target, err = compact.ParseAmount("--target", o.target)
	}
	return p, err
}

// policy returns the policy that a NAME[:PRESET,KEY=VALUE] names, with the numbers of the
// configuration.
func (e *env) policy(spec string) (*compact.Policy, error) {
	own, err := e.config.Policies()
	if err != nil {
		return nil, err
	}
	name, options, _ := strings.Cut(spec, ":")
	p, err := compact.FindPolicy(name, own...)
	if err != nil {
		return nil, err
	}
	if p.Name == compact.GSHPolicy.Name {
		if p, err = e.withGSH(p); err != nil {
			return nil, err
		}
	}
	return p.With(options)
}

// withGSH returns gsh's policy with the numbers of gsh's own settings.
func (e *env) withGSH(p *compact.Policy) (*compact.Policy, error) {
	q := p.Copy()
	for _, s := range flagless {
		if s.option == "" || !p.Has(s.option) {
			continue
		}
		value, err := e.setting(s.name)
		if err != nil {
			return nil, err
		}
		if value == "" {
			continue
		}
		if err := q.Set(s.option, value); err != nil {
			return nil, fmt.Errorf("configuration: %s: %w", s.name, err)
		}
	}
	return q, nil
}

// ofPasses returns the policy that runs the passes of --pass unconditionally.
func (o *reduceOptions) ofPasses(e *env) (*compact.Policy, error) {
	p := &compact.Policy{Window: compact.PiPolicy.Window}
	var names []string
	for _, spec := range o.passes {
		l, err := o.layer(e, spec)
		if err != nil {
			return nil, fmt.Errorf("--pass %w", err)
		}
		p.Counter = cmp.Or(p.Counter, l.Pass.Defaults.Counter)
		p.Layers = append(p.Layers, l)
		names = append(names, l.Pass.Name)
	}
	if l := p.Layer(&compact.Compact); l != nil { // it measures as the system does whose style it is
		like, err := compact.FindPolicy(string(l.Style))
		if err != nil {
			return nil, err
		}
		p = like.Only("", p.Layers)
	}
	p.Name = strings.Join(names, ",")
	return p, nil
}

// layer returns the layer that a PASS[:KEY=VALUE,...] or exec:COMMAND names.
func (o *reduceOptions) layer(e *env, spec string) (l compact.Layer, err error) {
	name, options, _ := strings.Cut(spec, ":")
	if name == "exec" {
		if strings.TrimSpace(options) == "" {
			return l, errors.New("exec: must be exec:COMMAND")
		}
		o.commands()
		l.Pass = compact.ExecPass(o.running, shell.Command{
			Line: options, Dir: e.disk.Dir, Environ: e.environ, Limit: o.summaryLimit,
		})
		l.Options = l.Pass.Defaults
		return l, nil
	}
	if l.Pass, err = compact.FindPass(name); err == nil {
		l.Options, err = l.Pass.With(options)
	}
	return l, err
}

type undoOptions struct{ writeFlags }

func (o *undoOptions) define(f *flagSet) {
	o.name = "undo"
	o.appendFlags(f)
	o.forceFlag(f)
	f.BoolVar(&o.insists, "strict", false, "exit with 1 if a session is skipped")
}

func runUndo(e *env, o *undoOptions, args []string) error {
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		b, promise, last, err := compact.Undo(replay.New(s, replay.Options{}), o.time)
		if !o.alone && (errors.Is(err, compact.ErrNothing) || s.Foreign() != nil) {
			return plan.Skip(o.name, f.given, s, compact.ErrNothing.Error()), nil
		}
		if err != nil {
			return nil, err
		}
		p, err := plan.Entries(o.name, f.given, s, b, promise)
		if err == nil {
			p.Guarded = !last // otherwise nothing was written since
		}
		return p, err
	}
	return o.run(e, args)
}

type editOptions struct {
	writeFlags
	omit, restore bool
	replace       string
}

func (o *editOptions) define(f *flagSet) {
	o.name, o.guarded = "edit", true
	o.appendFlags(f)
	o.forceFlag(f)
	f.BoolVar(&o.omit, "omit", false, "omit the message")
	f.BoolVar(&o.restore, "restore", false, "restore the message as it was before all edits")
	f.StringVar(&o.replace, "replace", "", "replace it with the text of `FILE` (- for standard input)")
}

func runEdit(e *env, o *editOptions, args []string) error {
	actions := 0
	for _, given := range []bool{o.omit, o.restore, o.replace != ""} {
		if given {
			actions++
		}
	}
	if actions != 1 {
		return usagef("exactly one of --omit, --restore and --replace is required")
	}
	if o.replace == "-" && args[0] == "-" {
		return usagef("standard input cannot be both the session and the text")
	}
	return o.runOne(e, args[0], func(s *sessionfmt.Session, b *sessionfmt.Batch) (plan.Promise, error) {
		target, err := e.entry(s, args[1])
		if err != nil {
			return nil, err
		}
		text := ""
		if o.replace != "" {
			if text, err = e.text(o.replace); err != nil {
				return nil, err
			}
		}
		context, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
		if err != nil {
			return nil, otherHint(err, "run ctxtool check")
		}
		d, err := compact.NewEditor(context, b)
		switch {
		case err != nil:
			return nil, err
		case o.omit:
			err = d.Omit(target)
		case o.restore:
			err = d.Restore(target)
		default:
			err = d.Replace(target, text)
		}
		return d.Promise, err
	})
}

// text returns the text of a file, or of standard input for "-", without a final newline.
func (e *env) text(name string) (string, error) {
	data, err := e.inputText(name)
	if err == nil && !utf8.Valid(data) {
		err = unreadable(name, errors.New("must be UTF-8 text"))
	}
	return strings.TrimSuffix(string(data), "\n"), err
}

type labelOptions struct {
	writeFlags
	session bool
}

func (o *labelOptions) define(f *flagSet) {
	o.name = "label"
	f.cmd.Args = func(cmd *cobra.Command, args []string) error {
		if o.session {
			return cobra.RangeArgs(1, 2)(cmd, args)
		}
		return cobra.RangeArgs(2, 3)(cmd, args)
	}
	o.appendFlags(f)
	f.BoolVar(&o.session, "session", false, "name the session: SESSION [TEXT], without POINT")
}

func runLabel(e *env, o *labelOptions, args []string) error {
	what, texts := "label", args[1:]
	if o.session {
		what = "name"
	} else {
		texts = args[2:]
	}
	text := strings.Join(texts, "")
	if o.session {
		text = oneLine(text)
	}
	if len(texts) == 1 && strings.TrimSpace(text) == "" {
		return usagef("TEXT is empty: omit it to remove the %s", what) // an unset variable of a shell
	}
	return o.runOne(e, args[0], func(s *sessionfmt.Session, b *sessionfmt.Batch) (plan.Promise, error) {
		if o.session {
			b.Add(jsonl.SessionInfo, jsonl.Field{Name: "name", Value: jsonl.AppendQuoted(nil, text)})
			return nil, nil
		}
		target, err := e.entry(s, args[1])
		if err != nil {
			return nil, err
		}
		fields := []jsonl.Field{{Name: "targetId", Value: jsonl.AppendQuoted(nil, s.ID(target))}}
		if text != "" {
			fields = append(fields, jsonl.Field{Name: "label", Value: jsonl.AppendQuoted(nil, text)})
		}
		b.Add(jsonl.Label, fields...)
		return nil, nil
	})
}

// entry returns the record of the entry that a point names. The entry must have an id.
func (e *env) entry(s *sessionfmt.Session, point string) (int, error) {
	at, err := findPoint(s, point, s.Leaf())
	if err != nil {
		return 0, err
	}
	return at.Record, requireID(s, at.Record)
}

// requireID returns an error for a record that is not an entry with a unique id.
func requireID(s *sessionfmt.Session, i int) error {
	switch {
	case i < 0:
		return usage(sessionfmt.Errorf("the root is not an entry").In(s.Name))
	case s.ID(i) == "" || s.Shadowed(i) || s.WrongID(i):
		return &sessionfmt.Error{Pos: s.Pos(i), Err: errors.New("no unique id"), Hint: "run ctxtool repair"}
	}
	return nil
}

// oneLine returns a text on one line, as pi stores names: line ends become spaces.
func oneLine(text string) string {
	lines := strings.FieldsFunc(string([]rune(text)), func(r rune) bool { return r == '\r' || r == '\n' })
	return jsonl.TrimJS(strings.Join(lines, " "))
}
