package stats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

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
	return s, nil
}

// values are the figure's in the saved run. Those of sessions have a file: where there
// is no report a session, they are what the sum keeps of each.
func (s *Saved) values(f *Figure) (all []Value, has bool) {
	if f.Scope != EachSession {
		return f.of(s.sum)
	}
	reports := s.sessions
	if len(reports) == 0 {
		reports = []*Report{s.sum}
	}
	for _, r := range reports {
		values, looked := f.of(r)
		for _, v := range values {
			v.File = cmp.Or(v.File, r.onlyFile())
			if v.File != "" {
				all = append(all, v)
			}
		}
		has = has || looked && (r != s.sum || r.onlyFile() != "" || len(all) > 0)
	}
	return all, has
}

// has says that the run has the figure.
func (s *Saved) has(f *Figure) bool {
	_, has := s.values(f)
	return has
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
// of the same session.
func (s *Saved) value(f *Figure, r *Report, value Value) (found Value, ok bool) {
	values, _ := s.values(f)
	file := ""
	if f.Scope == EachSession {
		file = s.fileOf(r)
	}
	for _, v := range values {
		if v.Group != value.Group || f.Scope == EachSession && v.File != file {
			continue
		}
		// Of several values of one session, the one of the same entry.
		if v.Entry == value.Entry {
			return v, true
		}
		if !ok && !f.Entries {
			found, ok = v, true
		}
	}
	return found, ok
}

// fileOf is the name that a session's file has in the saved run: the same, else that
// of the session with the same id.
func (s *Saved) fileOf(r *Report) string {
	named := s.sum.Files
	if slices.ContainsFunc(named, func(f File) bool { return f.File == r.File }) {
		return r.File
	}
	if k := slices.IndexFunc(named, func(f File) bool { return f.ID != "" && f.ID == r.ID }); k >= 0 {
		return named[k].File
	}
	return r.File
}

// onlyFile is the file that a report is about, empty where there are several.
func (r *Report) onlyFile() string {
	if len(r.Files) == 1 {
		return r.Files[0].File
	}
	return r.File
}
