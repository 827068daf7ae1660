package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"ctxtool/internal/golden"
)

func TestMain(m *testing.M) {
	if os.Getenv("CTXTOOL_WRITES_FOREVER") != "" {
		writesForever()
	}
	testscript.Main(m, map[string]func(){"ctxtool": func() {
		in := processEnv()
		in.disk.Sync, in.wait = noSync, 300*time.Millisecond
		os.Exit(in.run(os.Args[1:]))
	}})
}

// writesForever begins a file, and is never done with it: a command that is interrupted.
func writesForever() {
	in := processEnv()
	f, err := in.disk.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	f.Write([]byte("a part"))
	time.Sleep(time.Minute)
}

// TestScript runs the scripts under testdata/script: commands as a user types
// them. $SESSIONS is testdata/sessions of the project.
func TestScript(t *testing.T) {
	sessions, err := filepath.Abs("../../testdata/sessions")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *golden.Update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SESSIONS", sessions)
			e.Setenv("GOMAXPROCS", "1") // a thousand short processes: TestWorkers has the others
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "home", "config"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "pack": pack, "age": age, "answer": answerAll, "example": example, "release": release,
		},
	})
}

// status runs a command and looks at its exit status: status N ctxtool ...
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		got = err.Error()
	}
	if want := map[string]string{"0": "0", "1": "exit status 1", "2": "exit status 2", "3": "exit status 3"}[args[0]]; got != want {
		ts.Fatalf("%v: %s, want %s", args[1:], got, want)
	}
}

// age makes files as old as those that nobody is at: age FILE...
func age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: age FILE...")
	}
	before := time.Now().Add(-time.Hour)
	for _, name := range args {
		ts.Check(os.Chtimes(ts.MkAbs(name), before, before))
	}
}

// answerAll is a model that answers all requests for summaries in the same words: answer
// REQUESTS ANSWERS TEXT
func answerAll(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: answer REQUESTS ANSWERS TEXT")
	}
	var out bytes.Buffer
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var request map[string]any
		ts.Check(json.Unmarshal([]byte(line), &request))
		delete(request, "text")
		request["summary"] = args[2]
		ts.Check(json.NewEncoder(&out).Encode(request))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o644))
}

// pack compresses a file: pack gzip|zstd FILE OUT
func pack(ts *testscript.TestScript, _ bool, args []string) {
	data := []byte(ts.ReadFile(args[1]))
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if args[0] == "zstd" {
		z, err := zstd.NewWriter(&b)
		ts.Check(err)
		w = z
	}
	_, err := w.Write(data)
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b.Bytes(), 0o644))
}
