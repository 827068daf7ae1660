package main

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"ctxtool/internal/test/corpus"
	"ctxtool/sessionfmt"
)

// testEnv is what a test runs commands in: a folder, nothing of the user's own, and a disk
// that syncs nothing, so that many tests can run at a time. Crashes and syncs are tried in
// sessionfmt, and with the process's own env by TestSynced.
func testEnv(dir string) machine {
	return machine{
		stdin:   os.Stdin,
		disk:    sessionfmt.Disk{Dir: dir, Sync: noSync},
		environ: []string{"PATH=" + os.Getenv("PATH")},
		now:     time.Now,
	}
}

// noSync is the sync of a disk whose files need not outlive the machine.
func noSync(*os.File) error { return nil }

// A ran is what a command printed, and its exit status.
type ran struct {
	stdout, stderr bytes.Buffer
	status         int
}

// ran runs a command.
func (in machine) ran(args ...string) *ran {
	r := &ran{}
	in.stdout, in.stderr = &r.stdout, &r.stderr
	r.status = in.run(args)
	return r
}

// ranIn runs a command in a folder.
func ranIn(dir string, args ...string) *ran { return testEnv(dir).ran(args...) }

// said is what a command prints in the project's folder, and its status.
func said(t *testing.T, args ...string) ([]byte, int) {
	t.Helper()
	r := ranIn(corpus.Root(t), args...)
	return r.stdout.Bytes(), r.status
}

// commandLine is a command line of words; names stand for others, in turn.
func commandLine(words string, names ...string) []string {
	args := strings.Fields(words)
	for k, arg := range args {
		for i := 0; i < len(names); i += 2 {
			if arg == names[i] {
				args[k] = names[i+1]
			}
		}
	}
	return args
}

// dealt are the things out of all that the k-th session is tried with: so many, the next
// ones for the next session, so that the sessions together try each of them again and
// again. Where whole matrices are asked for it is all of them, for every session.
func dealt[T any](k, many int, all []T) (some []T) {
	if corpus.Whole() || many > len(all) {
		return all
	}
	for i := range many {
		some = append(some, all[(k*many+i)%len(all)])
	}
	return some
}

// TestProcessEnv: outside tests a command runs in what the process has.
func TestProcessEnv(t *testing.T) {
	in := thisMachine()
	if in.stdin != os.Stdin || in.disk.Dir != "" || in.disk.Sync != nil || in.getenv("PATH") != os.Getenv("PATH") || time.Since(in.now()) > time.Minute {
		t.Errorf("%+v", in)
	}
	if home, err := os.UserHomeDir(); err == nil && in.home != home {
		t.Errorf("home %q, want %q", in.home, home)
	}
}

// TestMemoryFreed: a server runs commands in its process, and a command that has ended holds no memory.
func TestMemoryFreed(t *testing.T) {
	var ended []weak.Pointer[ran]
	for _, c := range commands {
		ended = append(ended, weak.Make(ranIn(corpus.Root(t), c.name, "--help")))
	}
	ended = append(ended, weak.Make(ranIn(corpus.Root(t), "ls", "testdata/sessions/good")))
	runtime.GC()
	for k, r := range ended {
		if r.Value() != nil {
			t.Errorf("command %d of %d holds memory after its end", k, len(ended))
		}
	}
}
