package openclaw_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/gen/tables"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	_ "ctxtool/sessionfmt/sqlite"
)

// database makes a database with the records of a file of pi as one session, of which every
// second one is packed.
func database(t *testing.T, records []byte, packed func(k int) bool) string {
	t.Helper()
	var rows bytes.Buffer
	fmt.Fprintln(&rows, `{"table":"session_windows","session_id":"s1","session_key":"agent:main:main","created_at":1767225600000,"updated_at":1767225611000}`)
	k := 0
	for line := range bytes.Lines(records) {
		column := "event_json"
		if packed(k) {
			column = "event_zstd"
		}
		fmt.Fprintf(&rows, `{"table":"transcript_events","session_id":"s1","seq":%d,"%s":%s,"created_at":1767225600000}`+"\n", k, column, bytes.TrimSpace(line))
		k++
	}
	name := filepath.Join(t.TempDir(), "openclaw-agent.sqlite")
	closed, err := tables.Database(name, rows.Bytes(), false)
	if err == nil {
		err = closed()
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// contexts are the messages after each entry of a session, by the ids of the entries.
func contexts(t *testing.T, name string) (all []string) {
	t.Helper()
	s, err := sessionfmt.Open(name, sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range s.Len() {
		if !s.Kind(i).IsEntry() {
			continue
		}
		e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(i))
		if err != nil {
			t.Fatal(err)
		}
		said := s.ID(i)
		for m, err := range e.CachedMessages() {
			if err != nil {
				t.Fatal(err)
			}
			said += "\n" + string(m.Raw)
		}
		all = append(all, said)
	}
	return all
}

// TestRowsAreRecords: a session has the same contexts in a database as in a file, whether its
// records are packed or not, and whatever entries they are.
func TestRowsAreRecords(t *testing.T) {
	for _, name := range []string{"openclaw", "omp", "prime-agent"} {
		file := "../../../../testdata/dialects/" + name + ".jsonl"
		records, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := contexts(t, file)
		for about, packed := range map[string]func(k int) bool{
			"plain":  func(int) bool { return false },
			"mixed":  func(k int) bool { return k%2 == 1 },
			"packed": func(int) bool { return true },
		} {
			got := contexts(t, database(t, records, packed))
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s, %s:\n%s\nwant\n%s", name, about, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// TestDamage: what is wrong with rows is found or refused.
func TestDamage(t *testing.T) {
	const prompt = `{"type":"message","id":"u1","parentId":null,"message":{"role":"user","content":"a"}}` + "\n"
	for _, c := range []struct{ about, records, found, fails string }{
		{"an unknown parent", prompt + `{"type":"message","id":"u2","parentId":"x","message":{"role":"user","content":"b"}}`, "orphan", ""},
		{"an unknown type", prompt + `{"type":"songs","id":"u2","parentId":"u1"}`, "unknown-type", ""},
		{"a row that is no record", prompt + `"text"`, "unknown-type", ""},
		{"a packed row that is damaged", prompt + `"damage"`, "", "table transcript_events, row 2: zstd: "},
	} {
		s, err := sessionfmt.Open(database(t, []byte(c.records), func(k int) bool { return k == 1 && c.fails != "" }), sessionfmt.Options{})
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v", c.about, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, f := range s.Findings {
			found += f.Code + " "
		}
		if strings.TrimSpace(found) != c.found {
			t.Errorf("%s: found %q, want %s", c.about, found, c.found)
		}
		s.Close()
	}
}
