package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/lens/redact"
	"ctxtool/internal/test/must"
	"ctxtool/migrate"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/sessionfmt"
)

func read(text string) *sessionfmt.Session {
	return must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(text), sessionfmt.Options{}))
}

// TestRedact: a redacted session has its lines without what is found, and the plan names nothing of it.
func TestRedact(t *testing.T) {
	secret := "v3ry-s3cret-value"
	session := strings.Replace(soundLines, "Why?", "Why "+secret+" of /home/aparicio, aparicio?", 1)
	for _, c := range []struct {
		opt     redact.Options
		found   string
		named   int
		changes bool
	}{
		{redact.Options{}, "[{home 1 1 [aaaaaaaa]}]", 1, true},
		{redact.Options{Values: []string{secret}}, "[{value 1 1 [aaaaaaaa]} {home 1 1 [aaaaaaaa]}]", 1, true},
		{redact.Options{Values: []string{secret}, Names: true}, "[{value 1 1 [aaaaaaaa]} {home 1 2 [aaaaaaaa]}]", 0, true},
	} {
		r := must.Get(redact.New(c.opt))
		p, err := Redact("file of "+secret, read(session), r, sessionfmt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range p.Found {
			found = append(found, fmt.Sprint(f))
		}
		if got := fmt.Sprint(found); got != c.found || p.Named != c.named || p.Changes() != c.changes {
			t.Errorf("%+v: %s, named %d, changes %v; want %s, %d", c.opt, got, p.Named, p.Changes(), c.found, c.named)
		}
		text := string(must.Get(json.Marshal(p)))
		var out bytes.Buffer
		must.Do(p.content(&out, io.Discard))
		if hidden := len(c.opt.Values) > 0; strings.Contains(text+out.String(), secret) == hidden || p.Session.Leaf != "" || !strings.HasPrefix(out.String(), headLine) {
			t.Errorf("%+v: %s\n%s", c.opt, text, out.String())
		}
		if is := read(out.String()); is.Len() != 3 || p.fresh(&brokenWriter{10}) != errFull {
			t.Errorf("%d records", is.Len())
		}
		p.Close()
	}
	clean := must.Get(Redact("s", read(soundLines), must.Get(redact.New(redact.Options{})), sessionfmt.Options{}))
	if clean.Changes() || string(must.Get(json.Marshal(clean.Found))) != "[]" {
		t.Errorf("found %v in a session without secrets", clean.Found)
	}
	// a session that is not sound is read again with all checks
	if p, err := Redact("s", read(small), must.Get(redact.New(redact.Options{})), sessionfmt.Options{}); err != nil || p.Changes() {
		t.Errorf("%v", err)
	}
}

// An answering hook gives one answer to each request.
type answering string

func (a answering) Ask(context.Context, func(w io.Writer) error) ([]byte, error) {
	return []byte(a), nil
}
func (a answering) Close() error { return nil }

// TestExec runs hooks over a session, and writes one with what they stored. A session that pi reads keeps no patch.
func TestExec(t *testing.T) {
	patched := `[{"op":"options_set","scope":"cached","reasoning":"low","invalidateCacheReason":"r"}]`
	for _, c := range []struct {
		answer        string
		rules         replay.Rules
		given, stored bool
		want          string
	}{
		{`[]`, replay.Auto, false, true, "pi rules, 0 patched"},
		{patched, replay.Auto, false, false, "pi rules, 1 patched"},
		{patched, replay.Auto, false, true, "s.jsonl: it has no patches, and pi does not read them"},
		{patched, replay.ByEnvelope, true, true, "envelope rules, 1 patched"},
		{`7`, replay.ByEnvelope, true, true, "envelope rules, 0 patched"},
	} {
		p, err := Exec("given", read(soundLines), &hook.Exec{
			Hook: answering(c.answer), Name: "h", Context: t.Context(), Replay: replay.Options{Rules: c.rules, Leaf: 2}, Leaf: 2,
			Reasons: []hook.Reason{hook.BeforeRequest}, To: -1, Now: func() time.Time { return lastEntry },
		}, c.given, c.stored)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%s rules, %d patched", strings.TrimSuffix(p.Rules, " rules"), p.Run.Patched)
			var out bytes.Buffer
			must.Do(p.content(&out, io.Discard))
			if is := read(out.String()); is.Len() < 3 || is.Len() > 3 != (c.stored && p.Run.Patched > 0 || !c.stored && p.Run.Patched > 0) {
				t.Errorf("%s: %d records", c.answer, is.Len())
			}
		}
		if got != c.want {
			t.Errorf("%s by %v: %s, want %s", c.answer, c.rules, got, c.want)
		}
	}
}

