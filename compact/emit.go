package compact

import (
	"bytes"
	"crypto/sha256"
	"ctxtool/internal/base/shell"
	"ctxtool/sessionfmt/jsonl"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

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
	State   struct {    // state of the session when the summary was requested; an answer for another state is refused
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
		return fmt.Errorf("answer %s: an earlier line answers the same request", shell.Short(e.ID, 80))
	}
	return nil
}

// ErrMovedOn reports that a session has changed since a summary was requested.
var ErrMovedOn = errors.New("the session has changed since the summary was requested")

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
