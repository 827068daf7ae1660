package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/base/shell"
	"ctxtool/internal/lens/search"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// searchOptions are the flags of ctxtool search.
type searchOptions struct {
	answer
	redaction
	replayFlags
	source, rank  string
	regexp, fixed string
	ignoreCase    bool
	filter        search.Filter
	exit          string
	limit         int
	period
	embed     string
	noCache   bool
	task      string
	maxTokens int64
	recent    int
}

// Ways to rank hits.
var ranks = []string{"none", "words", "hybrid"}

// Limits of gsh's answers, in sessions and in events.
const (
	usualResults = 20
	mostResults  = 50
)

func (o *searchOptions) define(f *flagSet) {
	o.answer.flags(f, "text", "jsonl", "markdown")
	o.redaction.flags(f)
	o.replayFlags.flags(f)
	o.period.flags(f)
	f.Lookup("since").Usage, f.Lookup("until").Usage = "only entries since `TIME`", "only entries until `TIME`"
	f.StringVarP(&o.regexp, "regexp", "e", "", "search for `PATTERN`")
	f.StringVarP(&o.fixed, "fixed", "F", "", "search for `TEXT`")
	f.BoolVarP(&o.ignoreCase, "ignore-case", "i", false, "ignore case, with -e and -F")
	f.choice(&o.rank, "rank", "", "rank hits by `WHAT`: "+strings.Join(ranks, ", ")+
		" (default: words if there are several)", "unknown --rank", ranks)
	f.choice(&o.source, "source", "all", "search `SOURCE`:", "unknown source", search.Sources)
	f.choices(&o.filter.Kinds, "kind", nil, "only entries of `KINDS`: user, assistant, compaction, ...", "unknown kind",
		jsonl.KindNames())
	f.choices(&o.filter.Roles, "role", nil, "only messages sent with `ROLES`:", "unknown role", search.Roles)
	f.StringSliceVar(&o.filter.Tools, "tool", nil, "only calls and results of the tools `NAMES`")
	f.StringVar(&o.filter.Model, "only-model", "", "only answers of models whose name contains `TEXT`")
	f.StringVar(&o.filter.Project, "project", "", "only where the folder name contains `TEXT`")
	f.StringVar(&o.filter.CWD, "cwd", "", "only where the folder begins with `DIR`")
	f.StringVar(&o.exit, "exit-code", "", "only calls with exit status `N`; -1 for all failures")
	f.choice(&o.filter.Event, "event", "", "only events of a `KIND`:", "unknown event", search.Events)
	f.BoolVar(&o.filter.PathOnly, "path-only", false, "only entries on the path to the leaf")
	f.BoolVar(&o.filter.InContext, "in-context", false, "only entries that a request had")
	f.Var(countFlag(&o.limit), "limit", fmt.Sprintf("print at most `N` sessions, or events (default: %d)",
		usualResults))
	f.StringVar(&o.embed, "embed", "", "with --rank hybrid, compare vectors of texts by `exec:COMMAND`")
	f.BoolVar(&o.noCache, "no-cache", false, "do not keep the vectors in the user's cache folder")
	f.StringVar(&o.task, "for", "", "list what the folder of --cwd and earlier sessions know about `TASK`")
	f.Var(tokensFlag(&o.maxTokens), "max-tokens", "with --for, list items of at most `TOKENS` in all")
	f.IntVar(&o.recent, "recent", 0, "print the last `N` shell commands, for the first message to an agent; "+
		"0 for nothing, -1 for as many as gsh is set to")
	f.exclude("recent", "since", "until", "ignore-case", "source", "kind", "role", "tool", "only-model",
		"project", "cwd",
		"exit-code", "event", "path-only", "in-context", "limit", "embed", "no-cache", "max-tokens")
	f.cmd.MarkFlagsMutuallyExclusive("regexp", "fixed", "rank", "for", "recent")
}

// check checks the flags, before any file is opened, and returns the arguments that name files.
func (o *searchOptions) check(e *env, args []string) (opt search.Options, files []string, err error) {
	switch {
	case o.maxTokens != 0 && o.task == "":
		err = errors.New("--max-tokens requires --for")
	case o.embed != "" && o.rank != "hybrid":
		err = errors.New("--embed requires --rank hybrid")
	case o.embed != "" && (!strings.HasPrefix(o.embed, execPrefix) || o.embed == execPrefix):
		err = fmt.Errorf("--embed %q: must be exec:COMMAND", sessionfmt.Quote(o.embed))
	}
	if o.exit != "" {
		code, bad := strconv.Atoi(o.exit)
		if bad != nil {
			err = cmp.Or(err, fmt.Errorf("--exit-code %q: must be a whole number, or -1 for all failures",
				sessionfmt.Quote(o.exit)))
		}
		o.filter.Exit = &code
	}
	if err != nil {
		return opt, nil, err
	}
	if o.filter.Since, o.filter.Until, err = o.period.check(e); err != nil {
		return opt, nil, err
	}
	opt.Query, files, err = o.query(args)
	opt.Filter, opt.Redact, opt.Rules = o.filter, e.redactor, o.by
	if o.source != "all" {
		opt.Source = o.source
	}
	opt.Open = e.opening(0)
	opt.Open.Opened = e.noteBroken
	opt.Open.Through = nil // files are searched unredacted; Redact redacts what is shown
	return opt, files, err
}

