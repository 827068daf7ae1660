package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/out/show"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/stats"
)

// The golden files hold what is printed for readers and for programs, each command and
// form on the smallest session that shows it. They are read in reviews, so none is long:
// that every session is replayed, counted and compared rightly is for the laws and the
// other programs that tests compare with.
const (
	demo = "testdata/sessions/demo.jsonl"
	good = "testdata/sessions/good/"
	bad  = "testdata/sessions/bad/"
)

// longestGolden is how many bytes a golden file may have: what a reader of a review reads.
const longestGolden = 24 << 10

// TestGolden compares what commands print with files under testdata/golden, one a subtest.
func TestGolden(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"cache":    {"cache " + demo, "cache " + good + "cache.jsonl --all --collapse-system", "cache " + good + "cache.jsonl -f jsonl", "cache " + good + "cache.jsonl " + good + "edited.jsonl -f csv"},
		"check":    {"check " + bad + "glued.jsonl " + bad + "orphan.jsonl -f json", "check " + bad + "glued.jsonl -f github", "check " + good + " -f jsonl"},
		"ls":       {"ls testdata/sessions/good", "ls " + demo + " " + good + "v1.jsonl --json --sort cost", "ls " + bad + " --limit 12"},
		"policies": {"policies -f json"},
		"redact":   {"redact " + demo, "redact " + demo + " -f json", "redact " + good + "bash.jsonl -o -", "redact " + good + "bash.jsonl --structure-only -o -", "log " + good + "bash.jsonl --redact"},
		"trace": {
			"trace " + demo + " race", "trace " + demo + " race -f jsonl", "trace " + demo + " -e wait(group)? -i --at race-fixed", "trace " + demo + " regression-test",
			"trace " + demo + " nowhere-at-all", "trace " + good + "rearranged.jsonl --blame", "trace " + good + "edited.jsonl --blame -f jsonl", "trace " + good + "pair.jsonl -e . --all",
		},
	}
	for name, commands := range replayGoldens() {
		cases[name] = commands
	}
	for name, commands := range statsGoldens() {
		cases[name] = commands
	}
	for name, commands := range reduceGoldens() {
		cases[name] = commands
	}
	for name, commands := range diffGoldens() {
		cases[name] = commands
	}
	for name, flags := range map[string]string{
		"": "", "-all": " --target file --all", "-text": " -f text --budget 5000",
		"-folded": " --since turn:3 --max-lines 4 --include ephemerals --exclude results,thinking", "-files": " --files docs --exclude calls",
	} {
		cases["render/demo"+name] = []string{"render " + demo + flags}
	}
	for _, c := range corpus.Own(t) {
		dir, file := filepath.Split("testdata/" + c.Name)
		if dir != bad {
			continue
		}
		name := dir + file
		cases["bad/"+strings.TrimSuffix(file, ".jsonl")] = []string{"check " + name, "replay " + name + " --strict", "replay " + name + " --lenient", "repair " + name}
		notFresh(filepath.Join(corpus.Root(t), filepath.FromSlash(name)))
	}
	for name, commands := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := printedBy(t, commands...)
			if len(text) > longestGolden {
				t.Errorf("%d bytes, at most %d: a golden file is read in reviews", len(text), longestGolden)
			}
			golden.Equal(t, filepath.Join(goldenDir(t), filepath.FromSlash(name)+".txt"), text)
		})
	}
	for _, name := range goldenFiles(t) {
		if cases[name] == nil {
			t.Errorf("no test prints testdata/golden/%s.txt", name)
		}
	}
}

// replayGoldens are every form of replay, and how each feature looks in the tree and the log.
func replayGoldens() map[string][]string {
	cases := map[string][]string{}
	for _, f := range show.Formats {
		cases["replay/demo-"+f.Name] = []string{"replay " + demo + "@race-fixed -f " + f.Name, "replay " + demo + " --request 7 --ephemeral -f " + f.Name}
	}
	cases["replay/demo-rules"] = []string{"replay " + demo, "replay " + demo + " --rules pi", "replay " + demo + "@turn:1 --before"}
	for _, name := range []string{"bash", "branched", "compacted", "edited", "images", "pair", "rearranged", "system", "transforms", "unicode", "v1", "v2"} {
		cases["replay/"+name] = []string{"replay " + good + name + ".jsonl -f json --provenance"}
		cases["log/"+name] = []string{"log --tree " + good + name + ".jsonl", "log " + good + name + ".jsonl --all", "show " + good + name + ".jsonl leaf"}
	}
	cases["log/labels"] = []string{"log --tree " + good + "labels.jsonl --json", "log " + good + "labels.jsonl --all -f jsonl"}
	cases["log/demo"] = []string{"log --tree " + demo, "log " + demo, "log " + demo + " --request -1", "show " + demo + " regression-test"}
	return cases
}

// statsGoldens are every lens in the text form of the demo, in the other forms of a small
// session, and what each system would count.
func statsGoldens() map[string][]string {
	small := good + "compacted.jsonl"
	cases := map[string][]string{
		"stats/demo":     {"stats " + demo + everyLens()},
		"stats/json":     {"stats " + small + everyLens() + " --json"},
		"stats/markdown": {"stats " + small + everyLens() + " -f markdown"},
		"stats/folder": {
			"stats testdata/sessions/good", "stats " + bad + "glued.jsonl " + small + " -f jsonl", "stats testdata/sessions/good --lens cost --by day,tool",
		},
		"stats/options": {
			"stats " + demo + " --at race-fixed --counter bytes4 --lens context,bytes", "stats " + demo + " --counter recorded --lens context",
			"stats " + demo + " --baseline " + good + "system.jsonl --window 8000 --lens context",
		},
	}
	for _, l := range stats.Lenses {
		cases["stats/csv"] = append(cases["stats/csv"], "stats "+small+" -f csv --lens "+l.Name)
	}
	return cases
}

