package agents

import (
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An answer is one that a session has.
type answer struct {
	file    string
	session string // its id
	rec     int
	ids     []string // of itself
	calls   []string // the ids of its calls
	text    string
	summary bool // of a request for a summary
	used    bool // it is that of a request
}

// answersIn returns the answers of the sessions in a home, in the order of their files.
func answersIn(of *Agent, home string) (all []*answer) {
	for _, file := range sessionsIn(home) {
		s, err := sessionfmt.Open(file, sessionfmt.Options{})
		if err != nil {
			continue // a file of another kind, which ls lists too
		}
		lines := s.NewReader()
		id := must.Get(s.HeaderLine()).Get("id").Text()
		for rec := range s.Len() {
			summary := s.Kind(rec) == jsonl.UsageEntry
			if !s.Answers(rec) && !summary {
				continue
			}
			a := &answer{file: file, session: id, rec: rec, summary: summary}
			m := must.Get(lines.Line(rec)).Get("message")
			var texts []string
			for b := range m.Get("content").Elements {
				switch typ := b.Get("type"); {
				case typ.Is("text"):
					texts = append(texts, b.Get("text").Text())
				case typ.Is("toolCall"):
					a.calls = append(a.calls, b.Get("id").Text())
				}
			}
			a.text = strings.Join(texts, "\n")
			a.ids = append(a.ids, m.Get("responseId").Text())
			for line := range strings.SplitSeq(string(must.Get(lines.Raw(rec))), "\n") {
				a.ids = append(a.ids, of.answerID(jsonl.Value(line)))
			}
			a.ids = slices.DeleteFunc(a.ids, func(id string) bool { return id == "" })
			all = append(all, a)
		}
		s.Close()
	}
	return all
}

// match finds the answer to a request: by its id where the session has it, else by the ids of its calls, else by its
// text, else by its place among the answers of the session. It returns nil for none. Of several it takes one in the
// session that asked.
func match(q *Request, all []*answer) *answer {
	if q.Answer == "" {
		return nil
	}
	own := func(a *answer) bool {
		return q.ID != "" && (a.session == q.ID || strings.Contains(filepath.ToSlash(a.file), q.ID))
	}
	find := func(is func(a *answer) bool) *answer {
		at := slices.IndexFunc(all, func(a *answer) bool { return is(a) && own(a) })
		if at < 0 {
			at = slices.IndexFunc(all, is)
		}
		if at < 0 {
			return nil
		}
		all[at].used = true
		return all[at]
	}
	if a := find(func(a *answer) bool { return slices.Contains(a.ids, q.Answer) }); a != nil {
		return a
	}
	if len(q.Calls) > 0 {
		return find(func(a *answer) bool { return slices.Contains(a.calls, q.Calls[0]) })
	}
	known := func(a *answer) bool { return a.used || slices.ContainsFunc(a.ids, stubs) }
	said := strings.Join(q.Said, "\n")
	if said != "" {
		return find(func(a *answer) bool { return !known(a) && same(a.text, said) })
	}
	return find(func(a *answer) bool { return own(a) && !known(a) && a.text == "" && !a.summary })
}

// summaryOf finds the place of a request for a summary that is not found by its answer: the next one of the session.
func summaryOf(q *Request, all []*answer) *answer {
	for _, a := range all {
		if a.summary && !a.used && q.Answer != "" && q.ID != "" && strings.Contains(filepath.ToSlash(a.file), q.ID) {
			a.used = true
			return a
		}
	}
	return nil
}

// same reports whether two texts are the same but for white space. Of white space alone all has to be the same.
func same(a, b string) bool {
	words := strings.Join(strings.Fields(a), " ")
	return words == strings.Join(strings.Fields(b), " ") && (words != "" || a == b)
}

// stubs reports whether an id is one that the server gave to an answer, so that the answer is found by it.
func stubs(id string) bool {
	return slices.ContainsFunc(apis, func(a *api) bool { return strings.HasPrefix(id, a.answers+"0000000000") })
}
