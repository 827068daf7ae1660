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

// dialects lists the formats of other agents. A new format is added here.
var dialects = []*dialect.Dialect{
	&codex.Dialect, &qwen.Dialect, &claude.Stream, &claude.Dialect, &gemini.Dialect, &gsh.Dialect, &swecli.Dialect,
	&yagent.Dialect, &opencode.Dialect, &opencode.Version2, &opencode.Kilo, &openclaw.Dialect, &copilot.Dialect,
	&cline.Dialect,
}

// Dialects returns the supported formats of other agents.
func Dialects() []*dialect.Dialect { return slices.Clone(dialects) }

// Dialect returns the format of another agent's session, nil for pi's.
func (s *Session) Dialect() *dialect.Dialect { return s.dialect }

// Agent returns the name of the agent that wrote the session. Variants of pi share its format and name; only
// oh-my-pi can be told apart, by a title before the header.
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

// WrittenBy returns the version of the agent that wrote the session; empty if it is not recorded.
func (s *Session) WrittenBy() string { return s.wroteIt }

// ErrForeign is the error for writing to another agent's session.
var ErrForeign = errors.New("sessions of other agents are read only")

// Foreign returns the error for writing to this session if it is another agent's, nil for pi's.
func (s *Session) Foreign() error {
	if s.dialect == nil {
		return nil
	}
	return &Error{
		Pos: Pos{File: s.Name}, Err: fmt.Errorf("a session of %s: %w", s.dialect.Name, ErrForeign),
		Hint: "ctxtool import " + Clean(s.Name) + " -o NEW.jsonl writes it as a session of pi",
	}
}

// Kept returns the prompts that record i keeps, if it is a transform of an agent whose transforms keep prompts;
// ok is false for other records.
func (s *Session) Kept(i int) (k dialect.Kept, ok bool) {
	k, ok = s.kept[i]
	return k, ok
}

// Answers reports whether record i is the answer to a request. Parts of an interrupted answer, and answers that
// an agent inserted, are not; in a session of pi, neither is the empty answer that ends a turn whose calls the
// user aborted.
func (s *Session) Answers(i int) bool {
	return s.records[i].kind == jsonl.Assistant && s.records[i].flags&flagUnanswered == 0
}

// Counted returns the cost that the agent itself counted for the session, in US dollars; ok is false if it
// recorded none. copies reports whether the count includes calls before a fork, because it began before the
// first of them.
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

// NoUsage reports whether record i has no usage, as far as the index tells without reading it.
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

// sessionName returns a file name without the suffix of its compression.
func sessionName(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, ".zst"), ".gz")
}

// atOnce is the number of entries that a worker visits at a time.
const atOnce = 512

// visit passes the entries of another agent's session to visitors, as indexing does for pi's.
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

// visited returns record i as a visitor receives it; see [Options].Usages.
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

// A joined is a further line of an entry, beside its first one. The lines of an entry form a ring in order: the
// entry refers to the last, and that to the first.
type joined struct {
	off        int64
	size, next uint32
}

func (j *joined) at() dialect.Span { return dialect.Span{Off: j.off, Size: j.size} }

// scan classifies a line of another agent's session in a single pass, if its dialect can. n is then the size of
// the line without white space, else 0.
func (x *indexer) scan(text []byte) (h dialect.Head, n int) {
	if x.dialect == nil || x.dialect.Scan == nil {
		return h, 0
	}
	return x.dialect.Scan(text)
}

// addRead adds a line of another agent's session, given its head.
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
		if rec.flags&flagBadUTF8 != 0 { // as it is decoded
			h, _ = x.head.Read(jsonl.ReplaceInvalidUTF8(h.Line))
		}
		u.skims.add(rec.off(), x.dialect.Skim, h)
	}
}

// addForeign stores a line of another agent's session until it is arranged: its code in place of the kind, its
// reference and group in place of the parent.
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

// Native returns record i as Line does, but with messages as their agent sends them.
func (r *Reader) Native(i int) (jsonl.Value, error) {
	if r.s.dialect == nil || r.s.Held(i) {
		return r.Line(i)
	}
	line, _, err := r.foreign(i, true, nil)
	return line, err
}

// Ask makes Native return messages as they are sent to this model.
func (r *Reader) Ask(to rule.Asked) { r.to, r.unread = to, false }

// foreign returns a record of another agent's session in pi's shape. If said is not nil, it receives the
// message of a message entry, and size is the length of its JSON; 0 if there is none.
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

// typed returns a record of another agent's session as a value.
func (r *Reader) typed(i int, native bool) (*dialect.Entry, error) {
	rec, src := &r.s.records[i], &r.source
	part := r.part(i)
	known := r.made == i || part > 0 && (part < len(src.Entries) || src.Again != nil) && r.s.sameLines(r.made, i)
	known = known && r.unread && src.Native == native
	if !known && rec.size > readAhead {
		*src = dialect.Source{} // never hold two long lines at the same time
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

// picked returns the entry that was read last as a visitor receives it.
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
	if src.Kind.IsMessage() { // its message is already JSON in pi's shape
		if h, bad := head.Read(line); bad == nil {
			return h
		}
	}
	return head.Typed(p, e.Members, nil, nil)
}

// sameLines reports whether two entries were made from the same lines.
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

// part returns how many entries before record i were made from its first line.
func (r *Reader) part(i int) int {
	s, before := r.s, i-1
	if r.unread && r.made == before && before >= 0 && s.records[before].off() == s.records[i].off() &&
		s.records[before].kind.IsEntry() {
		return r.source.Part + 1
	}
	return s.part(i, s.records[i].off())
}

// linesOf reads the lines of an entry. Lines that are close together are read in one go.
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
			line, raw = raw[:at.Size:at.Size], raw[at.Size+1:] // a newline separates them
		}
		if r.s.badUTF8 && !utf8.Valid(line) {
			line = jsonl.ReplaceInvalidUTF8(line)
		}
		r.source.Lines = append(r.source.Lines, jsonl.Trim(line))
	}
	return nil
}
