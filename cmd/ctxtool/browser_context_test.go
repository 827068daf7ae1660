package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ctxtool/internal/corpus"
)

// An envelope is what ctxtool replay -f json prints, as far as a page shows it.
type envelope struct {
	System struct {
		Parts []struct{ Name, Text string }
	}
	Tools    []json.RawMessage
	Messages struct{ Cached, Uncached []json.RawMessage }
	Options  json.RawMessage
	Meta     struct {
		Model        struct{ Provider, ID string }
		Limit        int64
		RequestIndex int
		Tokens       struct{ System, Tools, Messages, Total int }
	}
}

// A pane is what the context pane shows of a request.
type pane struct {
	Name     string
	Total    int
	Sums     map[string]int // tokens by category
	Messages []struct {
		Row, Tokens int
		Uncached    bool
	}
	Model string
	Parts []string // names of parts and tools
}

// readPane reads the pane, from its elements.
const readPane = `(() => {
	const n = (node, name) => +node.dataset[name]
	ctxtool.context.list.all = true
	ctxtool.context.list.update()
	const sums = {}
	for (const row of document.querySelectorAll('.cats tr[data-cat]')) sums[row.dataset.cat] = n(row, 'n')
	return {
		Name: document.getElementById('request-name').textContent, Total: n(document.getElementById('ctx-total'), 'n'), Sums: sums,
		Model: document.querySelector('#tab-overview .model').textContent,
		Messages: [...document.querySelectorAll('#messages-space .msg')].map(m => ({Row: ctxtool.context.rows[n(m, 'i')], Tokens: n(m, 'tokens'), Uncached: m.classList.contains('uncached')})),
		Parts: [...document.querySelectorAll('#tab-prompt details')].map(d => d.dataset.part),
	}
})()`

// TestPageContext holds that the context pane shows just what ctxtool replay says of
// every request.
func TestPageContext(t *testing.T) {
	browser := newBrowser(t)
	sessions := []string{filepath.Join(corpus.Root(t), "testdata", "sessions", "demo.jsonl")}
	for _, name := range []string{"auth-go-019e44d4.v3.jsonl", "pi.dev-019dbe19.v3.jsonl", "specstory-branching.jsonl", "pi.dev-019da84b.v3.jsonl"} {
		if path := filepath.Join(corpus.Root(t), "..", "shared", "corpus", name); exists(path) {
			sessions = append(sessions, path)
		} else {
			t.Logf("left out: no ../shared/corpus/%s", name)
		}
	}
	for _, file := range sessions {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b := open(t, browser, pageOf(t, file))
			requests := eval[int](b, "ctxtool.steps.filter(k => ctxtool.model.steps.entry[k] >= 0).length")
			if requests == 0 {
				t.Fatal("the page knows no requests")
			}
			b.run("ctxtool.select(ctxtool.steps[0])")
			b.keys("1") // the tree, where the arrow keys go from request to request too
			seen := map[int]string{}
			for n := range requests {
				sameContext(b, n, replayed(t, file, n), seen)
				b.keys(kb.ArrowRight)
			}
			b.silent()
			t.Logf("%d requests, %d messages", requests, len(seen))
		})
	}
}

// replayed is the envelope of a request, as the command prints it.
func replayed(t *testing.T, file string, request int) *envelope {
	t.Helper()
	r := ranIn("", "replay", file, "-f", "json", fmt.Sprintf("--request=%d", request))
	if r.status != 0 {
		t.Fatalf("replay of request %d: %s", request, &r.stderr)
	}
	e := new(envelope)
	if err := json.Unmarshal(r.stdout.Bytes(), e); err != nil {
		t.Fatal(err)
	}
	return e
}

