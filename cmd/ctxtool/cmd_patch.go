package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/read/ops"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"

	"github.com/spf13/cobra"
)

type patchOptions struct {
	writeFlags
	replayFlags
	overrideFlags
	try     hook.Options // file with results
	run     hook.Exec    // command line of a hook
	command hook.Command // the hook of that command line
	hooks   []string     // its command line
	each    bool

	file            string
	ops             []string
	setParts        []string
	removeParts     []string
	removeTools     []string
	set             []string
	appendMessages  []string
	why             string
	at, request, as string
	reasons         []string
	counters        []string
	schema          bool

	results  []hook.Result
	given    []string // operations of the flags
	messages []string // messages of --append-message
}

func (o *patchOptions) define(f *flagSet) {
	o.name, o.guarded = "patch", true
	f.cmd.Args = func(cmd *cobra.Command, args []string) error {
		if o.schema {
			return cobra.NoArgs(cmd, args)
		}
		return cobra.ExactArgs(1)(cmd, args)
	}
	o.writeFlags.flags(f, "the session with the new entries to `FILE`", "text", "json", "markdown",
		"envelope", "entries")
	o.nowFlag(f, "the entries")
	o.forceFlag(f)
	o.replayFlags.flags(f)
	o.overrideFlags.flags(f, &o.try.Replay)
	f.StringVar(&o.file, "file", "", "take what a hook returns from `FILE`, or standard input (-)")
	f.StringArrayVar(&o.ops, "op", nil, "apply the operation `JSON` (repeatable)")
	f.StringArrayVar(&o.setParts, "set-part", nil, "set a part of the prompt: `NAME=FILE`")
	f.StringArrayVar(&o.removeParts, "remove-part", nil, "remove the parts called `NAME`")
	f.StringArrayVar(&o.removeTools, "remove-tool", nil, "remove the tool `NAME`")
	f.StringArrayVar(&o.set, "set", nil, "set an option: `NAME=VALUE`, such as reasoning=low")
	f.StringArrayVar(&o.appendMessages, "append-message", nil, "add the text of `FILE` as a user message")
	f.StringVar(&o.why, "why", "", "give `TEXT` as the reason to break the cache")
	f.StringArrayVar(&o.hooks, "exec", nil, "run the hook `COMMAND` at every request")
	f.BoolVar(&o.each, "each", false, "start a process for each call")
	f.DurationVar(&o.command.Limit, "timeout", 30*time.Second, "end a call after `DURATION`")
	f.StringVar(&o.at, "at", "", "try the result at `POINT` (default: leaf)")
	f.StringVar(&o.request, "request", "", "try it before request `N`; exec: for requests N or A..B")
	f.choices(&o.reasons, "reason", hook.Reasons[:1], "judge by the rules of `BOUNDARY`:", "--reason", hook.Reasons)
	f.StringSliceVar(&o.counters, "counter", []string{tokens.Pi.Name}, "count tokens by `COUNTERS`")
	f.choice(&o.as, "as", string(compact.AsAuto), "store the result as `FORM`:", "--as", asForms)
	f.BoolVar(&o.Write, "write", false, "append the entries to the session")
	o.unmarkedFlag(f)
	f.BoolVar(&o.schema, "schema", false, "print the JSON Schema of a result, and exit")
	f.only([]string{"exec"}, "each", "timeout")
	f.cmd.MarkFlagsMutuallyExclusive("at", "request")
}

func runPatch(e *env, o *patchOptions, args []string) error {
	if o.schema {
		return e.printSchema()
	}
	if err := o.check(args); err != nil {
		return usage(err)
	}
	if err := o.overrideFlags.load(e, &o.try.Replay); err != nil {
		return err
	}
	if o.command.Line != "" {
		return o.exec(e, args[0])
	}
	if err := o.read(e); err != nil {
		return err
	}
	var refused error
	o.plan = func(e *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		if err := o.point(e, s); err != nil {
			return nil, err
		}
		results, err := o.withMessages(s)
		if err != nil {
			return nil, err
		}
		p, err := plan.Patch(f.given, s, results, o.try, &compact.Job{Command: o.name, Form: compact.Form(o.as),
			GivenRules: o.rules != "auto", Unmarked: o.unmarked})
		if err != nil {
			return nil, err
		}
		if stores := o.Write || o.output != "" || o.format == "entries"; stores && p.CannotStore() != nil {
			return nil, p.CannotStore()
		}
		if refused = hook.Refused(o.try.Source, p.Patch.Verdicts); refused != nil {
			return p, nil
		}
		if o.as != "auto" {
			refused = p.CannotStore()
		}
		own := p.Patch.Findings() // which no check of the session reports
		e.printFindings(s.Name, own)
		return p, cmp.Or(e.strictly(s, s.Findings, o.strict), noFindings(o.strict, s.Name, len(own)))
	}
	if err := o.runOne(e, args[0], nil); err != nil {
		return err
	}
	return refused
}