// reduceGoldens are plans of all commands that make contexts smaller.
func reduceGoldens() map[string][]string {
	const json = " -f json --now 2026-11-03"
	cases := map[string][]string{
		"reduce/text": {
			"reduce --pass truncate:max=300 " + demo, "reduce --pass superseded --pass retry-prune --pass stale-results:requests=2 --pass merge-notes --pass progressive:min-tokens=0 " + demo,
			"reduce --pass strip-thinking " + demo, "compact --pass compact:keep=500 " + demo, "undo " + demo,
		},
		"reduce/truncate": {"reduce --pass truncate:max=40 " + good + "edited.jsonl --as edits" + json}, "reduce/prune": {"reduce --pass superseded --pass retry-prune --pass stale-results:requests=1 --pass progressive:min-tokens=0 " + good + "linear.jsonl" + json},
		"reduce/strip":   {"reduce --pass strip-thinking --pass drop-images " + good + "images.jsonl" + json},
		"reduce/compact": {"compact --pass compact:style=gsh " + good + "edited.jsonl" + json, "compact --pass compact:style=y-agent,keep=2 " + good + "linear.jsonl --as edits --rules pi" + json},
		"reduce/folder":  {"reduce testdata/sessions/good --policy gsh --target 20", "reduce " + good + "edited.jsonl " + bad + "orphan.jsonl --policy y-agent --target 20 -f jsonl --now 2026-11-03"},
	}
	for _, p := range compact.Policies {
		cases["reduce/policies"] = append(cases["reduce/policies"], "reduce "+demo+" --target 1000 --policy "+p.Name)
	}
	return cases
}

// diffGoldens are every form of a diff, and every kind of change.
func diffGoldens() map[string][]string {
	cases := map[string][]string{}
	for _, form := range []string{"text", "stat", "markdown"} {
		for _, points := range []string{"turn:0 turn:1", "leaf turn:1", "849a4ea3", "request:9 request:10"} {
			cases["diff/"+form] = append(cases["diff/"+form], "diff "+demo+" "+points+" -f "+form)
		}
		cases["diff/"+form] = append(cases["diff/"+form], "diff "+demo+" a208e839 leaf --entries -f "+form)
	}
	cases["diff/json"] = []string{"diff " + demo + " request:9 request:10 -f json", "diff " + good + "rearranged.jsonl root leaf -f json", "diff " + good + "system.jsonl root leaf -f json"}
	cases["diff/files"] = []string{"diff " + demo + " 849a4ea3 --color always", "diff " + good + "edited.jsonl " + good + "transforms.jsonl -f stat"}
	return cases
}

// TestSARIF: a report in SARIF has every check among its rules, and the findings that
// the golden file shows, with the rules that they name.
func TestSARIF(t *testing.T) {
	t.Parallel()
	out, _ := said(t, "check", bad+"glued.jsonl", "-f", "sarif")
	var log map[string]any
	must.Do(json.Unmarshal(out, &log))
	run := log["runs"].([]any)[0].(map[string]any)
	driver := run["tool"].(map[string]any)["driver"].(map[string]any)
	var codes []string
	named := map[any]bool{}
	for _, r := range run["results"].([]any) {
		named[r.(map[string]any)["ruleId"]] = true
	}
	driver["rules"] = slices.DeleteFunc(driver["rules"].([]any), func(r any) bool {
		id := r.(map[string]any)["id"]
		codes = append(codes, id.(string))
		return !named[id]
	})
	if want := checkCodes(); !slices.Equal(codes, want) {
		t.Errorf("rules %q, want %q", codes, want)
	}
	text := must.Get(json.MarshalIndent(log, "", "  "))
	golden.Equal(t, filepath.Join(goldenDir(t), "sarif.json"), append(text, '\n'))
}

// printedBy runs commands in the project's folder and returns what they print, each stream
// under its name.
func printedBy(t *testing.T, commands ...string) []byte {
	t.Helper()
	var all bytes.Buffer
	for _, command := range commands {
		r := ranIn(corpus.Root(t), strings.Fields(command)...)
		fmt.Fprintf(&all, "$ ctxtool %s\n%s-- stderr, status %d\n%s\n", command, &r.stdout, r.status, &r.stderr)
	}
	return all.Bytes()
}

// everyLens is the flag for all that stats can compute.
func everyLens() string {
	var names []string
	for _, l := range stats.Lenses {
		names = append(names, l.Name)
	}
	return " --lens " + strings.Join(names, ",")
}

// notFresh makes a file as old as one that nobody is writing to: of a torn one it is said
// otherwise.
func notFresh(name string) {
	info := must.Get(os.Stat(name))
	if before := time.Now().Add(-time.Minute); info.ModTime().After(before) {
		must.Do(os.Chtimes(name, before, before))
	}
}

func goldenDir(t *testing.T) string {
	return filepath.Join(corpus.Root(t), "cmd", "ctxtool", "testdata", "golden")
}

// goldenFiles are the names of the golden files, as subtests have them.
func goldenFiles(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.txt", "*/*.txt"} {
		files := must.Get(filepath.Glob(filepath.Join(goldenDir(t), pattern)))
		for _, f := range files {
			rel := must.Get(filepath.Rel(goldenDir(t), strings.TrimSuffix(f, ".txt")))
			names = append(names, filepath.ToSlash(rel))
		}
	}
	return names
}