// query returns the query, and the arguments after it.
func (o *searchOptions) query(args []string) (*search.Query, []string, error) {
	switch {
	case o.task != "":
		return nil, args, nil
	case o.regexp != "":
		q, err := search.Pattern(o.regexp, o.ignoreCase)
		return q, args, err
	case o.fixed != "":
		return search.Fixed(o.fixed, o.ignoreCase), args, nil
	case len(args) == 0:
		return nil, nil, errors.New("missing QUERY, -e PATTERN, or -F TEXT")
	case o.ignoreCase:
		return nil, nil, errors.New("-i requires -e or -F: words always ignore case")
	}
	several := len(strings.Fields(args[0])) > 1
	return search.Words(args[0], o.rank == "words" || o.rank == "" && several), args[1:], nil
}

// searchGC is the percentage for collect while files are searched: a common word has a million hits, and
// nothing else grows.
const searchGC = 10

func runSearch(e *env, o *searchOptions, args []string) error {
	if o.given("recent") {
		return o.lastCommands(e, args)
	}
	opt, names, err := o.check(e, args)
	if err != nil {
		return usage(err)
	}
	files, err := e.searched(names)
	if err != nil {
		return err
	}
	if o.task != "" {
		return o.forTask(e, files, opt)
	}
	if o.rank != "hybrid" { // which keeps only the best
		e.collect(searchGC)
	}
	limit := o.limit
	if limit == 0 && o.format != "jsonl" {
		limit = usualResults
	}
	if o.format == "markdown" {
		limit = min(limit, mostResults)
	}
	opt.Most = limit
	end := e.searching(files, &opt)
	found, err := o.search(e, files, opt)
	end()
	if err != nil {
		return err
	}
	if err := o.report(e, found); err != nil {
		return err
	}
	out := show.Found{Results: found, Source: opt.Source, Limit: limit,
		Phrase: o.regexp+o.fixed == "" && len(strings.Fields(opt.Query.Text)) > 1}
	var inputs []string
	for _, f := range files {
		inputs = append(inputs, f.Name)
	}
	if err := e.print(&o.answer, inputs, show.FoundForms.Of(out)); err != nil {
		return err
	}
	if found.Shown+len(found.Events) == 0 { // redaction may have removed what matched
		if o.format == "text" {
			e.note("no hit in %s", phrase.Count(found.Files, "file"))
		}
		return errFound
	}
	return nil
}

// searching shows the progress of a search, in bytes of a single file, until end is called.
func (e *env) searching(files []search.File, opt *search.Options) (end func()) {
	if len(files) == 1 {
		opt.Open.Progress, end = e.progress(files[0].Given, true)
	} else {
		opt.Done, end = e.progress("files", false)
	}
	return end
}

// search searches files, by words and vectors if that is asked for.
func (o *searchOptions) search(e *env, files []search.File, opt search.Options) (*search.Results, error) {
	if o.rank != "hybrid" {
		return search.Run(files, opt), nil
	}
	if o.embed == "" {
		e.note("no --embed command: hits are ranked by words alone")
		return search.Hybrid(files, opt.Query.Text, nil, opt)
	}
	v := &search.Vectors{Command: shell.Command{Line: strings.TrimPrefix(o.embed, execPrefix), Dir: e.disk.Dir,
		Environ: e.environ}, Disk: e.disk}
	if dir := e.cacheFolder(); !o.noCache && dir != "" {
		v.File = filepath.Join(dir, "vectors")
		if err := e.disk.MkdirAll(filepath.Dir(v.File)); err != nil {
			return nil, err
		}
	}
	r, err := search.Hybrid(files, opt.Query.Text, v, opt)
	if err == nil && r.Uncompared > 0 {
		e.note("--embed: compared the %d messages with the most fitting words; %d others with words of the query "+
			"are left out", r.Compared, r.Uncompared)
	}
	return r, err
}

// cacheFolder returns the folder of ctxtool in the user's cache folder, empty if that is not known.
func (e *env) cacheFolder() string {
	if dir := cmp.Or(e.getenv("XDG_CACHE_HOME"), filepath.Join(e.home, ".cache")); filepath.IsAbs(dir) {
		return filepath.Join(dir, "ctxtool")
	}
	return ""
}

// forTask prints what is known about a task.
func (o *searchOptions) forTask(e *env, files []search.File, opt search.Options) error {
	dir, err := filepath.Abs(e.disk.Path(cmp.Or(o.filter.CWD, ".")))
	if err != nil {
		return err
	}
	if !e.isDir(dir) {
		return unreadable(o.filter.CWD, errors.New("not a folder"))
	}
	if o.filter.CWD != "" {
		opt.Filter.CWD = dir // sessions record it as an absolute name
	}
	end := e.searching(files, &opt)
	task, err := search.ForTask(files, o.task, dir, int(o.maxTokens), opt)
	end()
	if err != nil {
		return err
	}
	if err := e.print(&o.answer, nil, show.TaskForms.Of(task)); err != nil {
		return err
	}
	if len(task.Files)+len(task.Sessions)+task.Left == 0 {
		return errFound
	}
	return nil
}