// sameContext compares the pane with an envelope. seen are the messages that have been
// compared, by row.
func sameContext(b *tab, request int, want *envelope, seen map[int]string) {
	b.t.Helper()
	b.run("document.querySelector('[data-tab=prompt]').click(); document.querySelector('[data-tab=messages]').click()")
	got := eval[pane](b, readPane)
	if name := fmt.Sprintf("Request %d", request); got.Name != name {
		b.t.Fatalf("the pane shows %q, not %q", got.Name, name)
	}
	messages := append(append([]json.RawMessage(nil), want.Messages.Cached...), want.Messages.Uncached...)
	tokens := want.Meta.Tokens
	sum := 0
	for category, n := range got.Sums {
		if category != "system" && category != "tools" {
			sum += n
		}
	}
	if got.Total != tokens.Total || got.Sums["system"] != tokens.System || got.Sums["tools"] != tokens.Tools || sum != tokens.Messages {
		b.t.Errorf("request %d: the pane shows %d tokens, %v; replay says %+v", request, got.Total, got.Sums, tokens)
	}
	if len(got.Messages) != len(messages) {
		b.t.Fatalf("request %d: the pane shows %d messages, replay has %d", request, len(got.Messages), len(messages))
	}
	if model := want.Meta.Model; model.ID != "" && got.Model != model.Provider+"/"+model.ID {
		b.t.Errorf("request %d: the pane shows model %q, replay says %v", request, got.Model, model)
	}
	var names []string
	for _, p := range want.System.Parts {
		names = append(names, p.Name)
	}
	for _, tool := range want.Tools {
		var t struct{ Name string }
		json.Unmarshal(tool, &t)
		names = append(names, t.Name)
	}
	if strings.Join(got.Parts, "|") != strings.Join(names, "|") {
		b.t.Errorf("request %d: the pane shows parts %q, replay has %q", request, got.Parts, names)
	}
	sameMessages(b, request, got, want, messages, seen)
	samePrompt(b, request, want)
}

// sameMessages compares what the messages say, each once.
func sameMessages(b *tab, request int, got pane, want *envelope, messages []json.RawMessage, seen map[int]string) {
	b.t.Helper()
	for i, m := range got.Messages {
		if m.Uncached != (i >= len(want.Messages.Cached)) {
			b.t.Errorf("request %d, message %d: uncached is %t", request, i, m.Uncached)
		}
		if was, ok := seen[m.Row]; ok {
			if was != string(messages[i]) {
				b.t.Errorf("request %d, message %d: row %d says what an earlier request's did, replay says otherwise", request, i, m.Row)
			}
			continue
		}
		seen[m.Row] = string(messages[i])
		var is, should any
		if err := json.Unmarshal([]byte(eval[string](b, fmt.Sprintf("ctxtool.context.bodyOf(%d).then(JSON.stringify)", m.Row))), &is); err != nil {
			b.t.Fatal(err)
		}
		if err := json.Unmarshal(messages[i], &should); err != nil {
			b.t.Fatal(err)
		}
		if should = shown(should); !reflect.DeepEqual(shown(is), should) {
			b.t.Errorf("request %d, message %d: the page has\n%v\nreplay has\n%v", request, i, is, should)
		}
	}
}

// shown is a message without what a page leaves out.
func shown(m any) any {
	switch m := m.(type) {
	case map[string]any:
		for key, v := range m {
			switch key {
			case "timestamp", "api", "responseId", "responseModel", "excludeFromContext", "details":
				delete(m, key)
				continue
			}
			if strings.HasSuffix(key, "ignature") || strings.HasPrefix(key, "encrypted") {
				delete(m, key)
				continue
			}
			m[key] = shown(v)
		}
	case []any:
		for i := range m {
			m[i] = shown(m[i])
		}
	}
	return m
}

// samePrompt compares what stands before the messages, and the options.
func samePrompt(b *tab, request int, want *envelope) {
	b.t.Helper()
	type prompt struct {
		Parts   []struct{ Name, Text string }
		Tools   []any
		Options any
	}
	got := eval[prompt](b, `(async () => {
		const s = ctxtool.model.steps, p = s.prompts[s.prompt[ctxtool.step]]
		return {
			Parts: await Promise.all(p.parts.map(async x => ({Name: x[0], Text: await ctxtool.store.row(x[1])}))),
			Tools: await Promise.all(p.tools.map(x => ctxtool.store.row(x[1]))), Options: p.options ?? {},
		}
	})()`)
	for i, p := range want.System.Parts {
		if i >= len(got.Parts) || got.Parts[i] != p {
			b.t.Errorf("request %d: part %s is another in the page", request, p.Name)
		}
	}
	for i, raw := range want.Tools {
		var tool any
		json.Unmarshal(raw, &tool)
		if i >= len(got.Tools) || !reflect.DeepEqual(got.Tools[i], tool) {
			b.t.Errorf("request %d: tool %d is another in the page", request, i)
		}
	}
	var options any
	json.Unmarshal(want.Options, &options)
	if !reflect.DeepEqual(got.Options, options) {
		b.t.Errorf("request %d: the page has options %v, replay has %v", request, got.Options, options)
	}
}
