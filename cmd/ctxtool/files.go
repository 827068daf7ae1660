package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/base/sorting"
	"ctxtool/internal/lens/baseline"
	"ctxtool/internal/out/show"
	"ctxtool/internal/out/terminal"
	"ctxtool/internal/read/phrase"
	"ctxtool/internal/read/store"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

type listedFile struct {
	path  string
	name  string // in lists: relative to its folder, or as on the command line
	given string // relative to the current folder, or as on the command line
	out   string // name of a new version of it in another folder
	part  bool   // it belongs to a sub-agent
	named bool   // named by an argument, not found in a folder
}

// sessions returns the files that the arguments of a command over many sessions name. Without arguments, on a
// terminal, it is the newest session of the current folder.
func (e *env) sessions(args []string) ([]listedFile, error) {
	if len(args) > 0 {
		return e.listed(args)
	}
	file, _, err := e.session(nil)
	return []listedFile{{path: file, name: file, given: file, out: outName(file), named: true}}, err
}

// listed returns the files that the arguments name: files, and the sessions in folders. Without arguments, they
// are the sessions of all agents.
func (e *env) listed(args []string) ([]listedFile, error) { return e.listing(args, store.Store.Files) }

// families is listed with the sub-agents of all sessions; family adds those of named files.
func (e *env) families(args []string) ([]listedFile, error) {
	return e.listing(args, store.Store.Families)
}

// family returns the files of a session's sub-agents.
func (e *env) family(name string) []string { return store.Family(e.disk, name) }

func (e *env) listing(args []string, list func(store.Store) ([]store.File, error)) (files []listedFile, err error) {
	if len(args) == 0 {
		all, err := list(e.store())
		return listedAs(all), err
	}
	for _, arg := range args {
		if !e.isDir(arg) && !sessionfmt.IsDatabase(e.disk, arg) {
			name, err := e.store().Locate(arg)
			if err != nil {
				return nil, err
			}
			files = append(files, listedFile{path: name, name: filepath.ToSlash(arg), given: filepath.ToSlash(arg),
				out: outName(name), named: true})
			continue
		}
		below, err := list(store.In(e.disk, arg))
		if err != nil {
			return nil, err
		}
		files = append(files, listedAs(below)...)
	}
	return files, nil
}

// byPath returns the files sorted by path, without duplicates. A call that several files have counts in the
// first of them.
func byPath(files []listedFile) []listedFile {
	sorting.By(files,
		func(a, b listedFile) int { return cmp.Compare(filepath.Clean(a.path), filepath.Clean(b.path)) })
	return slices.CompactFunc(files,
		func(a, b listedFile) bool { return filepath.Clean(a.path) == filepath.Clean(b.path) })
}

func listedAs(all []store.File) (files []listedFile) {
	for _, f := range all {
		below, _ := filepath.Rel(f.Dir, f.Name) // it is below
		files = append(files, listedFile{path: f.Name, name: filepath.ToSlash(below), given: filepath.ToSlash(f.Name),
			out: below, part: f.SubAgent()})
	}
	return files
}

// nameOutputs renames, with --redact, the files of an answer whose names contain what is redacted.
// Equal names get a number.
func (e *env) nameOutputs(files []listedFile) {
	if e.redactor == nil {
		return
	}
	taken := map[string]bool{}
	for i := range files {
		name := e.redacted(files[i].out)
		out := name
		for n := 2; taken[strings.ToLower(out)]; n++ {
			folder, base := filepath.Split(name)
			stem, ext, _ := strings.Cut(base, ".json")
			out = folder + fmt.Sprintf("%s-%d", stem, n) + phrase.If(len(stem) < len(base), ".json%s", ext)
		}
		taken[strings.ToLower(out)] = true
		files[i].out = out
	}
}

// outName returns the name in a folder for a new version of a file. It never leads out of
// the folder.
func outName(name string) string {
	if name == "-" {
		return "stdin.jsonl"
	}
	return filepath.Base(name)
}

