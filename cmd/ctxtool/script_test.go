package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/gen/tables"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if os.Getenv("CTXTOOL_WRITES_FOREVER") != "" {
		writesForever()
	}
	if program := filepath.Base(os.Args[0]); strings.TrimSuffix(program, ".exe") == "ctxtool" {
		in := thisMachine()
		in.disk.Sync, in.wait = noSync, 300*time.Millisecond
		os.Exit(in.run(os.Args[1:]))
	}
	os.Exit(withProgram(m))
}

// withProgram runs the tests with this binary in PATH as ctxtool, for scripts that start
// processes.
func withProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ctxtool")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "ctxtool"))
	}
	if err != nil {
		panic(err)
	}
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	os.Setenv("TMPDIR", dir)
	code := m.Run()
	if left, _ := filepath.Glob(filepath.Join(dir, "*.db*")); left != nil {
		fmt.Fprintln(os.Stderr, "commands left copies of databases:", left)
		return 1
	}
	return code
}

// writesForever begins a file, says so, and is never done with it: a command that is interrupted.
func writesForever() {
	in := thisMachine()
	f, err := in.disk.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	f.Write([]byte("a part"))
	os.Stdout.WriteString("begun\n")
	time.Sleep(time.Minute)
}

// TestScript runs the scripts under testdata/script: commands as a user types
// them. $SESSIONS is testdata/sessions of the project. A ctxtool by itself runs in the
// process of the test; `exec ctxtool` is a process, which also reads what stdin gives it.
func TestScript(t *testing.T) {
	sessions, err := filepath.Abs("../../testdata/sessions")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range must.Get(filepath.Glob("testdata/script/*.txtar")) {
		for _, program := range regexp.MustCompile(`\[!?exec:(\w+)]`).FindAllSubmatch(must.Get(os.ReadFile(script)), -1) {
			if _, err := exec.LookPath(string(program[1])); err != nil {
				testenv.LeftOut(t, "no %s(1) for %s", program[1], filepath.Base(script))
			}
		}
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *golden.Update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SESSIONS", sessions)
			e.Setenv("GOMAXPROCS", "1") // short processes: TestWorkers has the others
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "home", "config"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ctxtool": inProcess, "status": status, "pack": pack, "age": age, "live": live, "answer": answerAll, "example": example, "release": release, "database": database, "cut": cut,
		},
	})
}

// scriptVariables are the environment variables that commands of scripts read.
var scriptVariables = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "NO_COLOR", "BROWSER", "COLUMNS", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "OPENCLAW_STATE_DIR", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "PARCEL_PIN",
	"CTXTOOL_REDACT", "CTXTOOL_RULES", "CTXTOOL_SESSIONS_DIR", "CTXTOOL_WINDOW", "CTXTOOL_REDCT", "CTXTOOL_WRITE",
}

// database makes an SQLite database of the rows of a file. -log leaves them in its write-ahead
// log until the script ends.
func database(ts *testscript.TestScript, _ bool, args []string) {
	log := args[0] == "-log"
	if log {
		args = args[1:]
	}
	closed, err := tables.Database(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[1])), log)
	if log && err == nil {
		ts.Defer(func() { closed() })
	} else {
		err = errors.Join(err, closed())
	}
	ts.Check(err)
}

// cut ends a file at an offset, and puts a text there.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	data := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(data[:at]+strings.Join(args[2:], " ")), 0o644))
}

// runInProcess runs a command in the script's folder and environment, and is its exit
// status.
func runInProcess(ts *testscript.TestScript, args []string) int {
	in := testEnv(ts.MkAbs("."))
	in.stdout, in.stderr, in.wait = ts.Stdout(), ts.Stderr(), 300*time.Millisecond
	in.environ = nil
	for _, name := range scriptVariables {
		if value := ts.Getenv(name); value != "" {
			in.environ = append(in.environ, name+"="+value)
		}
	}
	in.home, in.configDir = ts.Getenv("HOME"), ts.Getenv("XDG_CONFIG_HOME")
	nothing, err := os.Open(os.DevNull)
	ts.Check(err)
	defer nothing.Close()
	in.stdin = nothing
	return in.run(args)
}

// inProcess runs a command that has to succeed, or with ! to fail: ctxtool ...
func inProcess(ts *testscript.TestScript, neg bool, args []string) {
	if got := runInProcess(ts, args); (got != exitOK) != neg {
		ts.Fatalf("ctxtool %v: exit status %d", args, got)
	}
}

// status runs a command and looks at its exit status: status N ctxtool ..., or status N
// exec ctxtool ... for a process.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	got := "0"
	switch command := args[1:]; command[0] {
	case "ctxtool":
		got = strconv.Itoa(runInProcess(ts, command[1:]))
	default:
		if command[0] == "exec" {
			command = command[1:]
		}
		if err := ts.Exec(command[0], command[1:]...); err != nil {
			got = strings.TrimPrefix(err.Error(), "exit status ")
		}
	}
	if got != args[0] {
		ts.Fatalf("%v: %s, want %s", args[1:], got, args[0])
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

// live gives the last entries of files the present time, as if an agent wrote them: live FILE... It
// first lets a millisecond pass, since ctxtool may have written them in this one.
func live(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: live FILE...")
	}
	time.Sleep(2 * time.Millisecond)
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	for _, name := range args {
		text := ts.ReadFile(name)
		from := strings.LastIndex(text, `"timestamp":"`) + len(`"timestamp":"`)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text[:from]+now+text[from+len(now):]), 0o600))
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
