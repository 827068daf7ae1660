package conformance

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/migrate"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// picked are fields that visitors ask for.
var picked = jsonl.Pick{
	Record:  []string{"usage", "targetId", "modelId"},
	Message: []string{"usage", "model", "toolName", "content", "responseId", "customType"},
}

// typed: what visitors and readers get of an entry without its JSON is what reading that gives: its
// head, fields of it and of its message, and the message.
func (a Agent) typed(t *testing.T, c corpus.Session) {
	var heads []string
	var said []jsonl.Message
	visit := func(p *jsonl.Picked) {
		heads, said = append(heads, headOf(p)), append(said, jsonl.Message{})
		if p.Kind.IsTurn() {
			said[len(said)-1] = copyOf(p.Said())
		}
	}
	opt := sessionfmt.Options{Workers: 1, Pick: picked, Visit: func() func(*jsonl.Picked) { return visit }}
	s := must.Get(sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), opt))
	defer s.Close()
	r, lines, whole := s.NewReader(), s.NewReader(), jsonl.NewHeadReader(picked)
	for i := range s.Len() {
		line := must.Get(lines.Line(i))
		want, bad := whole.Read(line)
		if bad != nil {
			t.Fatalf("%s: record %d: %v in %.200s", c.Name, i, bad, line)
		}
		current := s.Dialect() != nil || s.Version == 3
		if current && want.Kind != s.Kind(i) || heads[i] != headOf(want) {
			t.Errorf("%s: record %d is of kind %s, and seen as %s, not %s", c.Name, i, s.Kind(i), heads[i], headOf(want))
		}
		if !s.Kind(i).IsTurn() {
			continue
		}
		var m jsonl.Message
		size := must.Get(r.Message(i, &m))
		message := copyOf(want.Said())
		if size != len(line.Get("message")) || !reflect.DeepEqual(copyOf(&m), message) || !reflect.DeepEqual(said[i], message) {
			t.Errorf("%s: record %d, %d bytes: %v, seen as %v, not %v of %s", c.Name, i, size, m, said[i], message, line)
		}
	}
}

// copyOf is a message that stays.
func copyOf(m *jsonl.Message) jsonl.Message {
	var c jsonl.Message
	v, to := reflect.ValueOf(*m), reflect.ValueOf(&c).Elem()
	for k := range v.NumField() {
		if raw, ok := v.Field(k).Interface().(jsonl.Value); ok {
			to.Field(k).Set(reflect.ValueOf(slices.Clone(raw)))
		}
	}
	c.Kind = m.Kind
	for _, b := range m.Blocks {
		b.Raw, b.Text.Value, b.ID, b.Name = slices.Clone(b.Raw), slices.Clone(b.Text.Value), slices.Clone(b.ID), slices.Clone(b.Name)
		b.Args, b.Data, b.Mime = slices.Clone(b.Args), slices.Clone(b.Data), slices.Clone(b.Mime)
		c.Blocks = append(c.Blocks, b)
	}
	return c
}

func headOf(p *jsonl.Picked) string {
	said := p.Message
	if !p.Kind.IsMessage() {
		said = nil
	}
	return fmt.Sprintf("%s %s %s %s %s %s %s %s", p.Kind, p.Type, p.ID, p.ParentID, p.Timestamp, p.Role, p.Record, said)
}

// scanned: the pass that validates a line finds the id and the time that its head has, and takes no
// line that is broken.
func (a Agent) scanned(t *testing.T, c corpus.Session) {
	first, _, _ := bytes.Cut(c.Data, []byte("\n"))
	v, err := jsonl.ParseValue(first)
	d := sessionfmt.Sniff(v)
	if err != nil || d == nil || d.Scan == nil || len(c.Data) > small {
		return
	}
	heads := jsonl.NewHeadReader(d.Pick)
	for line := range bytes.Lines(c.Data) {
		line = bytes.TrimSpace(line)
		got, size := d.Scan(line)
		p, bad := heads.Read(line)
		switch taken := size > 0 && size == len(line); {
		case taken && bad != nil:
			t.Errorf("%s: a broken line is taken: %s", c.Name, line)
		case taken && (p.ID.Exists() && string(got.ID) != string(p.ID) || string(got.Time) != string(p.Timestamp)):
			t.Errorf("%s: id %s, time %s; the head has %s, %s (Pick.As names the fields)", c.Name, got.ID, got.Time, p.ID, p.Timestamp)
		}
		for cut := 0; cut < len(line); cut += 1 + len(line)/100 {
			for _, end := range []string{"", "}", "]", `"`, `:"`} {
				broken := append(line[:cut:cut], end...)
				_, err := jsonl.ParseValue(broken)
				if _, size := d.Scan(broken); size > 0 && size == len(broken) && err != nil {
					t.Errorf("%s: a broken line is taken: %s", c.Name, broken)
				}
			}
		}
	}
}

// copied: a file that is copied line by line is the same, byte for byte; a document that is copied so
// has the same entries.
func (a Agent) copied(t *testing.T, c corpus.Session) {
	s := opened(c.Name, c.Data)
	defer s.Close()
	var out bytes.Buffer
	for l, err := range s.Lines {
		must.Do(err)
		out.Write(l.Raw)
		if l.Ended {
			out.WriteByte('\n')
		}
	}
	plain := must.Get(io.ReadAll(s.Plain()))
	if !bytes.Equal(out.Bytes(), plain) || s.OwnLines() == nil && !bytes.Equal(plain, c.Data) && !packed(c.Data) {
		t.Errorf("%s: copied line by line it differs", c.Name)
	}
	if s.OwnLines() != nil {
		same(t, c.Name+", its lines", open(t, c.Name, plain), open(t, c.Name, c.Data))
	}
}

