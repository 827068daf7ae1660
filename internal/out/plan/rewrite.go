package plan

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/lens/redact"
	"ctxtool/migrate"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A Rewrite is the change of a session's lines by a repair or a migration.
type Rewrite struct {
	From int `json:"from,omitempty"` // of a migration: version of the format
	To   int `json:"to,omitempty"`   // the same, if the session is current
	// as a migration stores them: `pair`, `transform`, `native`
	Compactions string          `json:"compactions,omitempty"`
	Grown       *int            `json:"grown,omitempty"` // growth of pi's context in tokens if only patches are left
	Left        []check.Finding `json:"left,omitempty"`  // what a check of the new file finds
	Notes       []string        `json:"notes,omitempty"` // in addition to the changes
	Changed     int             `json:"changed"`         // lines that are replaced by others
	Added       int             `json:"added"`           // new lines
	Removed     int             `json:"removed"`         // lines removed, to the quarantine or elsewhere
	Quarantined int             `json:"quarantined"`     // lines quarantined, at least in part

	// Changes are the changes by line; not printed for several sessions.
	Changes iter.Seq2[sessionfmt.Change, error] `json:"-"`
	Same    bool                                `json:"-"` // nothing changes
}

// A RewrittenLine is a change of a line in JSON.
type RewrittenLine struct {
	Line       int      `json:"line"`                 // in the old file; for appended lines, after its end
	Entry      string   `json:"entry,omitempty"`      // its old id
	New        int      `json:"new"`                  // lines that replace it
	Quarantine bool     `json:"quarantine,omitempty"` // the line is quarantined, at least in part
	Notes      []string `json:"notes"`                // the change and its rule
}

// Line returns a change for text and JSON.
func (p *Plan) Line(c sessionfmt.Change) RewrittenLine {
	l := RewrittenLine{Line: c.Number, New: len(c.New), Quarantine: c.Out != nil, Notes: c.Notes}
	if c.Record >= 0 && p.s.Kind(c.Record).IsEntry() {
		l.Entry = sessionfmt.Quote(p.s.ID(c.Record))
	}
	return l
}

// counted yields the changes, and counts them.
func (r *Rewrite) counted(yield func(sessionfmt.Change, error) bool) {
	r.Changed, r.Added, r.Removed, r.Quarantined = 0, 0, 0, 0
	for c, err := range r.Changes {
		switch {
		case err != nil || c.Same:
		case len(c.New) == 0:
			r.Removed++
		case c.Raw != nil:
			r.Changed++
			r.Added += len(c.New) - 1
		default:
			r.Added += len(c.New)
		}
		if c.Out != nil {
			r.Quarantined++
		}
		if !yield(c, err) {
			return
		}
	}
}

// count counts the changes of a plan that is not written.
func (p *Plan) count() error {
	if p.Rewrite == nil {
		return nil
	}
	for _, err := range p.counted {
		if err != nil {
			return err
		}
	}
	return nil
}

// Repair plans to repair a session, and to apply more to it. It reads the result back for its
// findings and its context.
func Repair(file string, s *sessionfmt.Session, opt check.Options, more func(*check.Repair) error) (*Plan, error) {
	r, err := check.NewRepair(s)
	if err != nil {
		return nil, err
	}
	p := New("repair", file, s)
	if err = more(r); err == nil {
		p.Rewrite = &Rewrite{Changes: r.Changes, Same: r.Sound()}
		p.Before, p.After, p.Left, err = r.Proof(opt)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	p.free = r.Close
	return p, nil
}

// Unrepaired returns an error if a repair changes nothing and the session is damaged: the first error of a check, with
// the command that fixes it.
func (p *Plan) Unrepaired() error {
	if !p.Rewrite.Same {
		return nil
	}
	for _, f := range p.Left {
		if f.Severity == check.Error {
			pos := sessionfmt.Pos{File: p.s.Name, Line: f.Line, Entry: f.Entry}
			err := fmt.Errorf("repair does not fix %s: %s", f.Code, f.Text)
			return &sessionfmt.Error{Pos: pos, Err: err, Hint: f.Fix}
		}
	}
	return nil
}

// Migrate plans to migrate a session.
func Migrate(file string, s *sessionfmt.Session, opt migrate.Options) (*Plan, error) {
	m, err := migrate.New(s, opt)
	if err != nil {
		return nil, err
	}
	p := New("migrate", file, s)
	p.promise = keeps(s, s.Leaf())
	r := &Rewrite{From: m.From, To: m.To, Compactions: string(m.Compaction), Changes: m.Changes, Same: m.Current()}
	p.Rewrite = r
	if m.Turned > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d compactions become patches", m.Turned))
		if m.Turned == 1 {
			r.Notes[0] = "1 compaction becomes a patch"
		}
		if m.Rules == replay.ByPi {
			r.Notes = append(r.Notes, "the session then replays by envelope rules, since it has a patch")
		}
	}
	if m.Compaction == migrate.Transform && m.Turned > 0 {
		r.Grown = &m.Grown
		r.Notes = append(r.Notes, "pi, which does not read patches, then has a context "+grown(m.Grown))
	}
	for _, f := range m.Native {
		r.Left = append(r.Left, check.Finding{Code: f.Code, Severity: check.Warning, File: s.Name, Line: f.Line,
			Entry: f.Entry, Text: f.Text})
	}
	return p, nil
}

