package sessionfmt_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	_ "ctxtool/sessionfmt/sqlite"
)

const (
	headerLine = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	userA      = `{"type":"message","id":"aa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"A"}}` + "\n"
	userB      = `{"type":"message","id":"bb","parentId":"aa","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"B"}}` + "\n"
)

// ids are the ids on the path to the leaf, line numbers where there are none.
func ids(s *sessionfmt.Session) (out []string) {
	path, _ := s.Path(s.Leaf())
	for _, i := range path {
		out = append(out, s.ID(i))
	}
	return out
}

// TestTrapFiles: what is easily got wrong about files (docs/traps.md).
func TestTrapFiles(t *testing.T) {
	for _, c := range []struct {
		trap, data string
		path       []string
		found      []string
	}{
		{"T13", "\xef\xbb\xbf" + strings.ReplaceAll(headerLine+userA, "\n", "\r\n"), []string{"aa"}, []string{"bom"}},
		{"N1", "\xef\xbb\xbf" + headerLine + userA, []string{"aa"}, []string{"bom"}},
		{"T14", "garbage\n" + headerLine + userA, []string{"aa"}, []string{"malformed"}},
		{"T15", userA + headerLine + userB, []string{"aa", "bb"}, []string{"late-header"}},
		{"T16", headerLine + userA + "null\n" + userB, []string{"aa", "bb"}, []string{"falsy-line"}},
		{"N2", headerLine + userA + "null\n" + userB[:len(userB)-1], []string{"aa", "bb"}, []string{"falsy-line", "unterminated"}},
		{"T20", headerLine + userA + headerLine + userA, []string{"aa"}, []string{"second-header", "duplicate-id"}},
	} {
		t.Run(c.trap, func(t *testing.T) {
			s := opened(t, c.data)
			var codes []string
			for _, f := range s.Findings {
				codes = append(codes, f.Code)
			}
			if got := ids(s); !slices.Equal(got, c.path) || !slices.Equal(codes, c.found) {
				t.Errorf("path %q, findings %q; want %q, %q", got, codes, c.path, c.found)
			}
		})
	}
}

// TestTrapT10FlattenedTree: without a version the ids are not believed, and the
// tree is the order of the file.
func TestTrapT10FlattenedTree(t *testing.T) {
	userC := strings.Replace(userB, `"bb"`, `"cc"`, 1)
	s := opened(t, `{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n"+userA+userB+userC+
		`{"type":"label","id":"ll","parentId":null,"timestamp":"2026-01-01T00:00:02.000Z","targetId":"aa","label":"mark"}`+"\n")
	path, _ := s.Path(s.Leaf())
	if len(path) != 4 || s.Find("aa") >= 0 {
		t.Errorf("path of %d entries, old id found at %d", len(path), s.Find("aa"))
	}
	if labels, err := s.Labels(); err != nil || len(labels) != 0 {
		t.Errorf("labels %v, %v: their targets dangle", labels, err)
	}
}

// TestTrapT11IndexCountsRecords: the index of version 1 counts the records that
// could be read, not lines.
func TestTrapT11IndexCountsRecords(t *testing.T) {
	s := opened(t, `{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\nnot json\n"+
		`{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"A"}}`+"\n"+
		`{"type":"message","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"B"}}`+"\n"+
		`{"type":"compaction","timestamp":"2026-01-01T00:00:03.000Z","summary":"S","firstKeptEntryIndex":2}`+"\n")
	kept := s.FirstKept(3, nil, jsonl.Value("2"))
	if kept != 2 || s.Line(kept) != 4 {
		t.Errorf("keeps from record %d, line %d; want record 2, line 4", kept, s.Line(max(0, kept)))
	}
}

// TestTrapT8LabelsOfAllBranches and T9: labels count in the order of the file,
// whatever branch they are on, and an empty one clears.
func TestTrapT8LabelsOfAllBranches(t *testing.T) {
	s := opened(t, headerLine+userA+userB+
		`{"type":"label","id":"l1","parentId":"aa","timestamp":"2026-01-01T00:00:03.000Z","targetId":"bb","label":"mark"}`+"\n"+
		`{"type":"label","id":"l2","parentId":"bb","timestamp":"2026-01-01T00:00:03.000Z","targetId":"aa","label":"first"}`+"\n")
	labels, err := s.Labels()
	if err != nil || len(labels) != 2 || s.ID(labels["mark"]) != "bb" || s.ID(labels["first"]) != "aa" {
		t.Errorf("labels %v, %v", labels, err)
	}
}

func TestTrapT9EmptyLabelClears(t *testing.T) {
	for _, label := range []string{`,"label":""`, `,"label":null`, ``} {
		s := opened(t, headerLine+userA+
			`{"type":"label","id":"l1","parentId":"aa","timestamp":"2026-01-01T00:00:03.000Z","targetId":"aa","label":"mark"}`+"\n"+
			`{"type":"label","id":"l2","parentId":"l1","timestamp":"2026-01-01T00:00:03.000Z","targetId":"aa"`+label+"}\n")
		if labels, err := s.Labels(); err != nil || len(labels) != 0 {
			t.Errorf("labels %v, %v", labels, err)
		}
	}
}

func opened(t *testing.T, data string) *sessionfmt.Session {
	t.Helper()
	s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader([]byte(data)), sessionfmt.Options{}))
	t.Cleanup(func() { s.Close() })
	return s
}
