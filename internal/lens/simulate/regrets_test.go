package simulate

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/compact"
)

// filler pushes a result out of gsh's window of results.
var filler = strings.Repeat("all of these words are plain and small\n", 300)

// push writes results that push earlier ones out.
func (s *script) push() {
	for range 3 {
		s.answer("", "list", fmt.Sprint("dir", s.n), filler)
	}
}

// edit writes a call that replaces a text, and its result.
func (s *script) edit(path, old, by string) {
	s.entry(fmt.Sprintf(`{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"toolCall","id":"c%d","name":"edit","arguments":{"path":%q,"edits":[{"oldText":%q,"newText":%q}]}}],"stopReason":"toolUse"}`, s.n, path, old, by))
	s.entry(fmt.Sprintf(`{"role":"toolResult","toolCallId":"c%d","toolName":"edit","content":[{"type":"text","text":"done"}],"isError":false}`, s.n-1))
}

const (
	exact   = "if left := window - used; left < 0 {"
	planted = "/srv/data/planted.toml"
	word    = "plantedIdentifier42"
)

// TestRegrets: every planted use of what a policy has removed is found, and nothing else.
func TestRegrets(t *testing.T) {
	for _, test := range []struct {
		name    string
		session func(*script)
		want    string
	}{
		{"all kinds", func(s *script) {
			s.answer("", "read", "a.txt", "the value is "+word+" here\n"+filler)
			s.answer("", "read", "b.txt", "path "+planted+"\n"+filler)
			s.answer("", "read", "c.txt", "an exact line that the agent will quote later on\n"+filler)
			s.answer("", "read", "d.txt", "keptIdentifier77 is in the last result and in a prompt\n"+filler)
			s.user("mind keptIdentifier77")
			s.push()
			s.answer("so "+word+" it is, and keptIdentifier77", "read", planted, "ok")
			s.answer(word+" again", "read", "c.txt", "ok")
			s.end("quote:\nan exact line that the agent will quote later on\n")
		}, "7 identifier " + word + "; 7 path /srv/data/planted.toml; 8 call read c.txt; 9 line an exact line that the agent will quote later on"},
		{"replaced text, listed with numbers", func(s *script) {
			s.answer("", "read", "a.txt", "   12→\t"+exact+"\n"+filler)
			s.push()
			s.edit("a.txt", exact, "if used > window {")
			s.end("done")
		}, "4 line " + exact},
		{"listed again with other numbers", func(s *script) {
			s.answer("", "read", "a.txt", exact+"\n"+filler)
			s.push()
			s.answer("", "list", "x", "a.go:12:\t"+exact)
			s.edit("a.txt", exact, "x")
			s.end("done")
		}, ""},
		{"listed again beside what grep found", func(s *script) {
			s.answer("", "read", "a.txt", exact+"\n"+filler)
			s.push()
			s.answer("", "list", "x", "/srv/data/a.go-12-\t"+exact)
			s.edit("a.txt", exact, "x")
			s.end("done")
		}, ""},
		{"said again by the agent", func(s *script) {
			s.answer("", "read", "a.txt", exact+"\n"+filler)
			s.answer(exact, "list", "x", "ok")
			s.push()
			s.edit("a.txt", exact, "x")
			s.end("done")
		}, ""},
		{"a phrase that a file has later", func(s *script) {
			s.answer("Let me look at the next file:", "read", "a.txt", filler)
			s.push()
			s.end("Let me look at the next file:")
			s.user("Let me look at the next file:")
			s.end("Let me look at the next file:")
		}, ""},
		{"a file that every project has", func(s *script) {
			s.answer("", "list", "x", "README.md planted.toml\n"+filler)
			s.push()
			s.answer("", "read", "/srv/data/README.md", "ok")
			s.answer("", "read", planted, "ok")
			s.end("done")
		}, "5 path " + planted},
		{"read again after an edit, in every project", func(s *script) {
			s.answer("", "read", "README.md", filler)
			s.push()
			s.edit("README.md", "x", "y")
			s.answer("", "read", "README.md", "ok")
			s.end("done")
		}, ""},
		{"a number after a word", func(s *script) {
			s.answer("", "read", "a.txt", "starts3 changes4\n"+filler)
			s.push()
			s.end("starts3, changes4")
		}, ""},
		{"written, not quoted", func(s *script) {
			s.answer("", "read", "a.txt", exact+"\n"+filler)
			s.push()
			s.edit("a.txt", "x", exact)
			s.end("done")
		}, ""},
		{"a phrase of the agent", func(s *script) {
			s.answer("Let me look at the next file:", "read", "a.txt", filler)
			s.push()
			s.end("Let me look at the next file:")
		}, ""},
		{"read again after an edit", func(s *script) {
			s.answer("", "read", "a.txt", filler)
			s.push()
			s.edit("a.txt", "x", "y")
			s.answer("", "read", "a.txt", "ok")
			s.end("done")
		}, ""},
		{"read again after an edit of another file", func(s *script) {
			s.answer("", "read", "a.txt", filler)
			s.push()
			s.edit("b.txt", "x", "y")
			s.answer("", "read", "a.txt", "ok")
			s.end("done")
		}, "5 call read a.txt"},
		{"tests that run again after an edit", func(s *script) {
			s.answer("", "bash", "make tests", filler)
			s.push()
			s.edit("b.txt", "x", "y")
			s.answer("", "bash", "make tests", "ok")
			s.end("done")
		}, ""},
		{"a file that a listing names", func(s *script) {
			s.answer("", "read", "a.txt", planted+"\n"+filler)
			s.push()
			s.answer("", "list", "x", "other.toml\nplanted.toml")
			s.answer("", "read", planted, "ok")
			s.end("done")
		}, ""},
		{"short identifiers", func(s *script) {
			s.answer("", "read", "a.txt", "loadAll saveAll\n"+filler)
			s.answer("", "read", "b.txt", "dropAll\n"+filler)
			s.push()
			s.end("loadAll, saveAll, dropAll")
		}, "5 identifier loadAll"},
		{"a word of the project", func(s *script) {
			for range 9 {
				s.answer("", "read", fmt.Sprint(s.n), word+"\n"+filler)
			}
			s.push()
			s.end(word)
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript()
			s.user("start")
			test.session(s)
			if got := regretted(t, s, gshWith(30000, 4000), nil); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// regretted returns the regrets of a policy. The recorded path and the one without changes must
// have none.
func regretted(t *testing.T, s *script, p *compact.Policy, answer compact.Summarize) string {
	t.Helper()
	o := Options{Contenders: []Contender{{Name: Recorded}, {Name: None}, {Name: p.Name, Policy: p}}, Rows: true, Regrets: true}
	o.Replay.Window, o.Summaries.Answer = 50000, answer
	report, err := o.Session(opened(t, "regrets", s.b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range report.Runs[:2] {
		if run.Regrets != 0 {
			t.Errorf("%s: %+v", run.Policy, run.Regretted)
		}
	}
	var got []string
	for _, r := range report.Runs[2].Regretted {
		got = append(got, fmt.Sprintf("%d %s %s", r.Request, r.Kind, r.What))
	}
	return strings.Join(got, "; ")
}

// TestRegretsOfSummaries: what a summary has is no regret, nor is what the recorded context did
// not have either, nor what another branch uses.
func TestRegretsOfSummaries(t *testing.T) {
	with := func(text string) compact.Summarize {
		return func(compact.Request) (string, error) { return text, nil }
	}
	answer := func(s *script) { s.end("so " + word) }
	for _, test := range []struct {
		name, summary, want string
		end                 func(*script)
	}{
		{"lacks it", "nothing", "2 identifier " + word, answer},
		{"has it", "it is " + word, "", answer},
		{"the recorded summary lacks it, too", "nothing", "", func(s *script) {
			fmt.Fprintf(&s.b, `{"type":"compaction","id":"%08d","parentId":"%08d","timestamp":"2026-01-01T00:01:00.000Z","summary":"s","firstKeptEntryId":"%08d","tokensBefore":1}`+"\n", s.n, s.n-1, s.n-2)
			s.n++
			answer(s)
		}},
		{"another branch", "nothing", "", func(s *script) {
			answer(s)
			s.b.WriteString(`{"type":"message","id":"other","parentId":"00000005","timestamp":"2026-01-01T00:01:00.000Z","message":{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"text","text":"done"}],"stopReason":"stop"}}` + "\n")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript()
			s.user("start")
			s.answer("", "read", "a.txt", word+"\n")
			s.user(said(43000))
			s.answer("", "list", "x", "ok")
			test.end(s)
			if got := regretted(t, s, gshWith(30000, 4000), with(test.summary)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
