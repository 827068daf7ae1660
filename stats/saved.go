package stats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
)

// A Saved is a run that was saved with -f json or -f jsonl.
type Saved struct {
	Name     string
	sum      *Report
	sessions []*Report
	files    map[string]string  // the name of each file by itself, and by its session's id
	known    map[*Figure]places // figures that have been read off
}

// places are a figure's values by where they are.
type places map[place][]figureValue

type place struct{ file, group string }

// LoadSaved reads a saved run. One of several sessions in -f json holds the figures
// of all together, one in -f jsonl those of each too.
func LoadSaved(name string, data []byte) (*Saved, error) {
	s := &Saved{Name: name}
	hint := "save one with ctxtool stats -f jsonl -o FILE"
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		// What of a report is about the reading is not needed, and may not be read back.
		var one struct {
			Schema string       `json:"schema"`
			File   string       `json:"file"`
			ID     string       `json:"session"`
			Error  string       `json:"error"`
			Files  []reportFile `json:"files"`
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

// values are the figure's in the saved run, nil where it has none of them. Those of
// sessions have a file: where there is no report a session, they are what the sum
// keeps of each.
func (s *Saved) values(f *Figure) places {
	if at, ok := s.known[f]; ok {
		return at
	}
	reports := s.sessions
	if len(reports) == 0 || f.Scope != eachSession {
		reports = []*Report{s.sum}
	}
	var at places
	for _, r := range reports {
		values, has := f.of(r)
		if has && at == nil {
			at = places{}
		}
		for _, v := range values {
			k := place{"", v.Group}
			if f.Scope == eachSession {
				k.file = cmp.Or(v.File, r.onlyFile())
			}
			at[k] = append(at[k], v)
		}
	}
	// What a sum says of several sessions together is nothing of each.
	if _, together := at[place{}]; together && f.Scope == eachSession {
		at = nil
	}
	s.known[f] = at
	return at
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

// value is the value that one of a report is compared with: of the same group, and of
// the session in the file of the same name, else with the same id.
func (s *Saved) value(f *Figure, r *Report, value figureValue) (figureValue, bool) {
	at := place{"", value.Group}
	if f.Scope == eachSession {
		at.file = cmp.Or(s.files[r.File], s.files[r.ID], r.File)
	}
	values := s.values(f)[at]
	for _, v := range values {
		if v.Entry == value.Entry {
			return v, true
		}
	}
	if len(values) == 0 || f.entries {
		return figureValue{}, false
	}
	return values[0], true
}

// onlyFile is the file that a report is about, empty where there are several.
func (r *Report) onlyFile() string {
	if len(r.Files) == 1 {
		return r.Files[0].File
	}
	return r.File
}

// SummarySchema is that of a Summary.
const SummarySchema = "ctxtool/ls/1"

// A Summary is what a session is about, in a line of schema ctxtool/ls/1. One that
// could not be read has an error and little else.
type Summary struct {
	Schema    string  `json:"schema"`
	File      string  `json:"file"`                // below the folder listed, or as it was given
	ID        string  `json:"id,omitempty"`        // of the header
	Name      string  `json:"name,omitempty"`      // the last one given
	First     string  `json:"first,omitempty"`     // first words of the first prompt
	Project   string  `json:"project,omitempty"`   // the header's folder
	Model     string  `json:"model,omitempty"`     // `provider/id`, that the path was on last
	Entries   int     `json:"entries"`             // of all branches
	Context   int     `json:"context"`             // tokens at the leaf, as pi takes it: the last usage recorded, and what came after; counted where pi shows nothing
	Estimated bool    `json:"estimated,omitempty"` // no usage has told all of it
	Cost      float64 `json:"cost"`                // US dollars, recorded, of all branches: answers, summaries, cache warming and calls inside of tools, as `cost.total` of the lens `cost`
	Copied    float64 `json:"copied,omitempty"`    // US dollars of it for calls that another session of the list has too and is listed with; the sum of `cost` less `copied` counts each call once
	Size      int64   `json:"size"`                // bytes
	Time      string  `json:"time,omitempty"`      // of the last entry, as it stands
	Findings  int     `json:"findings,omitempty"`  // things that had to be read around
	Error     string  `json:"error,omitempty"`     // why the session cannot be read; little else is there then

	Calls *CostPart `json:"-"` // what they used and cost
}

// MarkCopies says of each session which part of its cost is of calls that another has
// too: the first by the names of files has them itself.
func MarkCopies(all []*Summary) {
	seen := newOnceOnly(0)
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *Summary) int { return strings.Compare(a.File, b.File) })
	for _, sum := range all {
		if sum.Calls == nil {
			continue
		}
		for one := range sum.Calls.calls.all {
			if !seen.first(one.key) && one.pricing <= estimated {
				sum.Copied += one.dollars
			}
		}
	}
}

// Summarize opens a session file and sums it up. What it says of entries is taken
// while the file is indexed. Of opt it heeds what says where the file is and what it
// goes through.
func Summarize(name string, opt sessionfmt.Options) (*Summary, error) {
	sum := &Summary{Schema: SummarySchema}
	l := &lensRun{Options: &Options{}, Report: &Report{}}
	costLens.look(l)
	s, err := sessionfmt.Open(name, sessionfmt.Options{
		Stdin:   opt.Stdin,
		Disk:    opt.Disk,
		Workers: 1,
		Through: opt.Through,
		Pick:    callPick,
		Visit: func() func(*jsonl.Picked) {
			return func(p *jsonl.Picked) {
				sum.take(p.Kind, p.Line)
				l.call(p)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	l.Session = s
	for _, see := range l.Indexed {
		if err := see(); err != nil {
			return nil, err
		}
	}
	sum.Calls = l.Report.Cost
	sum.Entries, sum.Size, sum.Cost = s.Coverage.Entries, s.Size(), sum.Calls.Cost.Total
	sum.Findings = len(s.Findings)
	return sum, sum.leaf(s)
}

// take is what a record adds to the summary.
func (sum *Summary) take(kind jsonl.Kind, line jsonl.Value) {
	switch kind {
	case jsonl.Header:
		if sum.Time == "" { // the first header is the session's
			sum.ID, sum.Project, sum.Time = line.Get("id").Text(), line.Get("cwd").Text(), line.Get("timestamp").Text()
		}
	case jsonl.User:
		if sum.First == "" {
			sum.First = outline.Gist(kind, line)
		}
	case jsonl.SessionInfo:
		sum.Name = outline.FirstWords(line.Get("name").Text())
	}
}

// leaf fills in what the leaf says: when it was, how full the context is, and
// which model has it.
func (sum *Summary) leaf(s *sessionfmt.Session) error {
	if s.Leaf() >= 0 {
		line, err := s.NewReader().Line(s.Leaf())
		if err != nil {
			return err
		}
		sum.Time = line.Get("timestamp").Text()
	}
	e, _, err := replay.New(s, replay.Options{Leaf: s.Leaf()}).Reach(s.Leaf(), false)
	if err != nil {
		return err
	}
	u, err := e.InUse(&tokens.Pi)
	if err != nil {
		return err
	}
	sum.Context, sum.Estimated = u.Tokens, u.Estimated > 0
	model, _, _, err := e.Model()
	sum.Model = model.Name()
	return err
}
