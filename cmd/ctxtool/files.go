package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/parallel"
	"ctxtool/internal/terminal"
	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/replay/baseline"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/store"

	"github.com/spf13/cobra"
)

// A listedFile is a session file.
type listedFile struct {
	path  string
	name  string // that it is listed by: below its folder, or as it was given
	given string // what finds it from the current folder, or as it was given
	out   string // that a new file made of it has in another folder
}

// sessions are the files that the arguments of a command over many name. Without
// any it is, on a terminal, the newest session of the current folder.
func (e *env) sessions(args []string) ([]listedFile, error) {
	if len(args) > 0 {
		return e.listed(args)
	}
	file, _, err := e.session(nil)
	return []listedFile{{file, file, file, outName(file)}}, err
}

// listed are the files that the arguments name: the sessions of folders, and
// files; without any, those of the store.
func (e *env) listed(args []string) (files []listedFile, err error) {
	if len(args) == 0 {
		args = []string{e.store().Dir}
	}
	for _, arg := range args {
		info, err := e.disk.Stat(arg)
		if err != nil || !info.IsDir() {
			name, err := e.store().Locate(arg)
			if err != nil {
				return nil, err
			}
			files = append(files, listedFile{name, filepath.ToSlash(arg), filepath.ToSlash(arg), outName(name)})
			continue
		}
		names, err := store.Store{Dir: arg, Disk: e.disk}.Files()
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			below, _ := filepath.Rel(arg, n) // it is below
			files = append(files, listedFile{n, filepath.ToSlash(below), filepath.ToSlash(n), below})
		}
	}
	return files, nil
}

// outName is the name that what is made of a single file has in a folder: never one
// that leads out of it.
func outName(name string) string {
	if name == "-" {
		return "stdin.jsonl"
	}
	return filepath.Base(name)
}

// realName is a name by which a file is known again, whether it is there or only
// its folder is.
func (e *env) realName(name string) string {
	name = e.disk.Path(name)
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		if real, err = filepath.EvalSymlinks(filepath.Dir(name)); err != nil {
			real = filepath.Dir(name)
		}
		real = filepath.Join(real, filepath.Base(name))
	}
	if abs, err := filepath.Abs(real); err == nil {
		return abs
	}
	return real
}

func (e *env) isDir(name string) bool {
	info, err := e.disk.Stat(name)
	return err == nil && info.IsDir()
}

// paths are the names of files.
func paths(files []listedFile) (names []string) {
	for _, f := range files {
		names = append(names, f.path)
	}
	return names
}

// workersPerProcessor is how many files are worked on at a time for each processor:
// while one waits for the disk another computes.
const workersPerProcessor = 2

// batchGC is how much garbage there may be for what is in use, percent, where many
// files come and go: little is in use at a time, so that much is not a lot.
const batchGC = 200

// inParallel works on files on all processors, and returns what work made of each,
// in their order. How far it is, it shows to whoever watches.
func inParallel[T any](e *env, files []listedFile, work func(f listedFile, show func(done, size int64)) T) []T {
	debug.SetGCPercent(batchGC)
	all := make([]T, 0, len(files))
	inOrder(e, 0, files, work, func(one T) { all = append(all, one) })
	return all
}

// inOrder is inParallel that hands over what work made of each file as soon as those
// before it are done, so that it need not be kept; so many are worked on at a time, 0 for
// as many as is good.
func inOrder[T any](e *env, workers int, files []listedFile, work func(f listedFile, show func(done, size int64)) T, take func(T)) {
	if len(files) == 1 {
		e.frugal(files[0].path)
		show, end := e.progress(files[0].name, true)
		defer end()
		take(work(files[0], show))
		return
	}
	show, end := e.progress("sessions", false)
	defer end()
	if workers == 0 {
		workers = workersPerProcessor * runtime.GOMAXPROCS(0)
	}
	taken := 0
	for one := range parallel.InOrder(len(files), workers, len(files), func() func(int) T {
		return func(k int) T { return work(files[k], nil) }
	}) {
		take(one)
		if taken++; show != nil {
			show(int64(taken), int64(len(files)))
		}
	}
}

// An answer is the form in which a command answers, and where the answer goes.
type answer struct {
	format, output string
	json           bool
	unpaged        bool // no pager shows it
	forms          []string
}

// flags gives a command the flags of its answer; the first form is the default.
func (a *answer) flags(cmd *cobra.Command, forms ...string) {
	a.forms = forms
	f := cmd.Flags()
	f.StringVarP(&a.format, "format", "f", forms[0], "`FORM` of the answer: "+strings.Join(forms, ", "))
	f.BoolVar(&a.json, "json", false, "the same as -f "+a.jsonForm())
	f.StringVarP(&a.output, "output", "o", "", "write to `FILE` atomically")
	complete(cmd, "format", forms)
}

// jsonForm is what --json means: one object, or lines of JSON for a command that
// answers in nothing but lines.
func (a *answer) jsonForm() string {
	if slices.Contains(a.forms, "json") {
		return "json"
	}
	return "jsonl"
}

// check reads the flags, before any input is opened.
func (a *answer) check() error {
	if a.json {
		a.format = a.jsonForm()
	}
	return oneOf("unknown format", a.forms, a.format)
}

// inColour reports whether the answer is in a form that has colours.
func (a *answer) inColour() bool { return slices.Contains([]string{"", "text", "stat"}, a.format) }

