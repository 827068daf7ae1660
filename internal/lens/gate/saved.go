package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// A Saved is a run that was saved with -f json or -f jsonl.
type Saved struct {
	Name     string
	sum      *stats.Report
	sessions []*stats.Report
	files    map[string]string  // file names, by name and by the id of the session
	known    map[*Figure]places // figures that have been read
}

// places holds a figure's values by place.
type places map[place][]Reading

type place struct{ file, group string }

// LoadSaved reads a saved run. If it has several sessions, -f json has the figures of all
// together, -f jsonl also those of each.
func LoadSaved(name string, data []byte) (*Saved, error) {
	s := &Saved{Name: name}
	broken := func(format string, args ...any) (*Saved, error) {
		err := fmt.Errorf("not a saved run: "+format, args...)
		return nil, sessionfmt.Errorf("%w", err).In(name).Hinted("save one with ctxtool stats -f jsonl -o FILE")
	}
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		r := &stats.Report{}
		one := struct {
			*stats.Report
			// The fields about reading are not needed, and some have no inverse.
			Rules, Coverage, Findings, Gate json.RawMessage
		}{Report: r}
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case err != nil:
			return broken("%w", err)
		case r.Schema == stats.SessionSchema:
			s.sessions = append(s.sessions, r)
		case r.Schema == stats.Schema:
			s.sum = r
		default:
			return broken("its schema is %q", sessionfmt.Quote(r.Schema))
		}
	}
	if s.sum == nil {
		return broken("it has no report of all sessions together")
	}
	s.files = map[string]string{}
	for _, f := range s.sum.Files {
		if f.ID != "" && s.files[f.ID] == "" {
			s.files[f.ID] = f.File
		}
	}
	for _, f := range s.sum.Files {
		s.files[f.File] = f.File
	}
	s.known = map[*Figure]places{}
	return s, nil
}

// values returns the figure's values in the saved run, or nil. Values of sessions have a file.
// Without a report per session, they are those that the sum has of each.
func (s *Saved) values(f *Figure) places {
	if at, ok := s.known[f]; ok {
		return at
	}
	reports := s.sessions
	if len(reports) == 0 || f.Scope < eachSession {
		reports = []*stats.Report{s.sum}
	}
	var at places
	for _, r := range reports {
		values, has := f.of(r)
		if has && at == nil {
			at = places{}
		}
		for _, v := range values {
			k := place{"", v.Group}
			if f.Scope >= eachSession {
				k.file = cmp.Or(v.File, onlyFile(r))
			}
			at[k] = append(at[k], v)
		}
	}
	// The value of several sessions together is not that of one.
	if _, together := at[place{}]; together && f.Scope >= eachSession {
		at = nil
	}
	s.known[f] = at
	return at
}

// lacks returns the error that the run does not have the figure; nil stands for any figure.
func (s *Saved) lacks(f *Figure) error {
	err := sessionfmt.Errorf("the saved run has no figure to compare with").In(s.Name).
		Hinted("save it with the lenses that are compared (--lens), and of several sessions with -f jsonl")
	if f != nil {
		err.Err = fmt.Errorf("the saved run has no %s", f.Name)
		err.Hint = fmt.Sprintf("save it with --lens %s, and of several sessions with -f jsonl", f.lens())
	}
	return err
}

// value returns the value to compare one of a report with: that of the same group, and of the
// session with the same file name, or else the same id.
func (s *Saved) value(f *Figure, r *stats.Report, v Reading) (Reading, bool) {
	at := place{"", v.Group}
	if f.Scope >= eachSession {
		at.file = cmp.Or(s.files[r.File], s.files[r.ID], r.File)
	}
	values := s.values(f)[at]
	if k := slices.IndexFunc(values, func(of Reading) bool { return of.Entry == v.Entry }); k >= 0 {
		return values[k], true
	}
	if len(values) == 0 || f.Scope == eachEntry {
		return Reading{}, false
	}
	return values[0], true
}

// onlyFile returns the file of a report, or "" if there are several.
func onlyFile(r *stats.Report) string {
	if len(r.Files) == 1 {
		return r.Files[0].File
	}
	return r.File
}
