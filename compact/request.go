package compact

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // of the texts of requests
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"ctxtool/internal/base/shell"
	"ctxtool/internal/base/tmpl"
	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// A Prompt sets how a request for a summary is worded.
type Prompt struct {
	Focus       string   // what the summary should concentrate on
	Identifiers string   // y-agent: "strict" (the empty text too) lists those to keep, "relaxed" does not
	Patterns    []string // y-agent: texts that are identifiers besides the known ones

	Own *Wording // from ParsePrompt, replaces the policy's prompt; nil for that
}

//go:embed requests.tmpl
var requestTexts string

var requests = sync.OnceValue(func() tmpl.Templates {
	var all tmpl.Templates
	if err := all.Parse("", requestTexts); err != nil {
		panic(err) // it is in the binary
	}
	return all
})

// notesStyle is the style of session notes, with SWE-CLI's layout.
const notesStyle Style = "notes"

// NotesRequest returns a request for notes of a whole context, given the existing notes, empty
// for none.
func NotesRequest(e *replay.Envelope, existing string) (Request, error) {
	v, err := NewView(e, nil)
	if err != nil {
		return Request{}, err
	}
	return Request{View: v, Style: notesStyle, Part: historyPart, Messages: v.live(), Previous: existing}, nil
}

// text returns the exact text of the request, for a model or a person: who the answer is for, the
// messages, and what the summary must contain, by its style.
func (r Request) text(p Prompt) (string, error) {
	in := requestText{Previous: r.Previous, Focus: p.Focus, Part: string(r.Part), Messages: len(r.Messages)}
	name, named := string(cmp.Or(r.Style, StylePi)), ""
	if r.Style == styleSWECLI {
		in.Conversation = r.sweHistory()
	} else {
		in.Conversation = r.conversation(r.Messages)
		named = r.Previous + "\n" + in.Conversation
	}
	if r.Part == sequencePart {
		name, named = "sequence", in.Conversation
		in.Before, in.After = r.conversation(r.Before), r.conversation(r.After)
	}
	if r.Style == styleYAgent {
		in.Identifiers = p.identifiers(named)
	}
	for _, i := range r.Messages {
		in.Tokens += r.View.Messages[i].Tokens(r.View.counter)
	}
	if r.View.texts.err != nil {
		return "", r.View.texts.err
	}
	var b strings.Builder
	all := requests()
	if p.Own != nil {
		all, name = p.Own.templates, ownName
	}
	err := all.Execute(&b, name, in.fields())
	return b.String(), err
}

// resultUnits is how much of a tool result pi includes in a request, in UTF-16 units.
const resultUnits = 2000

// conversation returns messages as pi writes them for a summary: without thinking, and with
// only the beginning of long results (docs/session-format.md 9.5).
func (r Request) conversation(messages []int) string {
	var parts []string
	for _, i := range messages {
		_, all := r.View.pieces(i, 0)
		parts = append(parts, spoken(&r.View.Messages[i], all)...)
	}
	return strings.Join(parts, "\n\n")
}

// told returns the texts of a message, and its calls in a spelling.
func told(all []piece, spell func(call *piece) string) (texts, calls []string) {
	for k := range all {
		switch p := &all[k]; p.Kind {
		case jsonl.TextBlock, ResultBlock:
			texts = append(texts, p.Says)
		case jsonl.CallBlock:
			calls = append(calls, spell(p))
		}
	}
	return texts, calls
}

// spoken returns a message as parts of a conversation.
func spoken(m *Message, all []piece) (parts []string) {
	texts, calls := told(all, func(call *piece) string { return call.tool() + "(" + arguments(call.Args) + ")" })
	if m.isAssistant() {
		if len(texts) > 0 {
			parts = append(parts, "[Assistant]: "+strings.Join(texts, "\n"))
		}
		if len(calls) > 0 {
			parts = append(parts, "[Assistant tool calls]: "+strings.Join(calls, "; "))
		}
		return parts
	}
	text := strings.Join(texts, "")
	switch {
	case text == "":
		return nil
	case m.isResult():
		return []string{"[Tool result]: " + beginning(text)}
	}
	return []string{"[User]: " + text}
}

// arguments returns those of a call, as k=JSON in JavaScript's order.
func arguments(args jsonl.Value) string {
	var b []byte
	for name, v := range args.Ordered {
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = v.AppendMinified(append(append(b, name...), '='))
	}
	return string(b)
}

