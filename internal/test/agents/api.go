package agents

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"ctxtool/internal/test/must"
)

type object = map[string]any

// An api is the interface of a provider, as the server speaks it.
type api struct {
	name string // as package body names it
	list string // the field with messages or items, where a request can continue from an earlier one
	// answers and calls begin the ids of answers and of calls. Calls without it get no ids.
	answers, calls string
	serves         func(path string) bool
	asked          func(path string, body object) prompt
	// whole is the answer to a request that is not streamed.
	whole func(r *response) object
	// stream returns the events of an answer. A stream that breaks off ends after the first sent of them.
	stream func(r *response) (events []event, sent int)
	// failed is the body of an HTTP error, tokens that of an answer to a request that counts tokens.
	failed func(status int, message string) object
	tokens func(n int) object
}

// apis are the interfaces.
var apis = []*api{&messagesAPI, &responsesAPI, &chatAPI, &geminiAPI}

// A prompt is what a request asks, whichever interface it is of.
type prompt struct {
	model         string
	system, tools any
	items         []any // messages, contents or items
	stream        bool
	unplanned     *Answer // unless one is planned for its text
}

// A response is an answer in the making.
type response struct {
	prompt
	Answer
	q     *Request
	body  object // of the request
	parts []part
	usage tokens
}

// A part is a part of an answer: a thought, a text, a call, or what a script has as it stands.
type part struct {
	kind string // thinking, text, call or raw
	text string
	sign string // of a thought
	id   string // of a call, unique
	call Call
	asIs object
}

// The kinds of parts.
const (
	thinkingPart = "thinking"
	textPart     = "text"
	callPart     = "call"
	rawPart      = "raw"
)

// An event is one of a stream. Its data is written as JSON, unless it is a text.
type event struct {
	name string
	data any
}

// tokens are the usage of an answer. What the cache served or kept is not part of input.
type tokens struct{ input, read, write, output, thought int }

// prompt returns the size of what was asked.
func (t tokens) prompt() int { return t.input + t.read + t.write }

// parts returns those of an answer.
func (a Answer) parts(n int) (all []part) {
	if a.Thinking != nil {
		sign := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(fmt.Sprintf("signature %d ", n), 3)))
		all = append(all, part{kind: thinkingPart, text: *a.Thinking, sign: sign})
	}
	for _, t := range a.Text {
		all = append(all, part{kind: textPart, text: t})
	}
	for _, c := range a.Calls {
		all = append(all, part{kind: callPart, call: c})
	}
	for _, b := range a.Blocks {
		one := part{kind: rawPart}
		must.Do(json.Unmarshal(b, &one.asIs))
		all = append(all, one)
	}
	return all
}

// input is that of a call as an object.
func (c Call) input() any {
	if c.Input == nil {
		return object{}
	}
	return c.Input
}

// arguments returns the input of a call as a text, which is how some interfaces have it.
func (c Call) arguments() string {
	if c.Raw != nil {
		return *c.Raw
	}
	return string(must.Get(json.Marshal(c.input())))
}

// stop returns why an answer ends: because of calls, or else done, unless the script tells.
func (r *response) stop(done, calls string) string {
	if r.Stop != "" {
		return r.Stop
	}
	for _, p := range r.parts {
		if p.kind == callPart || p.kind == rawPart && p.asIs["type"] == "tool_use" {
			return calls
		}
	}
	return done
}

