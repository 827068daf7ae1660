package trace

import (
	"bytes"
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Query selects what a trace follows: a text, a pattern, or an entry's content.
type Query struct {
	Text   string         // a fixed text
	Regexp *regexp.Regexp // replaces Text if not nil
	Entry  int            // the record to follow if Text and Regexp are not set
}

// follows reports whether the query follows an entry.
func (q *Query) follows() bool { return q.Text == "" && q.Regexp == nil }

// A finder finds matches of a query. It is not safe for concurrent use.
type finder struct {
	q    *Query
	need []byte // every line with a match contains it, unless it has escaped letters
	buf  []byte
}

func newFinder(q *Query) *finder {
	f := &finder{q: q}
	text := q.Text
	if q.Regexp != nil {
		text, _ = q.Regexp.LiteralPrefix()
	}
	other := func(r rune) bool { return r < ' ' || r >= utf8.RuneSelf || strings.ContainsRune(`"\/`, r) }
	for _, run := range strings.FieldsFunc(text, other) {
		if len(run) > len(f.need) {
			f.need = []byte(run)
		}
	}
	return f
}

// may reports whether a line of JSON can contain a match, without parsing it. A letter may be
// written as an escape; need is ASCII.
func (f *finder) may(line jsonl.Value) bool {
	return len(f.need) == 0 || bytes.Contains(line, f.need) || bytes.Contains(line, escapedLetter)
}

var escapedLetter = []byte(`\u00`)

// text returns the first match in a text, with the words around it.
func (f *finder) text(b []byte) (around string, ok bool) {
	from, to := -1, -1
	switch {
	case f.q.Regexp != nil:
		if at := f.q.Regexp.FindIndex(b); at != nil {
			from, to = at[0], at[1]
		}
	case f.q.Text != "":
		if from = bytes.Index(b, []byte(f.q.Text)); from >= 0 {
			to = from + len(f.q.Text)
		}
	}
	if from < 0 {
		return "", false
	}
	return wordsAround(b, from, to), true
}

// string does the same for a JSON string.
func (f *finder) string(v jsonl.Value) (around string, ok bool) {
	if bytes.IndexByte(v, '\\') < 0 {
		return f.text(v[1 : len(v)-1])
	}
	f.buf = v.AppendText(f.buf[:0])
	return f.text(f.buf)
}

// strings does the same for the strings of a value.
func (f *finder) strings(v jsonl.Value) (around string, ok bool) {
	for s := range v.Strings {
		if around, ok = f.string(s); ok {
			return around, true
		}
	}
	return "", false
}

// words does the same for a value as text: its strings first, then its names, numbers and
// booleans.
func (f *finder) words(v jsonl.Value) (around string, ok bool) {
	if around, ok = f.strings(v); ok {
		return around, true
	}
	for s := range v.Words {
		if s.IsString() {
			around, ok = f.string(s)
		} else {
			around, ok = f.text(s)
		}
		if ok {
			return around, true
		}
	}
	return "", false
}

// message finds the first match in the text of a provider message: texts, thinking, and the
// names, ids and arguments of calls. Images and signatures are not text.
func (f *finder) message(m jsonl.Value) (around string, ok bool) {
	msg := m.Message()
	for i := range msg.Blocks {
		b := &msg.Blocks[i]
		switch b.Kind {
		case jsonl.OtherBlock, jsonl.ImageBlock:
			continue
		case jsonl.CallBlock:
			around, ok = f.call(b)
		default:
			around, ok = f.words(b.Text.Value)
		}
		if ok {
			return around, true
		}
	}
	for _, v := range []jsonl.Value{msg.CallID, msg.Tool} {
		if v.IsString() {
			if around, ok = f.string(v); ok {
				return around, true
			}
		}
	}
	return "", false
}

// call finds the first match in a tool call. A match in its arguments names the tool.
func (f *finder) call(b *jsonl.Block) (around string, ok bool) {
	for _, v := range []jsonl.Value{b.Name, b.ID} {
		if around, ok = f.words(v); ok {
			return around, true
		}
	}
	if around, ok = f.words(b.Args); ok {
		around = sessionfmt.Clean(b.Name.Text()) + "(" + around + ")"
	}
	return around, ok
}

// The length of the text shown before and after a match, bytes.
const (
	wordsBefore = 40
	wordsBehind = 80
)

// wordsAround returns the words around b[from:to] on one line, without control characters.
func wordsAround(b []byte, from, to int) string {
	start, end := max(0, from-wordsBefore), min(len(b), min(to, from+wordsBehind)+wordsBehind)
	for start > 0 && !utf8.RuneStart(b[start]) {
		start--
	}
	for end < len(b) && !utf8.RuneStart(b[end]) {
		end--
	}
	words := strings.Join(strings.Fields(string(b[start:end])), " ")
	if start > 0 {
		words = "…" + words
	}
	if end < len(b) {
		words += "…"
	}
	return sessionfmt.Clean(words)
}

// A promptPart identifies the parts, or the tools, of a name.
type promptPart struct {
	as, name string
	content  bool // the text outside all sections
}

// A promptPiece identifies a section of such parts.
type promptPiece struct {
	name string
	nth  int // among equal names
}

// A wording is the text of a piece, with its origin.
type wording struct {
	text string
	from origin.Origin
}

// comparePrompt compares parts and tools with those at the last change, of those names of which one
// differs.
func (t *tracer) comparePrompt() {
	changed, err := t.front.Follow(t.step)
	t.err = cmp.Or(t.err, err)
	if !changed {
		return
	}
	was, is := t.had, &t.front.Current
	t.had = is.Kept()
	var names, gone []promptPart
	seen := map[promptPart]bool{}
	was.PartsDiffer(&is.State, func(_ int, a, b *prompt.Part) {
		if a != b && b != nil {
			names = append(names, promptPart{"part", b.Name, b.Content})
		}
		if a != b && a != nil {
			gone = append(gone, promptPart{"part", a.Name, a.Content})
		}
	})
	was.ToolsDiffer(&is.State, func(_ int, a, b *prompt.Tool) {
		if a != b && b != nil {
			names = append(names, promptPart{as: "tool", name: b.Name})
		}
		if a != b && a != nil {
			gone = append(gone, promptPart{as: "tool", name: a.Name})
		}
	})
	names = slices.DeleteFunc(append(names, gone...), func(p promptPart) bool {
		had := seen[p]
		seen[p] = true
		return had
	})
	var parts []prompt.Part
	for _, name := range names {
		if name.as == "part" {
			parts = append(parts, is.PartsNamed(name.name, name.content)...)
		}
	}
	t.err = cmp.Or(t.err, t.load.Texts(parts))
	for _, name := range names {
		n := 0
		for n < len(parts) && name == (promptPart{"part", parts[n].Name, parts[n].Content}) {
			n++
		}
		t.meetPieces(name, parts[:n], is)
		parts = parts[n:]
	}
}

// meetPieces records the parts, or the tools, of a name.
func (t *tracer) meetPieces(name promptPart, parts []prompt.Part, is *prompt.Fold) {
	if t.prompt[name] == nil {
		t.prompt[name] = map[promptPiece]*life{}
	}
	nth := map[string]int{}
	if !t.find.q.follows() { // a text is searched section by section
		parts = prompt.Split(parts)
	}
	for i := range parts {
		p := &parts[i]
		t.meetPiece(name, promptPiece{p.Name, nth[p.Name]}, wording{p.Text, p.Origin}, func() (string, bool) {
			if around, ok := t.find.text([]byte(jsonl.UTF8(p.Text))); ok {
				return around, true
			}
			return t.find.text([]byte(p.Name))
		})
		nth[p.Name]++
	}
	if name.as == "tool" {
		for _, tool := range is.ToolsNamed(name.name) {
			t.meetPiece(name, promptPiece{tool.Name, nth[tool.Name]}, wording{string(tool.Raw), tool.Origin},
				func() (string, bool) {
					return t.find.words(tool.Raw)
				})
			nth[tool.Name]++
		}
	}
	for _, l := range t.prompt[name] {
		switch {
		case l.looked == t.looks || !l.open:
		case t.cuts:
			t.leave(l, ChangeSummed, nil)
		default:
			t.leave(l, ChangeRemoved, nil)
		}
	}
}

// meetPiece records a section or tool. Its text is searched if it has changed.
func (t *tracer) meetPiece(of promptPart, p promptPiece, is wording, find func() (string, bool)) {
	l := t.prompt[of][p]
	if l == nil {
		l = &life{Life: &Life{As: of.as, Name: p.name, Origin: is.from}}
		t.prompt[of][p] = l
	}
	was := l.said
	l.said, l.looked = is, t.looks
	if was == is && l.met {
		if l.holds && !l.open {
			t.enter(l)
		}
		return
	}
	l.met = true
	around, ok := "", false
	if q := t.find.q; !q.follows() {
		around, ok = find()
	} else if ok = is.from.Record == q.Entry || is.from.By == q.Entry; ok {
		around = outline.FirstWords(is.text)
	} else {
		// Content is only added: earlier text remains.
		ok = l.open && of.content && strings.HasPrefix(is.text, was.text)
	}
	l.holds = ok
	if ok && len(l.Events) == 0 {
		l.Origin, l.Text = is.from, around
	}
	switch {
	case ok && !l.open:
		t.enter(l)
	case ok && was.text != is.text:
		t.event(l, ChangeChanged, t.mention(true))
	case !ok && l.open:
		t.leave(l, ChangeChanged, t.mention(false))
	}
}

// why is the reason why an entry never was in a context.
type why string

// The reasons; the first that applies is given.
const (
	OffPath     why = "off-path" // another branch
	AfterBroken why = "behind"   // a broken patch ended the replay before it
	Unsent      why = "unsent"   // no model gets the entry, or the part of it with the match
)

// Strays returns the entries of the whole file that match and are not in the trace along the
// path to record leaf, in the order of the file. It searches their lines, except the id, the
// parent and the time.
func (t *Tracing) Strays(r *replay.Replay, leaf int, q *Query) iter.Seq2[*Life, error] {
	return func(yield func(*Life, error) bool) {
		told := t.told()
		path, _ := r.Session.Path(leaf)
		onPath := make(map[int]bool, len(path))
		for _, rec := range path {
			onPath[rec] = true
		}
		after := map[int]bool{}
		for _, rec := range path[min(t.Steps, len(path)):] {
			after[rec] = true
		}
		f, lines := newFinder(q), r.Session.NewReader()
		for rec := range r.Session.Len() {
			if told[rec] || q.follows() && rec != q.Entry {
				continue
			}
			line, err := lines.Line(rec)
			if err != nil {
				yield(nil, err)
				return
			}
			stray := &Life{Schema: traceSchema, As: "entry", Why: Unsent,
				Origin: origin.Origin{Record: rec, By: rec, Op: -1}}
			switch {
			case after[rec]:
				stray.Why = AfterBroken
			case !onPath[rec] && rec != r.Session.Header():
				stray.Why = OffPath
			}
			ok := q.follows()
			if ok {
				stray.Text = outline.Gist(r.Session.Kind(rec), line)
			} else if f.may(line) {
				stray.Text, ok = f.entry(line)
			}
			if !ok {
				continue
			}
			if stray.Source, err = origin.From(r.Session, stray.Origin, lines); !yield(stray, err) || err != nil {
				return
			}
		}
	}
}

// told returns the entries that lives mention.
func (t *Tracing) told() map[int]bool {
	told := map[int]bool{}
	for _, l := range t.Lives {
		told[l.Origin.Record], told[l.Origin.By] = true, true
		for _, e := range l.Events {
			if e.Did != ChangeSummed && e.Did != ChangeReplaced {
				told[e.Record] = true
			}
		}
	}
	return told
}

// entry finds the first match in an entry.
func (f *finder) entry(line jsonl.Value) (around string, ok bool) {
	if !line.IsObject() {
		return f.strings(line)
	}
	for name, v := range line.Members {
		switch string(name) {
		case "type", "id", "parentId", "timestamp":
			continue
		}
		if around, ok = f.strings(v); ok {
			return around, true
		}
	}
	return "", false
}
