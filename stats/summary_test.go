package stats_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/read/outline"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
)

const header = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`

// summary sums up a session made of lines.
func summary(t *testing.T, lines ...string) stats.Summary {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	sum := must.Get(stats.Options{}.Summarize(name))
	sum.Schema, sum.Size, sum.Calls = "", 0, nil
	return *sum
}

// TestSummary: all branches cost, the path's leaf is what is full.
func TestSummary(t *testing.T) {
	answer := func(id, parent, usage string) string {
		return `{"type":"message","id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"A"}],"provider":"p","model":"m` + id + `","stopReason":"stop","usage":` + usage + `}}`
	}
	got := summary(t, header,
		`{"type":"message","id":"u","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first\nwords"}}`,
		answer("a", "u", `{"totalTokens":10,"cost":{"total":0.5}}`),
		answer("b", "u", `{"totalTokens":20,"cost":{"total":0.25}}`),
		`{"type":"usage","id":"x","parentId":"b","timestamp":"2026-01-01T00:00:03.000Z","kind":"k","provider":"p","model":"m","usage":{"cost":{"total":1}}}`,
		`{"type":"message","id":"v","parentId":"x","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"user","content":"12345678"}}`)
	want := stats.Summary{Reading: dialect.Reading{Agent: "pi"}, About: outline.About{ID: "s1", First: "first words", CWD: "/w", Began: got.Began}, Time: "2026-01-01T00:00:04.000Z",
		Model: "p/mb", Entries: 5, Context: 22, Estimated: true, Cost: 1.75, Recorded: 1.75}
	if got != want {
		t.Errorf("\n got %#v\nwant %#v", got, want)
	}
	if none := summary(t, header); none != (stats.Summary{Reading: dialect.Reading{Agent: "pi"}, About: outline.About{ID: "s1", CWD: "/w", Began: none.Began}, Time: "2026-01-01T00:00:00.000Z"}) {
		t.Errorf("a header alone: %#v", none)
	}
}

// TestTrapT50EmptyNameClears: the last name counts, also if it is none.
func TestTrapT50EmptyNameClears(t *testing.T) {
	name := func(id, parent, name string) string {
		return `{"type":"session_info","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-01-01T00:00:01.000Z","name":"` + name + `"}`
	}
	if got := summary(t, header, name("a", "null", "one"), name("b", `"a"`, "two")).Name; got != "two" {
		t.Errorf("%q", got)
	}
	if got := summary(t, header, name("a", "null", "one"), name("b", `"a"`, "")).Name; got != "" {
		t.Errorf("%q", got)
	}
}

// TestCopies: of two sessions with the same calls the second has copies, as far as they
// have a cost.
func TestCopies(t *testing.T) {
	name := filepath.Join("..", "testdata", "sessions", "demo.jsonl")
	var all []*stats.Summary
	for range 3 {
		sum := must.Get(stats.Options{}.Summarize(name))
		all = append(all, sum)
	}
	all = append(all, &stats.Summary{})
	stats.MarkCopies(all)
	for k, sum := range all[:3] {
		if copied := sum.Copied; (copied == sum.Cost) != (k > 0) || k == 0 && copied != 0 || sum.Cost == 0 {
			t.Errorf("session %d: %v of %v", k, copied, sum.Cost)
		}
	}
	if all[3].Copied != 0 {
		t.Errorf("of what could not be read: %v", all[3].Copied)
	}
}

// TestSummaryLines: what a summary reads after the session was indexed is what a reading of all entries gives.
func TestSummaryLines(t *testing.T) {
	timed, titled := 0, 0
	for _, s := range corpus.Agents(t) {
		name := filepath.Join(t.TempDir(), filepath.Base(s.Name))
		must.Do(os.WriteFile(name, s.Data, 0o600))
		got, err := stats.Options{}.Summarize(name)
		if err != nil {
			continue
		}
		var want stats.Summary
		newest, dated := int64(0), false
		see := func(p *jsonl.Picked) {
			switch ms, ok := p.Timestamp.Millis(); {
			case p.Kind == jsonl.Header && want.Time == "":
				outline.ReadHeader(&want.About, p.Line)
				want.Time = want.Began
			case p.Kind == jsonl.SessionInfo:
				want.Name = outline.FirstWords(p.Line.Get("name").Text())
			case p.Kind == jsonl.Retitled, p.Kind == jsonl.Slot:
				want.Name = outline.FirstWords(p.Line.Get("title").Text())
			case p.Kind.IsMessage() && ok && (!dated || ms > newest):
				newest, dated, want.Time = ms, true, p.Timestamp.Text()
			}
		}
		must.Get(sessionfmt.Open(name, sessionfmt.Options{Ordered: true,
			Visit: func() func(*jsonl.Picked) { return see }})).Close()
		want.First = got.First
		if got.About != want.About || got.Time != want.Time {
			t.Errorf("%s: %+v of %s, want %+v of %s", s.Name, got.About, got.Time, want.About, want.Time)
		}
		if dated {
			timed++
		}
		if want.Name != "" {
			titled++
		}
	}
	if timed < 10 || titled < 2 {
		t.Errorf("%d sessions with a time, %d with a title", timed, titled)
	}
}
