package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/base/sorting"
	"ctxtool/internal/lens/redact"
	"ctxtool/internal/out/browse"
	"ctxtool/internal/out/html"
	pages "ctxtool/internal/out/report"
	"ctxtool/internal/out/terminal"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

type browseOptions struct {
	redaction
	port        int
	noOpen      bool
	known       *models.Table
	noSubAgents bool
}

func (o *browseOptions) define(f *flagSet) {
	o.redaction.flags(f)
	f.models(&o.known)
	f.Var(portFlag(&o.port), "port", "serve on port `N` of 127.0.0.1; 0, the default, is a free one")
	f.noSubAgents(&o.noSubAgents)
	f.BoolVar(&o.noOpen, "no-open", false, "print the address, and open no browser")
}

// unused is the time without requests after which the server ends.
const unused = time.Hour

func runBrowse(e *env, o *browseOptions, args []string) error {
	b := &browsed{env: e, known: o.known, without: o.noSubAgents, title: "Sessions",
		numbers: map[string]int{}, busy: make(chan struct{}, 1)}
	b.list = func() ([]listedFile, error) {
		return e.families(nil)
	}
	if len(args) > 0 {
		if !e.isDir(args[0]) && !sessionfmt.IsDatabase(e.disk, args[0]) {
			return usage(sessionfmt.Errorf("must be a folder").In(args[0]).
				Hinted("ctxtool render --open opens a session"))
		}
		b.title = e.fileName(filepath.Base(e.disk.Path(args[0])))
		b.list = func() ([]listedFile, error) { return e.families(args[:1]) }
	}
	if _, err := b.list(); err != nil {
		return err
	}
	e.collect(browseGC)
	s := &browse.Server{Handler: b.routes(), Idle: unused, Watch: "watch/"}
	taken, err := s.Listen(o.port)
	if err != nil {
		return noAnswer(err)
	}
	fmt.Fprintln(e.stdout, s.Address())
	if taken {
		e.note("port %d is taken: serving on port %d", o.port, s.Port())
	}
	switch remote := e.getenv("SSH_CONNECTION") != ""; {
	case remote:
		const tunnel = "over ssh: run ssh -L %d:127.0.0.1:%[1]d with this host where your browser is, and open the " +
			"address there"
		e.note(tunnel, s.Port())
	case !o.noOpen:
		go func() {
			if err := terminal.Browse(s.Address(), e.environ, e.stderr); err != nil {
				e.note("no browser was opened (%v): open the address; BROWSER sets another one", err)
			}
		}()
	}
	if err := s.Serve(context.Background()); err != nil {
		return noAnswer(err)
	}
	e.note("unused for an hour")
	return nil
}

// browseGC is the percentage for collect while a store is served: memory beyond that of one answer is of no
// use.
const browseGC = 70

// A browsed is a store that is served. Pages are made on request, one at a time, so that memory stays that of
// one page.
type browsed struct {
	*env
	known   *models.Table
	without bool // sessions of sub-agents
	title   string
	list    func() ([]listedFile, error)
	busy    chan struct{} // held while a page is made

	mu      sync.Mutex
	files   []listedFile   // files by number
	agents  []string       // summaries by number, as far as they are known
	numbers map[string]int // numbers by path
}

func (b *browsed) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", b.making("text/html; charset=utf-8", b.index))
	mux.HandleFunc("/sessions", b.making(jsonLines, b.sessions))
	mux.HandleFunc("/found", b.making(jsonLines, b.found))
	mux.HandleFunc("/s/{number}", b.making("text/html; charset=utf-8", b.page))
	mux.HandleFunc("/watch/{number}", func(w http.ResponseWriter, r *http.Request) {
		if f, ok := b.file(r); ok {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			io.WriteString(w, b.state(f.path))
			return
		}
		http.NotFound(w, r)
	})
	return mux
}

const jsonLines = "application/x-ndjson; charset=utf-8"

// A refusal is an answer with an error status.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

// A maker writes an answer; flush sends what it has written so far.
type maker func(w *bufio.Writer, r *http.Request, flush func()) error

