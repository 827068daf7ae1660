package html_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ctxtool/internal/out/show"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
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
	Request  int // its number
	Name     string
	Total    int
	Sums     map[string]int // tokens by category
	Messages []struct {
		Row, Tokens int
		Uncached    bool
	}
	Model  string
	Parts  []string // names of parts and tools
	Prompt int
}

// A prompt is what stands before the messages, and the options.
type prompt struct {
	Parts   []struct{ Name, Text string }
	Tools   []any
	Options any
}

// contexts are the contexts of a page: its requests, and what they share, by its number.
type contexts struct {
	All      int // requests of the path
	Requests []pane
	Messages map[int]string // JSON by row
	Prompts  map[int]prompt
}

// readContexts reads the pane at so many requests, evenly spread, with the first and the last two;
// then draws all entries of the path.
const readContexts = `(async most => {
	// rows say of a call what it is about, too
	function recorded(key, v) { return (key === 'about' || key === 'subject') && 'arguments' in this ? undefined : v }
	const n = (node, name) => +node.dataset[name], open = tab => document.querySelector('[data-tab=' + tab + ']').click()
	const s = ctxtool.model.steps, list = ctxtool.context.list, out = {Requests: [], Messages: {}, Prompts: {}}
	const gists = new Map(), gist = ctxtool.gistNow.bind(ctxtool) // each is made once
	ctxtool.gistNow = (row, later) => gists.get(row) || gists.set(row, gist(row, later)).get(row)
	document.body.style.display = 'none' // nothing is laid out until all is read
	const sent = ctxtool.steps.filter(step => s.entry[step] >= 0), every = Math.ceil(sent.length / most)
	out.All = sent.length
	for (const [request, step] of sent.entries()) {
		if (request % every && request < sent.length - 2) continue
		ctxtool.choose(step, s.entry[step]) // selects it, and does not scroll to it
		open('prompt')
		list.all = true
		open('messages')
		const sums = {}
		for (const row of document.querySelectorAll('.cats tr[data-cat]')) sums[row.dataset.cat] = n(row, 'n')
		out.Requests.push({
			Request: request, Name: document.getElementById('request-name').textContent, Total: n(document.getElementById('ctx-total'), 'n'), Sums: sums,
			Model: document.querySelector('#tab-overview .model').textContent,
			Messages: [...document.querySelectorAll('#messages-space .msg')].map(m => ({Row: ctxtool.context.rows[n(m, 'i')], Tokens: n(m, 'tokens'), Uncached: m.classList.contains('uncached')})),
			Parts: [...document.querySelectorAll('#tab-prompt details')].map(d => d.dataset.part),
			Prompt: s.prompt[step],
		})
		list.all = false
		open('overview')
		for (const row of ctxtool.context.rows) out.Messages[row] ??= JSON.stringify(await ctxtool.context.bodyOf(row), recorded)
		const p = ctxtool.model.prompt(step)
		out.Prompts[s.prompt[step]] ??= {
			Parts: await Promise.all(p.parts.map(async x => ({Name: x[0], Text: await ctxtool.store.row(x[1])}))),
			Tools: await Promise.all(p.tools.map(x => ctxtool.store.row(x[1]))), Options: p.options ?? {},
		}
	}
	document.body.style.display = ''
	ctxtool.spread()
	await new Promise(requestAnimationFrame)
	return out
})`

// TestPageContext holds that the context pane shows just what ctxtool replay says of
// every request.
func TestPageContext(t *testing.T) {
	t.Parallel()
	real := testenv.Shared(t, "corpus/auth-go-019e44d4.v3.jsonl", "corpus/pi.dev-019dbe19.v3.jsonl",
		"corpus/specstory-branching.jsonl", "corpus/pi.dev-019da84b.v3.jsonl")
	for _, file := range append(real, sessions+"/demo.jsonl") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			b := openSession(t, file)
			got := eval[contexts](b, fmt.Sprintf("%s(%d)", readContexts, corpus.Pick(20, 1<<30)))
			if len(got.Requests) == 0 {
				t.Fatal("the page knows no requests")
			}
			replayed := replays(t, file)
			seen := map[int]string{}
			for _, p := range got.Requests {
				sameContext(t, p, &got, replayed(p.Request), seen)
			}
			b.Silent()
			t.Logf("%d of %d requests, %d messages", len(got.Requests), got.All, len(seen))
		})
	}
}

