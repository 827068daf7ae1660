package stats

import (
	"strings"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestBytes: the request against its provider's limits, and what is large in it.
func TestBytes(t *testing.T) {
	large := strings.Repeat("A", 5<<20+4)
	user := message("u", `"role":"user","content":[{"type":"image","data":"AAAA"},{"type":"image","data":"`+large+`"}]`)
	data := chain(
		message("s", `"role":"system","content":"1234","toolsAdded":[{"name":"b"}]`),
		user, message("a", `"role":"assistant","provider":"anthropic","model":"m","content":[]`),
		`l "type":"label","targetId":"u","label":"x"`)
	p := look(t, data, Options{Lenses: []*Lens{&bytesLens}}).Bytes
	b := p.Sessions[0]
	lines := strings.SplitAfter(string(data), "\n")
	size := func(k int) int64 { return int64(len(lines[k-1]) - 1) }
	if want := size(3) + size(4); b.Messages != want {
		t.Errorf("messages have %d bytes, want %d", b.Messages, want)
	}
	if want := int64(4 + len(`{"name":"b"}`)); b.Prompt == nil || *b.Prompt != want || b.Request != want+b.Messages {
		t.Errorf("prompt %v, want %d; request %d", b.Prompt, want, b.Request)
	}
	if b.Provider != "anthropic" || b.Limit != 32<<20 || *b.Share != float64(b.Request)/float64(b.Limit) {
		t.Errorf("%s", asJSON(b))
	}
	if b.Images != 2 || b.ImageBytes != int64(len(large)+4) || b.LargeImages != 1 || b.ImageLimit != 5<<20 {
		t.Errorf("%s", asJSON(b))
	}
	if i := p.Images; len(i) != 2 || !i[0].Over || i[1].Over || i[0].Bytes != len(large) || i[0].Entry != "u" || i[0].Line != 3 {
		t.Errorf("%s", asJSON(i))
	}
	if l := p.Lines; len(l) != 5 || l[0].Line != 3 || l[0].Kind != jsonl.User.String() || int64(l[0].Bytes) != size(3) || b.LargestLine != l[0].Bytes {
		t.Errorf("%s", asJSON(l))
	}
	for _, l := range p.Lines {
		if l.Line == 1 && l.Entry != "" {
			t.Errorf("the header is not an entry: %+v", l)
		}
	}
}

// TestBytesUnknownProvider: no limit is nobody's.
func TestBytesUnknownProvider(t *testing.T) {
	b := look(t, chain(message("u", `"role":"user","content":"1234"`)), Options{Lenses: []*Lens{&bytesLens}}).Bytes.Sessions[0]
	if b.Limit != 0 || b.Share != nil || *b.ImageShare != 0 {
		t.Errorf("%s", asJSON(b))
	}
}