// making returns a handler that makes the answer to a request, one at a time, and stops when the client has
// gone.
func (b *browsed) making(contents string, write maker) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case b.busy <- struct{}{}:
			defer func() { <-b.busy }()
		case <-r.Context().Done():
			return
		}
		sent := &sent{ResponseWriter: w, contents: contents}
		out := bufio.NewWriterSize(sent, 32<<10)
		flush := func() {
			out.Flush()
			http.NewResponseController(w).Flush()
		}
		var err error
		if b.leaks != nil { // nothing is sent before all of it is known to contain no secret
			var text []byte
			text, err = written(func(w *bufio.Writer) error { return write(w, r, func() {}) })
			if err == nil {
				out.Write(text)
			}
		} else {
			err = write(out, r, flush)
		}
		if err == nil {
			err = out.Flush()
		}
		if err == nil || r.Context().Err() != nil {
			return
		}
		b.note("%s: %v", r.URL.Path, err)
		if sent.begun {
			panic(http.ErrAbortHandler) // the answer is incomplete
		}
		status := http.StatusInternalServerError
		if no, ok := errors.AsType[refusal](err); ok {
			status = no.status
		}
		http.Error(w, sessionfmt.Clean(b.redacted(err.Error())), status)
	}
}

// A sent is a response that knows whether it has begun.
type sent struct {
	http.ResponseWriter
	contents string
	begun    bool
}

func (s *sent) Write(p []byte) (int, error) {
	if !s.begun {
		s.begun = true
		s.Header().Set("Content-Type", s.contents)
	}
	return s.ResponseWriter.Write(p)
}

// opened returns the options for opening sessions on a request: reading stops when the client has gone.
func (b *browsed) opened(r *http.Request, workers int) sessionfmt.Options {
	opt := b.opening(workers)
	opt.Disk.Stop, opt.Opened = r.Context().Err, nil
	return opt
}

// number returns the number of a file, which it keeps.
func (b *browsed) number(f listedFile) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.numbers[f.path]
	if !ok {
		n = len(b.files)
		b.numbers[f.path] = n
		b.files, b.agents = append(b.files, f), append(b.agents, "")
	}
	return n
}

// file returns the file that an address names.
func (b *browsed) file(r *http.Request) (listedFile, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || n < 0 || n >= len(b.files) {
		return listedFile{}, false
	}
	return b.files[n], true
}

