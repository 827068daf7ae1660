package jsonl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// headLines are lines of every kind in pi's order of fields, and then lines with what else a head can be.
func headLines() (pis, others []string) {
	for k := System; k < Scalar; k++ {
		switch {
		case k.Role() != "":
			pis = append(pis, fmt.Sprintf(`{"type":"message","id":"i%d","parentId":"p","timestamp":"t","message":{"role":%q,"content":[{"type":"text","text":"x"}]}}`, k, k.Role()))
		case !k.IsMessage() && k != Unknown:
			pis = append(pis, fmt.Sprintf(`{"type":%q,"id":"i%d","parentId":null,"timestamp":"t","x":[1]}`, k.Type(), k))
		}
	}
	for _, typ := range []string{"reset_boundary", "model_usage"} {
		pis = append(pis, fmt.Sprintf(`{"type":%q,"id":"i","parentId":"p","timestamp":"t"}`, typ))
	}
	return pis, []string{
		`{"type":"message","id":"i","parentId":"p","timestamp":"t","message":{"role":"new"}}`,
		`{"type":"message","id":"i","parentId":"p","timestamp":"t","message":null}`,
		`{"type":"message","id":"i","parentId":"p","timestamp":"t"}`,
		`{"type":"other","id":"i","parentId":"p","timestamp":"t"}`, `{"id":"i","type":"label"}`, `{}`, `[1]`, `"x"`, ` 7 `,
		`{"type":"label","id":"\u0069","parentId":"p","timestamp":"t"}`, `{"type":null,"id":1,"parentId":"p","timestamp":"t"}`,
	}
}