// TestChangesTable: a table of changes is as long as the list in text, and says how many are left out.
func TestChangesTable(t *testing.T) {
	changes := func(n int) (all []compact.Change) {
		for k := range n {
			all = append(all, compact.Change{Entry: fmt.Sprintf("e|%d", k), Pass: "p", Action: "drop", Was: k, Now: 1})
		}
		return all
	}
	for _, c := range []struct {
		n, rows int
		last    string
	}{
		{0, 0, ""}, {1, 3, `| e\|0 | p | drop | 0 | 1 |`}, {MostChanges, MostChanges + 2, `| e\|59 | p | drop | 59 | 1 |`},
		{MostChanges + 1, MostChanges + 3, "| and 1 more | | | | |"}, {MostChanges + 7, MostChanges + 3, "| and 7 more | | | | |"},
	} {
		text := changesTable(&compact.Reduction{Changes: changes(c.n)})
		rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if text == "" {
			rows = nil
		}
		if len(rows) != c.rows || c.rows > 0 && rows[len(rows)-1] != c.last {
			t.Errorf("%d changes: %d rows, the last %q", c.n, len(rows), rows[max(0, len(rows)-1):])
		}
	}
	if text := changesTable(&compact.Reduction{Changes: changes(1), Skipped: "why"}); text != "" {
		t.Errorf("of a reduction that is skipped: %s", text)
	}
}

// TestLines: each line that a repair or a migration changes, with its entry.
func TestLines(t *testing.T) {
	damaged := strings.Replace(small, `"parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:02`, `"parentId":"nowhere","timestamp":"2026-01-01T00:00:02`, 1)
	p := must.Get(repairs(read(damaged)))
	var got []string
	for c, err := range p.Rewrite.counted {
		must.Do(err)
		if l := p.Line(c); !c.Same {
			got = append(got, fmt.Sprintf("%d %s new %d, quarantine %v, %d notes", l.Line, l.Entry, l.New, l.Quarantine, len(l.Notes)))
		}
	}
	want := "3  new 0, quarantine true, 1 notes; 4 bbbbbbbb new 1, quarantine false, 1 notes"
	if strings.Join(got, "; ") != want {
		t.Errorf("%s, want %s", strings.Join(got, "; "), want)
	}
	if n := 0; true {
		for range p.Rewrite.counted {
			n++
			break
		}
		if n != 1 || p.Changed != 0 {
			t.Errorf("a loop that was left read %d changes, counted %d", n, p.Changed)
		}
	}
	must.Do(p.count())
	if p.Changed != 1 || p.Removed != 1 || p.Added != 0 || p.Quarantined != 1 || p.Unrepaired() != nil {
		t.Errorf("%+v, %v", p.Rewrite, p.Unrepaired())
	}
	p.Close()
	if p.Rewrite.Changes != nil || p.Reduction != nil {
		t.Error("a closed plan keeps its session")
	}
	p.Rewrite.Changes = func(yield func(sessionfmt.Change, error) bool) { yield(sessionfmt.Change{}, errFull) }
	if p.count() != errFull {
		t.Error("an error is lost")
	}
	p = &Plan{Rewrite: &Rewrite{Same: true, Left: []check.Finding{{Code: "a", Severity: check.Warning}, {Code: "b", Severity: check.Error, Text: "text", Line: 7, Entry: "e", Fix: "fix"}}}, s: read(soundLines)}
	err, _ := p.Unrepaired().(*sessionfmt.Error)
	if err == nil || err.Error() != "s.jsonl:7: entry e: repair does not fix b: text" || err.Hint != "fix" {
		t.Errorf("%v", err)
	}
	if p.Same = false; p.Unrepaired() != nil {
		t.Error(p.Unrepaired())
	}
}

