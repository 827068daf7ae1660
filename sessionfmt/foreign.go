package sessionfmt

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/base/scratch"
	"ctxtool/internal/read/dialect/claude"
	"ctxtool/internal/read/dialect/cline"
	"ctxtool/internal/read/dialect/codex"
	"ctxtool/internal/read/dialect/copilot"
	"ctxtool/internal/read/dialect/gemini"
	"ctxtool/internal/read/dialect/gsh"
	"ctxtool/internal/read/dialect/openclaw"
	"ctxtool/internal/read/dialect/opencode"
	"ctxtool/internal/read/dialect/qwen"
	"ctxtool/internal/read/dialect/swecli"
	"ctxtool/internal/read/dialect/yagent"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// dialects are the formats of other agents that are read. A new one is a line here.
var dialects = []*dialect.Dialect{
	&codex.Dialect, &qwen.Dialect, &claude.Stream, &claude.Dialect, &gemini.Dialect, &gsh.Dialect, &swecli.Dialect,
	&yagent.Dialect, &opencode.Dialect, &opencode.Version2, &opencode.Kilo, &openclaw.Dialect, &copilot.Dialect,
	&cline.Dialect,
}

// Dialects returns the formats of other agents that are read.
func Dialects() []*dialect.Dialect { return slices.Clone(dialects) }

// Dialect is the format of the session where it is another agent's, nil for pi.
func (s *Session) Dialect() *dialect.Dialect { return s.dialect }

// Agent returns the name of the agent that wrote the session. Variants of pi write its format, and oh-my-pi
// alone begins a file with a title.
func (s *Session) Agent() string {
	if s.OhMyPi() {
		return dialect.OhMyPi
	}
	return s.dialect.Agent()
}

// OhMyPi reports whether oh-my-pi wrote the session (docs/session-format.md 21).
func (s *Session) OhMyPi() bool {
	return s.dialect == nil && len(s.records) > 0 && s.records[0].kind == jsonl.Slot
}

// WrittenBy returns the version of the agent that wrote the session, empty where it does not say.
func (s *Session) WrittenBy() string { return s.wroteIt }

// ErrForeign refuses to write to another agent's session.
var ErrForeign = errors.New("sessions of other agents are read only")

// Foreign is the error of writing to a session that is another agent's, nil for pi's.
func (s *Session) Foreign() error {
	if s.dialect == nil {
		return nil
	}
	return &Error{
		Pos: Pos{File: s.Name}, Err: fmt.Errorf("a session of %s: %w", s.dialect.Name, ErrForeign),
		Hint: "ctxtool import " + Clean(s.Name) + " -o NEW.jsonl writes it as a session of pi",
	}
}

// Kept returns which prompts record i keeps, a transform of an agent whose transforms can keep some; ok
// is false for other records.
func (s *Session) Kept(i int) (k dialect.Kept, ok bool) {
	k, ok = s.kept[i]
	return k, ok
}

// Answers reports whether record i is the answer to a request. In another agent's session
// parts of one that broke off, and answers that were put there, are none; in one of pi, an empty
// one with which it ends a turn whose calls the user aborted.
func (s *Session) Answers(i int) bool {
	return s.records[i].kind == jsonl.Assistant && s.records[i].flags&flagUnanswered == 0
}

// Counted returns what the session cost as its agent counted it, in US dollars; ok is false where it
// did not. copies reports whether the count has the calls before a fork too: it began before the first of them.
func (s *Session) Counted() (dollars float64, copies, ok bool) {
	begins := int64(math.MaxInt64)
	for run, cost := range s.counted {
		dollars += cost
		begins = min(begins, jsonl.Value(run).Int())
	}
	if line, err := s.HeaderLine(); err == nil {
		first, timed := line.Get("timestamp").Millis()
		copies = timed && begins > 0 && begins <= first
	}
	return dollars, copies, len(s.counted) > 0
}

// NoUsage reports whether record i is known to have no usage, without reading it.
func (s *Session) NoUsage(i int) bool { return s.records[i].flags&flagNoUsage != 0 }

// noteFiles adds findings of the session's files, apart from their lines.
func (s *Session) noteFiles(opt Options) {
	if s.doc != nil {
		for _, b := range s.doc.beside {
			if b.damaged != nil {
				s.found.add(b.damaged.code, 0, "", "%s: %v: it is left out", opt.calls(b.name), b.damaged)
			}
		}
		return
	}
	if s.dialect == nil {
		return
	}
	if end := s.dialect.Display; end != "" && strings.HasSuffix(sessionName(s.Name), end) {
		s.found.add("display-history", 0, "", "this is the history that the agent shows; what it sends is in %s",
			Quote(strings.TrimSuffix(filepath.Base(sessionName(s.called)), end)+".jsonl"))
	}
}

// sessionName is the name of a file without that of its compression.
func sessionName(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, ".zst"), ".gz")
}

