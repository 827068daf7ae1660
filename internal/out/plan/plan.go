// Package plan writes sessions in two steps. A Plan describes what happens to a session and to
// its context, and checks that against the session as it would be read back. A Target then
// carries it out: it appends to the session, replaces it, or writes another file.
package plan

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
)

// A Plan is a planned or completed change of a session, in the JSON of Schema. Fields for
// certain commands are in a part of it.
type Plan struct {
	Schema  string  `json:"schema"`
	Command string  `json:"command"`
	Session Session `json:"session"`
	Error   string  `json:"error,omitempty"`   // for one of several sessions: why there is no plan
	Skipped string  `json:"skipped,omitempty"` // why nothing is done
	InUse   bool    `json:"-"`                 // that is why
	Rules   string  `json:"rules,omitempty"`   // the rules of the replay
	// of a reduction: the size of the context ([figures](figures.md)) before it
	Context *weigh.Size    `json:"context,omitempty"`
	Before  *check.Figures `json:"before,omitempty"` // the context at the leaf
	After   *check.Figures `json:"after,omitempty"`
	*compact.Reduction
	*Rewrite
	*Redaction
	Patch    *hook.Trial `json:"patch,omitempty"`    // what results of a hook change
	Run      *hook.Run   `json:"run,omitempty"`      // what a hook did in a session
	Unstored string      `json:"unstored,omitempty"` // why a patch cannot be stored in that form
	Entries  int         `json:"entries"`            // number to append; 0 if a whole file is written
	// the result: Session.File, another file, or - for standard output
	Written    string   `json:"written,omitempty"`
	Kept       string   `json:"kept,omitempty"`       // the original of a replaced file
	Quarantine string   `json:"quarantine,omitempty"` // the file of what is not an entry
	Append     [][]byte `json:"-"`                    // the entries; nil if a whole file is written
	Lines      []string `json:"-"`                    // the entries in words
	Next       string   `json:"-"`                    // a command to go on with, below what it does; may be empty

	// Guarded reports whether the context changes, which a running agent would not notice.
	Guarded bool `json:"-"`

	s        *sessionfmt.Session
	batch    *sessionfmt.Batch       // to append
	fresh    func(w io.Writer) error // or writes another file
	promise  Promise                 // checked before writing; nil once it was
	unstored error                   // why Unstored
	free     func()                  // frees what the plan was made with; may be nil
}

// A Session is the session of a plan, as it was read.
type Session struct {
	File            string `json:"file"`
	Bytes           int64  `json:"bytes"`
	Leaf            string `json:"leaf,omitempty"`
	dialect.Reading        // of another agent's session
}

// A Promise checks a session, read back as it would be written, against the plan.
type Promise func(after *sessionfmt.Session) error

// New returns a plan for a session called file. Closing the plan closes the session.
func New(command, file string, s *sessionfmt.Session) *Plan {
	p := Failed(command, file, "")
	if s.Dialect() != nil {
		p.Session.Reading = s.Reading()
	}
	if p.s = s; s.Leaf() >= 0 {
		p.Session.Leaf = sessionfmt.Quote(s.ID(s.Leaf()))
	}
	p.Session.Bytes = s.Size()
	return p
}

// Failed returns the plan of one of several sessions that cannot be planned.
func Failed(command, file, why string) *Plan {
	return &Plan{Schema: Schema(command), Command: command, Session: Session{File: file}, Error: why}
}

// Skip returns the plan of a command that has nothing to do in a session.
func Skip(command, file string, s *sessionfmt.Session, why string) *Plan {
	return &Plan{Schema: Schema(command), Command: command, Session: Session{File: file}, Skipped: why, s: s}
}

// Changes reports whether the plan changes the session, or would.
func (p *Plan) Changes() bool {
	if p.Error != "" || p.Skipped != "" {
		return false
	}
	r := p.Redaction
	return p.Entries > 0 || p.Rewrite != nil && !p.Same || r != nil && len(r.Found)+r.Stripped+r.Bared+r.Dropped > 0
}

// Schema returns the schema of a command's plan; of several, with .sessions after the command.
func Schema(command string) string {
	version := 2
	switch name, _, _ := strings.Cut(command, "."); name {
	case "reduce":
		version = 3
	case "patch":
		version = 1
	}
	return fmt.Sprintf("ctxtool/%s/%d", command, version)
}

