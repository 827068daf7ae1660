package agents

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"ctxtool/internal/test/must"
)

// A Server is a model that answers from a plan, and records what it was asked.
type Server struct {
	mu     sync.Mutex
	plan   []Answer
	log    []*Request
	before [][]string // the keys of earlier requests, for the cache that usage reports
	calls  int
	held   []chan struct{}
	hung   int
	// answered are the requests with their answers, by the ids of these.
	answered map[string]object
	http     *http.Server
	stop     chan struct{}
	step     int
}

// A Request is what the program sent, and how the answer ended.
type Request struct {
	N       int    `json:"n"`
	Step    int    `json:"step"`
	Session string `json:"session,omitempty"` // its label in the script
	ID      string `json:"session_id,omitempty"`
	Agent   string `json:"agent,omitempty"` // the sub-agent that asks
	URL     string `json:"url"`
	// Interface is that which it was sent in, as package body names it; empty for the Messages API.
	Interface string `json:"interface,omitempty"`
	Beta      string `json:"beta,omitempty"` // the features that it asks for
	// Answer is the id of the answer, Calls are those of its calls, and Said are its texts.
	Answer string   `json:"id,omitempty"`
	Calls  []string `json:"calls,omitempty"`
	Said   []string `json:"said,omitempty"`
	// Summary reports that it asks for a summary, by the texts that a skeleton does not have.
	Summary bool   `json:"summary,omitempty"`
	Ended   string `json:"ended"`
	// Body is as it was sent; a skeleton has it as a difference.
	Body   json.RawMessage `json:"body,omitempty"`
	Packed *packedBody     `json:"packed,omitempty"`

	done bool
}

// Serve starts a server on the loopback interface.
func Serve(port int) (*Server, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	s := &Server{stop: make(chan struct{})}
	s.http = &http.Server{Handler: s}
	go s.http.Serve(l)
	return s, nil
}

// Close ends the server, and streams that stall.
func (s *Server) Close() {
	close(s.stop)
	s.http.Close()
}

// Plan replaces the answers to come.
func (s *Server) Plan(step int, answers []Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step, s.plan = step, slices.Clone(answers)
}

// Left returns the number of planned answers that no request got.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.plan)
}

// State returns the number of requests so far, of those that are not answered, and of streams that stall.
func (s *Server) State() (all, open, hung int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.log {
		if !r.done {
			open++
		}
	}
	return len(s.log), open, s.hung
}

// Release sends the answers that are held.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.held {
		close(c)
	}
	s.held = nil
}

// Held returns the number of answers that are held.
func (s *Server) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// Log returns the requests.
func (s *Server) Log() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := payload(r)
	of := slices.IndexFunc(apis, func(a *api) bool { return a.serves(r.URL.Path) })
	var body object
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		reply(w, http.StatusOK, object{"object": "list", "data": []any{}, "models": []any{}})
		return
	case err != nil || r.Method != http.MethodPost || of < 0 || json.Unmarshal(raw, &body) != nil:
		reply(w, http.StatusNotFound, object{"type": "error",
			"error": object{"type": "not_found_error", "message": "not here"}})
		return
	case counts.MatchString(r.URL.Path):
		reply(w, http.StatusOK, apis[of].tokens((len(raw)+3)/4))
		return
	}
	body, raw = s.continued(apis[of], body, raw)
	asked := apis[of].asked(r.URL.Path, body)
	q, answer, held := s.take(r, apis[of], raw, body, asked)
	defer func() {
		s.mu.Lock()
		q.done = true
		s.mu.Unlock()
	}()
	if held != nil {
		select {
		case <-held:
		case <-s.stop:
			return
		case <-r.Context().Done(): // nobody waits for it
			return
		}
	}
	s.answer(w, apis[of], &response{prompt: asked, Answer: answer, q: q, body: body, parts: answer.parts(q.N)})
}

// counts matches paths of requests that count tokens.
var counts = regexp.MustCompile(`/count_tokens$|/input_tokens$|:countTokens$`)

