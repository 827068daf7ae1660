package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/doctor"
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
