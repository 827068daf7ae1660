package body

import (
	"ctxtool/sessionfmt/jsonl"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// A message is one of the conversation, as pi prepares it for a provider.
type message struct {
	*jsonl.Message
	role    jsonl.Kind
	own     bool   // the model that gets the request made it, by this interface
	kindred bool   // its provider did, by this interface
	call    string // the id of the call, of a result
	text    bool   // the content is a string
	level   string // the provider's level of an answer of the model

	grammars map[string]string // see request

	update *update // of a system message in place
	nth    int     // its number
}

// A preparation is what preparing messages in order remembers.
type preparation struct {
	r     *request
	yield func(*message, error) bool
	ids   map[string]string // of calls, where they changed
	open  []jsonl.Block     // calls of the last answer without a result
	calls bool              // the last answer has calls, and nothing but results followed
	held  []*message        // system messages, until what follows the results
	nth   int               // of the next system message
}

// messages yields the conversation without the system messages that are in the prompt, without
// failed answers, and with a result for each call. What a message holds is valid until the next one.
func (r *request) messages(yield func(*message, error) bool) {
	p := &preparation{r: r, yield: yield, ids: map[string]string{}}
	for raw, err := range r.e.ProviderMessages() {
		if err != nil {
			yield(nil, err)
			return
		}
		m := raw.Raw.Message()
		if !p.next(&message{Message: m, role: m.Kind, text: m.Content.IsString()}, raw.Raw) {
			return
		}
	}
	p.close()
}

// each yields the results of one for each message, of end before each message other than a result and after all
// messages, and of last at the end.
func (r *request) each(one func(m *message) []any, end, last func() []any) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		all := func(items []any) bool {
			return !slices.ContainsFunc(items, func(item any) bool { return !yield(item, nil) })
		}
		for m, err := range r.messages {
			if err != nil {
				yield(nil, err)
				return
			}
			items := one(m)
			if m.role != jsonl.ToolResult {
				items = append(end(), items...)
			}
			if !all(items) {
				return
			}
		}
		if all(end()) {
			all(last())
		}
	}
}

// nothing yields no items.
func nothing() []any { return nil }

// next yields a message, after results for the calls that it leaves without one.
func (p *preparation) next(m *message, raw jsonl.Value) bool {
	switch m.role {
	case jsonl.Assistant:
		if !p.close() {
			return false
		}
		if m.Failed() {
			return true
		}
		p.answer(m, raw)
		p.calls = len(p.open) > 0
	case jsonl.User:
		if !p.close() {
			return false
		}
		p.withoutImages(m, "(image omitted: model does not support images)")
	case jsonl.ToolResult:
		m.call = m.CallID.Text()
		if id, changed := p.ids[m.call]; changed {
			m.call = id
		}
		if k := slices.IndexFunc(p.open, func(b jsonl.Block) bool { return b.ID.Text() == m.call }); k >= 0 {
			if m.Tool.Text() == "" { // the agent keeps it with the call alone
				m.Tool = p.open[k].Name
			}
			// A result answers every call of the answer with that id.
			p.open = slices.DeleteFunc(p.open, func(b jsonl.Block) bool { return b.ID.Text() == m.call })
		}
		p.withoutImages(m, "(tool image omitted: model does not support images)")
	case jsonl.System:
		return p.system(m)
	default:
		return true
	}
	m.grammars = p.r.grammars
	return p.yield(m, nil)
}

// system yields a later system message that stands in place, after the results of the last answer.
func (p *preparation) system(m *message) bool {
	nth := p.nth
	p.nth++
	t := &p.r.transcript
	if !t.inPlace || nth == 0 && t.lead {
		return true
	}
	system := &message{Message: &jsonl.Message{}, role: jsonl.System, update: &t.updates[nth], nth: nth}
	if p.calls {
		p.held = append(p.held, system)
		return true
	}
	return p.yield(system, nil)
}