// TestMigrateNotes: what a migration says of the context that pi then has.
func TestMigrateNotes(t *testing.T) {
	for n, want := range map[int]string{0: "of the same size", 1: "that is 1 tokens larger", -1: "that is 1 tokens smaller: it lacks the summary"} {
		if grown(n) != want {
			t.Errorf("%d: %s", n, grown(n))
		}
	}
	compacted := func(n int) string {
		text, parent := soundLines, "bbbbbbbb"
		for k := range n {
			text += fmt.Sprintf(`{"type":"compaction","id":"dddddd%02d","parentId":%q,"timestamp":"2026-01-01T00:00:0%d.000Z","summary":"s","firstKeptEntryId":"bbbbbbbb","tokensBefore":9}`+"\n", k, parent, 4+k)
			parent = fmt.Sprintf("dddddd%02d", k)
		}
		return text
	}
	for _, c := range []struct {
		n    int
		as   migrate.Compaction
		want string
	}{
		{0, migrate.Transform, "[]"},
		{1, migrate.Pair, "[1 compaction becomes a patch the session then replays by envelope rules, since it has a patch]"},
		{2, migrate.Pair, "[2 compactions become patches the session then replays by envelope rules, since it has a patch]"},
		{1, migrate.Transform, "[1 compaction becomes a patch the session then replays by envelope rules, since it has a patch pi, which does not read patches, then has a context "},
	} {
		p := must.Get(Migrate("given", read(compacted(c.n)), migrate.Options{To: 3, Compaction: c.as}))
		if got := fmt.Sprint(p.Notes); !strings.HasPrefix(got, c.want) || (p.Grown != nil) != (c.n > 0 && c.as == migrate.Transform) {
			t.Errorf("%d as %s: %s", c.n, c.as, got)
		}
	}
}

// TestBranch: a branch is written with the context at its entry.
func TestBranch(t *testing.T) {
	dir := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(soundLines), 0o600))
	disk := sessionfmt.Disk{Dir: dir}
	target := Target{Output: "o", Now: at(lastEntry), Disk: disk}
	p, err := target.Make(func() (*sessionfmt.Session, error) { return sessionfmt.Open("s.jsonl", sessionfmt.Options{Disk: disk}) },
		func(s *sessionfmt.Session) (*Plan, error) {
			return Branch("given", s, 1, must.Get(s.Branch(1, "given", lastEntry))), nil
		})
	if err != nil || p.Written != "o" || p.Session.Leaf != "bbbbbbbb" || p.Session.Bytes != int64(len(soundLines)) {
		t.Fatalf("%v %+v", err, p)
	}
	if text := string(must.Get(os.ReadFile(filepath.Join(dir, "o")))); strings.Contains(text, "So.") || !strings.HasSuffix(text, userLine) {
		t.Error(text)
	}
	for _, c := range [][2]string{{"reduce", "ctxtool/reduce/3"}, {"reduce.sessions", "ctxtool/reduce.sessions/3"}, {"patch", "ctxtool/patch/1"}, {"undo", "ctxtool/undo/2"}} {
		if Schema(c[0]) != c[1] {
			t.Errorf("%s has the schema %s", c[0], Schema(c[0]))
		}
	}
	for want, p := range map[bool]*Plan{false: {Error: "e", Entries: 1}, true: {Entries: 1}} {
		if p.Changes() != want {
			t.Errorf("%+v changes", p)
		}
	}
	for _, c := range []struct {
		p    Plan
		want bool
	}{
		{Plan{Skipped: "s", Entries: 1}, false}, {Plan{}, false}, {Plan{Rewrite: &Rewrite{}}, true}, {Plan{Rewrite: &Rewrite{Same: true}}, false},
		{Plan{Redaction: &Redaction{}}, false}, {Plan{Redaction: &Redaction{Counts: redact.Counts{Stripped: 1}}}, true},
		{Plan{Redaction: &Redaction{Counts: redact.Counts{Bared: 1}}}, true}, {Plan{Redaction: &Redaction{Counts: redact.Counts{Dropped: 1}}}, true},
		{Plan{Redaction: &Redaction{Counts: redact.Counts{Images: 1}}}, false}, {Plan{Redaction: &Redaction{Found: make([]redact.Found, 1)}}, true},
	} {
		if c.p.Changes() != c.want {
			t.Errorf("%+v: changes %v", c.p, !c.want)
		}
	}
}
