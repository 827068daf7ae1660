package replay

import (
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"sync"
)

// Window returns the context window of a model in tokens, 0 if unknown, and its source: "given", "baseline",
// "session" if the agent recorded it, how the model was found in the table, or "unknown". If a recorded prompt
// of the model exceeds the window, the largest such prompt with its answer replaces it, and from is "recorded".
func (r *Replay) Window(ref models.Ref) (limit int64, from string, err error) {
	if r.Options.Window > 0 {
		return r.Options.Window, "given", nil
	}
	if base := r.Options.Baseline; base != nil && base.Limit > 0 && base.Model == ref {
		limit, from = base.Limit, "baseline"
	} else if own, err := r.windows(); err != nil || own[ref] > 0 {
		limit, from = own[ref], "session"
		if err != nil {
			return 0, "unknown", err
		}
	} else {
		m, how, ok := r.Options.Models.Lookup(ref.Provider, ref.ID)
		limit, from = m.ContextWindow, how.String()
		if !ok {
			return 0, "unknown", nil
		}
	}
	prompts, err := r.prompts()
	largest := prompts[ref]
	if limit > 0 && largest.Prompt() > limit {
		return largest.Prompt() + largest.Output, "recorded", err
	}
	return limit, from, err
}

// recordedWindows returns a function that finds the windows recorded in a session, the last one of each model.
func recordedWindows(s *sessionfmt.Session) func() (map[models.Ref]int64, error) {
	return sync.OnceValues(func() (map[models.Ref]int64, error) {
		lines, all := s.NewReader(), map[models.Ref]int64{}
		for rec := range s.Len() {
			if s.Kind(rec) != jsonl.ModelChange {
				continue
			}
			line, err := lines.Line(rec)
			if err != nil {
				return nil, err
			}
			f := line.All("provider", "modelId", "contextWindow")
			if n := f[2].Int(); n > 0 {
				all[models.Ref{Provider: f[0].Text(), ID: f[1].Text()}] = n
			}
		}
		return all, nil
	})
}

// KnowPrompts sets the usage with the largest prompt of each model, for callers that have read all usages.
func (r *Replay) KnowPrompts(largest map[models.Ref]jsonl.Usage) {
	r.prompts = func() (map[models.Ref]jsonl.Usage, error) { return largest, nil }
}

// mostPrompts is the size of a session up to which all recorded prompts are read to find windows, bytes. In a
// larger one only those are read that can be the largest: at the last answers of branches, and before records
// that do more than append.
const mostPrompts = 4 << 20

// largestPrompts returns a function that finds the usage of each model with the largest prompt, on
// all branches.
func largestPrompts(s *sessionfmt.Session) func() (map[models.Ref]jsonl.Usage, error) {
	return sync.OnceValues(func() (map[models.Ref]jsonl.Usage, error) {
		p := prompts{s, s.NewReader(), map[models.Ref]jsonl.Usage{}, make([]bool, s.Len())}
		inner := s.Inner()
		for i := range s.Len() {
			from := i
			switch s.Kind(i) {
			case jsonl.Compaction, jsonl.Reset, jsonl.Transform, jsonl.ContextEdit, jsonl.Deletion, jsonl.ModelChange:
				from = s.Parent(i)
			}
			if from == i && inner[i] && s.Size() > mostPrompts {
				continue
			}
			if err := p.before(from); err != nil {
				return nil, err
			}
		}
		return p.largest, nil
	})
}

// prompts are the recorded prompts that were read.
type prompts struct {
	s       *sessionfmt.Session
	lines   *sessionfmt.Reader
	largest map[models.Ref]jsonl.Usage
	seen    []bool // records already read
}

// before reads the last answer with a usage up to a record.
func (p *prompts) before(rec int) error {
	var m jsonl.Message
	for ; rec >= 0 && !p.seen[rec]; rec = p.s.Parent(rec) {
		p.seen[rec] = true
		if !p.s.Answers(rec) || p.s.NoUsage(rec) {
			continue
		}
		if _, err := p.lines.Message(rec, &m); err != nil {
			return err
		}
		u := m.Usage.Usage()
		if n := u.Prompt(); n > 0 {
			ref := models.Ref{Provider: m.Provider.Text(), ID: m.Model.Text()}
			if was := p.largest[ref]; n > was.Prompt() {
				p.largest[ref] = u
			}
			return nil
		}
	}
	return nil
}
