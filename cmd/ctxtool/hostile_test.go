package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// The commands that hostile sessions are given to; S is the session.
var hostileCommands = []string{
	"replay S", "replay -f llm S", "ls S", "status S", "cache --all S", "log --all S", "diff S", "reduce --pass truncate S", "prune S", "search next S",
	"forgot S", "notes S", "stats S", "check S", "trace S next", "show S leaf", "doctor S", "log --tree S", "render -f markdown -o - S",
	"render -f html -o - S", "simulate S",
}

// TestHostile: four times a hostile session is read with about four times the work. Work is counted
// as allocated bytes, which do not depend on the machine's load.
func TestHostile(t *testing.T) {
	n := corpus.Pick(250, 10_000)
	ran := map[string]bool{}
	dir := t.TempDir()
	work := func(command string, file string) uint64 {
		in := testEnv(dir)
		in.stdin = must.Get(os.Open(os.DevNull))
		defer in.stdin.Close()
		in.stdout, in.stderr = io.Discard, io.Discard
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		in.run(strings.Fields(strings.ReplaceAll(command, "S", file)))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
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
				work(command, files[0])
				ran[command] = true
			}
			var a, b uint64
			linear := false
			for range 3 { // a collection empties pools, and what was in them is allocated again
				a, b = work(command, files[0]), work(command, files[1])
				if linear = b <= 5*a+1<<21; linear {
					break
				}
			}
			if !linear {
				t.Errorf("%s: %s allocates %d bytes for %d, %d for %d", shape.name, command, a, n, b, 4*n)
			}
		}
	}
}
