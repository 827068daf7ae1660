package migrate

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/dialect"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	_ "ctxtool/sessionfmt/sqlite"
)

// foreign are the files of the sessions of other agents: those made by hand, and those of Codex,
// Claude Code and opencode that the tests share.
func foreign(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"0*.jsonl", "*.json", "y1*.jsonl", "gemini/chats/*"} {
		made, err := filepath.Glob(filepath.Join(corpus.Root(t), "testdata/dialects", pattern))
		if err != nil || len(made) == 0 {
			t.Fatalf("no sessions at %s: %v", pattern, err)
		}
		files = append(files, made...)
	}
	made := len(files)
	for _, dir := range []string{"vectors/codex", "corpus/codex", "corpus/claude-code"} {
		filepath.WalkDir(filepath.Join(corpus.Root(t), "../shared", dir), func(name string, d fs.DirEntry, err error) error {
			base := filepath.Base(name)
			if err == nil && strings.Contains(base, ".jsonl") && base != "requests.jsonl" && base != "events.jsonl" {
				files = append(files, name)
			}
			return nil
		})
	}
	databases, _ := filepath.Glob(filepath.Join(corpus.Root(t), "../shared/vectors/opencode/*/opencode.db"))
	for _, db := range databases {
		if err := sessionfmt.InDatabase(sessionfmt.Disk{}, db, func(name string, _ jsonl.Value, _ *dialect.Dialect, _ bool) { files = append(files, name) }); err != nil {
			t.Error(err)
		}
	}
	if len(files) == made {
		t.Log("left out: no sessions at ../shared/vectors/codex, vectors/opencode, corpus/codex and corpus/claude-code")
	}
	return files
}

// TestConvert converts sessions of other agents: the result is without findings,
// and pi's own code builds from it the messages of the session.
func TestConvert(t *testing.T) {
	converted, want := map[string][]byte{}, map[string][][]byte{}
	for _, file := range foreign(t) {
		was := must.Get(sessionfmt.Open(file, sessionfmt.Options{}))
		defer was.Close()
		is, err := Convert(was)
		if err != nil {
			t.Error(err)
			continue
		}
		defer is.Close()
		for _, f := range is.Findings {
			t.Errorf("%s: %v", file, f)
		}
		if want[file], err = messages(was); err != nil {
			t.Error(err)
		}
		if converted[file], err = io.ReadAll(is.Plain()); err != nil {
			t.Error(err)
		}
		for line := range bytes.Lines(converted[file]) {
			if wrong := corpus.NotPi(line); len(wrong) > 0 {
				t.Errorf("%s: %q in %.300s", file, wrong, line)
			}
		}
	}
	t.Run("sends", func(t *testing.T) {
		for file, r := range corpus.PiSends(t, converted) {
			if len(r.Wrong) > 0 {
				t.Errorf("%s: %.2000q", file, r.Wrong)
			}
		}
	})
	t.Run("pi", func(t *testing.T) {
		n := 0
		for file, pi := range corpus.PiReads(t, converted) {
			var llm []json.RawMessage
			if err := json.Unmarshal(pi.Read.LLM, &llm); err != nil {
				t.Errorf("%s: pi %s: %v", file, pi.Read.Throws, err)
				continue
			}
			llm = slices.DeleteFunc(llm, func(m json.RawMessage) bool { return jsonl.Value(m).Get("role").Is("system") }) // the prompt
			if len(llm) != len(want[file]) {
				t.Errorf("%s: pi has %d messages, want %d", file, len(llm), len(want[file]))
				continue
			}
			for k, raw := range llm {
				if got := sent(jsonl.Value(raw)); !bytes.Equal(got, want[file][k]) {
					t.Errorf("%s: message %d\n  pi %.300s\nwant %.300s", file, k, got, want[file][k])
					break
				}
				n++
			}
		}
		t.Logf("%d messages of %d sessions", n, len(converted))
	})
}

// TestConvertUntimed: a checkpoint without a time is converted.
func TestConvertUntimed(t *testing.T) {
	log := `{"sessionId":"s1","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z"}
{"id":"a","type":"user","content":"hello"}
{"$set":{"messages":[{"id":"b","type":"user","content":"again"},{"id":"c","type":"gemini","content":"Hi"}]}}
`
	was := must.Get(sessionfmt.OpenReader("log.jsonl", strings.NewReader(log), sessionfmt.Options{}))
	is := must.Get(Convert(was))
	defer is.Close()
	if text := string(must.Get(io.ReadAll(is.Plain()))); !strings.Contains(text, `"again"`) {
		t.Error(text)
	}
}
