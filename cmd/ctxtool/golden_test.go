package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/corpus"
	"ctxtool/internal/golden"
	"ctxtool/render"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// printedBy runs commands in the project's folder and returns what they print,
// each stream under its name.
func printedBy(t *testing.T, commands ...string) []byte {
	t.Helper()
	var all bytes.Buffer
	for _, command := range commands {
		r := ranIn(corpus.Root(t), strings.Fields(command)...)
		fmt.Fprintf(&all, "$ ctxtool %s\n%s-- stderr, status %d\n%s\n", command, &r.stdout, r.status, &r.stderr)
	}
	return all.Bytes()
}

// TestGolden holds what is printed of the project's sessions: of the good ones
// the whole envelope with where all of it comes from, their trees and logs; of the
// damaged ones what is said of the damage; and of the demo every form.
func TestGolden(t *testing.T) {
	var forms []string
	for _, f := range render.Formats() {
		forms = append(forms, "replay testdata/sessions/demo.jsonl -f "+f.Name)
	}
	demo := "render testdata/sessions/demo.jsonl "
	cases := map[string][]string{"demo": forms, "render": {
		demo + "--target file --all", demo + "-f text", demo + "--budget 5000", demo + "--view context --at request:10 --include system", demo + "--include ephemerals --exclude results,thinking",
		demo + "--since turn:3 --max-lines 4", demo + "--files docs --exclude calls",
	}, "trace": {
		"trace testdata/sessions/demo.jsonl race", "trace testdata/sessions/demo.jsonl race -f jsonl", "trace testdata/sessions/demo.jsonl -e wait(group)? -i --at race-fixed", "trace testdata/sessions/demo.jsonl regression-test",
		"trace testdata/sessions/demo.jsonl toolu_01Kf --all", "trace testdata/sessions/demo.jsonl nowhere-at-all", "trace testdata/sessions/demo.jsonl --blame request:5 --before", "trace testdata/sessions/demo.jsonl --blame -f jsonl",
	}, "ls": {
		"ls testdata/sessions/good", "ls testdata/sessions/bad", "ls testdata/sessions/good testdata/sessions/demo.jsonl --json --sort cost",
	}, "check": {
		"check testdata/sessions -f text", "check testdata/sessions/bad -f sarif", "check testdata/sessions/bad -f github", "check testdata/sessions/good -f jsonl",
		"repair testdata/sessions/bad",
	}, "cache": {
		"cache testdata/sessions/good", "cache testdata/sessions/bad -f jsonl", "cache testdata/sessions/good testdata/sessions/demo.jsonl -f csv",
	}, "redact": {
		"redact testdata/sessions", "redact testdata/sessions/demo.jsonl -f json", "redact testdata/sessions/demo.jsonl -o -",
		"redact testdata/sessions/demo.jsonl --structure-only -o -", "log testdata/sessions/demo.jsonl --redact",
	}}
	cases["stats"] = []string{
		"stats testdata/sessions/good", "stats testdata/sessions/bad -f jsonl", "stats testdata/sessions --lens cost --by day,tool", "stats testdata/sessions/good -f markdown --lens growth,compactions,bytes",
		"stats testdata/sessions/demo.jsonl --at race-fixed --counter bytes4 --lens context,bytes", "stats testdata/sessions/demo.jsonl --counter recorded --lens context",
		"stats testdata/sessions/demo.jsonl --baseline testdata/sessions/good/system.jsonl --window 8000 --lens context",
	}
	for _, l := range stats.Lenses {
		cases["stats"] = append(cases["stats"], "stats testdata/sessions/demo.jsonl -f csv --lens "+l.Name)
	}
	for _, k := range stats.Likes {
		cases["stats"] = append(cases["stats"], "stats testdata/sessions/demo.jsonl --lens context --like "+k.Name, "stats testdata/sessions/good --lens context --json --like "+k.Name)
	}
	cases["policies"] = []string{"policies -f json"}
	cases["reduce"] = reductions("testdata/sessions/demo.jsonl")
	demo = "diff testdata/sessions/demo.jsonl "
	for _, form := range []string{"text", "stat", "markdown", "json"} {
		for _, points := range []string{"turn:0 leaf", "leaf turn:1", "849a4ea3", "a208e839 turn:1", "request:9 request:10"} {
			cases["diff/demo-"+form] = append(cases["diff/demo-"+form], demo+points+" -f "+form)
		}
		cases["diff/demo-"+form] = append(cases["diff/demo-"+form], demo+"a208e839 leaf --entries -f "+form)
	}
	cases["diff/demo-text"] = append(cases["diff/demo-text"], demo+"849a4ea3 --color always", demo+"testdata/sessions/good/transforms.jsonl")
	for _, c := range corpus.Own(t) {
		name := "testdata/" + c.Name
		stem := strings.TrimSuffix(filepath.Base(name), ".jsonl")
		cases["stats/"+stem] = []string{"stats " + name + everyLens(), "stats " + name + everyLens() + " --json"}
		cases["cache/"+stem] = []string{"cache " + name, "cache " + name + " --all --collapse-system", "cache " + name + " --all -f jsonl", "cache " + name + " -f csv"}
		switch filepath.Base(filepath.Dir(name)) {
		case "good":
			cases["good/"+stem] = []string{
				"replay " + name + " -f json --provenance", "tree " + name, "tree " + name + " -f json", "log " + name, "log " + name + " --all -f jsonl",
				"show " + name + " leaf", "check " + name, "render " + name + " --all --include system,ephemerals",
				"trace " + name + " -e .", "trace " + name + " -e . --all -f jsonl", "trace " + name + " leaf", "trace " + name + " --blame", "trace " + name + " --blame -f jsonl",
			}
			cases["reduce/"+stem] = []string{
				"truncate " + name + " --max 40", "prune " + name + " --pass superseded,retry-prune,stale-results,progressive --requests 1 --min-tokens 0",
				"strip " + name + " --images --thinking -f json --now 2026-11-03", "compact " + name + " --style gsh -f json --now 2026-11-03",
				"reduce " + name + " --policy swe-cli --keep 2 --target 10", "undo " + name,
			}
			for _, form := range []string{"text", "stat", "markdown", "json"} {
				cases["diff/"+stem] = append(cases["diff/"+stem], "diff "+name+" root leaf -f "+form)
			}
			cases["diff/"+stem] = append(cases["diff/"+stem], neighbours(t, name)...)
		case "bad":
			cases["bad/"+stem] = []string{
				"replay " + name, "replay " + name + " --strict", "replay " + name + " --lenient --rules envelope", "tree " + name, "log " + name + " --all",
				"check " + name, "check " + name + " -f json", "repair " + name, "render " + name, "trace " + name + " -e .", "trace " + name + " --blame", "diff " + name + " root leaf",
			}
			notFresh(t, filepath.Join(corpus.Root(t), filepath.FromSlash(name)))
		}
	}
	for name, commands := range cases {
		t.Run(name, func(t *testing.T) {
			golden.Equal(t, filepath.Join(goldenDir(t), filepath.FromSlash(name)+".txt"), printedBy(t, commands...))
		})
	}
}