func (e *env) printSchema() error {
	text, err := json.Marshal(ops.ResultSchema())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%s\n", phrase.Indent(text))
	return err
}

// check checks the flags, before any input is opened.
func (o *patchOptions) check(args []string) error {
	if len(o.hooks) > 1 {
		return sessionfmt.Errorf("--exec runs one hook").
			Hinted("run one hook with -o FILE, then the next on that file")
	}
	o.command.Line = strings.Join(o.hooks, "")
	elsewhere := o.at != "" && o.at != "leaf" || o.request != ""
	o.trial = o.at+o.request != "" || o.command.Line != ""
	given := len(o.ops)+len(o.setParts)+len(o.removeParts)+len(o.removeTools)+len(o.set)+len(o.appendMessages) > 0
	switch n := len(slices.DeleteFunc([]bool{o.file != "", given, o.command.Line != ""},
		func(b bool) bool { return !b })); {
	case n == 0:
		return errors.New("a result is required: --file, --op, one of the other flags for operations, or --exec")
	case n > 1:
		return errors.New("--file, --exec and flags for operations exclude each other")
	case o.file == "-" && args[0] == "-":
		return errors.New("standard input cannot be both the session and the result")
	case o.command.Limit <= 0:
		return errors.New("--timeout must be above 0")
	case o.command.Line == "" && len(o.reasons) != 1:
		return errors.New("several reasons require --exec")
	case o.command.Line != "" && (o.Write || o.at != ""):
		return errors.New("--exec conflicts with --write and --at: -o FILE writes a new session")
	case o.command.Line != "" && (o.format == "entries" || o.format == "envelope"):
		return fmt.Errorf("--exec conflicts with -f %s", o.format)
	case o.Write && elsewhere:
		return errors.New("--write appends at the leaf: -o FILE writes a session with a branch from another point")
	}
	for _, name := range o.counters {
		c, err := tokens.Find(name)
		if err != nil {
			return fmt.Errorf("--counter: %w", err)
		}
		o.try.Counters = append(o.try.Counters, c)
	}
	o.try.Reason, o.try.Replay.Rules = hook.Reason(o.reasons[0]), o.by
	return nil
}

// point finds the point at which the results apply.
func (o *patchOptions) point(e *env, s *sessionfmt.Session) error {
	text := cmp.Or(o.at, "leaf")
	if o.request != "" {
		n, err := strconv.Atoi(o.request)
		if err != nil {
			return usagef("--request %q: must be the number of a request", sessionfmt.Quote(o.request))
		}
		text = pointOfRequest(n)
	}
	at, err := e.wholeBatch(s, text)
	o.try.At, o.try.Leaf, o.try.Replay.Leaf, o.try.Now = at, s.Leaf(), s.Leaf(), o.time
	return err
}

// read reads the results: those of the file, or the operations of the flags.
func (o *patchOptions) read(e *env) (err error) {
	if o.file != "" {
		data, err := e.inputText(o.file)
		if err != nil {
			return err
		}
		o.try.Source = o.file
		o.results, err = hook.Read(o.file, data)
		return o.named(err)
	}
	all, err := o.words(e)
	if err != nil {
		return err
	}
	o.given = append(slices.Clone(o.ops), all...)
	r, err := hook.Ops(o.given)
	o.results = []hook.Result{r}
	return usage(o.named(err))
}

// named gives results without a name that of the command.
func (o *patchOptions) named(err error) error {
	for k := range o.results {
		o.results[k].Name = cmp.Or(o.results[k].Name, "ctxtool patch")
	}
	if err == nil && len(o.results) == 0 {
		return sessionfmt.Errorf("the result has no operations: a hook that returns it changes nothing").In(o.file)
	}
	return err
}

var options = []string{"reasoning", "temperature", "maxTokens"}