// TestKinds reads the kind of every line, whole and by its beginning, and gives each kind its name.
func TestKinds(t *testing.T) {
	pis, others := headLines()
	wants := []Kind{OtherMessage, NoMessage, NoMessage, Unknown, Label, Unknown, Scalar, Scalar, Scalar, Label, Unknown}
	whole, short := NewHeadReader(Pick{}), NewHeadReader(Pick{})
	kinds := map[string]Kind{}
	for _, line := range pis {
		read, err := whole.Read([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		kinds[read.Kind.String()] = read.Kind
		if read.Type.Text() != read.Kind.Type() && !slices.Contains([]string{"reset_boundary", "model_usage"}, read.Type.Text()) || read.Role.Text() != read.Kind.Role() {
			t.Errorf("%s has the kind %v", line, read.Kind)
		}
		head, ok := short.Prefix([]byte(line))
		if !ok || fmt.Sprint(head.Kind, head.Type, head.ID, head.ParentID, head.Timestamp, head.Role) !=
			fmt.Sprint(read.Kind, read.Type, read.ID, read.ParentID, read.Timestamp, read.Role) {
			t.Errorf("%s begins with %v %v", line, head, ok)
		}
		for end := range len(line) {
			if head, ok := short.Prefix([]byte(line[:end])); ok && (head.Kind != read.Kind || string(head.Timestamp) != `"t"`) {
				t.Errorf("%s has the kind %v", line[:end], head.Kind)
			}
			id, parent, ok := BrokenHead([]byte(line[:end]))
			if want := end >= strings.Index(line, `,"timestamp"`); ok != want || ok && (id != read.ID.Text() || parent != read.ParentID.Text()) {
				t.Errorf("%s: broken head %q %q %v", line[:end], id, parent, ok)
			}
		}
		if _, err := whole.Read([]byte(line + "x")); err == nil || err.Offset != len(line) || err.Reason != Trailing {
			t.Errorf("%sx: %v", line, err)
		}
	}
	for k, line := range others {
		if read, err := whole.Read([]byte(line)); err != nil || read.Kind != wants[k] || string(read.Line) != strings.TrimSpace(line) {
			t.Errorf("%s: %v %v, want %v", line, read, err, wants[k])
		}
		if head, ok := short.Prefix([]byte(line)); ok && k != 9 {
			t.Errorf("%s: the beginning is taken for %v", line, head.Kind)
		}
	}
	for _, name := range KindNames() {
		if kind, ok := kinds[name]; name != "unknown" && (!ok || !kind.IsEntry()) {
			t.Errorf("no line has the kind %s", name)
		}
	}
	for _, name := range KindNames() {
		delete(kinds, name)
	}
	if fmt.Sprint(kinds) != "map[session:session title:title]" {
		t.Errorf("without a name: %v", kinds)
	}
	if got := fmt.Sprint(Unknown, ", ", Scalar, ", ", NoMessage, ", ", OtherMessage); got != "unknown, scalar, message without message, message of unknown role" {
		t.Error(got)
	}
	for _, line := range []string{`{"type":null,"id":"i","parentId":"p"`, `{"type":"label","id":null,"parentId":"p"`, `{"type":"label","id":"i","parentId":nul`, `{"type":1`} {
		if id, parent, ok := BrokenHead([]byte(line)); ok {
			t.Errorf("%s: %q %q", line, id, parent)
		}
	}
}

func TestKindSets(t *testing.T) {
	for _, c := range []struct {
		name string
		has  func(Kind) bool
		want []Kind
	}{
		{"IsMessage", Kind.IsMessage, []Kind{System, User, Assistant, ToolResult, Bash, Custom, HookMessage, BranchMessage, CompactionMessage, TransformMessage, OtherMessage, NoMessage}},
		{"IsTurn", Kind.IsTurn, []Kind{User, Assistant, ToolResult}},
		{"Replaceable", Kind.Replaceable, []Kind{User, Assistant, ToolResult, Custom, CustomMessage}},
		{"MayPay", Kind.MayPay, []Kind{Assistant, ToolResult, Compaction, BranchSummary, UsageEntry, ChildUsage}},
		{"no IsEntry", func(k Kind) bool { return !k.IsEntry() }, []Kind{Header, Slot, Scalar}},
	} {
		var got []Kind
		for k := System; k <= Scalar; k++ {
			if c.has(k) {
				got = append(got, k)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if !IsSlot(Value(`{"type":"title"}`)) || IsSlot(Value(`{"type":"label"}`)) {
		t.Error("IsSlot")
	}
}

// TestPicks reads picked fields of records, messages and parts, under pi's names and others.
func TestPicks(t *testing.T) {
	line := `{"type":"message","uid":"i","up":"p","at":"t","more":[1],"body":{"role":"user","extra":1,"content":[{"type":"text","text":"a"},7,{"id":"b","type":"x"},{}]},"id":"no"}`
	r := NewHeadReader(Pick{
		Record: []string{"more", "none"}, Message: []string{"content", "none"}, Part: []string{"type", "id"},
		As: Names{"uid", "up", "body", "at"}, Known: []string{"extra"},
	})
	for range 2 {
		p, err := r.Read([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s %s %v %s %s %s %v", p.ID, p.ParentID, p.Timestamp, p.Kind, p.Record, p.Message[1:], p.Parts, p.Strange); got !=
			`"i" "p" "t" user [[1] ] [] ["text"    "x" "b"  ] false` {
			t.Error(got)
		}
		p, err = r.Read([]byte(strings.Replace(line, `"extra"`, `"other"`, 1)))
		if err != nil || !p.Strange {
			t.Errorf("a field that is not known: %v", p)
		}
	}
	for _, text := range []string{`{"content":[]}`, `{"content":"x"}`, `{"content":{"type":"y"}}`, `{}`} {
		if p, err := r.Read([]byte(`{"body":` + text + `}`)); err != nil || len(p.Parts) != 0 || p.Strange {
			t.Errorf("%s: parts %s, %v", text, p.Parts, err)
		}
	}
	for at, bad := range map[int]string{
		19: `{"body":{"content":`, 20: `{"body":{"content":[`, 21: `{"body":{"content":[]`, 22: `{"body":{"content":[1}`[:22],
		25: `{"body":{"content":[{"a" 1}]}}`, 23: `{"body":{"content":[1 2]}}`[:23],
	} {
		if p, err := r.Read([]byte(bad)); err == nil || err.Offset > at {
			t.Errorf("%s: %v %v, want an error at %d", bad, p, err, at)
		}
	}
	said, want := NewHeadReader(Pick{}).mustRead(t, pisLine).Said(), Value(pisLine).Get("message").Message()
	if fmt.Sprint(*said) != fmt.Sprint(*want) || said.Text("|") != "a|b" {
		t.Errorf("said %v, want %v", said, want)
	}
	typed := NewHeadReader(Pick{Record: []string{"x"}, Message: []string{"y"}})
	p := typed.Typed(Picked{Kind: User, ID: Value(`"i"`)}, []Field{{"x", Value(`1`)}, {"z", nil}}, []Field{{"y", Value(`2`)}}, said)
	if got := fmt.Sprintf("%s %s %s %s %s", p.Type, p.Role, p.ID, p.Record, p.Message); got != `"message" "user" "i" [1] [2]` || p.Said() != said {
		t.Error(got)
	}
	if p = typed.Typed(Picked{Kind: Label}, nil, nil, nil); string(p.Type) != `"label"` || p.Role != nil || p.Record[0] != nil {
		t.Errorf("%s %s %s", p.Type, p.Role, p.Record)
	}
}

const pisLine = `{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"stopReason":"stop"}}`

func (r *HeadReader) mustRead(t *testing.T, line string) *Picked {
	t.Helper()
	p, err := r.Read([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestVersion(t *testing.T) {
	for _, c := range []struct {
		text    string
		version int
		ok      bool
	}{
		{``, 1, true}, {`null`, 1, true}, {`0`, 1, true}, {`1`, 1, true}, {`1.5`, 1, true}, {`2`, 2, true}, {`2.5`, 3, true}, {`3`, 3, true},
		{`3.1`, 4, true}, {`4`, 4, true}, {`1e300`, 1 << 30, true}, {`-7`, 1, true}, {`" 2 "`, 2, true}, {`"x"`, 3, false}, {`true`, 3, false}, {`[]`, 3, false},
	} {
		if version, ok := Value(c.text).Version(); version != c.version || ok != c.ok {
			t.Errorf("%s: %d %v, want %d %v", c.text, version, ok, c.version, c.ok)
		}
	}
	for _, c := range [][3]string{
		{`{"provider":"p","modelId":"m"}`, "p", "m"}, {`{"model":"p/m/n"}`, "p", "m/n"}, {`{"provider":"q","modelId":"m","model":"p/x"}`, "q", "m"}, {`{"model":"m"}`, "", ""},
	} {
		if provider, model := Value(c[0]).Model(); provider.Text() != c[1] || model.Text() != c[2] {
			t.Errorf("%s: %s %s", c[0], provider, model)
		}
	}
}

// TestMessages reads messages of each role with blocks of each kind.
func TestMessages(t *testing.T) {
	content := `[{"type":"text","text":"a\n"},{"type":"thinking","thinking":"b"},{"type":"toolCall","id":"i","name":"n","arguments":{"x":[]}},` +
		`{"type":"image","data":"d","mimeType":"m"},{"type":"opaque","characters":70},{"type":"opaque","characters":-7},{"characters":5},{},9]`
	for role, want := range map[string]string{
		"user":      "[1 0 0 4 0 0 0 0 0] a\n",
		"assistant": "[1 2 3 0 0 0 0 0 0] a\n",
	} {
		fields := ""
		for k, name := range []string{"toolCallId", "toolName", "isError", "details", "nestedCalls", "provider", "model", "stopReason", "errorMessage", "timestamp", "usage"} {
			fields += fmt.Sprintf(`,%q:[%d]`, name, k)
		}
		text := fmt.Sprintf(`{"role":%q,"content":%s%s,"other":1}`, role, content, fields)
		m := Value(text).Message()
		var kinds []BlockKind
		var sealed, calls int
		for k := range m.Blocks {
			kinds = append(kinds, m.Blocks[k].Kind)
			sealed += m.Blocks[k].Sealed()
		}
		for b := range m.Calls {
			if calls++; b.ID.Text()+b.Name.Text()+string(b.Args) != `in{"x":[]}` {
				t.Errorf("%s: a call %s", role, b.Raw)
			}
		}
		if got := fmt.Sprint(kinds, " ", m.Text("|")); got != want || sealed != 70 || calls != 1 && role == "assistant" || string(m.Content) != content {
			t.Errorf("%s: %s, sealed %d, calls %d, want %s", role, got, sealed, calls, want)
		}
		if got := fmt.Sprintf("%s", []Value{m.CallID, m.Tool, m.IsError, m.Details, m.Nested, m.Provider, m.Model, m.Stop, m.Failure, m.Time, m.Usage}); got !=
			"[[0] [1] [2] [3] [4] [5] [6] [7] [8] [9] [10]]" {
			t.Error(got)
		}
		line := Value(`{"type":"message","message": ` + text + ` ,"id":"i"}`)
		var entry Message
		if size := entry.ReadEntry(new(Cursor).Reset(line), m.Kind); size != len(text) || fmt.Sprint(entry) != fmt.Sprint(*m) {
			t.Errorf("an entry of %d bytes %v, want %d", size, entry, len(text))
		}
	}
	for role, want := range map[string]BlockKind{"user": TextBlock, "assistant": OtherBlock} {
		if m := Value(`{"content":"x","role":"` + role + `"}`).Message(); len(m.Blocks) != 1 || m.Blocks[0].Text.Text() != "x" || string(m.Blocks[0].Raw) != `"x"` {
			t.Errorf("%s: %v", role, m.Blocks)
		} else if b := m.Content.Blocks(m.Kind); b[0].Kind != want {
			t.Errorf("%s: a string is a block of kind %d", role, b[0].Kind)
		}
	}
	if got := Value(`["a",{"type":"text","text":"b"},{"type":"text","text":"c"}]`).ContentText() + Value(`"d"`).ContentText(); got != "b\ncd" {
		t.Error(got)
	}
	for stop, failed := range map[string]bool{"error": true, "aborted": true, "stop": false, "": false} {
		if m := (Message{Stop: AppendQuoted(nil, stop)}); m.Failed() != failed {
			t.Errorf("failed by %q", stop)
		}
	}
	for k := range 2 { // a loop over calls can be left
		n := 0
		for range Value(`{"role":"assistant","content":[{"type":"toolCall"},{"type":"toolCall"}]}`).Message().Calls {
			if n++; k == 0 {
				break
			}
		}
		if n != k+1 {
			t.Errorf("%d calls", n)
		}
	}
}

// TestShape reads objects of objects, where of equal names the last counts with all that is in it.
func TestShape(t *testing.T) {
	type inner struct {
		raw  Value
		a    Value
		text String
		deep struct {
			raw, b Value
		}
		other bool
	}
	type typed struct{ Value }
	type all struct {
		id    Value
		in    inner `jsonl:"inner"`
		typed typed
		known []int
		other bool
	}
	s := ShapeOf[all]()
	for _, c := range []struct{ text, want string }{
		{`{"id":1,"inner":{"a":2,"text":"x","deep":{"b":3}},"typed":4,"known":[]}`, `1 4 false | {"a":2,"text":"x","deep":{"b":3}} 2 "x" {"b":3} 3 false`},
		{`{"inner":{"a":2,"x":0,"deep":{"b":3},"text":"y"},"inner":{"deep":{}},"new":0}`, `  true | {"deep":{}}   {}  false`},
		{`{"id":1,"inner":7,"id":2}`, `2  false | 7     false`}, {`{}`, `  false |      false`}, {`[1]`, `  false |      false`},
		{`{"inner":{"y":1},"known":1}`, `  false | {"y":1}     true`}, {`{"id":1,"id"}`, `1  false |      false`}, {`{"\u0069d":1}`, `1  false |      false`},
	} {
		var to all
		in := &to.in
		s.Read(new(Cursor).Reset(Value(c.text)), &to)
		if got := fmt.Sprintf("%s %s %v | %s %s %s %s %s %v", to.id, to.typed.Value, to.other, in.raw, in.a, in.text.Value, in.deep.raw, in.deep.b, in.other); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.text, got, c.want)
		}
		if to.known != nil {
			t.Errorf("%s: a field that is only known is read: %v", c.text, to.known)
		}
	}
	var to all
	c := new(Cursor).Reset(Value(`[1,2]`))
	for range c.Elements {
		s.Member(c, []byte("id"), &to)
		s.Member(c, []byte("none"), &to)
	}
	if string(to.id) != "2" {
		t.Errorf("the last element is %s", to.id)
	}
	for _, wrong := range []func(){
		func() { ShapeOf[struct{ in struct{ a Value } }]() },
		func() {
			ShapeOf[struct {
				a Value `toml:"a"`
			}]()
		},
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, "no field raw") && !strings.Contains(text, "the tag jsonl only") {
					t.Errorf("a shape that cannot be: %s", text)
				}
			}()
			wrong()
		}()
	}
}

func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{"": true, " \t\r": true, "\ufeff\u00a0\u2028": true, "{": false, " x": false, "\u0085": false, "é": false, " {}": false, "!": false} {
		if Blank([]byte(text)) != want {
			t.Errorf("%q: blank %v", text, !want)
		}
	}
	if got := Trim([]byte("\r\n\t {} \t\r\n")); !bytes.Equal(got, []byte("{}")) || len(Trim([]byte(" "))) != 0 {
		t.Errorf("%q", got)
	}
}

// TestTerms: a value that names the plain way is none.
func TestTerms(t *testing.T) {
	quoted := func(s string) Value { return AppendQuoted(nil, s) }
	for _, c := range [][2]string{{"standard", ""}, {"default", ""}, {"auto", ""}, {"flex", "flex"}} {
		if got := TermsOf(quoted(c[0]), nil, nil); got != (Terms{Tier: c[1]}) {
			t.Errorf("%v", got)
		}
	}
	if got := TermsOf(Value(`1`), quoted("standard"), quoted("global")); got != (Terms{}) {
		t.Errorf("%v", got)
	}
	if got := TermsOf(nil, quoted("fast"), quoted("not_available")); got != (Terms{Speed: "fast"}) {
		t.Errorf("%v", got)
	}
	u := Usage{Input: -1, Output: MostUsage, CacheRead: MostUsage + 1, CacheWrite: 7}
	if got := u.Plausible(); got != (Usage{Output: MostUsage, CacheWrite: 7, Implausible: "input"}) {
		t.Errorf("%+v", got)
	}
}
