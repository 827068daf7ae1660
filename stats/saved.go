package stats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ctxtool/sessionfmt"
)

// A Saved is a run that was saved with -f json or -f jsonl.
type Saved struct {
	Name     string
	sum      *Report
	sessions []*Report
}

// LoadSaved reads a saved run. One of several sessions in -f json holds the figures
// of all together, one in -f jsonl those of each too.
func LoadSaved(name string, data []byte) (*Saved, error) {
	s := &Saved{Name: name}
	hint := "save one with ctxtool stats -f jsonl -o FILE"
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		// What of a report is about the reading is not needed, and may not be read back.
		var one struct {
			Schema string `json:"schema"`
			File   string `json:"file"`
			ID     string `json:"session"`
			Error  string `json:"error"`
			Files  []File `json:"files"`
			Parts  `json:"lenses"`
		}
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		r := &Report{Schema: one.Schema, File: one.File, ID: one.ID, Error: one.Error, Files: one.Files, Parts: one.Parts}
		switch {
		case err != nil:
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: name}, Err: fmt.Errorf("no saved run: %w", err), Hint: hint}
		case r.Schema == SessionSchema:
			s.sessions = append(s.sessions, r)
		case r.Schema == Schema:
			s.sum = r
		default:
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: name}, Err: fmt.Errorf("no saved run: its schema is %q", sessionfmt.Quote(r.Schema)), Hint: hint}
		}
	}
	if s.sum == nil {
		return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: name}, Err: errors.New("no saved run: it does not say what all sessions are together"), Hint: hint}
	}
	if len(s.sessions) == 0 && len(s.sum.Files) == 1 {
		one := *s.sum
		one.File, one.ID = one.Files[0].File, one.Files[0].ID
		s.sessions = append(s.sessions, &one)
	}
	return s, nil
}

// reports are those that hold a figure.
func (s *Saved) reports(f *Figure) []*Report {
	if f.Scope == EachSession {
		return s.sessions
	}
	return []*Report{s.sum}
}

// has says that the run has the figure.
func (s *Saved) has(f *Figure) bool {
	for _, r := range s.reports(f) {
		if _, has := f.of(r); has {
			return true
		}
	}
	return false
}

// lacks is that the run does not have the figure, nil for any.
func (s *Saved) lacks(f *Figure) error {
	err := &sessionfmt.Error{Pos: sessionfmt.Pos{File: s.Name}, Err: errors.New("the saved run has no figure to compare with"), Hint: "save it with the lenses that are compared (--lens), and of several sessions with -f jsonl"}
	if f != nil {
		err.Err = fmt.Errorf("the saved run has no %s", f.Name)
		err.Hint = fmt.Sprintf("save it with --lens %s, and of several sessions with -f jsonl", f.lens.Name)
	}
	return err
}

// value is the value that one of a report is compared with: of the same group, and
// of the session in the file of the same name, else with the same id.
func (s *Saved) value(f *Figure, r *Report, value Value) (Value, bool) {
	reports := s.reports(f)
	if f.Scope == EachSession {
		reports = s.session(r)
	}
	for _, saved := range reports {
		values, _ := f.of(saved)
		for _, v := range values {
			if v.Group == value.Group {
				return v, true
			}
		}
	}
	return Value{}, false
}

// session is the saved report of the same session.
func (s *Saved) session(r *Report) []*Report {
	for _, same := range []func(*Report) bool{
		func(o *Report) bool { return o.File == r.File && o.ID == r.ID },
		func(o *Report) bool { return o.File == r.File },
		func(o *Report) bool { return o.ID != "" && o.ID == r.ID },
	} {
		for _, o := range s.sessions {
			if same(o) {
				return []*Report{o}
			}
		}
	}
	return nil
}