// state returns a text that changes with a session's file.
func (b *browsed) state(path string) string {
	if info, err := b.disk.Stat(path); err == nil {
		return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	return b.disk.DatabaseState(filepath.Dir(path))
}

func address(number int) string { return fmt.Sprintf("s/%d", number) }

func (b *browsed) index(w *bufio.Writer, _ *http.Request, _ func()) error {
	return html.ServeStore(w, pages.NewStore(b.title, b.redactor != nil, []*pages.Summary{}))
}

// page writes the page of a session.
func (b *browsed) page(w *bufio.Writer, r *http.Request, _ func()) error {
	f, ok := b.file(r)
	if !ok {
		return refusal{http.StatusNotFound, "no such session"}
	}
	b.frugal(f.path)
	defer b.collect(browseGC)
	state := b.state(f.path) // before reading: anything later is growth
	s, err := sessionfmt.Open(f.path, b.opened(r, 0))
	if err != nil {
		return err
	}
	defer s.Close()
	write := func(w io.Writer, scan func(int, []byte)) error {
		report := pages.New(replay.New(s, replay.Options{Leaf: s.Leaf(), Models: b.known}), s.Leaf())
		b.subAgents(report, s, b.without, b.known)
		report.Check = b.checker(f.path, b.opened(r, 0))
		h := html.Page{
			Session: s, Report: report, File: b.fileName(filepath.Base(f.path)), Title: report.Title(), Index: "../",
			Redacted: b.redactor != nil, State: state, Scan: scan,
		}
		return h.Write(w)
	}
	if b.leaks != nil {
		leaks := redact.NewLeaks(b.leaks)
		if err := write(io.Discard, leaks.Add); err != nil {
			return err
		}
		if found := leaks.Summary(s); found != "" {
			return refusal{http.StatusConflict, found + "; --redact removes them"}
		}
	}
	return write(w, nil)
}

// A row is a session in the index that is served.
type row struct {
	*pages.Summary
	Agent string `json:"agent,omitempty"`
}

// sessions writes the sessions of the index as they are read, the newest first; those with sub-agents again
// once these are read, and at the end the total cost. Sub-agents without their session come last.
func (b *browsed) sessions(w *bufio.Writer, r *http.Request, flush func()) error {
	files, err := b.list()
	if err != nil {
		return err
	}
	written := map[string]time.Time{}
	for _, f := range files {
		if info, err := b.disk.Stat(f.path); err == nil {
			written[f.path] = info.ModTime()
		}
	}
	sorting.By(files, func(x, y listedFile) int { return written[y.path].Compare(written[x.path]) })
	files = slices.DeleteFunc(files, func(f listedFile) bool { return f.part && b.without })
	opt := stats.Options{By: []string{"day", "project", "agent"}, Zone: b.zone, Open: b.opened(r, 1),
		NoSubAgents: b.without}
	opt.Replay.Models = b.known
	var all []*stats.Summary
	of := map[*stats.Summary]listedFile{}
	last := time.Now()
	workers := workersPerProcessor
	for sum := range parallel.InOrder(len(files), workers, 4*workers, func() func(k int) *stats.Summary {
		return func(k int) *stats.Summary { return b.summary(files[k], &opt) }
	}) {
		if err := r.Context().Err(); err != nil {
			return err
		}
		all = append(all, sum)
		of[sum] = files[len(all)-1]
		if !of[sum].part && sum.Owner == "" {
			if err := b.line(w, b.row(of[sum], sum)); err != nil {
				return err
			}
		}
		if time.Since(last) > 100*time.Millisecond {
			flush()
			last = time.Now()
		}
	}
	all = opt.GatherSummaries(all)
	stats.MarkCopies(all)
	copied := map[string]float64{}
	for _, sum := range all {
		if f := of[sum]; sum.SubAgents > 0 || sum.Owner != "" { // its cost is now known
			if err := b.line(w, b.row(f, sum)); err != nil {
				return err
			}
		}
		if sum.Copied > 0 {
			copied[address(b.number(of[sum]))] = sum.Copied
		}
	}
	return b.line(w, map[string]any{"costs": stats.SpentBy(all), "copied": copied})
}

// summary returns the summary of a session. One that cannot be read has an error.
func (b *browsed) summary(f listedFile, opt *stats.Options) *stats.Summary {
	sum, err := opt.Summarize(f.path)
	if err != nil {
		sum = &stats.Summary{Error: b.reason(err)}
	}
	sum.File = filepath.Clean(f.path) // in the order of ctxtool cost
	return sum
}

// row returns a session in the form of the index.
func (b *browsed) row(f listedFile, sum *stats.Summary) row {
	n := b.number(f)
	out := row{&pages.Summary{File: b.fileName(f.name), Error: sum.Error}, sum.Agent}
	if sum.Error != "" {
		return out
	}
	b.mu.Lock()
	b.agents[n] = sum.Agent
	b.mu.Unlock()
	out.Page, out.Name, out.First, out.CWD, out.Model = address(n), sum.Name, sum.First, sum.CWD, sum.Model
	out.From, out.To = milliseconds(sum.Began), milliseconds(sum.Time)
	out.Entries, out.Found, out.Cost, out.Recorded = sum.Entries, sum.Found, sum.Cost, sum.Recorded
	out.SubAgents = pages.SubAgents{Cost: sum.SubAgents, Without: sum.NoSubAgents, Unread: sum.Unread, Owner: sum.Owner}
	out.Sizes, out.Over = []int{sum.Context}, sum.Window > 0 && int64(sum.Context) > sum.Window
	if sum.Calls != nil {
		c := sum.Calls.Sum()
		out.Requests, out.Read = int(c.Calls.Total), c.Tokens.CacheRead
		out.Tokens = c.Tokens.Input + c.Tokens.CacheRead + c.Tokens.CacheWrite
	}
	return out
}

// milliseconds returns a time as pages have it, 0 for none.
func milliseconds(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	return at.UnixMilli()
}

// line writes a value on a line, unless it contains a secret and must not.
func (b *browsed) line(w *bufio.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if b.leaks != nil {
		leaks := redact.NewLeaks(b.leaks)
		if leaks.Add(-1, text); leaks.Summary(nil) != "" {
			return refusal{http.StatusConflict, leaks.Summary(nil) + "; --redact removes them"}
		}
	}
	w.Write(text)
	return w.WriteByte('\n')
}