// forPeople reports whether the answer is in a form that people read, and not programs.
func (a *answer) forPeople() bool {
	return a.inColour() || slices.Contains([]string{"markdown", "summary", "full", "diff"}, a.format)
}

// answer writes an answer atomically, to none of the inputs.
func (e *env) answer(a *answer, inputs []string, write func(w *bufio.Writer) error) error {
	out, err := e.create(a.output, inputs...)
	if err != nil {
		return err
	}
	defer out.Abort()
	if s, ok := out.(*screenOutput); ok {
		s.Cleaner.Colour = a.inColour() && e.screen(a.output).Colour
		if a.forPeople() && !a.unpaged {
			s.pager.Env, s.pager.Command = e.environ, e.pagerCommand()
		}
	}
	w := bufio.NewWriterSize(out, 64<<10)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = out.Commit()
	}
	if errors.Is(err, terminal.ErrQuit) {
		err = nil // the user has seen enough
	}
	return err
}

// print writes a value as an answer, in its form.
func (e *env) print(a *answer, inputs []string, v any) error {
	on := e.screen(a.output)
	return e.answer(a, inputs, func(w *bufio.Writer) error { return render.Write(w, v, a.format, on) })
}

// A readFlags is how a session is read and replayed, and the answer of a command that does.
type readFlags struct {
	answer
	reading
	redaction
}

// flags gives a command these flags; the first form is the default.
func (o *readFlags) flags(cmd *cobra.Command, forms ...string) {
	o.answer.flags(cmd, forms...)
	o.reading.flags(cmd)
	o.redaction.flags(cmd)
}

// start reads the flags, before any input is opened.
func (o *readFlags) start(e *env) (replay.Rules, error) {
	rules, err := o.reading.check()
	return rules, cmp.Or(o.answer.check(), err, o.redaction.start(e))
}

// open reads the flags and opens the session that the arguments name. point is that of a
// SESSION@POINT, empty where there is none.
func (o *readFlags) open(e *env, args []string) (rules replay.Rules, s *sessionfmt.Session, point string, err error) {
	if rules, err = o.start(e); err != nil {
		return rules, nil, "", usage(err)
	}
	s, point, err = e.named(args)
	return rules, s, point, err
}

// reply prints what a replay gave, and says what was found on the way, what else there is
// to say (also, which may be nil), and how much was read.
func (o *readFlags) reply(e *env, r *replay.Replay, v any, also func() error, inputs ...string) error {
	s := r.Session
	if err := e.strictly(s, r.AllFindings(), o.strict); err != nil {
		return err
	}
	if err := e.print(&o.answer, append(inputs, s.Name), v); err != nil {
		return err
	}
	if also != nil {
		if err := also(); err != nil {
			return err
		}
	}
	e.noteCoverage(s, r.Rules)
	return nil
}

// A reading is how a session is replayed and how strictly it is read.
type reading struct {
	rules  string
	strict bool
}

// flags gives a command the flags of its reading.
func (r *reading) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	choice(cmd, &r.rules, "rules", "auto", "`RULES` to replay by: "+strings.Join(replay.RulesNames(), ", "), replay.RulesNames())
	f.BoolVar(&r.strict, "strict", false, "fail on any finding")
}

// check reads the name of the rules.
func (r *reading) check() (replay.Rules, error) {
	rules, err := replay.ParseRules(r.rules)
	if err != nil {
		return 0, fmt.Errorf("%w: one of %s", err, strings.Join(replay.RulesNames(), ", "))
	}
	return rules, nil
}

// A given is what is given in place of what the session says or lacks.
type given struct {
	baseline    string
	implemented []string
	model       string
	window      int64
}

// flags gives a command that replays the flags of what is given.
func (g *given) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.baseline, "baseline", "", "`FILE` with the prompt and tools that the session lacks: an envelope in JSON, a session, /context --full text, or an HTML export")
	f.StringSliceVar(&g.implemented, "implemented", nil, "`NAMES` of the tools that have an implementation; others are omitted")
	f.StringVar(&g.model, "model", "", "`PROVIDER/ID` of the model, in place of the path's")
	f.Var(tokensFlag(&g.window), "window", "context window in `TOKENS`, in place of the known one")
}

// check reads the flags, before any input is opened; the baseline is for load.
func (g *given) check(e *env, opt *replay.Options) (err error) {
	if g.model != "" {
		provider, id, ok := strings.Cut(g.model, "/")
		if !ok || provider == "" || id == "" {
			return fmt.Errorf("--model %q: want PROVIDER/ID", g.model)
		}
		opt.Model = models.Ref{Provider: provider, ID: id}
	}
	opt.Window, opt.Implemented = g.window, g.implemented
	opt.Models, err = e.config.models()
	return err
}

// load reads the baseline, which is input.
func (g *given) load(e *env, opt *replay.Options) (err error) {
	if g.baseline == "" {
		return nil
	}
	if opt.Baseline, err = baseline.Load(e.disk, g.baseline); err != nil {
		return err
	}
	return e.redactBaseline(opt.Baseline)
}

// nowFlag is the time of --now, which one batch of entries has; now if it was not
// given.
func (e *env) nowFlag(text string) (time.Time, error) {
	if text == "" {
		return e.now(), nil
	}
	ms, ok := parseTime(text)
	if !ok {
		return time.Time{}, fmt.Errorf("--now %q: want a time as 2026-01-31T12:00:00Z", sessionfmt.Quote(text))
	}
	return time.UnixMilli(ms), nil
}
