package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/lens/simulate"
	"ctxtool/internal/out/html"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/sessionfmt"
)

// simulateOptions are the flags of ctxtool simulate.
type simulateOptions struct {
	readFlags
	overrideFlags
	policies   []string
	sweeps     []string
	optimize   string
	explain    string
	ratio      float64
	summarizer string
	timeout    time.Duration

	running context.Context // until a signal ends the hooks
	simulate.Options
}

// simulated are the policies to try by default.
const simulated = "recorded,none,pi,gsh,swe-cli,y-agent"

func (o *simulateOptions) define(f *flagSet) {
	o.readFlags.flags(f, "text", "json", "jsonl", "csv", "markdown", "html")
	o.overrideFlags.flags(f, &o.Replay)
	f.StringArrayVar(&o.policies, "policy", []string{simulated}, "try policies `NAMES`: recorded, none, "+
		"those of ctxtool policies, also as NAME:PRESET,KEY=VALUE, or a hook as exec:COMMAND")
	f.StringArrayVar(&o.sweeps, "sweep", nil, "try each value of an option: `KEY=A,B,C` (ctxtool help passes)")
	f.choice(&o.optimize, "optimize", string(simulate.LeastCost), "mark the policy with the least `GOAL`:",
		"--optimize", simulate.Goals)
	f.StringVar(&o.explain, "explain", "", "print why each policy kept or changed each message before `REQUEST`")
	f.Float64Var(&o.ratio, "summary-ratio", 0.1, "assume summaries of `SHARE` of the tokens that they replace")
	f.choice(&o.summarizer, "summarizer", "ratio", "take summaries from `SOURCE`:", "--summarizer",
		[]string{"ratio", "extract"})
	f.DurationVar(&o.timeout, "timeout", 30*time.Second,
		"exec: end a command that takes longer than `DURATION` for an answer")
	f.before(func() error { return o.check(f.env) })
}

// check reads the flags, before any input is opened.
func (o *simulateOptions) check(e *env) (err error) {
	o.Replay.Rules = o.by
	if o.Contenders, err = o.contenders(e); err != nil {
		return err
	}
	for _, spec := range o.sweeps {
		if o.Contenders, err = simulate.Sweep(o.Contenders, spec); err != nil {
			return fmt.Errorf("--sweep %w", err)
		}
	}
	if o.explain != "" {
		o.Explain, err = strconv.Atoi(strings.TrimPrefix(o.explain, "request:"))
		if err != nil || o.Explain < 0 {
			return fmt.Errorf("--explain %q: must be the number of a request, from 0", sessionfmt.Quote(o.explain))
		}
		o.Explained = true
		if !slices.ContainsFunc(o.Contenders, func(c simulate.Contender) bool { return c.Policy != nil }) {
			return errors.New("--explain requires a --policy other than recorded and none, which decide nothing")
		}
	}
	if !(o.ratio >= 0 && o.ratio <= 1) {
		return fmt.Errorf("--summary-ratio %g: must be between 0 and 1", o.ratio)
	}
	o.Summaries.Ratio = o.ratio
	if o.summarizer == "extract" {
		if o.Summaries.Answer, err = compact.OpenSummarizer("extract", compact.SummaryOptions{}); err != nil {
			return err
		}
	}
	if o.format == "html" && e.toTerminal(o.output) {
		return errors.New("-f html requires -o FILE on a terminal")
	}
	return nil
}

