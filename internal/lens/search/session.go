package search

import (
	"cmp"
	"errors"
	"hash/maphash"
	"math"
	"os"
	"slices"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// seed is that of the hashes of texts.
var seed = maphash.MakeSeed()

// sessionOrEvents searches a session, or with another source, its commands or events.
func (s *searcher) sessionOrEvents(f File, out *searched) error {
	if s.opt.Source == InHistory || s.opt.Source == InLogs {
		return s.events(f, out)
	}
	return s.session(f, out)
}

// open opens a session, and returns what its header tells.
func (s *searcher) open(f File, workers int, redacted, valid bool) (ses *sessionfmt.Session, about outline.About,
	err error) {
	opt := s.opt.Open
	opt.Workers, opt.Valid = workers, valid
	if redacted && s.opt.Redact != nil {
		opt.Through = s.opt.Redact.Passes(nil)
	}
	ses, err = sessionfmt.Open(f.Name, opt)
	if err != nil {
		return nil, about, err
	}
	line, err := ses.HeaderLine()
	if err != nil {
		ses.Close()
		return nil, about, err
	}
	outline.ReadHeader(&about, line)
	s.begun, _ = line.Get("timestamp").Millis()
	return ses, about, nil
}

// session searches a session.
func (s *searcher) session(f File, out *searched) error {
	workers, before, done := s.take(f)
	defer done()
	if s.header != nil && s.opt.task == nil && s.opt.Redact == nil && !s.opt.Filter.PathOnly &&
		!s.opt.Filter.InContext {
		return s.pass(f, workers, before, out)
	}
	ses, about, err := s.open(f, workers, s.opt.task != nil, false)
	if err != nil {
		return err
	}
	defer ses.Close()
	if !s.opt.Filter.in(about.CWD) {
		return nil
	}
	if s.opt.task != nil {
		out.task = s.taskSession(f, ses, about)
		return nil
	}
	out.lines = int64(ses.Len())
	group := &Session{File: f, About: about}
	if err = s.indexed(ses, workers, group); err == nil {
		err = s.narrow(ses, group)
	}
	if err != nil || len(group.found) == 0 {
		return err
	}
	group.Time, group.last = lastTime(ses, ses.NewReader())
	out.session = group
	return nil
}

// entry searches an entry.
func (s *searcher) entry(kind jsonl.Kind, line jsonl.Value) (hit found, ok bool) {
	d, f := &s.doc, &s.opt.Filter
	d.read(kind, line)
	ms, timed := d.time.Millis()
	if !f.at(cmp.Or(ms, s.begun), timed || s.begun > 0) || !f.entry(d) {
		return hit, false
	}
	hit.time = math.MaxInt64
	if timed {
		hit.time = ms
	}
	m, some := matcher{q: s.query, ranked: s.query.Ranked}, false
	for _, b := range d.blocks {
		if f.block(d, b) {
			some = true
			m.add(d.text(b))
		}
	}
	if !some || !m.done() {
		return hit, false
	}
	copy(s.counts, m.counts[:])
	hit.size, hit.key = int32(min(len(d.buf), math.MaxInt32)), maphash.Bytes(seed, d.buf)
	return hit, true
}

// Roles are the roles of messages as a provider gets them.
var Roles = []string{"user", "assistant", "tool", "system"}

// role returns the role that a provider gets an entry with, empty if it gets none.
func role(kind jsonl.Kind) string {
	switch kind {
	case jsonl.System:
		return "system"
	case jsonl.Assistant:
		return "assistant"
	case jsonl.ToolResult:
		return "tool"
	case jsonl.User, jsonl.Bash, jsonl.Custom, jsonl.HookMessage, jsonl.CustomMessage, jsonl.BranchMessage,
		jsonl.CompactionMessage, jsonl.Compaction, jsonl.BranchSummary:
		return "user"
	}
	return ""
}

// kind reports whether entries of a kind are searched.
func (f *Filter) kind(k jsonl.Kind) bool {
	switch {
	case !k.IsEntry(), len(f.Kinds) > 0 && !slices.Contains(f.Kinds, k.String()),
		len(f.Roles) > 0 && !slices.Contains(f.Roles, role(k)):
		return false
	case f.Model != "" && k != jsonl.Assistant, f.Exit != nil && k != jsonl.ToolResult && k != jsonl.Bash:
		return false
	}
	return true
}

// Events are the kinds of events of logs, with what they are in sessions.
var Events = []string{"bash_exec", "tool_call", "tool_result", "prompt", "error"}

// entry reports whether an entry is searched.
func (f *Filter) entry(d *doc) bool {
	if f.Model != "" && !strings.Contains(d.m.Provider.Text()+"/"+d.m.Model.Text(), f.Model) {
		return false
	}
	if f.Exit != nil {
		if code, failed := d.ended(); !f.exits(code, failed) {
			return false
		}
	}
	return f.Event == "" || slices.ContainsFunc(d.blocks, func(b docBlock) bool { return d.event(b) == f.Event })
}

// event returns the event that a log has for a text.
func (d *doc) event(b docBlock) string {
	switch b.where {
	case Prompt:
		return "prompt"
	case Failure:
		return "error"
	case Call:
		if d.kind == jsonl.Bash {
			return "bash_exec"
		}
		return "tool_call"
	case Result:
		if code, failed := d.ended(); (code != nil || failed) && activity.Named(b.tool) == activity.Run {
			return "bash_exec"
		}
		return "tool_result"
	}
	return ""
}

// block reports whether a text is searched.
func (f *Filter) block(d *doc, b docBlock) bool {
	return (f.Event == "" || d.event(b) == f.Event) && (len(f.Tools) == 0 || contains(f.Tools, b.tool))
}

// narrow leaves of the hits of a session those that the filter selects by the context.
func (s *searcher) narrow(ses *sessionfmt.Session, g *Session) error {
	f := &s.opt.Filter
	if f.PathOnly && len(g.found) > 0 {
		path, _ := ses.Path(ses.Leaf())
		on := map[int]bool{}
		for _, rec := range path {
			on[rec] = true
		}
		g.drop(func(h *found) bool { return !on[int(h.at)] })
	}
	if f.InContext && len(g.found) > 0 {
		had, err := requested(replay.New(ses, replay.Options{Rules: s.opt.Rules}))
		if err != nil {
			return err
		}
		g.drop(func(h *found) bool { return !had[int(h.at)] })
	}
	return nil
}

// requested returns the entries whose texts a request had: their own, or those of edits.
func requested(r *replay.Replay) (map[int]bool, error) {
	l, err := ledger.Read(r, ledger.Options{Leaf: r.Session.Leaf(), Bare: true})
	if err != nil {
		return nil, err
	}
	had := map[int]bool{}
	for _, k := range l.Replayed {
		for _, m := range l.Added(k) {
			if m.Sent() || m.System() {
				had[m.Origin().By] = true
			}
		}
	}
	return had, nil
}

// dates reports whether a record is activity of a session (docs/figures.md, "Title and time"). The
// header, which comes first, stands in for messages without a time.
func dates(k jsonl.Kind) bool { return k.IsMessage() || k == jsonl.Header }

// lastTime returns the time of the last message that has one, else of the header.
func lastTime(ses *sessionfmt.Session, lines *sessionfmt.Reader) (text string, ms int64) {
	for i := ses.Len() - 1; i >= 0; i-- {
		if !dates(ses.Kind(i)) {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			break
		}
		at := line.Get("timestamp")
		if ms, ok := at.Millis(); ok {
			return at.Text(), ms
		}
	}
	return "", 0
}

// errChanged is the error of a session that has become shorter since it was searched.
var errChanged = errors.New("changed while it was searched")

// read reads a session's title and hits, at most so many of them.
func (s *searcher) read(g *Session, most int, r *Results) error {
	sorting.By(g.found, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.time, b.time), cmp.Compare(a.at, b.at))
	})
	return s.texts(g, func(f *found) bool {
		if h, ok := s.hit(f, r.idf); ok {
			h.File, h.Session, h.CWD = g.File.Given, g.ID, g.CWD
			rec := g.record(s.ses, f)
			h.ID, h.Line, h.Kind = s.ses.ID(rec), s.ses.Line(rec), s.doc.kind.String()
			g.Hits = append(g.Hits, h)
		}
		return len(g.Hits) != most
	})
}

