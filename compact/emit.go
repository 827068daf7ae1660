package compact

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// An emitted is a request for a summary as a line of a file. Whoever answers sends the
// line back with a summary; text need not be there then.
type emitted struct {
	ID      string      `json:"id"`      // of the request: the same for the same state of the same session
	Session string      `json:"session"` // as the caller names it
	Leaf    string      `json:"leaf"`    // the id of the entry whose context it is
	Policy  string      `json:"policy"`
	Part    summaryPart `json:"part"`
	Text    string      `json:"text,omitempty"`
	State   struct {    // what the summary was asked for: it fits no other
		Bytes int64  `json:"bytes"` // of the session
		Hash  string `json:"hash"`  // SHA-256 of the messages that are to be summarised, in hexadecimal
	} `json:"state"`
	Summary string `json:"summary,omitempty"`

	used bool
}

// emit puts a request into words, for a session and a policy as the caller names them.
func (r Request) emit(session, policy string, p Prompt) (emitted, error) {
	e := emitted{Session: session, Policy: policy, Part: r.Part}
	if leaf := r.View.Envelope.Leaf; leaf >= 0 {
		e.Leaf = r.View.session().ID(leaf)
	}
	e.State.Bytes = r.View.session().Size()
	var err error
	if e.State.Hash, err = r.hash(); err != nil {
		return e, err
	}
	if e.Text, err = r.text(p); err != nil {
		return e, err
	}
	key, err := json.Marshal(e)
	sum := sha256.Sum256(key)
	e.ID = hex.EncodeToString(sum[:8])
	return e, err
}

// hash is that of what is to be summarised.
func (r Request) hash() (string, error) {
	h := sha256.New()
	put := func(what string, text []byte) { fmt.Fprintf(h, "%s %d\n%s\n", what, len(text), text) }
	put("previous", []byte(r.Previous))
	for _, list := range [][]int{one(r.Before), r.Messages, one(r.After)} {
		for _, i := range list {
			content, err := r.View.Content(i)
			if err != nil {
				return "", err
			}
			put(fmt.Sprint(r.View.Messages[i].Kind), content)
		}
		put("end", nil)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// WriteRequests writes requests down for others to answer, a line each, and returns how many.
// Those of a later pass than the first are left: they will be others once the first has
// its answers.
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

// Answers are requests that came back with summaries.
type Answers struct {
	list []*emitted
	by   map[string]*emitted // by id
}

// ReadAnswers reads answers, a line of JSON each: an emitted one with its summary. Lines
// without an id or with a blank summary are errors, and so is an id with two summaries.
func ReadAnswers(r io.Reader) (*Answers, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	a, n := &Answers{by: map[string]*emitted{}}, 0
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
	var e emitted
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	e.Summary, e.Text = strings.TrimSpace(e.Summary), ""
	switch before := a.by[e.ID]; {
	case e.ID == "":
		return errors.New("an answer without an id")
	case e.Summary == "":
		return fmt.Errorf("answer %s: %w", short(e.ID, 80), errNoSummary)
	case before == nil:
		a.by[e.ID] = &e
		a.list = append(a.list, &e)
	case before.Summary != e.Summary:
		return fmt.Errorf("answer %s: there is another one before it", short(e.ID, 80))
	}
	return nil
}

// ErrMovedOn reports that a session is no longer as it was when a summary was asked for.
var ErrMovedOn = errors.New("the session has moved on since the summary was asked for")

// ErrNoAnswer reports that nobody has answered a request. A pass then waits for it.
var ErrNoAnswer = errors.New("no answer to the request")

// For takes summaries from the answers, for a session and a policy as they were named
// when the requests were emitted. An answer that was made for another state of the
// session is refused by ErrMovedOn, which names both.
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
			if e.Session == session && e.Policy == policy && (e.Leaf != asked.Leaf || e.State.Bytes != asked.State.Bytes) {
				return "", fmt.Errorf("%s: answer %s: %w: asked at %s, %d bytes; now %s, %d bytes",
					session, short(e.ID, 80), ErrMovedOn, short(e.Leaf, 80), e.State.Bytes, asked.Leaf, asked.State.Bytes)
			}
		}
		return "", fmt.Errorf("%s: request %s: %w", session, asked.ID, ErrNoAnswer)
	}
}

// Unused are the answers that no request has taken, in their order: their requests.
func (a *Answers) Unused() (all []emitted) {
	for _, e := range a.list {
		if !e.used {
			all = append(all, emitted{ID: e.ID, Session: e.Session, Leaf: e.Leaf})
		}
	}
	return all
}
