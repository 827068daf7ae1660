package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// requests holds the envelopes of the requests of a walk.
type requests struct{ all []*replay.Envelope }

func (q *requests) Fork(_, _ replay.Step) replay.Observer { return q }

func (q *requests) Request(s replay.Step) error {
	q.all = append(q.all, s.Envelope())
	return nil
}

// TestTraceSeen: for words of a session, the requests in a Life are those in whose messages,
// prompt or tools the standard library finds the word. The same holds for the context at the
// leaf.
func TestTraceSeen(t *testing.T) {
	words, found := 0, 0
	for _, c := range corpus.Sample(t) {
		if len(c.Data) > 512<<10 || strings.Contains(c.Name, "deep-nesting") { // too deep for encoding/json
			continue
		}
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		r := replay.New(s, replay.Options{Lenient: true})
		var texts [][]string // of each request, then of the leaf
		asked := &requests{}
		for _, err := range r.Walk(s.Leaf(), asked) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range asked.all {
			texts = append(texts, textsOf(t, e))
		}
		leaf := must.Get(r.At(sessionfmt.After(s.Leaf())))
		texts = append(texts, textsOf(t, leaf))
		random := rand.New(rand.NewPCG(uint64(len(c.Data)), 6))
		for range 8 {
			word := anyWord(random, texts)
			if word == "" {
				continue
			}
			q := &Query{Text: word}
			if words++; words%3 == 0 {
				q = &Query{Regexp: regexp.MustCompile("(?s)" + regexp.QuoteMeta(word) + ".?")}
			}
			got := must.Get(Follow(r, s.Leaf(), q))
			saw := make([]int, len(texts))
			for _, l := range got.Lives {
				for _, seen := range l.Seen {
					for i := seen.First; i <= seen.Last; i++ {
						saw[i]++
					}
				}
				if l.Now {
					saw[len(texts)-1]++
				}
			}
			for i, in := range texts {
				want := 0
				for _, text := range in {
					if strings.Contains(text, word) {
						want++
					}
				}
				if found += want; saw[i] != want {
					t.Errorf("%s: %q: request %d of %d has it in %d places, traced in %d", c.Name, word, i, len(texts)-1, want, saw[i])
					break
				}
			}
		}
	}
	if words < 200 || found < 1000 {
		t.Errorf("only %d words in %d places", words, found)
	}
}

// anyWord is a piece of a text, mostly a word.
func anyWord(random *rand.Rand, texts [][]string) string {
	in := texts[random.IntN(len(texts))]
	if len(in) == 0 {
		return ""
	}
	text := in[random.IntN(len(in))]
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == 0 })
	if len(words) == 0 {
		return ""
	}
	word := words[random.IntN(len(words))]
	return strings.ToValidUTF8(word[:min(len(word), 1+random.IntN(20))], "")
}

// textsOf returns the texts of a context, one for each message, part and tool, with a 0 byte
// between separate strings.
func textsOf(t *testing.T, e *replay.Envelope) (texts []string) {
	t.Helper()
	for _, list := range []func(func(replay.Message, error) bool){e.CachedMessages(), e.UncachedMessages()} {
		for m, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			var v struct {
				Content              any
				ToolCallID, ToolName any
			}
			decode(m.Raw, &v)
			all := stringsOf(nil, v.ToolCallID)
			all = stringsOf(all, v.ToolName)
			if list, ok := v.Content.([]any); ok {
				for _, block := range list {
					b, _ := block.(map[string]any)
					for _, name := range map[string][]string{"text": {"text"}, "thinking": {"thinking"}, "toolCall": {"id", "name", "arguments"}}[fmt.Sprint(b["type"])] {
						all = stringsOf(all, b[name])
					}
				}
			} else {
				all = stringsOf(all, v.Content)
			}
			texts = append(texts, strings.Join(all, "\x00"))
		}
	}
	p := must.Get(e.Prompt())
	for _, part := range p.Parts {
		texts = append(texts, part.Name+"\x00"+part.Text)
	}
	for _, tool := range p.Tools {
		var v any
		decode(tool.Raw, &v)
		texts = append(texts, strings.Join(stringsOf(nil, v), "\x00"))
	}
	return texts
}

// stringsOf adds the strings, names, numbers and booleans of a value, at any depth.
func stringsOf(all []string, v any) []string {
	switch v := v.(type) {
	case string:
		all = append(all, v)
	case json.Number, bool:
		all = append(all, fmt.Sprint(v))
	case []any:
		for _, el := range v {
			all = stringsOf(all, el)
		}
	case map[string]any:
		for name, el := range v {
			all = stringsOf(append(all, name), el)
		}
	}
	return all
}

// decode decodes JSON and keeps the spelling of numbers.
func decode(raw jsonl.Value, v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	must.Do(d.Decode(v))
}

// TestTraceAround: a match is shown with the words around it, also at the start of a text, for
// texts and patterns.
func TestTraceAround(t *testing.T) {
	long := strings.Repeat("x", 200)
	for text, want := range map[string]string{
		"needle" + long:        "needle" + long[:wordsBehind] + "…",
		long + "needle":        "…" + long[:wordsBefore] + "needle",
		"a needle\n in  hay":   "a needle in hay",
		long + "needle" + long: "…" + long[:wordsBefore] + "needle" + long[:wordsBehind] + "…",
	} {
		for _, q := range []*Query{{Text: "needle"}, {Regexp: regexp.MustCompile("need.e")}} {
			if got, ok := newFinder(q).text([]byte(text)); !ok || got != want {
				t.Errorf("%q: %q, want %q", text, got, want)
			}
		}
	}
}
