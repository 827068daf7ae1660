package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/base/work"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

var hostileShapes = slices.Concat(shapesOfContexts, shapesOfLines)

// The commands that hostile sessions are given to; S is the session.
var hostileCommands = []string{
	"replay S", "replay -f llm S", "ls S", "status S", "cache --all S", "log --all S", "diff S", "reduce --pass truncate S", "prune S", "search next S",
	"lost S", "notes S", "stats S", "check S", "trace S next", "show S leaf", "doctor S", "log --tree S", "render -f markdown -o - S",
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
		t.Log("each shape is given to a tenth of the commands; CTXTOOL_WHOLE=1 gives it to all")
	}
	for i, shape := range hostileShapes {
		files := shape.files(t.TempDir(), n)
		for k, command := range hostileCommands {
			if !corpus.Whole() && (i+k)%10 > 0 {
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

// TestHostileStatements: a command executes for four times a hostile session about four times the statements.
// That finds work that allocates nothing and reads no JSON, such as a search of a list for each of its elements.
func TestHostileStatements(t *testing.T) {
	if !corpus.Whole() {
		t.Skip("left out: it runs the program a thousand times, which takes minutes; CTXTOOL_WHOLE=1 runs it")
	}
	program := filepath.Join(t.TempDir(), "ctxtool")
	build := exec.Command("go", "build", "-cover", "-covermode=count", "-coverpkg=ctxtool/...", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, shape := range hostileShapes {
		files := shape.files(t.TempDir(), 1000)
		for k, command := range hostileCommands {
			if (i+k)%4 > 0 {
				continue
			}
			slack := 0
			if strings.HasPrefix(command, "check") || strings.HasPrefix(command, "doctor") {
				slack = 600_000_000 // to repair findings one by one, until that was too much
			}
			few, _ := statements(t, program, command, files[0])
			many, blocks := statements(t, program, command, files[1])
			if many > 5*few+slack {
				t.Errorf("%s: %s executes %d statements for 1000, %d for 4000; most often %q", shape.name, command, few, many, blocks)
			}
		}
	}
}

// statements counts what a program executes, and returns the blocks of it that it executes most often.
func statements(t *testing.T, program, command, file string) (total int, blocks []string) {
	dir := t.TempDir()
	cmd := exec.Command(program, strings.Fields(strings.ReplaceAll(command, "S", file))...)
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+dir, "HOME="+dir)
	cmd.Run() // some find damage
	cmd = exec.Command("go", "tool", "covdata", "textfmt", "-i="+dir, "-o=/dev/stdout")
	counts := map[string]int{}
	for line := range strings.Lines(string(must.Get(cmd.Output()))) {
		var block string
		var size, times int
		if n, _ := fmt.Sscan(line, &block, &size, &times); n == 3 {
			counts[block] = size * times
			total += size * times
		}
	}
	blocks = slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return counts[b] - counts[a] })
	return total, blocks[:min(3, len(blocks))]
}