// atOnce is how many entries a worker visits at a time.
const atOnce = 512

// visit hands the entries of another agent's session to visitors, as indexing does for pi's.
func (s *Session) visit(opt Options) error {
	if s.dialect == nil || opt.Visit == nil {
		return nil
	}
	workers := min(opt.visitors(), 1+len(s.records)/(8*atOnce))
	pieces := (len(s.records) + atOnce - 1) / atOnce
	for err := range parallel.InOrder(pieces, workers, 2*workers+2, func() func(k int) error {
		r, head, see := s.NewReader(), jsonl.NewHeadReader(opt.Pick), opt.Visit()
		var said jsonl.Message
		return func(k int) error {
			for i := k * atOnce; i < min((k+1)*atOnce, len(s.records)); i++ {
				h, err := r.visited(i, opt.Usages, head, &said)
				if err != nil {
					return err
				}
				h.Off, h.Unanswered, h.Delegated = s.Offset(i), s.records[i].flags&flagUnanswered != 0, s.Delegated(i)
				see(h)
			}
			return nil
		}
	}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// visited is record i as a visitor gets it; see [Options].Usages.
func (r *Reader) visited(i int, usages bool, head *jsonl.HeadReader, said *jsonl.Message) (*jsonl.Picked, error) {
	kind := r.s.Kind(i)
	if usages && (!kind.MayPay() && kind != jsonl.Header || r.s.NoUsage(i) && kind == jsonl.ToolResult) {
		return head.Typed(jsonl.Picked{Kind: kind}, nil, nil, nil), nil
	}
	if usages && kind == jsonl.Assistant {
		if p, ok := r.pickedCall(i, head); ok {
			return p, nil
		}
	}
	if usages {
		if e, err := r.typed(i, false); err != nil {
			return nil, err
		} else if !kind.IsMessage() || len(e.Messages) > 0 {
			*said = jsonl.Message{Kind: kind}
			return r.picked(head, nil, said), nil
		}
	}
	line, _, err := r.foreign(i, false, said)
	if err != nil {
		return nil, err
	}
	return r.picked(head, line, said), nil
}

// A joined is a line that belongs to an entry, beside its first one. Those of an entry are a
// ring, in order: the entry has the last of them, and that has the first.
type joined struct {
	off        int64
	size, next uint32
}

func (j *joined) at() dialect.Span { return dialect.Span{Off: j.off, Size: j.size} }

// scan classifies a line of another agent's session in one pass, if that is possible: n is its
// size then, without white space, and 0 if not.
func (x *indexer) scan(text []byte) (h dialect.Head, n int) {
	if x.dialect == nil || x.dialect.Scan == nil {
		return h, 0
	}
	return x.dialect.Scan(text)
}

// addRead adds a line of another agent's session by its head.
func (x *indexer) addRead(u *unit, h *jsonl.Picked, rec record) {
	head := x.dialect.Read(h)
	head.Time = h.Timestamp
	if head.Code == dialect.Unknown {
		typ := Quote(h.Type.Text())
		u.cover.unknown(typ, 1)
		u.cover.first(typ, u.cover.passed)
	}
	x.addForeign(u, head, rec)
	if x.skims {
		u.skims.add(rec.off(), x.dialect.Skim, h)
	}
}

// addForeign keeps a line of another agent's session until it is arranged: its code is
// kept as its kind, and what it refers to and its group as its parent.
func (x *indexer) addForeign(u *unit, head dialect.Head, rec record) {
	if head.Code == dialect.Skip {
		return
	}
	if head.NoUsage {
		rec.flags |= flagNoUsage
	}
	if head.Copied {
		rec.flags |= flagCopied
	}
	if head.Code == dialect.Unknown {
		head.Rules |= rule.Of(rule.Unread)
	}
	u.rules = append(u.rules, head.Rules)
	rec.kind = jsonl.Kind(head.Code)
	rec.id, rec.parent = u.intern(head.ID), uint32(u.intern(head.Ref))
	u.groups = append(u.groups, u.intern(head.Group))
	if rec.flags&flagBadUTF8 != 0 {
		u.findings.add("invalid-utf8", u.cover.passed, idString(idAt(u.ids, rec.id)), badUTF8)
	}
	u.records = append(u.records, rec)
	if x.times {
		ms, ok := head.Time.Millis()
		if head.Time.IsNumber() {
			ms, ok = head.Time.Date()
		}
		switch {
		case !head.Time.Exists():
			ms = untimed
		case !ok:
			ms = noTime
		}
		u.times = append(u.times, ms)
	}
}

// Native is record i as Line has it, with messages as their agent sends them.
func (r *Reader) Native(i int) (jsonl.Value, error) {
	if r.s.dialect == nil || r.s.Held(i) {
		return r.Line(i)
	}
	line, _, err := r.foreign(i, true, nil)
	return line, err
}

// Ask makes Native return messages as they are sent to that model.
func (r *Reader) Ask(to rule.Asked) { r.to, r.unread = to, false }

// foreign is a record of another agent's session in pi's shape. If said is not nil, it is set to the
// message of a message entry, whose JSON has that size, 0 for none.
func (r *Reader) foreign(i int, native bool, said *jsonl.Message) (line jsonl.Value, size int, err error) {
	e, err := r.typed(i, native)
	if err != nil {
		return nil, 0, err
	}
	r.showing = 0
	r.shown, size = r.write.Append(scratch.Reset(r.shown), &r.source, e, said)
	if !native {
		r.showing = i + 1
	}
	return r.shown, size, nil
}

// typed is a record of another agent's session.
func (r *Reader) typed(i int, native bool) (*dialect.Entry, error) {
	rec, src := &r.s.records[i], &r.source
	part := r.part(i)
	known := r.made == i || part > 0 && (part < len(src.Entries) || src.Again != nil) && r.s.sameLines(r.made, i)
	known = known && r.unread && src.Native == native
	if !known && rec.size > readAhead {
		*src = dialect.Source{} // never hold two long lines at once
	}
	src.Kind, src.ID, src.Parent, src.Part = rec.kind, idText(r.s.idOf(i)), idText(r.s.parentOf(i)), part
	src.Kept = r.s.kept[i]
	src.Unanswered, src.Native, src.To = rec.flags&flagUnanswered != 0, native, r.to
	switch {
	case !known:
		src.Reset()
		if err := r.linesOf(i); err != nil {
			return nil, err
		}
		r.s.dialect.Make(src)
	case src.Again != nil:
		src.Next()
		src.Again()
	}
	r.unread, r.made = true, i
	return src.Entry(), nil
}

// picked is the entry that was read last, as a visitor gets it.
func (r *Reader) picked(head *jsonl.HeadReader, line jsonl.Value, said *jsonl.Message) *jsonl.Picked {
	src := &r.source
	e := src.Entry()
	p := jsonl.Picked{Kind: src.Kind, Line: line, Type: e.Type, ID: dialect.Quote(src, src.ID), Timestamp: e.Time}
	if len(src.Parent) > 0 {
		p.ParentID = dialect.Quote(src, src.Parent)
	} else if src.Kind.IsEntry() {
		p.ParentID = jsonl.Value("null")
	}
	if src.Kind.IsMessage() && len(e.Messages) > 0 {
		return head.Typed(p, e.Members, e.Messages[0].Fields(said), said)
	}
	if src.Kind.IsMessage() { // its message is JSON of pi's
		if h, bad := head.Read(line); bad == nil {
			return h
		}
	}
	return head.Typed(p, e.Members, nil, nil)
}

// sameLines reports whether two entries are made of the same lines.
func (s *Session) sameLines(i, k int) bool {
	if s.records[i].off() != s.records[k].off() {
		return false
	}
	a, b := s.last[i], s.last[k]
	if a == 0 || b == 0 {
		return a == b
	}
	one, other := s.joined[a], s.joined[b]
	return one.next == a && other.next == b && one.at() == other.at()
}

// part is how many entries before record i are made of its first line.
func (r *Reader) part(i int) int {
	s, before := r.s, i-1
	if r.unread && r.made == before && before >= 0 && s.records[before].off() == s.records[i].off() &&
		s.records[before].kind.IsEntry() {
		return r.source.Part + 1
	}
	return s.part(i, s.records[i].off())
}

// linesOf reads the lines of an entry. Those that are near each other are read at once, where they
// stand.
func (r *Reader) linesOf(i int) error {
	first := r.s.records[i].span()
	spans := append(r.spans[:0], first)
	from, to := first.Off, first.Off+int64(first.Size)
	for j := range r.s.joinedTo(i) {
		spans = append(spans, j.at())
		from, to = min(from, j.off), max(to, j.off+int64(j.size))
	}
	r.spans, r.source.Spans = spans, spans
	near := r.s.doc == nil && to-from <= readAhead
	var raw []byte
	var err error
	if near {
		raw, err = r.stretch(dialect.Span{Off: from, Size: uint32(to - from)})
	} else {
		raw, err = r.lines(i, false)
	}
	if err != nil {
		return &Error{Pos: r.s.Pos(i), Err: err}
	}
	for k, at := range spans {
		line := raw
		switch {
		case near:
			line = raw[at.Off-from:][:at.Size:at.Size]
		case k < len(spans)-1:
			line, raw = raw[:at.Size:at.Size], raw[at.Size+1:] // a newline is between them
		}
		if r.s.badUTF8 && !utf8.Valid(line) {
			line = jsonl.ReplaceInvalidUTF8(line)
		}
		r.source.Lines = append(r.source.Lines, jsonl.Trim(line))
	}
	return nil
}