// packed reports whether data is compressed.
func packed(data []byte) bool {
	return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

// converted: converting a session to pi's keeps the messages at the leaf, which it compares, and its
// result is sound and has only what messages of pi have.
func (a Agent) converted(t *testing.T, c corpus.Session, to map[string][]byte) {
	s := opened(c.Name, c.Data)
	defer s.Close()
	if s.Dialect() == nil {
		return
	}
	made, err := migrate.Convert(s)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	defer made.Close()
	for _, f := range made.Findings {
		t.Errorf("%s: converted: %v", c.Name, f)
	}
	to[c.Name] = must.Get(io.ReadAll(made.Plain()))
	for line := range bytes.Lines(to[c.Name]) {
		if wrong := corpus.NotPi(line); len(wrong) > 0 {
			t.Errorf("%s: converted: %q in %.300s", c.Name, wrong, line)
		}
	}
}

// resumed: pi makes requests of sessions that were converted, which have all messages.
func resumed(t *testing.T, sessions map[string][]byte) {
	for name, r := range corpus.PiSends(t, sessions) {
		if len(r.Wrong) > 0 {
			t.Errorf("%s: %.2000q", name, r.Wrong)
		}
	}
}

// torn: of a file whose last line is cut at any byte, all but that line reads as if the line were
// not there.
func (a Agent) torn(t *testing.T, c corpus.Session) {
	ends := lineEnds(c.Data)
	if len(ends) < 2 {
		return
	}
	from, to := ends[len(ends)-2], len(bytes.TrimRight(c.Data, " \r\n"))
	without, number := open(t, c.Name, c.Data[:from]), len(ends)
	for cut := from + 1; cut < to; cut += 1 + (to-from)/corpus.Pick(60, 2000) {
		got := open(t, c.Name, c.Data[:cut])
		what := fmt.Sprintf("%s: torn %d bytes into its last line", c.Name, cut-from)
		same(t, what, got, without)
		if f := fmt.Sprint(number, " torn"); got != nil && !slices.Contains(got.findings, f) {
			t.Errorf("%s: %q, want %q too", what, got.findings, f)
		}
	}
}

// moon is a line of a type that no agent writes.
const moon = `{"type":"moon","timestamp":"2026-01-01T00:00:04.000Z","payload":{}}` + "\n"

// disturbed: a line of an unknown type is named, and changes nothing else; two glued lines are named,
// and the others read as without them; a file with a repeated line reads, and one that ends at any line.
func (a Agent) disturbed(t *testing.T, c corpus.Session, whole *view) {
	ends := lineEnds(c.Data)
	for _, k := range corpus.Points(len(ends)-1, 8, 1, func(int) int { return 0 }) {
		at, next := ends[k], ends[k+1]
		if !bytes.HasSuffix(c.Data[:next], []byte("}\n")) {
			continue
		}
		insert := func(text []byte) []byte { return slices.Concat(c.Data[:at], text, c.Data[at:]) }
		number := k + 2 // of the line that begins at at
		what := fmt.Sprintf("%s: line %d", c.Name, number)
		got := open(t, c.Name, insert([]byte(moon)))
		same(t, what+": one of an unknown type before it", got, whole)
		if got.unknown != whole.unknown+1 {
			t.Errorf("%s: %d lines of unknown types, want one more than %d", what, got.unknown, whole.unknown)
		}
		open(t, c.Name, insert(c.Data[at:next]))
		open(t, c.Name, c.Data[:at])
		if k+2 < len(ends) && c.Data[next] == '{' {
			last := ends[k+2]
			got := open(t, c.Name, slices.Concat(c.Data[:next-1], c.Data[next:]))
			same(t, what+": glued to the next", got, open(t, c.Name, slices.Concat(c.Data[:at], c.Data[last:])))
			if f := fmt.Sprint(number, " glued"); got != nil && !slices.Contains(got.findings, f) {
				t.Errorf("%s: %q, want %q too", what, got.findings, f)
			}
		}
	}
}

// totals: the tokens of all usages are those of the lines, wherever the file ends.
func (a Agent) totals(t *testing.T, c corpus.Session) {
	for _, end := range lineEnds(c.Data) {
		want, last := int64(0), map[string]int64{}
		for line := range bytes.Lines(c.Data[:end]) {
			tokens, once := int64(0), string(at(line, a.Once))
			for _, path := range a.Usage {
				tokens += at(line, path).Int()
			}
			if want += tokens; once != "" {
				want -= last[once]
				last[once] = tokens
			}
		}
		if v := open(t, c.Name, c.Data[:end]); v != nil && v.tokens != want {
			t.Errorf("%s: of %d bytes %d tokens, and %d in its lines", c.Name, end, v.tokens, want)
		}
	}
}

// at is a member of an object in a line.
func at(v jsonl.Value, path string) jsonl.Value {
	for name := range strings.SplitSeq(path, ".") {
		v = v.Get(name)
	}
	return v
}