// reductions are plans of all commands that make contexts smaller, for the demo and for
// the folder of good sessions.
func reductions(demo string) (commands []string) {
	const now = " --now 2026-11-03 -f json"
	for _, line := range []string{
		"truncate DEMO --max 300", "truncate DEMO --max 300 --as edits", "prune DEMO --protect 100",
		"prune DEMO --pass superseded,retry-prune,stale-results,merge-notes,progressive --requests 2", "strip DEMO", "compact DEMO --keep 500", "compact DEMO --style y-agent --keep 4 --as edits --rules pi",
	} {
		line = strings.Replace(line, "DEMO", demo, 1)
		commands = append(commands, line, line+now)
	}
	for _, p := range compact.Policies() {
		commands = append(commands, "reduce "+demo+" --target 1000 --policy "+p.Name)
	}
	return append(commands,
		"reduce testdata/sessions/good --policy gsh --target 20", "reduce testdata/sessions/good --policy gsh --target 20"+now+"l",
		"reduce testdata/sessions/bad --policy y-agent --target 20", "truncate testdata/sessions/good --max 20"+now)
}

// everyLens is the flag for all that stats can look through.
func everyLens() string {
	var names []string
	for _, l := range stats.Lenses {
		names = append(names, l.Name)
	}
	return " --lens " + strings.Join(names, ",")
}

// neighbours compare what was before and behind each entry that changes what was there.
func neighbours(t *testing.T, name string) (commands []string) {
	t.Helper()
	s, err := sessionfmt.Open(filepath.Join(corpus.Root(t), filepath.FromSlash(name)), sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range s.Len() {
		switch s.Kind(i) {
		case sessionfmt.Compaction, sessionfmt.Transform, sessionfmt.ContextEdit, sessionfmt.System, sessionfmt.BranchSummary:
			commands = append(commands, "diff "+name+" "+s.ID(i))
		}
	}
	return commands
}

// notFresh sees that a file was not written to just now: of a torn one that would
// be said.
func notFresh(t *testing.T, name string) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if before := time.Now().Add(-time.Minute); info.ModTime().After(before) {
		if err := os.Chtimes(name, before, before); err != nil {
			t.Fatal(err)
		}
	}
}

func goldenDir(t *testing.T) string {
	return filepath.Join(corpus.Root(t), "cmd", "ctxtool", "testdata", "golden")
}