// execPrefix begins the name of a command.
const execPrefix = "exec:"

// report lists files that could not be searched, except those in folders that are not sessions.
func (o *searchOptions) report(e *env, found *search.Results) error {
	broken := 0
	for _, b := range found.Broken {
		if errors.Is(b.Err, sessionfmt.ErrNotSession) && !sessionfmt.NamesAgent(b.Err) && found.Files > 1 {
			continue
		}
		if broken++; broken <= 3 || o.strict {
			e.note("%s: %s", b.File, e.reason(b.Err))
		}
	}
	if broken > 3 && !o.strict {
		e.note("%d files could not be searched", broken)
	}
	if broken > 0 && broken == found.Files && len(found.Sessions)+len(found.Events) == 0 {
		return sessionfmt.Errorf("cannot be searched").In(found.Broken[0].File)
	}
	return noneBroken(o.strict, broken, found.Files, "cannot be searched")
}

// searched returns the files that the arguments name. Without arguments they are those of all
// agents, with their histories and logs.
func (e *env) searched(args []string) (files []search.File, err error) {
	all, err := e.listed(args)
	folders := args
	switch {
	case len(args) > 0:
	case e.sessionsDir != "":
		folders = []string{e.sessionsDir}
	default:
		if folders = e.logFolders(); len(folders) > 0 {
			var more []listedFile
			more, err = e.listed(folders)
			all = append(more, all...)
		}
	}
	for _, dir := range folders {
		if e.isDir(dir) {
			for _, name := range search.Logs(e.disk, dir) {
				all = append(all, listedFile{path: name, given: filepath.ToSlash(name)})
			}
		}
	}
	seen, stored := map[string]bool{}, e.store()
	for _, f := range all {
		if f.path == "-" {
			return nil, usagef("-: standard input cannot be searched; write it to a file first")
		}
		given := f.given
		if len(args) == 0 {
			given = e.homeless(f.path)
		}
		if !seen[f.path] {
			seen[f.path] = true
			given = e.fileName(given)
			files = append(files, search.File{Name: f.path, Given: given, Ref: cmp.Or(stored.Short(f.path), given)})
		}
	}
	return files, err
}

// logFolders returns gsh's folders of history, sessions and logs, and SWE-CLI's logs, if they are searched.
func (e *env) logFolders() (dirs []string) {
	if e.home == "" || e.sessionsDir != "" {
		return nil
	}
	for _, dir := range []string{e.gshFolder(), filepath.Join(e.home, ".swecli/logs")} {
		if e.disk.Has(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// gshFolder returns the folder of gsh.
func (e *env) gshFolder() string {
	return filepath.Join(cmp.Or(e.getenv("XDG_DATA_HOME"), filepath.Join(e.home, ".local/share")), "gsh")
}

// homeless returns the name of a file with ~ for the home folder.
func (e *env) homeless(name string) string {
	if rest, ok := strings.CutPrefix(name, e.home+string(filepath.Separator)); ok && e.home != "" {
		return "~/" + filepath.ToSlash(rest)
	}
	return filepath.ToSlash(name)
}

// lastCommands prints the last commands of a shell, for the first message to an agent.
func (o *searchOptions) lastCommands(e *env, args []string) error {
	switch {
	case o.recent < -1:
		return usagef("--recent %d: must be -1, 0 or more", o.recent)
	case o.recent == -1:
		text, err := e.setting("ambient-commands")
		o.recent = 5
		if err == nil && text != "" {
			o.recent, err = strconv.Atoi(text)
		}
		if err != nil {
			return usage(fmt.Errorf("configuration: ambient-commands: %w", err))
		}
	}
	name, err := e.shellOf(args)
	if err != nil {
		return err
	}
	opt := search.Options{Rules: replay.Auto, Open: e.opening(0), Redact: e.redactor}
	opt.Open.Through = nil
	commands, err := search.Recent(search.File{Name: name, Given: e.fileName(name)}, o.recent, opt)
	if err != nil {
		return err
	}
	return e.print(&o.answer, []string{name}, show.AmbientForms.Of(show.Ambient{
		N: o.recent, Commands: slices.Clip(commands),
	}))
}

// shellOf returns the file with the last commands: the one that is named, gsh's history, or the
// newest session of the current folder.
func (e *env) shellOf(args []string) (string, error) {
	if len(args) > 0 {
		return e.store().Locate(args[0])
	}
	if history := filepath.Join(e.gshFolder(), "shell-history.jsonl"); e.home != "" && e.disk.Has(history) {
		return history, nil
	}
	cwd, err := filepath.Abs(e.disk.Path("."))
	if err != nil {
		return "", err
	}
	return e.store().Newest(cwd)
}