// realName returns the absolute name of a file without symlinks, so that names of one file
// are equal. The file need not exist.
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

func paths(files []listedFile) []string {
	return namesOf(files, func(f listedFile) string { return f.path })
}

// workersPerProcessor is the number of files in work for each CPU: while one waits for the disk, another
// computes.
const workersPerProcessor = 2

// batchGC is the percentage for collect while many files are read: little memory
// is in use at a time, so more garbage is cheap.
const batchGC = 200

// inParallel calls work for files on all CPUs, and returns the results in the order of the
// files. It shows progress on a terminal.
func inParallel[T any](e *env, files []listedFile, work func(f listedFile, show func(done, size int64)) T) []T {
	e.collect(batchGC)
	all := make([]T, 0, len(files))
	inOrder(e, 0, files, work, func(one T) { all = append(all, one) })
	return all
}

// inOrder is inParallel, but passes each result to take once those before it are done, so that it need not be
// kept. At most workers files are in work, 0 for the default.
func inOrder[T any](e *env, workers int, files []listedFile, work func(f listedFile, show func(done, size int64)) T,
	take func(T)) {
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

// An answer is the output of a command: its form and its destination.
type answer struct {
	format, output string
	unpaged        bool // no pager shows it
	searched       bool // search it for secrets, if they make it fail
	forms          []string
	given          func(flag string) bool // forms on the command line
}

// flags registers the flags of an answer; the first form is the default.
func (a *answer) flags(f *flagSet, forms ...string) {
	a.forms, a.given = forms, f.Changed
	f.StringVarP(&a.format, "format", "f", forms[0], "print as `FORM`: "+strings.Join(forms, ", "))
	f.StringVarP(&a.output, "output", "o", "", "write to `FILE` atomically")
	if a.jsonForm() != "" {
		f.taken = append(f.taken, "json")
	}
	f.complete("format", forms)
	f.before(func() error { return a.check(f.json) })
}

// jsonForm returns the form that --json stands for: one object, else lines of JSON. It is empty for a command
// with neither.
func (a *answer) jsonForm() string {
	for _, form := range []string{"json", "jsonl"} {
		if slices.Contains(a.forms, form) {
			return form
		}
	}
	return ""
}

// check checks the flags, before any input is opened.
func (a *answer) check(json bool) error {
	if json {
		a.format = a.jsonForm()
	}
	return oneOf("unknown format", a.forms, a.format)
}

// textOnly returns an error for a flag that is given, if the answer is not text.
func (a *answer) textOnly(flag, value string) error {
	if value == "" || a.format == "text" {
		return nil
	}
	return fmt.Errorf("--%s conflicts with -f %s", flag, a.format)
}

// inColour reports whether the answer is in a form that has colours.
func (a *answer) inColour() bool { return slices.Contains([]string{"", "text", "stat"}, a.format) }

// answer writes an answer atomically. The output must not be one of the inputs.
func (e *env) answer(a *answer, inputs []string, write func(w *bufio.Writer) error) error {
	if e.leaks != nil && !a.searched {
		text, err := e.withoutSecrets(write)
		if err != nil {
			return err
		}
		write = func(w *bufio.Writer) error { _, err := w.Write(text); return err }
	}
	out, err := e.create(a.output, inputs...)
	if err != nil {
		return err
	}
	defer out.Abort()
	if s, ok := out.(*terminal.Output); ok {
		s.Cleaner.Colour = a.inColour() && e.screen(a.output).Colour
		toRead := a.inColour() || slices.Contains([]string{"markdown", "summary", "full", "diff"}, a.format)
		if toRead && !a.unpaged {
			s.Pager.Env, s.Pager.Command = e.environ, e.pagerCommand()
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
		err = nil // the user has closed the pager
	}
	return err
}

// withoutSecrets returns the output of write, or errFound if it contains a likely secret.
func (e *env) withoutSecrets(write func(w *bufio.Writer) error) ([]byte, error) {
	text, err := written(write)
	if err != nil {
		return nil, err
	}
	if said := e.leaked(text); said != "" {
		e.note("%s; --redact removes them", said)
		return nil, errFound
	}
	return text, nil
}

// written returns what write writes.
func written(write func(w *bufio.Writer) error) ([]byte, error) {
	var text bytes.Buffer
	w := bufio.NewWriter(&text)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	return text.Bytes(), err
}

// printText writes a text as an answer.
func (e *env) printText(a *answer, inputs []string, text string) error {
	return e.answer(a, inputs, func(w *bufio.Writer) error { _, err := w.WriteString(text); return err })
}

// print writes a value as an answer, in its form.
func (e *env) print(a *answer, inputs []string, v show.Value) error {
	on := e.screen(a.output)
	return e.answer(a, inputs, func(w *bufio.Writer) error { return v.Write(w, a.format, on) })
}

// readFlags are the flags of commands that replay a session and print a report.
type readFlags struct {
	answer
	replayFlags
	redaction
}

// flags registers the flags; the first form is the default.
func (o *readFlags) flags(f *flagSet, forms ...string) {
	o.answer.flags(f, forms...)
	o.replayFlags.flags(f)
	o.redaction.flags(f)
}

// reply prints the result of a replay.
func (o *readFlags) reply(e *env, r *replay.Replay, v show.Value, inputs ...string) error {
	if err := e.strictly(r.Session, r.AllFindings(), o.strict); err != nil {
		return err
	}
	return e.print(&o.answer, append(inputs, r.Session.Name), v)
}

// replayFlags are the flags for how a session is replayed and how strictly it is read.
type replayFlags struct {
	rules  string
	by     replay.Rules // those
	strict bool
}

func (r *replayFlags) flags(f *flagSet) {
	r.rulesFlag(f)
	f.BoolVar(&r.strict, "strict", false, "fail on any finding")
}

func (r *replayFlags) rulesFlag(f *flagSet) {
	f.choice(&r.rules, "rules", "auto", "replay by `RULES`:", "unknown rules", replay.RulesNames())
	f.before(func() (err error) {
		r.by, err = replay.ParseRules(r.rules)
		return err
	})
}

// overrideFlags replace what the session records, or lacks.
type overrideFlags struct {
	baseline    string
	implemented []string
	model       string
	window      int64
}

// flags registers the flags, which set the options.
func (g *overrideFlags) flags(f *flagSet, opt *replay.Options) {
	f.StringVar(&g.baseline, "baseline", "",
		"take prompt and tools from `FILE`: an envelope, a session, /context --full, or HTML")
	f.StringSliceVar(&g.implemented, "implemented", nil, "omit tools other than `NAMES`")
	f.StringVar(&g.model, "model", "", "use model `PROVIDER/ID` instead of that of the path")
	f.Var(tokensFlag(&g.window), "window", "use a context window of `TOKENS`")
	f.models(&opt.Models)
	f.before(func() error { return g.check(opt) })
}

// check sets the options of the flags; load reads the baseline.
func (g *overrideFlags) check(opt *replay.Options) error {
	if g.model != "" {
		provider, id, ok := strings.Cut(g.model, "/")
		if !ok || provider == "" || id == "" {
			return fmt.Errorf("--model %q: must be PROVIDER/ID", g.model)
		}
		opt.Model = models.Ref{Provider: provider, ID: id}
	}
	opt.Window, opt.Implemented = g.window, g.implemented
	return nil
}

// load reads the baseline, which is input.
func (g *overrideFlags) load(e *env, opt *replay.Options) (err error) {
	if g.baseline == "" {
		return nil
	}
	if opt.Baseline, err = baseline.Load(e.disk, g.baseline); err != nil || e.redactor == nil {
		return err
	}
	return baseline.Redact(opt.Baseline, e.redactor)
}
