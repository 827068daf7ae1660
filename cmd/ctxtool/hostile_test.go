package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ctxtool/internal/base/work"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// The commands that hostile sessions are given to; S is the session.
var hostileCommands = []string{
	"replay S", "replay -f llm S", "ls S", "status S", "cache --all S", "log --all S", "diff S", "reduce --pass truncate S", "prune S", "search next S",
	"forgot S", "notes S", "stats S", "check S", "trace S next", "show S leaf", "doctor S", "log --tree S", "render -f markdown -o - S",
	"render -f html -o - S", "simulate S", "diff S@turn:0 S", "check --provider anthropic S", "check --coverage S",
	"reduce --pass superseded --pass strip-thinking --pass drop-images --force S", "reduce --policy y-agent --window 300 --force S",
}

// TestHostile: four times a hostile session is read with about four times the work. Work is counted
// as allocated bytes and as bytes of JSON that are looked at, which do not depend on the machine's load.
func TestHostile(t *testing.T) {
	n := corpus.Pick(200, 10_000)
	ran := map[string]bool{}
	dir := t.TempDir()
	measure := func(command string, file string) (allocated, looked int64) {
		in := testEnv(dir)
		in.stdin = must.Get(os.Open(os.DevNull))
		defer in.stdin.Close()
		in.stdout, in.stderr = io.Discard, io.Discard
		var before, after runtime.MemStats
		work.Now = &work.Count{}
		defer func() { work.Now = nil }()
		runtime.ReadMemStats(&before)
		in.run(strings.Fields(strings.ReplaceAll(command, "S", file)))
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc), work.Now.Bytes.Load()
	}
	if !corpus.Whole() {
		t.Log("each shape is given to a third of the commands; CTXTOOL_WHOLE=1 gives it to all")
	}
	for i, shape := range hostileShapes {
		var files [2]string
		for k, size := range []int{n, 4 * n} {
			files[k] = filepath.Join(dir, strings.ReplaceAll(shape.name, " ", "-")+string(rune('1'+k))+".jsonl")
			must.Do(os.WriteFile(files[k], shape.session(size), 0o644))
		}
		for k, command := range hostileCommands {
			if !corpus.Whole() && (i+k)%3 > 0 {
				continue
			}
			if !ran[command] { // tables that a process makes once
				measure(command, files[0])
				ran[command] = true
			}
			var a, b, seen, again int64
			linear := false
			for range 3 { // a collection empties pools, and what was in them is allocated again
				a, seen = measure(command, files[0])
				b, again = measure(command, files[1])
				if linear = b <= 5*a+1<<21; linear {
					break
				}
			}
			if !linear {
				t.Errorf("%s: %s allocates %d bytes for %d, %d for %d", shape.name, command, a, n, b, 4*n)
			}
			if again > 5*seen+1<<20 {
				t.Errorf("%s: %s looks at %d bytes for %d, at %d for %d", shape.name, command, seen, n, again, 4*n)
			}
		}
	}
}