// Close closes the session, and frees what writing and listing changes need. The plan's figures
// stay.
func (p *Plan) Close() {
	if p.free != nil {
		p.free()
	}
	p.s.Close()
	p.s, p.batch, p.fresh, p.free, p.promise = nil, nil, nil, nil, nil
	if p.Rewrite != nil {
		p.Rewrite.Changes = nil
	}
	if p.Reduction != nil {
		p.Reduction.From, p.View, p.Requests = nil, nil, nil
	}
}

// Entries plans to append a batch, and reads the session back with it.
func Entries(command, file string, s *sessionfmt.Session, b *sessionfmt.Batch, promise Promise) (*Plan, error) {
	if err := b.Err(); err != nil {
		return nil, err
	}
	p := New(command, file, s)
	p.appends(b)
	p.Rules = replay.Auto.Decide(s, s.Leaf()).String()
	return p, p.readBack(func(after *sessionfmt.Session) error {
		for k, line := range p.Append {
			i := after.Len() - len(p.Append) + k
			p.Lines = append(p.Lines, fmt.Sprintf("%s  %-12s %s", after.ID(i), after.Kind(i),
				outline.Gist(after.Kind(i), line)))
		}
		p.Before, p.After = measured(s, s.Leaf()), measured(after, after.Leaf())
		if promise == nil {
			return nil
		}
		return promise(after)
	})
}

func (p *Plan) appends(b *sessionfmt.Batch) {
	p.batch, p.Entries, p.Append = b, b.Len(), [][]byte{}
	for line := range bytes.Lines(b.Lines()) {
		p.Append = append(p.Append, bytes.TrimSuffix(line, []byte{'\n'}))
	}
}

// readBack reads the session as it would be written, and checks the promise.
func (p *Plan) readBack(promise Promise) error {
	if p.batch != nil {
		after := p.s.Copy()
		if err := after.Hold(p.batch); err != nil {
			return err
		}
		return promise(after)
	}
	in, out := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(out, 64<<10)
		err := p.content(w, io.Discard)
		if err == nil {
			err = w.Flush()
		}
		out.CloseWithError(err)
	}()
	defer in.Close()
	after, err := sessionfmt.OpenReader(p.s.Name, in, sessionfmt.Options{})
	if err != nil {
		return err
	}
	defer after.Close()
	return promise(after)
}

// keeps returns the promise that the new file has the same context at a record: the same size, and
// messages that say the same.
func keeps(s *sessionfmt.Session, leaf int) Promise {
	return func(after *sessionfmt.Session) error {
		was := measured(s, leaf)
		if was == nil {
			return nil // there is none
		}
		err := errors.New("it has another size")
		if is := measured(after, after.Leaf()); is != nil && *is == *was {
			err = same(s, leaf, after)
		}
		if err == nil {
			return nil
		}
		return sessionfmt.Errorf("nothing is written: the context would change: %w", err).In(s.Name).
			Hinted("this is a bug in ctxtool; please report it, with the file if possible")
	}
}

// same returns the first difference between the messages of the context at a record and those at
// the leaf of a new file.
func same(s *sessionfmt.Session, leaf int, after *sessionfmt.Session) error {
	was, err := replay.New(s, replay.Options{Leaf: leaf}).At(sessionfmt.After(leaf))
	is, failed := replay.New(after, replay.Options{}).At(sessionfmt.After(after.Leaf()))
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	view, err := compact.NewView(was, nil)
	if err != nil {
		return err
	}
	return compact.Kept(view, is)
}

// measured returns the size of the context at a record, nil if it cannot be replayed.
func measured(s *sessionfmt.Session, leaf int) *check.Figures {
	f, err := check.Measure(s, leaf)
	if err != nil {
		return nil
	}
	return &f
}

// Branch plans to write a new session from the path to an entry.
func Branch(file string, s *sessionfmt.Session, leaf int, b *sessionfmt.BranchFile) *Plan {
	p := New("branch", file, s)
	p.promise = keeps(s, leaf)
	p.fresh = b.Print
	return p
}