// beginning returns a result, cut to resultUnits. It does not split a surrogate pair, but
// counts the omitted characters as if it did.
func beginning(text string) string {
	n := jsonl.Units(text)
	if n <= resultUnits {
		return text
	}
	return firstUnits(text, resultUnits) + fmt.Sprintf("\n\n[... %d more characters truncated]", n-resultUnits)
}

// firstUnits returns the beginning of a text, at most so many UTF-16 units.
func firstUnits(text string, units int) string { return text[:endOf(text, units, 2)] }

// sweChars is how many characters of a message SWE-CLI includes.
const sweChars = 500

// sweHistory returns messages as SWE-CLI writes them.
func (r Request) sweHistory() string {
	var b strings.Builder
	for k, i := range r.Messages {
		m := &r.View.Messages[i]
		_, all := r.View.pieces(i, 0)
		texts, tools := told(all, (*piece).tool)
		role := "USER"
		switch {
		case m.isAssistant():
			role = "ASSISTANT"
		case m.isResult():
			role = "TOOL"
		}
		if len(tools) > 0 {
			role += " [Tools: " + strings.Join(tools, ", ") + "]"
		}
		text := strings.Join(texts, "\n")
		fmt.Fprintf(&b, "%d. %s: %s\n", k+1, role, text[:scalarEnd(text, sweChars)])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A requestText is the data of a request's template. Its fields are the placeholders of
// docs/summarizers.md.
type requestText struct {
	Conversation string // the messages to be summarised, as the policy writes them
	Previous     string // the earlier summary, which the new one must include
	Before       string // of a finished piece of work: the user's message before it
	After        string // of a finished piece of work: the answer after it
	Identifiers  string // y-agent: what the summary must keep verbatim, with an introductory sentence
	Focus        string // of --focus
	Part         string // history, turn-prefix or sequence
	Messages     int    // of the conversation
	Tokens       int    // of the conversation
}

func (t requestText) fields() map[string]any {
	return map[string]any{
		"Conversation": t.Conversation, "Previous": t.Previous, "Before": t.Before, "After": t.After,
		"Identifiers": t.Identifiers, "Focus": t.Focus, "Part": t.Part, "Messages": t.Messages, "Tokens": t.Tokens,
	}
}

// Wording is the text of a prompt, from ParsePrompt.
type Wording struct{ templates tmpl.Templates }

const ownName = "prompt"

// ParsePrompt parses a prompt for summaries. A prompt without the placeholder of the
// conversation is placed after it.
func ParsePrompt(text string) (*Wording, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("the prompt is empty")
	}
	if !strings.Contains(text, ".Conversation") {
		text = "<conversation>\n{{.Conversation}}\n</conversation>\n\n" + text
	}
	own := new(Wording)
	err := own.templates.Parse(ownName, text)
	if err == nil {
		err = own.templates.Execute(&strings.Builder{}, ownName, requestText{}.fields()) // an unknown placeholder
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the placeholders are {{.Conversation}}, {{.Previous}}, {{.Before}}, {{.After}}, "+
			"{{.Identifiers}}, {{.Focus}}, {{.Part}}, {{.Messages}} and {{.Tokens}}", err)
	}
	return own, nil
}

// An Emitted is a request for a summary as a line of a file. An answer is the same line
// with a summary; it may omit the text.
type Emitted struct {
	// of the request; depends only on the session, its state, the policy and the text
	ID      string      `json:"id"`
	Session string      `json:"session"` // as the caller names it
	Leaf    string      `json:"leaf"`    // the id of the entry whose context it is
	Policy  string      `json:"policy"`
	Part    SummaryPart `json:"part"`
	Text    ExactText   `json:"text,omitempty"`
	State   struct {    // of the session when the summary was requested; an answer is for no other
		Bytes int64  `json:"bytes"` // of the session
		Hash  string `json:"hash"`  // SHA-256 of the messages to be summarised, in hexadecimal
	} `json:"state"`
	Summary string `json:"summary,omitempty"`

	used bool
}

// An ExactText may have lone surrogates; see jsonl.Value.Exact.
type ExactText string

// MarshalJSON spells them as escapes.
func (t ExactText) MarshalJSON() ([]byte, error) { return jsonl.AppendQuoted(nil, string(t)), nil }