func payload(r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	switch r.Header.Get("Content-Encoding") {
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	case "zstd":
		return must.Get(zstd.NewReader(nil)).DecodeAll(raw, nil)
	}
	return raw, nil
}

// take records a request and picks its answer.
func (s *Server) take(r *http.Request, of *api, raw []byte, body object, asked prompt) (q *Request, a Answer,
	held chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q = &Request{N: len(s.log) + 1, Step: s.step, URL: r.URL.RequestURI(), Beta: r.Header.Get("Anthropic-Beta"),
		Agent: agent(r), ID: session(r, body), Interface: of.name, Body: raw}
	s.log = append(s.log, q)
	a = Answer{Text: Texts{fmt.Sprintf("Answer %d.", q.N)}}
	if at := s.pick(asked, q.Agent); at >= 0 {
		a = s.plan[at]
		s.plan = slices.Delete(s.plan, at, at+1)
	} else if asked.unplanned != nil {
		a = *asked.unplanned
	}
	if a.Hold {
		held = make(chan struct{})
		s.held = append(s.held, held)
	}
	return q, a, held
}

// session returns the id of the session that asks. Older versions of Claude Code have it in their name of the
// user, those of Codex as the key of the cache.
func session(r *http.Request, asked map[string]any) string {
	for _, name := range []string{"X-Claude-Code-Session-Id", "X-Session-Id", "Thread-Id"} {
		if id := r.Header.Get(name); id != "" {
			return id
		}
	}
	if id := word(asked, "prompt_cache_key"); id != "" {
		return id
	}
	meta, _ := asked["metadata"].(map[string]any)
	user, _ := meta["user_id"].(string)
	var named struct {
		ID string `json:"session_id"`
	}
	if json.Unmarshal([]byte(user), &named) == nil {
		return named.ID
	}
	_, id, _ := strings.Cut(user, "session_")
	return id
}

// agent returns the name or id of the sub-agent that asks.
func agent(r *http.Request) string {
	var codex struct {
		Name string `json:"agent_name"`
	}
	json.Unmarshal([]byte(r.Header.Get("X-Codex-Turn-Metadata")), &codex)
	return or(r.Header.Get("X-Claude-Code-Agent-Id"), codex.Name)
}

// pick returns the place of the answer to a request in the plan: one that is meant for its text, or else the first
// that is for any; below 0 for none.
func (s *Server) pick(asked prompt, agent string) int {
	last := asked.last()
	for at, a := range s.plan {
		if (a.When != "" || a.Agent != "") && strings.Contains(last, a.When) && (a.Agent == "" || a.Agent == agent) {
			return at
		}
	}
	tools, _ := asked.tools.([]any)
	if len(tools) == 0 || asked.unplanned != nil || strings.HasSuffix(last, "\nWarmup") {
		return -1 // a call on the side, for a title or to fill a cache
	}
	return slices.IndexFunc(s.plan, func(a Answer) bool { return a.When == "" && a.Agent == "" })
}

// last returns the text of the system prompt, and of what follows the last answer, of two items at most.
func (p prompt) last() string {
	all := text(p.system)
	for k := len(p.items) - 1; k >= max(0, len(p.items)-2); k-- {
		m, _ := p.items[k].(object)
		all += "\n" + text(m)
		if m["role"] == "user" && k > 0 && p.items[k-1].(object)["role"] != "user" {
			break
		}
	}
	return all
}

// text returns all text of a content.
func text(content any) string {
	switch c := content.(type) {
	case string:
		return c
	case []any:
		var all []string
		for _, b := range c {
			all = append(all, text(b))
		}
		return strings.Join(all, "\n")
	case object:
		var all []string
		for _, name := range []string{"text", "content", "parts", "output"} {
			if t := text(c[name]); t != "" {
				all = append(all, t)
			}
		}
		return strings.Join(all, "\n")
	}
	return ""
}
