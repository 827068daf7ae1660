package search

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/read/activity"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A question is what is asked of the sessions, and the entry that did it first.
type question struct{ kind, query, file, id string }

var (
	commitMessages = regexp.MustCompile(`git commit\b[^\n]*? -a?m ["']([^"'\n$]{12,72})["']`)
	testNames      = regexp.MustCompile(`\bTest[A-Z]\w{5,50}\b`)
)

// questions makes questions of sessions by rule: of each commit its message, whose call is the
// answer; of each test its name, and of each error of a command its line, whose first entry is.
// Each text counts once in all sessions, by the time of its entry. most is how many of a kind.
func questions(t *testing.T, files []File, most int) (all []question) {
	t.Helper()
	type first struct {
		question
		time int64
	}
	found := map[string]*first{}
	for _, f := range files {
		s, err := sessionfmt.Open(f.Name, sessionfmt.Options{})
		if err != nil {
			continue
		}
		var d doc
		lines := s.NewReader()
		for i := range s.Len() {
			line, err := lines.Line(i)
			if err != nil {
				t.Fatal(err)
			}
			if !s.Kind(i).IsTurn() {
				continue
			}
			d.read(s.Kind(i), line)
			ms, _ := d.time.Millis()
			note := func(kind, query string) {
				key := kind + query
				if was := found[key]; query != "" && (was == nil || ms < was.time) {
					found[key] = &first{question{kind, query, f.Given, s.ID(i)}, ms}
				}
			}
			if s.Kind(i) == jsonl.Assistant {
				for _, m := range commitMessages.FindAllSubmatch(d.buf, -1) {
					note("commit", string(m[1]))
				}
			}
			for _, m := range testNames.FindAll(d.buf, -1) {
				note("test", string(m))
			}
			if code, failed := d.ended(); s.Kind(i) == jsonl.ToolResult && failed && code != nil {
				if line := activity.ErrorLine(string(d.buf)); len(line) > 20 && len(line) < 120 {
					note("error", line)
				}
			}
		}
		s.Close()
	}
	of := map[string]int{}
	keys := make([]string, 0, len(found))
	for k := range found {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for n, k := range keys {
		q := found[k].question
		if n%7 != 0 && q.kind == "test" || of[q.kind] == most { // some of many
			continue
		}
		of[q.kind]++
		all = append(all, q)
	}
	return all
}

// TestRecall measures how often the entry that first did something is among the first five hits
// for it: -v lists the questions.
func TestRecall(t *testing.T) {
	t.Parallel()
	var files []File
	for _, n := range testenv.NeedShared(t, "corpus/*.jsonl", "corpus/claude-code/*.jsonl*", "corpus/codex/*.jsonl") {
		files = append(files, File{n, filepath.Base(n), ""})
	}
	most := 17
	if !corpus.Whole() {
		most = 4
	}
	hits, of := map[string]int{}, map[string]int{}
	all := questions(t, files, most)
	for _, q := range all {
		r := Run(files, Options{Query: Words(q.query, true)})
		rank := 0
		for _, h := range r.best(t, 5) {
			rank++
			if h.File == q.file && h.ID == q.id {
				hits[q.kind]++
				rank = -rank
				break
			}
		}
		of[q.kind]++
		t.Logf("%-6s %-8s %.70q: %s", q.kind, q.id[:min(8, len(q.id))], q.query, map[bool]string{true: fmt.Sprint("rank ", -rank), false: "not among five"}[rank < 0])
	}
	sum := 0
	var parts []string
	for _, kind := range []string{"commit", "test", "error"} {
		sum += hits[kind]
		parts = append(parts, fmt.Sprintf("%s %d of %d", kind, hits[kind], of[kind]))
	}
	t.Logf("recall at 5: %d of %d (%s)", sum, len(all), strings.Join(parts, ", "))
	if 2*sum < len(all) {
		t.Errorf("recall at 5: %d of %d", sum, len(all))
	}
}

// best returns the first hits of all sessions.
func (r *Results) best(t *testing.T, n int) (all []Hit) {
	t.Helper()
	for s, err := range r.Read(n, n) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s.Hits...)
	}
	slices.SortStableFunc(all, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Time, b.Time)) })
	return all[:min(n, len(all))]
}
