package sessionfmt

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/must"
)

var branchTime = time.UnixMilli(1_800_000_000_000)

// branched is the file that branching off at an entry gives.
func branched(t *testing.T, data, at string) (*Session, string) {
	t.Helper()
	s := must.Get(OpenReader("s.jsonl", strings.NewReader(data), Options{}))
	defer s.Close()
	b := must.Get(s.Branch(s.Find(at), "/x/s.jsonl", branchTime))
	var out bytes.Buffer
	must.Do(b.Print(&out))
	is := must.Get(OpenReader("new.jsonl", bytes.NewReader(out.Bytes()), Options{}))
	t.Cleanup(func() { is.Close() })
	if is.Coverage.Entries != b.Entries+b.Labels {
		t.Errorf("%d entries, and it says %d and %d labels", is.Coverage.Entries, b.Entries, b.Labels)
	}
	return is, out.String()
}

const withLabels = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"1.0"}}
{"type":"label","id":"l1","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","targetId":"a","label":"first"}
{"type":"label","id":"l2","parentId":"l1","timestamp":"2026-01-01T00:00:03.000Z","targetId":"b","label":"later"}
{"type":"message","id":"b","parentId":"l2","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"user","content":"2"}}
{"type":"compaction","id":"k","parentId":"b","timestamp":"2026-01-01T00:00:05.000Z","summary":"so far","firstKeptEntryId":"l1","tokensBefore":1}
{"type":"compaction","id":"k2","parentId":"k","timestamp":"2026-01-01T00:00:05.000Z","summary":"none","firstKeptEntryId":"k2","tokensBefore":1}
{"type":"label","id":"l3","parentId":"k2","timestamp":"2026-01-01T00:00:06.000Z","targetId":"b"}
{"type":"label","id":"l4","parentId":"l3","timestamp":"2026-01-01T00:00:07.000Z","targetId":"c","label":"off the path"}
{"type":"message","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:08.000Z","message":{"role":"user","content":"3"}}
`

// TestTrapT21BranchDetachesNothing: labels leave the path, and what followed one
// follows the entry above it.
func TestTrapT21BranchDetachesNothing(t *testing.T) {
	s, text := branched(t, withLabels, "k2")
	path, _ := s.Path(s.Leaf())
	var ids []string
	for _, i := range path {
		ids = append(ids, s.ID(i))
	}
	if got := strings.Join(ids[:4], " "); got != "a b k k2" || len(ids) != 5 {
		t.Errorf("path %v", ids)
	}
	if len(s.Findings) > 0 {
		t.Errorf("%v", s.Findings)
	}
	for _, want := range []string{
		`"parentSession":"/x/s.jsonl"`, `"cwd":"/w"`, `"content":"1.0"`,
		`"summary":"so far","firstKeptEntryId":"b"`, // the next entry after the label
		`"summary":"none","firstKeptEntryId":"k2"`,  // its own id stays
		`"timestamp":"2026-01-01T00:00:02.000Z","targetId":"a","label":"first"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "later") || strings.Contains(text, "off the path") {
		t.Errorf("a label that was cleared, or one of another branch, is in\n%s", text)
	}
}

// TestBranchIsTheSameEachTime: with one time, one file.
func TestBranchIsTheSameEachTime(t *testing.T) {
	_, a := branched(t, withLabels, "c")
	_, b := branched(t, withLabels, "c")
	if a != b {
		t.Errorf("%s\n%s", a, b)
	}
	if _, other := branched(t, withLabels, "b"); strings.SplitN(other, "\n", 2)[0] == strings.SplitN(a, "\n", 2)[0] {
		t.Error("two points give one id")
	}
}

func TestBranchRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"version 1": `{"type":"session","id":"s"}` + "\n" + `{"type":"message","message":{"role":"user"}}` + "\n",
		"version 2": strings.Replace(withLabels, `"version":3`, `"version":2`, 1),
		"version 4": strings.Replace(withLabels, `"version":3`, `"version":4`, 1),
		"no header": strings.SplitAfterN(withLabels, "\n", 2)[1],
		"circle":    strings.Replace(withLabels, `"id":"a","parentId":null`, `"id":"a","parentId":"b"`, 1),
	} {
		s, err := OpenReader("s.jsonl", strings.NewReader(data), Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Branch(s.Leaf(), "", branchTime)
		var at *Error
		if !errors.As(err, &at) || at.Hint == "" || at.Pos.File != "s.jsonl" {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}