// count returns the usage of an answer: characters / 4, with a cache that serves the longest beginning that was
// sent before.
func (s *Server) count(p prompt, given Usage, parts []part) (t tokens) {
	chars := func(v any) int { return len(must.Get(json.Marshal(v))) }
	keys := []string{string(must.Get(json.Marshal([]any{p.model, p.tools, Unmarked(p.system)})))}
	sizes := []int{chars(p.tools) + chars(p.system)}
	for _, m := range p.items {
		keys = append(keys, string(must.Get(json.Marshal(Unmarked(m)))))
		sizes = append(sizes, chars(m))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	best := 0
	for _, old := range s.before {
		k := 0
		for k < min(len(keys), len(old)) && keys[k] == old[k] {
			k++
		}
		best = max(best, k)
	}
	s.before = append(s.before, keys)
	read, all := 0, 0
	for k, n := range sizes {
		all += n
		if k < best {
			read += n
		}
	}
	or := func(set *int, n int) int {
		if set != nil {
			return *set
		}
		return n
	}
	var said []object
	for _, p := range parts {
		said = append(said, p.block())
		if p.kind == thinkingPart {
			t.thought += (len(p.text) + 3) / 4
		}
	}
	t.input, t.read = or(given.Input, 3), or(given.Read, (read+3)/4)
	t.write = or(given.Write, max(0, (all+3)/4-(read+3)/4-3))
	t.output = or(given.Output, (chars(said)+3)/4)
	t.thought = min(t.thought, t.output)
	return t
}

// answer writes the answer to a request.
func (s *Server) answer(w http.ResponseWriter, of *api, r *response) {
	end := func(how string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		r.q.Ended = how
	}
	for name, v := range r.Headers {
		w.Header().Set(name, v)
	}
	if r.Status != 0 {
		end(fmt.Sprintf("http %d", r.Status))
		var failed any = of.failed(r.Status, fmt.Sprintf("planned %d", r.Status))
		if r.Body != nil {
			failed = r.Body
		}
		reply(w, r.Status, failed)
		return
	}
	s.name(of, r)
	s.keep(of, r)
	r.usage = s.count(r.prompt, r.Answer.Usage, r.parts)
	w.Header().Set("Request-Id", fmt.Sprintf("req_%d", r.q.N))
	if !r.prompt.stream {
		end("completed")
		reply(w, http.StatusOK, of.whole(r))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events, sent := of.stream(r)
	broken := r.Hang || r.Cut
	if broken {
		events = events[:sent]
	}
	for _, e := range events {
		text, ok := e.data.(string)
		if !ok {
			text = string(must.Get(json.Marshal(e.data)))
		}
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
	if broken {
		w.(http.Flusher).Flush()
	}
	switch {
	case r.Hang:
		end("hung")
		s.keepOpen(r.q)
	case r.Cut:
		end("cut")
		panic(http.ErrAbortHandler)
	case r.Failed != nil:
		end("failed")
	default:
		end("completed")
	}
}

// name gives an answer and its calls their ids, and notes what is answered.
func (s *Server) name(of *api, r *response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.q.Answer = fmt.Sprintf("%s%024d", of.answers, r.q.N)
	for k := range r.parts {
		switch p := &r.parts[k]; p.kind {
		case textPart:
			r.q.Said = append(r.q.Said, p.text)
		case callPart:
			if s.calls++; of.calls != "" {
				p.id = fmt.Sprintf("%s%024d", of.calls, s.calls)
				r.q.Calls = append(r.q.Calls, p.id)
			}
		}
	}
}

// keepOpen keeps a stream open until the server ends.
func (s *Server) keepOpen(q *Request) {
	s.mu.Lock()
	s.hung++
	q.done = true
	s.mu.Unlock()
	<-s.stop
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// extend adds fields to an object.
func extend(o object, more map[string]json.RawMessage) object {
	for name, v := range more {
		o[name] = v
	}
	return o
}

// list returns a field of an object that is a list.
func list(o object, name string) []any {
	all, _ := o[name].([]any)
	return all
}

// word returns a field of an object that is a text.
func word(o object, name string) string {
	text, _ := o[name].(string)
	return text
}

// Unmarked returns a decoded value without marks for the cache, at any depth.
func Unmarked(v any) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for k, e := range v {
			all[k] = Unmarked(e)
		}
		return all
	case object:
		all := object{}
		for name, e := range v {
			if name != "cache_control" {
				all[name] = Unmarked(e)
			}
		}
		return all
	}
	return v
}