// grown describes by how much a context grows.
func grown(tokens int) string {
	switch {
	case tokens > 0:
		return fmt.Sprintf("that is %d tokens larger", tokens)
	case tokens < 0:
		return fmt.Sprintf("that is %d tokens smaller: it lacks the summary", -tokens)
	}
	return "of the same size"
}

// A Redaction counts what redacting a session removes. It contains nothing of it.
type Redaction struct {
	Found []redact.Found `json:"found"`
	redact.Counts
	// occurrences of a home directory's name outside paths, which `--names` replaces
	Named  int  `json:"named,omitempty"`
	Report bool `json:"-"` // print it in full
}

// Redact plans to write a redacted session, and checks it against the original. What is found is
// that of the session's own file, which is read first.
func Redact(file string, was *sessionfmt.Session, r *redact.Redactor, opt sessionfmt.Options) (*Plan, error) {
	var t redact.Tally
	tally := &t
	opt.Through = func(yield func(sessionfmt.Pass) bool) {
		of := tally
		tally = nil
		r.Passes(of)(yield)
	}
	// redaction has read the lines that it changed again, and refused those that are not JSON any more
	opt.Valid = was.Foreign() == nil && was.Coverage.Skipped == 0
	is, err := sessionfmt.OpenReader(was.Name, was.Plain(), opt)
	if err != nil {
		return nil, err
	}
	if err := redact.Same(was, is); err != nil {
		is.Close()
		return nil, err
	}
	p := New("redact", r.Text(file), was)
	p.Session.Leaf = "" // an id may contain a secret
	p.Redaction = &Redaction{Found: append([]redact.Found{}, t.Found()...), Counts: t.Counts}
	if p.Redaction.Named, err = redact.CountNames(is.Plain(), t.Persons()); err != nil {
		is.Close()
		return nil, err
	}
	p.free = func() { is.Close() }
	p.fresh = func(w io.Writer) error { _, err := io.Copy(w, is.Plain()); return err }
	return p, nil
}

// A quarantine is the file of what is not an entry, created on the first write.
type quarantine struct {
	disk sessionfmt.Disk
	name string
	of   string // the session
	file *sessionfmt.NewFile
	done bool
}

func (t *Target) quarantine(p *Plan) (*quarantine, error) {
	if t.Quarantine != "" {
		if _, err := t.Disk.Lstat(t.Quarantine); err == nil {
			return nil, sessionfmt.Errorf("already exists: the quarantine must be a new file").In(t.Quarantine)
		}
		return &quarantine{disk: t.Disk, name: t.Quarantine, of: p.s.Name}, nil
	}
	beside := t.Output
	switch {
	case t.Write:
		beside = p.s.Name
	case t.Output == "-" && p.s.Name == "-":
		beside = "stdin"
	case t.Output == "-":
		beside = filepath.Base(p.s.Name)
	}
	return &quarantine{disk: t.Disk, name: t.Disk.FreeName(beside, "quarantine"), of: p.s.Name}, nil
}

// Write adds to the quarantine.
func (q *quarantine) Write(p []byte) (n int, err error) {
	if q.file == nil {
		if q.file, err = q.disk.Create(q.name, q.of); err != nil {
			return 0, err
		}
	}
	return q.file.Write(p)
}

// abort removes the quarantine of a file that was not written.
func (q *quarantine) abort() {
	if q.file != nil && !q.done {
		q.file.Abort()
		q.disk.Remove(q.name)
	}
}
