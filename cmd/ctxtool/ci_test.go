package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// example copies a piece of docs/ci.md into a file, so that scripts run what the page
// shows: example block TOML|SH FILE is the first block of that language, example step
// NAME FILE the commands of a step of the workflow, example hook ID FILE the command
// of a hook, with the names of files after it.
func example(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: example block|step|hook NAME FILE")
	}
	page, err := os.ReadFile(filepath.Join(ts.Getenv("SESSIONS"), "..", "..", "docs", "ci.md"))
	ts.Check(err)
	name := regexp.QuoteMeta(args[1])
	pattern, head := "", "set -e\n"
	switch args[0] {
	case "block":
		pattern, head = "(?ms)^```"+name+"\n(.*?)^```$", ""
	case "step":
		pattern = `(?m)^ *- name: ` + name + `\n(?: +if: .*\n)? +run: \|\n((?:          .*\n)+)`
	case "hook":
		pattern = `(?m)- id: ` + name + `\n(?: +name: .*\n)? +entry: (.*)\n`
	}
	found := regexp.MustCompile(pattern).FindSubmatch(page)
	if pattern == "" || found == nil {
		ts.Fatalf("docs/ci.md has no %s %s", args[0], args[1])
	}
	text := string(found[1])
	if args[0] == "hook" {
		text += ` "$@"` + "\n"
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(head+strings.ReplaceAll(text, "\n          ", "\n")), 0o755))
}

// release puts the binary that scripts run where make dist would put it: release FILE.
// What it runs as is told by its name, so a file that says so stands for it.
func release(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: release FILE")
	}
	path, err := exec.LookPath("ctxtool")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte("#!/bin/sh\nexec "+path+" \"$@\"\n"), 0o755))
}