// contenders returns the policies that --policy names.
func (o *simulateOptions) contenders(e *env) (all []simulate.Contender, err error) {
	for _, value := range o.policies {
		if line, ok := strings.CutPrefix(value, "exec:"); ok {
			if strings.TrimSpace(line) == "" {
				return nil, errors.New("--policy exec: names no command")
			}
			command := hook.Command{Line: line, Dir: e.disk.Dir, Environ: e.environ, Limit: o.timeout}
			all = append(all, simulate.Contender{Name: value, Hook: &simulate.Hook{Command: command, Now: e.now}})
			continue
		}
		for _, name := range policySpecs(value) {
			one := simulate.Contender{Name: name}
			if name != simulate.Recorded && name != simulate.None {
				if one.Policy, err = e.policy(name); err != nil {
					err = fmt.Errorf("%w; also %s and %s", err, simulate.Recorded, simulate.None)
					return nil, fmt.Errorf("--policy %s: %w", sessionfmt.Quote(name), err)
				}
			}
			if !slices.ContainsFunc(all, func(c simulate.Contender) bool { return c.Name == name }) {
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// policySpecs splits a list of policies. The text after a comma is an option of the policy before it if it has
// a value and is not the name of a policy.
func policySpecs(list string) (specs []string) {
	for part := range strings.SplitSeq(list, ",") {
		if last := len(specs) - 1; last >= 0 && strings.Contains(part, "=") && !strings.Contains(part, ":") {
			specs[last] += "," + part
			continue
		}
		specs = append(specs, part)
	}
	return specs
}

func runSimulate(e *env, o *simulateOptions, args []string) error {
	files, err := e.sessions(args)
	if err != nil {
		return usage(err)
	}
	if err := o.overrideFlags.load(e, &o.Replay); err != nil {
		return err
	}
	o.running = context.Background()
	if slices.ContainsFunc(o.Contenders, func(c simulate.Contender) bool { return c.Hook != nil }) {
		running, settle := signal.NotifyContext(o.running, os.Interrupt, syscall.SIGTERM)
		defer settle()
		o.running = running
	}
	for i := range o.Contenders {
		if h := o.Contenders[i].Hook; h != nil {
			h.Context = o.running
		}
	}
	if len(files) != 1 || len(args) > 0 && e.isDir(args[0]) {
		return o.simulateAll(e, files)
	}
	o.Rows = o.format == "jsonl" || o.format == "html"
	o.Changes, o.Options.Regrets = o.Rows, o.Rows
	s, err := e.open(files[0].path)
	if err != nil {
		return err
	}
	report, err := o.Session(s)
	if err = cmp.Or(context.Cause(o.running), err); err != nil {
		return otherHint(inFile(s.Name, err), "run ctxtool check")
	}
	if o.Explained && o.Explain >= report.Runs[0].Requests {
		return usagef("--explain %d: the session has %d requests, the last is %d", o.Explain, report.Runs[0].Requests,
			report.Runs[0].Requests-1)
	}
	report.Decide(simulate.Goal(o.optimize))
	if o.format == "html" {
		page, err := report.Page(filepath.Base(files[0].name))
		if err != nil {
			return err
		}
		return o.page(e, []string{s.Name}, page)
	}
	opt := o.Replay
	opt.Leaf = s.Leaf()
	return o.reply(e, replay.New(s, opt), show.SimulationForms.Of(report))
}

// inFile adds the name of the file to an error, unless it has one.
func inFile(name string, err error) error {
	if at := (*sessionfmt.Error)(nil); errors.As(err, &at) {
		return err
	}
	return &sessionfmt.Error{Pos: sessionfmt.Pos{File: name}, Err: err}
}

// simulateAll simulates several sessions. One that cannot be read, or has no requests, is a row
// with its error.
func (o *simulateOptions) simulateAll(e *env, files []listedFile) error {
	if o.Explained {
		return usagef("--explain requires a single session")
	}
	// Each file has a worker per policy, so few files are in work. Policies change large contexts at each
	// request, so most of the memory is garbage.
	e.collect(50)
	all := make([]*simulate.Report, len(files))
	run := func(places []int) {
		var some []listedFile
		for _, k := range places {
			some = append(some, files[k])
		}
		inOrder(e, runtime.GOMAXPROCS(0), some, func(f listedFile, _ func(done, size int64)) *simulate.Report {
			return o.simulateOne(e, f)
		}, func(r *simulate.Report) {
			all[places[0]], places = r, places[1:]
		})
	}
	var rest []int
	sample := o.sample(e, files, run)
	for k := range files {
		if !slices.Contains(sample, k) {
			rest = append(rest, k)
		}
	}
	run(rest)
	if err := context.Cause(o.running); err != nil {
		return noAnswer(err)
	}
	broken := brokenOf(all, func(r *simulate.Report) string { return r.Error })
	if err := noneBroken(o.strict, broken, len(all), "have no figures"); err != nil {
		return err
	}
	switch {
	case len(all) == 0:
		return errors.New("no sessions to simulate")
	case broken == len(all):
		return fmt.Errorf("no figures of %s; %s: %s", phrase.Count(broken, "session"), all[0].File, all[0].Error)
	}
	store := simulate.NewStore(all, simulate.Goal(o.optimize))
	if o.format == "html" {
		return o.page(e, paths(files), store.Page(phrase.Count(len(all), "session")))
	}
	return e.print(&o.answer, paths(files), show.SimulationsForms.Of(store))
}

// simulateOne simulates one of several sessions.
func (o *simulateOptions) simulateOne(e *env, f listedFile) *simulate.Report {
	var report *simulate.Report
	err := context.Cause(o.running)
	if err == nil {
		err = e.within(f, func(s *sessionfmt.Session) (err error) {
			if report, err = o.Session(s); err == nil {
				report.Path, report.Answers = nil, nil
				err = noFindings(o.strict, f.name, len(s.Findings))
			}
			return err
		})
	}
	if err != nil {
		report = &simulate.Report{Schema: "ctxtool/simulate/1", Error: e.reason(err)}
	}
	report.File = e.fileName(f.name)
	report.Decide(simulate.Goal(o.optimize))
	return report
}

// worthForecast is the size of sessions, in bytes, from which a run is announced with its expected time.
const worthForecast = 64 << 20

// sample first runs a sample of the sessions, if there are many, and notes how long all of them will take.
func (o *simulateOptions) sample(e *env, files []listedFile, run func(places []int)) []int {
	var total, size int64
	sizes := make([]int64, len(files))
	for i, f := range files {
		if info, err := e.disk.Stat(f.path); err == nil {
			sizes[i] = info.Size()
			total += sizes[i]
		}
	}
	if total < worthForecast {
		return nil
	}
	places := simulate.Sample(sizes)
	for _, k := range places {
		size += sizes[k]
	}
	start := e.now()
	run(places)
	took := time.Duration(float64(e.now().Sub(start)) * float64(total) / float64(size))
	if o.running.Err() == nil {
		e.note("%s and %s: about %s", phrase.Count(len(files), "session"), phrase.Count(len(o.Contenders), "policy"),
			took.Round(time.Second))
	}
	return places
}

// page writes a page.
func (o *simulateOptions) page(e *env, inputs []string, p *simulate.Page) error {
	return e.answer(&o.answer, inputs, func(w *bufio.Writer) error { return html.WriteSimulation(w, p) })
}
