package claude

import (
	"slices"
	"strconv"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// madeFrom is the field of an item with what the program made it from. No request has it.
const madeFrom = "madeFrom"

// A composer puts what stands between two answers in the order in which the program sends it
// (docs/session-format.md 16.7).
type composer struct {
	stretch
	model   string
	effort  jsonl.Value // of the answer to the request
	set     jsonl.Value // the effort that the messages so far set
	waiting []stretch   // for the effort of a later answer
}

// compose implements Compose of the dialect.
func compose(to dialect.Request) dialect.Composer {
	prompt := to.Prompt.Get(madeFrom)
	return &composer{
		stretch: stretch{turns: takesSystemTurns(to), bare: !prompt.Get("snapshot").Exists(),
			marked: prompt.Get("marked").Truthy()},
		model: to.To.Model, effort: to.Answer.Get(madeFrom).Get("effort"),
	}
}

// Add implements [dialect.Composer], like Copy and End.
func (c *composer) Add(item jsonl.Value) []jsonl.Value {
	if !item.Get("role").Is("assistant") {
		c.add(slices.Clone(item))
		return nil
	}
	said := answered(item, c.model)
	if said == nil {
		return nil
	}
	c.answer = said
	c.waiting = append(c.waiting, c.stretch)
	c.stretch = stretch{turns: c.turns, bare: c.bare, marked: c.marked}
	effort := item.Get(madeFrom).Get("effort")
	if c.turns && c.effort.IsString() && !effort.IsString() {
		return nil
	}
	return c.flush(effort)
}

// Copy is possible between two stretches.
func (c *composer) Copy(to dialect.Request) dialect.Composer {
	next := compose(to).(*composer)
	if next.turns != c.turns || next.bare != c.bare || next.marked != c.marked || next.model != c.model ||
		len(c.waiting) > 0 || !c.empty() ||
		next.effort.IsString() != c.effort.IsString() {
		return nil
	}
	next.set = c.set
	return next
}

func (c *composer) End() []jsonl.Value {
	c.waiting = append(c.waiting, c.stretch)
	return c.flush(c.effort)
}

// flush returns the messages of stretches that wait. The effort of the answer after the last one is also that of
// those whose answers name none.
func (c *composer) flush(effort jsonl.Value) (all []jsonl.Value) {
	if !c.turns || !c.effort.IsString() || string(effort) == string(c.set) {
		effort = nil
	}
	for _, s := range c.waiting {
		all = append(all, s.messages(effort)...)
		if effort != nil {
			c.set, effort = slices.Clone(effort), nil
		}
	}
	c.waiting = c.waiting[:0]
	return all
}

// takesSystemTurns reports whether the model that is asked gets attachments of the role system as messages of
// that role. The snapshot with the tools tells for the model that it was written for. For another one, which a
// resume or /model chose, its answer tells if it names an effort for its turn, and else its generation.
func takesSystemTurns(to dialect.Request) bool {
	prompt := to.Prompt.Get(madeFrom)
	model := to.First.Get(madeFrom).Get("model")
	switch turns := prompt.Get("turns"); {
	case to.Answer.Get(madeFrom).Get("effort").IsString():
		return true
	case prompt.Get("older").Truthy(): // of a version whose snapshots do not tell
		return generation(to.To.Model) >= 5
	case turns.Exists() && (!model.IsString() || model.Is(to.To.Model)):
		return turns.Truthy()
	}
	return generation(to.To.Model) >= 5
}

// generation returns the first number in the name of a model, 0 for none.
func generation(model string) int {
	at := strings.IndexAny(model, "0123456789")
	if at < 0 {
		return 0
	}
	end := at
	for end < len(model) && '0' <= model[end] && model[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(model[at:end])
	return n
}

// answered returns an answer as another request has it: without thinking that another model signed and blank
// texts, and with its calls last. It is nil if only thinking is left.
func answered(item jsonl.Value, model string) jsonl.Value {
	from := item.Get(madeFrom)
	foreign := from.Get("model").IsString() && model != "" && !from.Get("model").Is(model)
	var blocks, calls []jsonl.Value
	said := false
	for b := range item.Get("content").Elements {
		switch typ := b.Get("type"); {
		case typ.Is("thinking") || typ.Is("redacted_thinking"):
			if !foreign {
				blocks = append(blocks, b)
			}
		case typ.Is("text") && strings.TrimSpace(b.Get("text").Text()) == "":
		case typ.Is("tool_use"):
			calls, said = append(calls, b), true
		default:
			blocks, said = append(blocks, b), true
		}
	}
	if !said {
		return nil
	}
	return turnOf("assistant", append(blocks, calls...))
}

// A stretch is what stands between two answers: results, then attachments, also those that the file has after
// a prompt, then prompts.
type stretch struct {
	turns   bool
	bare    bool            // no snapshot announces context
	marked  bool            // system turns keep the marks of reminders
	closed  [][]jsonl.Value // messages of the user that nothing joins
	open    []jsonl.Value   // the blocks of the one that what follows joins
	begun   bool            // an attachment began it
	system  []string        // texts of the message of the role system
	prompts [][]jsonl.Value
	answer  jsonl.Value // after it, absent for none
}

// add takes an item that is no answer.
func (s *stretch) add(item jsonl.Value) {
	from, blocks := item.Get(madeFrom), partsOf(item.Get("content"))
	kind := from.Get("attachment")
	switch {
	case s.bare && (kind.Is("date") || kind.Is("remote_session_change")):
		return
	case s.turns && from.Get("words").Truthy():
		for k, b := range blocks {
			blocks[k] = textBlock(unwrapped(b.Get("text").Text()))
		}
		s.attach(blocks, from)
		return
	case s.turns && kind.Exists() && item.Get("role").Is("system"):
		for _, b := range blocks {
			text := strings.Trim(b.Get("text").Text(), "\n")
			if !s.marked {
				text = strings.Trim(unwrapped(text), "\n")
			}
			if last := len(s.system) - 1; last >= 0 && from.Get("part").Int() > 0 {
				s.system[last] += "\n" + text
			} else {
				s.system = append(s.system, text)
			}
		}
		return
	case kind.Exists():
		s.attach(blocks, from)
		return
	}
	var prompt []jsonl.Value
	for _, b := range blocks {
		if isResult(b) {
			s.result(b)
		} else {
			prompt = append(prompt, b)
		}
	}
	for k, b := range prompt {
		if frame := from.Get("frame"); frame.IsString() && isText(b) {
			prompt[k] = textBlock(reminder(frame.Text() + b.Get("text").Text()))
		}
	}
	if prompt != nil {
		s.prompts = append(s.prompts, prompt)
	}
}

// result adds a result: after the others, before all else of the message.
func (s *stretch) result(b jsonl.Value) {
	at := len(s.open)
	for at > 0 && !isResult(s.open[at-1]) {
		at--
	}
	s.open = slices.Insert(s.open, at, b)
	if hasReference(b.Get("content")) {
		s.open = append(s.open, textBlock("Tool loaded."))
	}
}

// attach adds an item of an attachment: to the result that it follows, else after what the message has. Where
// an attachment begins the message, each of its items but the last is a message of its own.
func (s *stretch) attach(blocks []jsonl.Value, from jsonl.Value) {
	again, last := from.Get("part").Int() > 0, len(s.open)-1
	switch {
	case last < 0:
		s.begun = true
		s.open = blocks
		return
	case again && s.begun:
		s.closed, s.open = append(s.closed, s.open), blocks
		return
	}
	s.begun = false
	switch beside := from.Get("beside").Truthy(); {
	case s.turns && !beside && !from.Get("attachment").Is("instructions") && !from.Get("roleless").Truthy():
		s.join(blocks)
	case !beside && isResult(s.open[last]):
		s.open[last] = glued(s.open[last], blocks)
	default:
		s.open = append(s.open, blocks...)
	}
}

// join adds blocks of another message: where two texts meet, a newline ends the first.
func (s *stretch) join(blocks []jsonl.Value) {
	if last := len(s.open) - 1; last >= 0 && len(blocks) > 0 && isText(s.open[last]) && isText(blocks[0]) {
		s.open[last] = textBlock(s.open[last].Get("text").Text() + "\n")
	}
	s.open = append(s.open, blocks...)
}

// glued returns a result with texts that follow it as a part of what the tool returned.
func glued(result jsonl.Value, blocks []jsonl.Value) jsonl.Value {
	content := result.Get("content")
	if content.IsString() {
		texts := []string{strings.TrimSpace(content.Text())}
		for _, b := range blocks {
			texts = append(texts, strings.TrimSpace(b.Get("text").Text()))
		}
		content = jsonl.AppendQuoted(nil, strings.Join(texts, "\n\n"))
	} else {
		s := stretch{open: slices.Collect(content.Elements)}
		s.join(blocks)
		content = dialect.List(s.open...)
	}
	return result.AppendEdited(nil, jsonl.Field{Name: "content", Value: content})
}

// messages returns the messages of the stretch. effort is what they set, absent for none.
func (s *stretch) messages(effort jsonl.Value) (all []jsonl.Value) {
	for _, p := range s.prompts {
		s.join(p)
	}
	if s.open != nil {
		s.closed = append(s.closed, s.open)
	}
	for _, blocks := range s.closed {
		all = append(all, turnOf("user", blocks))
	}
	var texts []jsonl.Value
	if s.system != nil {
		texts = []jsonl.Value{textBlock(strings.Join(s.system, "\n\n"))}
	}
	switch {
	case effort != nil:
		config := jsonl.Value("{}").With("effort", effort)
		all = append(all, turnOf("system", texts).With("output_config", config))
	case texts != nil:
		all = append(all, turnOf("system", texts))
	}
	if s.answer.Exists() {
		all = append(all, s.answer)
	}
	return all
}

func (s *stretch) empty() bool {
	return s.closed == nil && s.open == nil && s.system == nil && s.prompts == nil
}

func isResult(b jsonl.Value) bool { return b.Get("type").Is("tool_result") }

func isText(b jsonl.Value) bool { return b.Get("type").Is("text") }

// turnOf returns a message of a request. The program sends one text, of another than the model, as it is.
func turnOf(role string, blocks []jsonl.Value) jsonl.Value {
	content := dialect.List(blocks...)
	if len(blocks) == 1 && isText(blocks[0]) && role != "assistant" {
		content = blocks[0].Get("text")
	}
	return jsonl.Value("{}").With("role", jsonl.AppendQuoted(nil, role)).With("content", content)
}

func textBlock(text string) jsonl.Value {
	return jsonl.Value(`{"type":"text"}`).With("text", jsonl.AppendQuoted(nil, text))
}

// partsOf returns the blocks of a content; a text is one.
func partsOf(content jsonl.Value) []jsonl.Value {
	if content.IsString() {
		return []jsonl.Value{jsonl.Value(`{"type":"text"}`).With("text", content)}
	}
	return slices.Collect(content.Elements)
}

func hasReference(content jsonl.Value) bool {
	for part := range content.Elements {
		if part.Get("type").Is("tool_reference") {
			return true
		}
	}
	return false
}

// reminder returns a text with the marks that set it apart in a message of the user.
func reminder(text string) string { return "<system-reminder>\n" + text + "\n</system-reminder>" }

// unwrapped returns a reminder without its marks.
func unwrapped(text string) string {
	inner, opened := strings.CutPrefix(text, "<system-reminder>")
	inner, closed := strings.CutSuffix(strings.TrimRight(inner, "\n"), "</system-reminder>")
	if !opened || !closed {
		return text
	}
	return strings.Trim(inner, "\n")
}

// framed returns what an item keeps of a record that the program sets in a frame, absent for others: the text
// of a hook, which names what comes before it, a note of its own, and a notification of a task.
func framed(line jsonl.Value) jsonl.Value {
	f := line.All("hookTextLead", "ownNote", "origin")
	frame := jsonl.Value(nil)
	switch {
	case f[0].IsString():
		frame = jsonl.AppendQuoted(nil, f[0].Text()+"\n")
	case f[1].Truthy():
		frame = jsonl.Value(`""`)
	case f[2].Get("kind").Is("task-notification"):
		frame = jsonl.AppendQuoted(nil, notification)
	default:
		return nil
	}
	return jsonl.Value("{}").With("frame", frame)
}

// notification is the line that begins what stands before a notification of a task in a request. The rest of it is in
// no ordinary record.
const notification = "[SYSTEM NOTIFICATION - NOT USER INPUT]\n"