// answer takes from an answer what another model made for itself, and gives its calls ids that the
// interface takes.
func (p *preparation) answer(m *message, raw jsonl.Value) {
	to := p.r.model
	m.kindred = m.Provider.Is(to.Provider) && raw.Get("api").Is(p.r.api)
	m.level = raw.Get("providerThinkingLevel").Text()
	m.own = m.kindred && m.Model.Is(to.ID)
	p.open = nil
	kept := m.Blocks[:0]
	for _, b := range m.Blocks {
		switch b.Kind {
		case jsonl.ThinkingBlock:
			switch closed := b.Raw.Get("redacted").Truthy(); {
			case !m.own && p.r.spoken && !closed && !blank(b.Text):
				b = jsonl.Block{Kind: jsonl.TextBlock, Text: b.Text}
			case !m.own, !closed && !signature(b).Truthy() && blank(b.Text):
				continue
			}
		case jsonl.CallBlock:
			if id := b.ID.Text(); !m.own && id != "" {
				if now := p.r.form.callID(p.r, id, !m.kindred); now != id {
					p.ids[id] = now
					b.ID = jsonl.AppendQuoted(nil, now)
				}
			}
			p.open = append(p.open, jsonl.Block{ID: append(jsonl.Value{}, b.ID...),
				Name: append(jsonl.Value{}, b.Name...)})
		}
		kept = append(kept, b)
	}
	m.Blocks = kept
}

// signature returns what the provider needs to take thinking back.
func signature(b jsonl.Block) jsonl.Value { return b.Raw.Get("thinkingSignature") }

// close yields a result for each call that has none, and then the system messages that waited.
func (p *preparation) close() bool {
	open, held := p.open, p.held
	p.open, p.held, p.calls = nil, nil, false
	for _, call := range open {
		text := jsonl.Value(`"No result provided"`).Spelled()
		result := &jsonl.Message{Kind: jsonl.ToolResult, Tool: call.Name, IsError: jsonl.Value("true"),
			Blocks: []jsonl.Block{{Kind: jsonl.TextBlock, Text: text}}}
		if !p.yield(&message{Message: result, role: jsonl.ToolResult, call: call.ID.Text()}, nil) {
			return false
		}
	}
	for _, m := range held {
		if !p.yield(m, nil) {
			return false
		}
	}
	return true
}

// withoutImages replaces the images that the model does not take.
func (p *preparation) withoutImages(m *message, by string) {
	if takes := p.r.model.Takes; takes != "" && !takes.Has("image") && !m.text {
		m.Blocks = replaceImages(m.Blocks, by)
	}
}

// replaceImages returns blocks with a text instead of images in a row.
func replaceImages(blocks []jsonl.Block, by string) (kept []jsonl.Block) {
	text := jsonl.Block{Kind: jsonl.TextBlock, Text: jsonl.Value(`"` + by + `"`).Spelled()}
	was := false
	for _, b := range blocks {
		if b.Kind != jsonl.ImageBlock {
			was = b.Text.Is(by)
		} else if b = text; was {
			continue
		} else {
			was = true
		}
		kept = append(kept, b)
	}
	return kept
}

// clean returns a text without lone surrogates, which providers refuse.
func clean(exact string) string { return strings.ToValidUTF8(exact, "") }

// textOf returns the text of a block.
func textOf(b jsonl.Block) string { return clean(b.Text.Exact()) }

// blank reports whether a text is white space.
func blank(s jsonl.String) bool { return jsonl.TrimJS(s.Exact()) == "" }

// texts returns the texts of a message, separated by sep.
func (m *message) texts(sep string) string { return clean(m.Exact(sep)) }

// images returns the images of a message.
func (m *message) images() (all []jsonl.Block) {
	for _, b := range m.Blocks {
		if b.Kind == jsonl.ImageBlock {
			all = append(all, b)
		}
	}
	return all
}

// dataURL returns an image as an address.
func dataURL(b jsonl.Block) string { return "data:" + b.Mime.Text() + ";base64," + b.Data.Text() }

// raw is JSON as sent, {} if there is none.
func raw(v jsonl.Value) json.RawMessage {
	if !v.Exists() {
		return json.RawMessage("{}")
	}
	return json.RawMessage(v.AppendMinified(nil))
}