// texts opens a session again, reads its title, and calls use for its hits, whose texts are in
// the doc, until use returns false.
func (s *searcher) texts(g *Session, use func(f *found) bool) error {
	workers, now, done := s.take(g.File)
	defer done()
	unchanged := g.sound != nil && now != nil && os.SameFile(g.sound, now) &&
		g.sound.Size() == now.Size() && g.sound.ModTime().Equal(now.ModTime())
	ses, about, err := s.open(g.File, workers, true, unchanged)
	if err != nil {
		return err
	}
	defer ses.Close()
	g.About = about
	if err := outline.Entitle(&g.About, ses, ses.Leaf()); err != nil {
		return err
	}
	lines := ses.NewReader()
	s.ses = ses
	for i := range g.found {
		rec := g.record(ses, &g.found[i])
		if rec < 0 {
			return &sessionfmt.Error{Pos: sessionfmt.Pos{File: g.File.Given}, Err: errChanged}
		}
		line, err := lines.Line(rec)
		if err != nil {
			return err
		}
		s.doc.read(ses.Kind(rec), line)
		if !use(&g.found[i]) {
			g.More += len(g.found) - i - 1
			break
		}
	}
	return nil
}

// hit returns the hit in the current doc: of its texts the one that matches best. There is none
// if redaction has removed what matched.
func (s *searcher) hit(f *found, weights []float64) (h Hit, ok bool) {
	d, most := &s.doc, -1.0
	h = Hit{Schema: Schema, Source: InSessions, Time: d.time.Text(), Score: float64(f.score), Copies: int(f.copies)}
	for _, b := range d.blocks {
		if !s.opt.Filter.block(d, b) {
			continue
		}
		if m, score, found := s.query.best(d.text(b), weights); found && score > most {
			ok, most = true, score
			h.Where, h.Tool = b.where, b.tool
			h.excerpt(d.text(b), m)
		}
	}
	return h, ok
}
