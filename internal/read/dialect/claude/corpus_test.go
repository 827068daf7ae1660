package claude_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// samples are transcripts: how many lines, requests and records of the active chain they have.
var samples = []struct {
	file                   string
	lines, requests, chain int
}{
	{"plain-2.1.12.jsonl", 154, 22, 105},
	{"old-2.0.64.jsonl", 164, 66, 160},
	{"three-compactions-2.1.7.jsonl.gz", 893, 225, 23},
	{"lost-lines-2.1.29.jsonl.gz", 1309, 204, 131},
	{"microcompact-2.1.12.jsonl", 257, 57, 226},
	{"glued-line-2.1.7.jsonl", 170, 42, 154},
	{"rewind-2.1.12.jsonl", 145, 32, 30},
	{"resume-drops-2.1.17.jsonl.gz", 394, 51, 240},
	{"attachments-2.1.150.jsonl", 483, 115, 366},
	{"image-2.1.112.jsonl", 302, 82, 252},
	{"newest-2.1.199.jsonl", 185, 26, 136},
	{"subagents-2.1.39/258c7280-ae70-4798-800f-63464d01a85d.jsonl.gz", 1863, 152, 170},
	{"fixture-preserved-segment.jsonl", 12, 5, 7},
	{"fixture-two-boundaries-segment.jsonl", 12, 4, 4},
	{"fixture-boundary-with-parent.jsonl", 6, 2, 6},
	{"fixture-torn-tail.jsonl", 3, 0, 0},
}

// sample reads a transcript that the tests of the project share, or skips the test.
func sample(t testing.TB, name string) (path string, data []byte) {
	path = testenv.NeedShared(t, "corpus/claude-code/"+name)[0]
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if filepath.Ext(name) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	if data, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return path, data
}

// TestSamples: the path of the leaf is the active chain, record for record, and requests
// and tokens are those of the lines.
func TestSamples(t *testing.T) {
	for _, test := range samples {
		t.Run(test.file, func(t *testing.T) {
			path, data := sample(t, test.file)
			s := must.Get(sessionfmt.Open(path, sessionfmt.Options{}))
			defer s.Close()
			if s.Dialect() == nil || s.Dialect().Name != "claude" {
				t.Fatalf("dialect %v", s.Dialect())
			}
			tr := readTranscript(data)
			var want []string
			if tr.leaf != nil {
				for _, r := range tr.chain() {
					if r.Type != "progress" { // a link, and no record of the conversation
						want = append(want, r.UUID)
					}
				}
			}
			if tr.lines != test.lines || len(want) != test.chain {
				t.Errorf("by the rule %d lines, a chain of %d; want %d, %d", tr.lines, len(want), test.lines, test.chain)
			}
			if got := active(s); !slices.Equal(got, want) {
				t.Errorf("%d records are active, want %d: %s", len(got), len(want), differs(got, want))
			}
			checkUsage(t, s, tr, test.requests)
		})
	}
}

// differs says where two lists begin to differ.
func differs(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return got[i] + " instead of " + want[i]
		}
	}
	if len(got) > len(want) {
		return got[len(want)] + " too many"
	}
	if len(got) < len(want) {
		return want[len(got)] + " is missing"
	}
	return ""
}

// active are the uuids of the records on the leaf's path, from the last compaction on.
func active(s *sessionfmt.Session) (ids []string) {
	r := s.NewReader()
	path, _ := s.Path(s.Leaf())
	for _, i := range path {
		raw := must.Get(r.Raw(i))
		if s.Kind(i) == jsonl.Transform {
			ids = ids[:0]
		}
		for k, line := range bytes.Split(raw, []byte("\n")) {
			var rec record
			must.Do(json.Unmarshal(line, &rec))
			more := s.Kind(i) == jsonl.Assistant || s.Kind(i) == jsonl.Transform
			if (k == 0 || more) && !slices.Contains(ids, rec.UUID) {
				ids = append(ids, rec.UUID)
			}
		}
	}
	return ids
}

// checkUsage compares all answers with the lines: each message once, by its last line.
func checkUsage(t *testing.T, s *sessionfmt.Session, tr *transcript, requests int) {
	var want, got [5]int64
	for _, lines := range tr.answers {
		last := lines[len(lines)-1].Message
		if last.Model != "<synthetic>" {
			u := last.Usage
			for k, n := range [5]int64{1, u.Input, u.Read, u.Write, u.Output} {
				want[k] += n
			}
		}
	}
	if tr.leaf == nil { // without uuids they are no records
		want = [5]int64{}
	}
	r := s.NewReader()
	for i := range s.Len() {
		if s.Answers(i) {
			line := must.Get(r.Line(i))
			u := line.Get("message").Get("usage").Usage()
			for k, n := range [5]int64{1, u.Input, u.CacheRead, u.CacheWrite, u.Output} {
				got[k] += n
			}
		}
	}
	if got != want || got[0] != int64(requests) {
		t.Errorf("requests, input, read, written, output: %d, want %d; %d requests", got, want, requests)
	}
}
