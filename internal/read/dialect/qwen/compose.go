package qwen

import (
	"maps"
	"slices"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A composer makes the messages of Chat Completions as the program does. Messages of the user in a row become one:
// results of tools first, then the media of these, then the parts of prompts. Answers in a row become one too, and
// calls without results are left out, as are results without calls.
type composer struct {
	to      wire
	said    *saying         // an answer that the results of its calls may follow
	results []result        // of tools, after it
	user    []jsonl.Value   // parts of prompts, after them
	last    *saying         // an answer that is complete, unless another one follows it
	kept    map[string]bool // calls that were sent, by their ids
}

// A saying is an answer in the making.
type saying struct {
	raw             jsonl.Value // as it stands, nil if something of it changed
	text, reasoning string
	calls           []jsonl.Value
}

// A result is a message of a tool, with its media.
type result struct {
	call  string
	whole jsonl.Value
	media []jsonl.Value
}

// afterResults begins the message with the media of results.
const afterResults = `{"type":"text","text":"(attached media from previous tool call)"}`

func newComposer(to dialect.Request) dialect.Composer {
	return &composer{to: wireOf(to.To.Model), kept: map[string]bool{}}
}

// Add implements [dialect.Composer], like End and Copy.
func (c *composer) Add(item jsonl.Value) (done []jsonl.Value) {
	switch f := item.All("role", "content", "tool_call_id"); {
	case f[0].Is("assistant"):
		done = c.turn()
		c.answer(slices.Clone(item))
	case f[0].Is("tool"):
		c.results = append(c.results, c.result(f[2], f[1]))
	default:
		for p := range f[1].Elements {
			c.user = append(c.user, c.to.part(slices.Clone(p)))
		}
	}
	return done
}

// answer takes an answer. It continues one that nothing followed.
func (c *composer) answer(item jsonl.Value) {
	f := item.All("content", "reasoning_content", "tool_calls")
	s := &saying{raw: item, text: f[0].Text(), reasoning: f[1].Text(), calls: slices.Collect(f[2].Elements)}
	if c.said == nil {
		c.said = s
		return
	}
	c.said = c.said.and(s)
}

// and joins two answers.
func (s *saying) and(t *saying) *saying {
	return &saying{text: s.text + t.text, reasoning: s.reasoning + t.reasoning, calls: append(s.calls, t.calls...)}
}

// result makes the message of a tool.
func (c *composer) result(call, content jsonl.Value) result {
	var parts, media []jsonl.Value
	var texts []string
	for p := range content.Elements {
		p = c.to.part(slices.Clone(p))
		if p.Get("type").Is("text") {
			parts, texts = append(parts, p), append(texts, p.Get("text").Text())
		} else {
			media = append(media, p)
		}
	}
	told := jsonl.Value(`""`)
	switch {
	case media != nil && len(texts) == 0:
		told = jsonl.Value(`"[media attached in following user message]"`)
	case media != nil:
		told = jsonl.AppendQuoted(nil, strings.Join(texts, "\n"))
	case parts != nil:
		told = dialect.List(parts...)
	}
	return result{call.Text(), jsonl.Value(`{"role":"tool"}`).With("tool_call_id", call).With("content", told), media}
}

// turn completes an answer with what follows it, and returns what is complete then.
func (c *composer) turn() (done []jsonl.Value) {
	if c.results == nil && c.user == nil {
		return nil
	}
	said, results, media := c.said, c.matched(), []jsonl.Value(nil)
	for _, r := range results {
		media = append(media, r.media...)
	}
	if said != nil {
		c.complete(said, results)
	}
	if len(results) > 0 || len(c.user) > 0 {
		done = c.flush()
	}
	for _, r := range results {
		done = append(done, c.to.message(r.whole))
	}
	if len(media) > 0 {
		done = append(done, c.to.message(userMessage(append([]jsonl.Value{jsonl.Value(afterResults)}, media...))))
	}
	if len(c.user) > 0 {
		done = append(done, c.to.message(userMessage(c.user)))
	}
	c.said, c.results, c.user = nil, nil, nil
	return done
}

func userMessage(parts []jsonl.Value) jsonl.Value {
	return jsonl.Value(`{"role":"user"}`).With("content", dialect.List(parts...))
}

// matched returns the results of calls of the answer, each once.
func (c *composer) matched() (all []result) {
	asked := map[string]bool{}
	if c.said != nil {
		for _, call := range c.said.calls {
			id := call.Get("id").Text()
			asked[id] = id != "" && !c.kept[id]
		}
	}
	for _, r := range c.results {
		if asked[r.call] {
			all, asked[r.call] = append(all, r), false
		}
	}
	return all
}

// complete keeps of an answer the calls that have results.
func (c *composer) complete(s *saying, results []result) {
	answered := map[string]bool{}
	for _, r := range results {
		answered[r.call] = true
	}
	var calls []jsonl.Value
	for _, call := range s.calls {
		if id := call.Get("id").Text(); answered[id] {
			calls, answered[id], c.kept[id] = append(calls, call), false, true
		}
	}
	switch {
	case len(calls) == len(s.calls):
	case len(calls) == 0 && strings.TrimSpace(s.text) == "" && s.reasoning == "":
		return
	default:
		s = &saying{text: s.text, reasoning: s.reasoning, calls: calls}
	}
	if c.last != nil {
		s = c.last.and(s)
	}
	c.last = s
}

// flush returns the answer that is complete.
func (c *composer) flush() []jsonl.Value {
	s := c.last
	if s == nil {
		return nil
	}
	c.last = nil
	one := s.raw
	if one == nil {
		content := jsonl.Value("null")
		if s.text != "" {
			content = jsonl.AppendQuoted(nil, s.text)
		}
		one = jsonl.Value(`{"role":"assistant"}`).With("content", content)
		if len(s.calls) > 0 {
			one = one.With("tool_calls", dialect.List(s.calls...))
		}
		if s.reasoning != "" {
			one = one.With("reasoning_content", jsonl.AppendQuoted(nil, s.reasoning))
		}
	}
	return []jsonl.Value{c.to.message(one)}
}

func (c *composer) End() []jsonl.Value {
	done := c.turn()
	if c.said != nil {
		c.complete(c.said, nil)
		c.said = nil
	}
	return append(done, c.flush()...)
}

// Copy is for another request to the same model, since others get other messages.
func (c *composer) Copy(to dialect.Request) dialect.Composer {
	if wireOf(to.To.Model) != c.to {
		return nil
	}
	d := *c
	d.results, d.user, d.kept = slices.Clone(c.results), slices.Clone(c.user), maps.Clone(c.kept)
	return &d
}