// emit returns a request as a line, for a session and a policy as the caller names them.
func (r Request) emit(session, policy string, p Prompt) (Emitted, error) {
	e := Emitted{Session: session, Policy: policy, Part: r.Part}
	if leaf := r.View.Envelope.Leaf; leaf >= 0 {
		e.Leaf = r.View.session().ID(leaf)
	}
	e.State.Bytes = r.View.session().Size()
	e.State.Hash = r.hash()
	text, err := r.text(p)
	if err != nil {
		return e, err
	}
	e.Text = ExactText(text)
	key, err := json.Marshal(e)
	sum := sha256.Sum256(key)
	e.ID = hex.EncodeToString(sum[:8])
	return e, err
}

// hash returns the SHA-256 of the content to be summarised, in hexadecimal.
func (r Request) hash() string {
	h := sha256.New()
	put := func(what string, text []byte) { fmt.Fprintf(h, "%s %d\n%s\n", what, len(text), text) }
	put("previous", []byte(r.Previous))
	for _, list := range [][]int{r.Before, r.Messages, r.After} {
		for _, i := range list {
			put(fmt.Sprint(r.View.Messages[i].Kind), r.View.Content(i))
		}
		put("end", nil)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// WriteRequests writes requests as lines of JSON, to be answered elsewhere, and returns how
// many. It writes only those of the first pass: its answers change the requests of later ones.
func WriteRequests(w io.Writer, session, policy string, p Prompt, requests []Request) (int, error) {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for n, r := range requests {
		if (r.Part == sequencePart) != (requests[0].Part == sequencePart) {
			return n, nil
		}
		line, err := r.emit(session, policy, p)
		if err == nil {
			err = lines.Encode(line)
		}
		if err != nil {
			return n, err
		}
	}
	return len(requests), nil
}

// Answers are requests with their summaries.
type Answers struct {
	list []*Emitted
	by   map[string]*Emitted // by id
}

// ReadAnswers reads answers, one line of JSON each: a line of WriteRequests with a summary.
// A line without an id or with a blank summary is an error, and so is an id with two
// different summaries.
func ReadAnswers(r io.Reader) (*Answers, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	a, n := &Answers{by: map[string]*Emitted{}}, 0
	for line := range bytes.Lines(data) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := a.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return a, nil
}

func (a *Answers) add(line []byte) error {
	var e Emitted
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	e.Summary, e.Text = strings.TrimSpace(e.Summary), ""
	switch before := a.by[e.ID]; {
	case e.ID == "":
		return errors.New("an answer without an id")
	case e.Summary == "":
		return fmt.Errorf("answer %s: %w", shell.Short(e.ID, 80), errNoSummary)
	case before == nil:
		a.by[e.ID] = &e
		a.list = append(a.list, &e)
	case before.Summary != e.Summary:
		return fmt.Errorf("answer %s: there is another one before it", shell.Short(e.ID, 80))
	}
	return nil
}

// ErrMovedOn reports that a session has changed since a summary was requested.
var ErrMovedOn = errors.New("the session has moved on since the summary was asked for")

// ErrNoAnswer reports that there is no answer to a request. The pass then waits for it.
var ErrNoAnswer = errors.New("no answer to the request")

// For returns a Summarize that takes summaries from the answers, for a session and a policy
// as WriteRequests named them. An answer for another state of the session is ErrMovedOn; the
// message names both states.
func (a *Answers) For(session, policy string, p Prompt) Summarize {
	return func(r Request) (string, error) {
		asked, err := r.emit(session, policy, p)
		if err != nil {
			return "", err
		}
		if e := a.by[asked.ID]; e != nil {
			e.used = true
			return e.Summary, nil
		}
		for _, e := range a.list {
			if e.Session == session && e.Policy == policy && (e.Leaf != asked.Leaf ||
				e.State.Bytes != asked.State.Bytes) {
				return "", fmt.Errorf("%s: answer %s: %w: asked at %s, %d bytes; now %s, %d bytes",
					session, shell.Short(e.ID, 80), ErrMovedOn, shell.Short(e.Leaf, 80), e.State.Bytes, asked.Leaf,
					asked.State.Bytes)
			}
		}
		return "", fmt.Errorf("%s: request %s: %w", session, asked.ID, ErrNoAnswer)
	}
}

// Unused returns the requests of the answers that For has not used, in input order.
func (a *Answers) Unused() (all []Emitted) {
	for _, e := range a.list {
		if !e.used {
			all = append(all, Emitted{ID: e.ID, Session: e.Session, Leaf: e.Leaf})
		}
	}
	return all
}