// words returns the operations of the flags for single changes.
func (o *patchOptions) words(e *env) (all []string, err error) {
	add := func(op string, fields ...jsonl.Field) { all = append(all, hook.Op(op, o.why, fields...)) }
	for _, arg := range o.setParts {
		name, file, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, usagef("--set-part %q: must be NAME=FILE", sessionfmt.Quote(arg))
		}
		text, err := e.text(file)
		if err != nil {
			return nil, err
		}
		add("system_part_set", field("partName", name), field("text", text))
	}
	for _, name := range o.removeParts {
		add("system_part_remove", field("partName", name))
	}
	if len(o.removeTools) > 0 {
		var list []string
		for _, name := range o.removeTools {
			list = append(list, string(jsonl.AppendQuoted(nil, name)))
		}
		add("tools_remove", jsonl.Field{Name: "toolNames", Value: jsonl.Value("[" + strings.Join(list, ",") + "]")})
	}
	for _, arg := range o.set {
		name, text, ok := strings.Cut(arg, "=")
		if !ok || text == "" || !slices.Contains(options, name) {
			return nil, usagef("--set %q: must be NAME=VALUE, with one of the names %s", sessionfmt.Quote(arg),
				strings.Join(options, ", "))
		}
		if v, err := jsonl.ParseValue([]byte(text)); err == nil && v.IsNumber() {
			add("options_set", jsonl.Field{Name: name, Value: v})
		} else {
			add("options_set", field(name, text))
		}
	}
	for _, file := range o.appendMessages {
		text, err := e.text(file)
		if err != nil {
			return nil, err
		}
		o.messages = append(o.messages, fmt.Sprintf(`{"role":"user","content":%s}`, jsonl.AppendQuoted(nil, text)))
	}
	return all, nil
}

// withMessages returns the results, with an operation for the messages of --append-message.
func (o *patchOptions) withMessages(s *sessionfmt.Session) ([]hook.Result, error) {
	if len(o.messages) == 0 {
		return o.results, nil
	}
	opt := o.try.Replay
	e, err := replay.New(s, opt).At(sessionfmt.After(o.try.At))
	if err != nil {
		return nil, otherHint(err, "run ctxtool check")
	}
	op, err := hook.Append(e, o.try.Reason, o.why, o.messages)
	if err != nil {
		return nil, err
	}
	r, err := hook.Ops(append(slices.Clone(o.given), op))
	r.Name = "ctxtool patch"
	return []hook.Result{r}, err
}

func field(name, text string) jsonl.Field {
	return jsonl.Field{Name: name, Value: jsonl.AppendQuoted(nil, text)}
}

// exec runs a hook over the session.
func (o *patchOptions) exec(e *env, arg string) error {
	o.run.From, o.run.To = 0, -1
	if o.request != "" {
		from, to, both := strings.Cut(o.request, "..")
		var err, wrong error
		o.run.From, err = strconv.Atoi(from)
		o.run.To = o.run.From
		if both {
			o.run.To, wrong = strconv.Atoi(to)
		}
		if cmp.Or(err, wrong) != nil || o.run.From < 0 || o.run.To < o.run.From {
			return usagef("--request %q: must be the number of a request, or A..B", sessionfmt.Quote(o.request))
		}
	}
	running, settle := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer settle()
	o.command.Dir, o.command.Environ = e.disk.Dir, e.environ
	o.run.Hook, o.run.Name, o.run.Context = hook.Shell(o.command, o.each), o.command.Line, running
	o.run.Now, o.run.Replay, o.whole, o.stays = e.now, o.try.Replay, true, ""
	o.run.Reasons = nil
	for _, name := range o.reasons {
		o.run.Reasons = append(o.run.Reasons, hook.Reason(name))
	}
	failed := false
	o.plan = func(e *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		show, end := e.progress(f.path, false)
		defer end()
		o.run.Progress, o.run.Leaf, o.run.Replay.Leaf = show, s.Leaf(), s.Leaf()
		o.run.Waiting = func(request, of int) {
			end() // its line
			e.note("waiting for %s: request %d of %d", o.run.Name, request, of)
		}
		p, err := plan.Exec(f.given, s, &o.run, o.rules != "auto", o.output != "")
		failed = err == nil && p.Run.Failed+p.Run.Skipped > 0
		return p, err
	}
	if err := o.runOne(e, arg, nil); err != nil {
		return err
	}
	return found(failed)
}
