package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"ctxtool/internal/test/must"
)

// pointSession has two branches, answers, an edit, a label and a patch.
const pointSession = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"aa000000","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one plum","timestamp":1}}
{"type":"message","id":"bb000000","parentId":"aa000000","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"provider":"acme","model":"m1","usage":{"input":5,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":6},"stopReason":"stop","timestamp":2}}
{"type":"message","id":"cc000000","parentId":"bb000000","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":"other","timestamp":3}}
{"type":"message","id":"dd000000","parentId":"bb000000","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"user","content":"three plums","timestamp":4}}
{"type":"context_edit","id":"ee000000","parentId":"dd000000","timestamp":"2026-01-01T00:00:05.000Z","targetId":"aa000000","replacement":{"content":"1"}}
{"type":"context_transform","id":"ff000000","parentId":"ee000000","timestamp":"2026-01-01T00:00:05.500Z","schemaVersion":1,"transformerName":"t","patch":[{"op":"system_part_set","scope":"cached","partName":"rules","text":"be brief","invalidateCacheReason":"asked"}]}
{"type":"message","id":"ab000000","parentId":"ff000000","timestamp":"2026-01-01T00:00:06.000Z","message":{"role":"assistant","content":[{"type":"text","text":"four"}],"provider":"acme","model":"m1","usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10},"stopReason":"stop","timestamp":6}}
{"type":"label","id":"ac000000","parentId":"ab000000","timestamp":"2026-01-01T00:00:07.000Z","targetId":"dd000000","label":"asked"}
{"type":"message","id":"ad000000","parentId":"ac000000","timestamp":"2026-01-01T00:00:08.000Z","message":{"role":"user","content":"five","timestamp":8}}
`

// points are all kinds of points of that session: the entry that each names, and the one
// that its state ends with.
var points = []struct{ point, entry, state string }{
	{"leaf", "ad000000", "ad000000"}, {"root", "root", "root"},
	{"request:0", "bb000000", "aa000000"}, {"request:1", "ab000000", "ff000000"},
	{"request:bb000000", "bb000000", "aa000000"}, {"request:ab", "ab000000", "ff000000"},
	{"request:-1", "ab000000", "ff000000"}, {"request:-2", "bb000000", "aa000000"},
	{"turn:0", "aa000000", "aa000000"}, {"turn:1", "dd000000", "dd000000"}, {"turn:-1", "ad000000", "ad000000"},
	{"cc000000", "cc000000", "cc000000"}, {"bb000000", "bb000000", "bb000000"},
	{"ee", "ee000000", "ee000000"}, {"asked", "dd000000", "dd000000"},
}

// parents of the entries, as points.
var parents = map[string]string{
	"root": "root", "aa000000": "root", "bb000000": "aa000000", "cc000000": "bb000000", "dd000000": "bb000000",
	"ee000000": "dd000000", "ff000000": "ee000000", "ab000000": "ff000000", "ad000000": "ac000000",
}

// Command lines that take a point P: what they want of it is a state, or an entry; those
// of foundAt want the state before the entry, for which the second line asks.
var (
	stateAt = []string{
		"replay S@P --model acme/m1", "replay S --at P --model acme/m1", "replay S --leaf P -f json --model acme/m1", "stats S --at P --lens context,growth,bytes,cache", "stats S@P --lens context,growth,bytes,cache",
		"render S@P", "render S --leaf P",
		"log --tree S@P", "log --tree S --leaf P", "log S@P", "log S --leaf P", "log S --until P", "render S --until P",
		"lost S@P", "lost S --at P", "notes S@P", "notes S --at P", "log S@P -f swe-cli", "trace S@P plum", "trace S plum --at P", "trace S plum --leaf P", "trace S --blame P", "trace S@P --blame",
		"diff S root P", "diff S P bb", "diff S@P S@bb", "diff S P bb --entries",
		"reduce S --at P", "compact --pass compact:keep=1 S --at P", "reduce --pass truncate:max=1 S --at P", "reduce --pass superseded S --at P", "reduce --pass strip-thinking S --at P",
		"branch S P -o - --now 2026-01-31", "patch S --at P --remove-tool bash --why x --now 2026-01-31",
	}
	entryAt = []string{
		"show S P", "show S@P", "label S P here --now 2026-01-31 -f entries", "edit S P --omit --now 2026-01-31 -f entries",
		"trace S P", "diff S P", "diff S@P", "log S --since P", "render S --since P",
	}
	foundAt = [][2]string{
		{"replay S@P --before --model acme/m1", "replay S@P --model acme/m1"}, {"replay S --at P --before --model acme/m1", "replay S --at P --model acme/m1"},
		{"trace S --blame P --before", "trace S --blame P"}, {"trace S@P --blame --before", "trace S@P --blame"},
	}
)

// TestPoints: every command that takes a point makes the same of it as every other.
func TestPoints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(pointSession), 0o600))
	answer := func(words, point string) (string, int) {
		r := ranIn(dir, strings.Fields(strings.NewReplacer("S", "s.jsonl", "P", point).Replace(words))...)
		named := strings.NewReplacer("@"+point+",", "@P,", "since "+point+"\n", "since P\n", "since `"+point+"`\n", "since P\n", "until "+point+"\n", "until P\n", "until `"+point+"`\n", "until P\n",
			"s.jsonl: "+point+" is the beginning of an entry id; use -F to search for the text\n", "", "s.jsonl@"+point+"\n", "@P\n")
		return named.Replace(r.stdout.String() + r.stderr.String()), r.status
	}
	same := func(words, point, other, id string) {
		t.Helper()
		got, status := answer(words, point)
		if want, wantStatus := answer(other, id); got != want || status != wantStatus || got == "" && id != "root" {
			t.Errorf("%s, P is %s: status %d, not that of %s, P is %s, %d:\n%s\n--- want\n%s", words, point, status, other, id, wantStatus, got, want)
		}
	}
	for _, p := range points {
		for _, words := range stateAt {
			same(words, p.point, words, p.state)
		}
		for _, words := range entryAt {
			same(words, p.point, words, p.entry)
		}
		for _, words := range foundAt {
			same(words[0], p.point, words[1], parents[p.entry])
		}
		if n, ok := strings.CutPrefix(p.point, "request:"); ok && p.point != "request:"+p.entry && n != "ab" {
			same("replay S -f json --request "+n, p.point, "replay S -f json --at P", p.point)
			same("replay S -f json --before --request "+n, p.point, "replay S -f json --at P", p.point)
			for _, words := range []string{"replay S@P -f json", "trace S --blame P"} {
				same(words+" --before", p.point, words, p.point)
			}
		}
	}
}

// TestAllPoints: no command that takes a point is left out of TestPoints.
func TestAllPoints(t *testing.T) {
	t.Parallel()
	e := testEnv("")
	e.stdout, e.stderr = &bytes.Buffer{}, &bytes.Buffer{}
	for _, cmd := range newRoot(&env{machine: e}, "").Commands() {
		takes := func(how string) {
			if !slices.ContainsFunc(append(stateAt, entryAt...), func(words string) bool {
				return strings.HasPrefix(words, cmd.Name()+" S") && strings.Contains(words+" ", how+" ")
			}) {
				t.Errorf("ctxtool %s takes a point as %s, and is not tried with it", cmd.Name(), how)
			}
		}
		if strings.Contains(cmd.Use, "SESSION[@POINT]") {
			takes("S@P")
		}
		if strings.Contains(cmd.Use, " POINT") || strings.Contains(cmd.Use, "[POINT") || strings.Contains(cmd.Use, "|POINT") {
			takes(" P")
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); name == "POINT" {
				takes("--" + f.Name + " P")
			}
		})
	}
}