// replays returns the envelope of a request, as ctxtool replay -f json writes it.
func replays(t *testing.T, file string) func(request int) *envelope {
	s, err := sessionfmt.Open(file, sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	r := replay.New(s, replay.Options{})
	return func(request int) *envelope {
		at, err := s.Point(fmt.Sprintf("request:%d", request), s.Leaf())
		if err != nil {
			t.Fatal(err)
		}
		e, err := r.At(at)
		if err != nil {
			t.Fatalf("replay of request %d: %v", request, err)
		}
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		must.Do(show.ContextForms.Of(show.Report{Envelope: e}).Write(w, "json", show.Screen{}))
		must.Do(w.Flush())
		read := new(envelope)
		if err := json.Unmarshal(out.Bytes(), read); err != nil {
			t.Fatal(err)
		}
		return read
	}
}

// sameContext compares the pane with an envelope. seen are the messages that have been
// compared, by row.
func sameContext(t *testing.T, got pane, page *contexts, want *envelope, seen map[int]string) {
	t.Helper()
	request := got.Request
	if name := fmt.Sprintf("Request %d", request); got.Name != name {
		t.Fatalf("the pane shows %q, not %q", got.Name, name)
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
		t.Errorf("request %d: the pane shows %d tokens, %v; replay says %+v", request, got.Total, got.Sums, tokens)
	}
	if len(got.Messages) != len(messages) {
		t.Fatalf("request %d: the pane shows %d messages, replay has %d", request, len(got.Messages), len(messages))
	}
	if model := want.Meta.Model; model.ID != "" && got.Model != model.Provider+"/"+model.ID {
		t.Errorf("request %d: the pane shows model %q, replay says %v", request, got.Model, model)
	}
	var names []string
	for _, p := range want.System.Parts {
		names = append(names, p.Name)
	}
	for _, tool := range want.Tools {
		var named struct{ Name string }
		json.Unmarshal(tool, &named)
		names = append(names, named.Name)
	}
	if strings.Join(got.Parts, "|") != strings.Join(names, "|") {
		t.Errorf("request %d: the pane shows parts %q, replay has %q", request, got.Parts, names)
	}
	for i, m := range got.Messages {
		if m.Uncached != (i >= len(want.Messages.Cached)) {
			t.Errorf("request %d, message %d: uncached is %t", request, i, m.Uncached)
		}
		if was, ok := seen[m.Row]; ok {
			if was != string(messages[i]) {
				t.Errorf("request %d, message %d: row %d says what an earlier request's did, replay says otherwise", request, i, m.Row)
			}
			continue
		}
		seen[m.Row] = string(messages[i])
		sameMessage(t, fmt.Sprintf("request %d, message %d", request, i), page.Messages[m.Row], messages[i])
	}
	samePrompt(t, request, page.Prompts[got.Prompt], want)
}

// sameMessage compares what a message says.
func sameMessage(t *testing.T, which, got string, want json.RawMessage) {
	t.Helper()
	var is, should any
	if err := json.Unmarshal([]byte(got), &is); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &should); err != nil {
		t.Fatal(err)
	}
	if should = shown(should); !reflect.DeepEqual(shown(is), should) {
		t.Errorf("%s: the page has\n%v\nreplay has\n%v", which, is, should)
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
func samePrompt(t *testing.T, request int, got prompt, want *envelope) {
	t.Helper()
	for i, p := range want.System.Parts {
		if i >= len(got.Parts) || got.Parts[i] != p {
			t.Errorf("request %d: part %s is another in the page", request, p.Name)
		}
	}
	for i, raw := range want.Tools {
		var tool any
		json.Unmarshal(raw, &tool)
		if i >= len(got.Tools) || !reflect.DeepEqual(got.Tools[i], tool) {
			t.Errorf("request %d: tool %d is another in the page", request, i)
		}
	}
	var options any
	json.Unmarshal(want.Options, &options)
	if !reflect.DeepEqual(got.Options, options) {
		t.Errorf("request %d: the page has options %v, replay has %v", request, got.Options, options)
	}
}
