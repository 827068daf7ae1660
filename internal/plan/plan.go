// Package plan writes sessions. What is to be written is planned first: a Plan says what
// becomes of a session and of its context, and holds that against the session as it would
// be read back. Only then a Target has it written: appended to the session, put in its
// place, or written elsewhere.
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
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/check"
	"ctxtool/sessionfmt/outline"
)

// A Plan is what is written to a session, or in its place, or has been: by
// Schema. What only some commands say is in a part of it.
type Plan struct {
	Schema  string         `json:"schema"`
	Command string         `json:"command"`
	Session Session        `json:"session"`
	Error   string         `json:"error,omitempty"`   // of one of several sessions: why there is nothing else
	Skipped string         `json:"skipped,omitempty"` // why nothing is done
	Rules   string         `json:"rules,omitempty"`   // by which the session is replayed
	Before  *check.Figures `json:"before,omitempty"`  // the context at the leaf
	After   *check.Figures `json:"after,omitempty"`
	*compact.Reduction
	*Rewrite
	*Redaction
	Entries    int      `json:"entries"`              // to append; 0 for what writes a whole file
	Written    string   `json:"written,omitempty"`    // where it is now: Session.File, another file, or - for standard output
	Kept       string   `json:"kept,omitempty"`       // the original of what was put in its place
	Quarantine string   `json:"quarantine,omitempty"` // the file of what is not an entry
	Append     [][]byte `json:"-"`                    // the entries; nil for what writes a whole file
	Lines      []string `json:"-"`                    // what is appended, for people

	// Guarded reports whether the context changes, which an agent at the session would not see.
	Guarded bool `json:"-"`

	s       *sessionfmt.Session
	batch   *sessionfmt.Batch       // that is appended
	fresh   func(w io.Writer) error // or writes another file
	promise Promise                 // that is held before it is written; nil for one that was
	free    func()                  // frees what the plan was made with, if it holds anything
}

// A Session is what a plan is for, as it was read.
type Session struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	Leaf  string `json:"leaf,omitempty"`
}

// A Promise says where a session, read back as it would be written, is not what was
// planned.
type Promise func(after *sessionfmt.Session) error

// New is a plan for a session that is called file, which the plan closes.
func New(command, file string, s *sessionfmt.Session) *Plan {
	p := Failed(command, file, "")
	if p.s = s; s.Leaf() >= 0 {
		p.Session.Leaf = sessionfmt.Quote(s.ID(s.Leaf()))
	}
	p.Session.Bytes = s.Size()
	return p
}

// Failed is what stands for the plan of one of several sessions that has none.
func Failed(command, file, why string) *Plan {
	return &Plan{Schema: Schema(command), Command: command, Session: Session{File: file}, Error: why}
}

// Schema is that of a command's plan; of several, with .sessions after the command.
func Schema(command string) string {
	version := 2
	switch name, _, _ := strings.Cut(command, "."); name {
	case "truncate", "prune", "strip", "compact", "reduce":
		version = 3
	}
	return fmt.Sprintf("ctxtool/%s/%d", command, version)
}

// Close closes the session, and lets go of what is kept for writing and for lists of
// changes. The plan's figures stay.
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

// Entries is the plan to append a batch. The session is read back with it.
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
			p.Lines = append(p.Lines, fmt.Sprintf("%s  %-12s %s", after.ID(i), after.Kind(i), outline.Gist(after.Kind(i), line)))
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

// readBack reads the session as it would be written.
func (p *Plan) readBack(promise Promise) error {
	in, out := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(out, 64<<10)
		out.CloseWithError(cmp.Or(p.content(w, io.Discard), w.Flush()))
	}()
	defer in.Close()
	after, err := sessionfmt.OpenReader(p.s.Name, in, sessionfmt.Options{})
	if err != nil {
		return err
	}
	defer after.Close()
	return promise(after)
}

// keeps is the promise that the context at a record is that of the new file.
func keeps(s *sessionfmt.Session, leaf int) Promise {
	return func(after *sessionfmt.Session) error {
		was := measured(s, leaf)
		if was == nil {
			return nil // it has none
		}
		if is := measured(after, after.Leaf()); is != nil && *is == *was {
			return nil
		}
		return &sessionfmt.Error{
			Pos: sessionfmt.Pos{File: s.Name}, Err: errors.New("nothing is written: the context would be another one"),
			Hint: "this is a mistake in ctxtool; please report it with the file, if you can",
		}
	}
}

// measured is the size of the context at a record, nil where it cannot be replayed.
func measured(s *sessionfmt.Session, leaf int) *check.Figures {
	f, err := check.Measure(s, leaf)
	if err != nil {
		return nil
	}
	return &f
}

// Branch is the plan to write a new session of the path to an entry.
func Branch(file string, s *sessionfmt.Session, leaf int, b *sessionfmt.BranchFile) *Plan {
	p := New("branch", file, s)
	p.promise = keeps(s, leaf)
	p.fresh = b.Print
	return p
}
