package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/doctor"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// TestDoctorPromises: the command of a line, run as it is printed, saves the tokens that the line
// promises, as stats counts them before and after.
func TestDoctorPromises(t *testing.T) {
	t.Parallel()
	kept, kinds := 0, map[string]int{}
	for _, s := range slices.Concat(corpus.Own(t), corpus.Shared(t), corpus.Agents(t), corpus.Foreign(t)) {
		dir := t.TempDir()
		name := filepath.Base(s.Name)
		file := filepath.Join(dir, name)
		must.Do(os.WriteFile(file, s.Data, 0o600))
		before := ranIn(dir, "doctor", name, "--json")
		if before.status != exitOK {
			continue
		}
		var r doctor.Report
		must.Do(json.Unmarshal(before.stdout.Bytes(), &r))
		for _, l := range r.Lines {
			kinds[l.Kind]++
			if l.Counter == "" {
				continue
			}
			was := contextBy(l.Counter, dir, name)
			if is := was - contextBy(l.Counter, dir, asPrinted(t, dir, l.Command)); is != l.Saves {
				t.Errorf("%s: %s: saves %d tokens, not %d", s.Name, l.Command, is, l.Saves)
			}
			kept++
			must.Do(os.WriteFile(file, s.Data, 0o600))
			os.Remove(filepath.Join(dir, "NEW.jsonl"))
		}
	}
	t.Log(kept, kinds)
	if least := corpus.Least(t, 10, 1); kept < least {
		t.Errorf("%d promises tried, expected %d", kept, least)
	}
	for _, kind := range []string{"damage", "cache", "context"} {
		if kinds[kind] == 0 {
			t.Errorf("no line of kind %s", kind)
		}
	}
}

// asPrinted runs a command, or two with a pipe between, and returns the file that the last one has written.
func asPrinted(t *testing.T, dir, command string) string {
	t.Helper()
	var words []string
	input := filepath.Join(dir, "input")
	must.Do(os.WriteFile(input, nil, 0o600))
	for part := range strings.SplitSeq(command, " | ") {
		words = strings.Fields(part)[1:]
		e := testEnv(dir)
		e.stdin = must.Get(os.Open(input))
		r := e.ran(words...)
		e.stdin.Close()
		if r.status != exitOK {
			t.Fatalf("%s: %s", part, &r.stderr)
		}
		must.Do(os.WriteFile(input, r.stdout.Bytes(), 0o600))
	}
	if k := slices.Index(words, "-o"); k >= 0 {
		return words[k+1]
	}
	return words[1]
}

// contextBy returns the tokens of a context by a counter.
func contextBy(counter, dir, file string) int {
	r := ranIn(dir, "stats", file, "--lens", "context", "--counter", counter, "--json")
	var is struct {
		Lenses struct {
			Context struct{ Sessions []struct{ Counted int } }
		}
	}
	must.Do(json.Unmarshal(r.stdout.Bytes(), &is))
	return is.Lenses.Context.Sessions[0].Counted
}

// TestDoctorFull: a context close to its limit gets its reduction first, with what fills it and the
// agent's own limit. What the file does not record stays in the size of the context after it.
func TestDoctorFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var lines strings.Builder
	lines.WriteString(`{"type":"session","version":3,"id":"full","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
	add := func(id, parent, message string) {
		fmt.Fprintf(&lines, `{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z","message":%s}`+"\n", id, parent, message)
	}
	answer := func(call string, input int) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":"read","arguments":{"path":"%s.go"}}],"api":"anthropic-messages",`+
			`"provider":"anthropic","model":"claude-sonnet-4-5","stopReason":"toolUse","timestamp":1,"usage":{"input":%d,"output":20,"cacheRead":0,"cacheWrite":0,"totalTokens":%d}}`,
			call, call, input, input+20)
	}
	add("0a000001", "null", `{"role":"user","content":"Read all files, please","timestamp":1}`)
	parent, input := `"0a000001"`, 15_006 // of which the prompt counts for 6
	for k := range 17 {
		call, result := fmt.Sprintf("0b0000%02x", k), fmt.Sprintf("0c0000%02x", k)
		add(call, parent, answer(call, input))
		add(result, `"`+call+`"`, fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"toolName":"read","isError":false,"timestamp":1,"content":[{"type":"text","text":%q}]}`,
			call, strings.Repeat("word ", 8000)))
		parent, input = `"`+result+`"`, input+10_000
	}
	add("0d000001", parent, answer("last", 184_000))
	must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(lines.String()), 0o600))
	read := func() (r doctor.Report) {
		must.Do(json.Unmarshal(ranIn(dir, "doctor", "s.jsonl", "--json").stdout.Bytes(), &r))
		return r
	}
	l := read().Lines[0]
	if want := "the context is 92.0% of the window: results 170k, not in the file "; l.Kind != "full" || !strings.HasPrefix(l.Text, want) ||
		!strings.HasSuffix(l.Text, "pi compacts above the window less 16384 tokens, 183.6k tokens: 404 over") {
		t.Errorf("%s: %s", l.Kind, l.Text)
	}
	asPrinted(t, dir, l.Command)
	var is struct {
		Meta struct {
			Tokens       struct{ Total int }
			ContextUsage struct{ Tokens, Estimated, Hidden int }
		}
	}
	must.Do(json.Unmarshal(ranIn(dir, "replay", "s.jsonl", "-f", "json").stdout.Bytes(), &is))
	if u := is.Meta.ContextUsage; u.Hidden != 15_000 || u.Tokens != is.Meta.Tokens.Total+15_000 || u.Estimated != u.Tokens {
		t.Errorf("%+v", is)
	}
	if r := read(); r.Context != is.Meta.ContextUsage.Tokens || !r.Estimated || len(r.Lines) > 0 && r.Lines[0].Kind == "full" {
		t.Errorf("%+v", r)
	}
}
