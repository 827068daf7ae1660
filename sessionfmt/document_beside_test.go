package sessionfmt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// clineDocument is the document of a session of Cline with as many messages, each with a text.
func clineDocument(text string, n int) string {
	var b strings.Builder
	b.WriteString("{\n \"version\": 1,\n \"agent\": \"lead\",\n \"sessionId\": \"1_a\",\n \"origin\": {},\n \"messages\": [\n")
	for k := range n {
		if k > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `  {"id": "%s%d", "role": "user", "content": "%[1]s", "ts": 1}`, text, k)
	}
	b.WriteString("\n ],\n \"system_prompt\": \"" + text + "\"\n}\n")
	return b.String()
}

// TestRewritten: a document that its program rewrites all the time is read as one of its versions, or not at all.
func TestRewritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "1_a.messages.json")
	versions := []string{clineDocument(strings.Repeat("a", 3000), 200), clineDocument(strings.Repeat("b", 1000), 1000)}
	must.Do(os.WriteFile(name, []byte(versions[0]), 0o600))
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for k := 1; ; k++ {
			select {
			case <-stop:
				return
			default:
				must.Do(os.WriteFile(name, []byte(versions[k%2]), 0o600))
				time.Sleep(time.Duration(k%7) * time.Millisecond)
			}
		}
	}()
	read := 0
	for range 25 {
		s, err := sessionfmt.Open(name, sessionfmt.Options{})
		if err != nil {
			if !errors.Is(err, sessionfmt.ErrChanged) && !errors.Is(err, sessionfmt.ErrNotSession) && !strings.Contains(err.Error(), "empty") {
				t.Error(err)
			}
			continue
		}
		lines, first := s.NewReader(), ""
		for i := range s.Len() {
			line, err := lines.Line(i)
			if errors.Is(err, sessionfmt.ErrChanged) {
				break
			}
			must.Do(err)
			text := line.Get("message").Get("content").Elements
			for b := range text {
				if first = first + b.Get("text").Text()[:1]; strings.Trim(first, first[:1]) != "" {
					t.Fatalf("one session has texts of two versions: %s", first)
				}
			}
		}
		read += len(first)
		s.Close()
	}
	close(stop)
	<-stopped
	if s := must.Get(sessionfmt.Open(name, sessionfmt.Options{})); s.Len() < 200 || len(s.Findings) > 0 {
		t.Errorf("%d records, %v", s.Len(), s.Findings)
	}
	t.Logf("%d messages were read", read)
}

// TestChangedLater: what is read of a document after it was rewritten is an error, not the bytes that stand there now.
func TestChangedLater(t *testing.T) {
	name := filepath.Join(t.TempDir(), "1_a.messages.json")
	must.Do(os.WriteFile(name, []byte(clineDocument(strings.Repeat("a", 9000), 40)), 0o600))
	s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
	defer s.Close()
	time.Sleep(20 * time.Millisecond)
	must.Do(os.WriteFile(name, []byte(clineDocument(strings.Repeat("b", 9000), 40)), 0o600))
	if _, err := s.NewReader().Line(s.Leaf()); !errors.Is(err, sessionfmt.ErrChanged) {
		t.Error(err)
	}
}

// TestBeside: the documents of a session's folder that are missing, damaged or of another kind, and what is found.
func TestBeside(t *testing.T) {
	compaction := `{"version":1,"source_message_count":%d,"source_last_message_key":"id:a1","messages":[{"role":"user","content":"Summary."}]}`
	for about, test := range map[string]struct{ compaction, manifest, found string }{
		"all":                   {fmt.Sprintf(compaction, 2), `{"session_id":"1_a","enable_tools":true,"cwd":"/w","metadata":{"title":"T"}}`, ""},
		"its messages alone":    {"", "", ""},
		"a half":                {fmt.Sprintf(compaction, 2)[:60], "{\n \"session_id\"", "broken-off broken-off"},
		"empty ones":            {" ", " ", "broken-off broken-off"},
		"no JSON":               {"oops", `{"a":1} 2`, "malformed malformed"},
		"no objects":            {"[1]", "17", "malformed malformed"},
		"others":                {`{"version":2,"moon":1}`, `{"moon":1}`, "unknown-type"},
		"of more messages":      {fmt.Sprintf(compaction, 9), "", "rewritten"},
		"of other messages":     {strings.Replace(fmt.Sprintf(compaction, 1), "id:a1", "id:b1", 1), "", "rewritten"},
		"of no number":          {`{"source_message_count":-1,"messages":[]}`, "", "rewritten"},
		"of messages like them": {strings.Replace(fmt.Sprintf(compaction, 2), "id:a1", "id:a0", 1), "", "rewritten"},
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, "1_a.messages.json")
		must.Do(os.WriteFile(name, []byte(clineDocument("a", 3)), 0o600))
		for end, text := range map[string]string{".compaction.json": test.compaction, ".json": test.manifest} {
			if text != "" {
				must.Do(os.WriteFile(filepath.Join(dir, "1_a"+end), []byte(text), 0o600))
			}
		}
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		var codes []string
		for _, f := range s.Findings {
			codes = append(codes, f.Code)
		}
		if got := strings.Join(codes, " "); got != test.found {
			t.Errorf("%s: %s, want %s", about, got, test.found)
		}
		lines := s.NewReader()
		for i := range s.Len() {
			must.Get(lines.Line(i))
		}
		s.Close()
	}
}
