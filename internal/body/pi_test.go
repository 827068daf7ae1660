package body_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"ctxtool/internal/body"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// forms are the forms by the interface in pi's sessions.
var forms = map[string]string{
	"anthropic-messages": "anthropic", "openai-completions": "openai-chat", "openai-responses": "openai-responses",
	"google-generative-ai": "google",
}

// list is the field of the messages.
var list = map[string]string{"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input", "google": "contents"}

// written is the request of an envelope.
func written(e *replay.Envelope, form string) (map[string]any, error) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	for _, f := range body.Forms {
		if f.Name != form {
			continue
		}
		if err := f.Write(w, e); err != nil {
			return nil, err
		}
	}
	w.Flush()
	var out map[string]any
	return out, json.Unmarshal(b.Bytes(), &out)
}

// A standIn is a server that stands in for all providers. It compares what it gets with the requests of
// sessions.
type standIn struct {
	t        *testing.T
	sessions []*sessionfmt.Session

	mu       sync.Mutex
	compared map[string]int // by form
	clamped  int            // requests whose answer the window limits
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	defer w.WriteHeader(http.StatusTeapot)
	s.mu.Lock()
	defer s.mu.Unlock()
	var file, answer int
	var api, known string
	if _, err := fmt.Sscan(q.Header.Get("x-request"), &file, &answer, &api, &known); err != nil {
		s.t.Errorf("a request without a name: %v", err)
		return
	}
	session := s.sessions[file]
	about := fmt.Sprintf("%s, request %d, %s", filepath.Base(session.Name), answer, forms[api])
	var sent map[string]any
	if err := json.Unmarshal(must.Get(io.ReadAll(q.Body)), &sent); err != nil {
		s.t.Errorf("%s: %v", about, err)
		return
	}
	e := must.Get(replay.New(session, replay.Options{Rules: replay.ByPi}).At(sessionfmt.Before(nth(session, answer))))
	got, err := written(e, forms[api])
	if list, _ := sent[list[forms[api]]].([]any); err != nil && len(list) == 0 {
		return // pi sends what no provider takes
	}
	if err != nil {
		s.t.Errorf("%s: %v", about, err)
		return
	}
	s.allow(got, sent, known == "known")
	if unlike := difference(got, sent); unlike != "" {
		s.t.Errorf("%s: %s", about, unlike)
	}
	s.compared[forms[api]]++
}

// allow takes out of both what differs by design (docs/formats.md): how long an answer may be, where the
// window limits it or pi's catalogue has no such model; what pi sends to OpenAI's own address only, and
// not to a stand-in; and that schemas are not strict, which pi says to models that could be.
func (s *standIn) allow(got, sent map[string]any, known bool) {
	var most [2]float64
	for k, of := range []map[string]any{got, sent} {
		most[k] = take(of, "max_tokens", "max_completion_tokens", "max_output_tokens")
		if config, is := of["generationConfig"].(map[string]any); is {
			most[k] = take(config, "maxOutputTokens")
		}
		if thinking, is := of["thinking"].(map[string]any); is {
			most[k] += take(thinking, "budget_tokens")
		}
		if _, chat := of["stream_options"]; chat {
			delete(of, "prompt_cache_key")
		}
		tools, _ := of["tools"].([]any)
		for _, tool := range tools {
			if tool := tool.(map[string]any); tool["strict"] == false {
				delete(tool, "strict")
			}
		}
	}
	switch near := most[0] > most[1]*0.9-8192 && most[0] < most[1]*1.1+8192; {
	case most[0] == most[1] || !known:
	case near:
		s.clamped++
	default:
		got["most"], sent["most"] = most[0], most[1]
	}
}

// take takes a number out of an object, by the name that it has there.
func take(of map[string]any, names ...string) (n float64) {
	for _, name := range names {
		if v, is := of[name].(float64); is {
			n = v
			delete(of, name)
		}
	}
	return n
}

// difference is the first thing that two JSON values do not share.
func difference(got, want any) string {
	if reflect.DeepEqual(got, want) {
		return ""
	}
	switch want := want.(type) {
	case map[string]any:
		if got, is := got.(map[string]any); is {
			for name := range want {
				if d := difference(got[name], want[name]); d != "" {
					return name + ": " + d
				}
			}
			for name := range got {
				if _, is := want[name]; !is {
					return fmt.Sprintf("%s: %.200v, and it was not sent", name, got[name])
				}
			}
		}
	case []any:
		if got, is := got.([]any); is {
			for k := range min(len(got), len(want)) {
				if d := difference(got[k], want[k]); d != "" {
					return fmt.Sprintf("%d of %d: %s", k, len(want), d)
				}
			}
			return fmt.Sprintf("%d, and %d were sent", len(got), len(want))
		}
	}
	return fmt.Sprintf("%.300v, and %.300v was sent", got, want)
}

// nth is the record of an answer, by its number in the file.
func nth(s *sessionfmt.Session, n int) int {
	for rec := range s.Len() {
		if s.Kind(rec) == jsonl.Assistant {
			if n--; n < 0 {
				return rec
			}
		}
	}
	return -1
}

// TestPi compares the requests of sessions with those that pi's own code sends for them, by every
// interface: of the project's samples, and with CTXTOOL_WHOLE of shared ones.
func TestPi(t *testing.T) {
	s := &standIn{t: t, compared: map[string]int{}}
	server := httptest.NewServer(s)
	defer server.Close()
	samples := corpus.Own(t)
	if corpus.Whole() {
		samples = append(samples, corpus.Shared(t)...)
	}
	var files []string
	for _, c := range samples {
		dialect := sessionfmt.Sniff(first(c.Data))
		if strings.Contains(c.Name, "bad/") || dialect != nil {
			continue
		}
		name := filepath.Join(t.TempDir(), filepath.Base(c.Name))
		if err := os.WriteFile(name, c.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		session, err := sessionfmt.Open(name, sessionfmt.Options{})
		if err != nil {
			continue
		}
		defer session.Close()
		files, s.sessions = append(files, name), append(s.sessions, session)
	}
	wrong := corpus.PiBodies(t, server.URL, files...)
	for line := range strings.Lines(wrong) {
		if !strings.HasSuffix(line, "contents are required\n") { // of an empty context
			t.Errorf("pi sends no request: %s", line)
		}
	}
	for _, form := range forms {
		if s.compared[form] < 60 {
			t.Errorf("%s: only %d requests compared", form, s.compared[form])
		}
	}
	t.Logf("%d sessions: %v; the window limits the answers of %d", len(files), s.compared, s.clamped)
}

// first is the first line of a file.
func first(data []byte) jsonl.Value {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	v, _ := jsonl.ParseValue(line)
	return v
}
