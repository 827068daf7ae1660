// Package corpus provides sessions for tests: the project's own, generated ones, and shared
// ones if present.
package corpus

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/testenv"
)

// A Session is a session file in memory.
type Session struct {
	Name string // for subtests
	Data []byte
}

// Tests keep little memory and allocate much: garbage collection would take a fifth of their
// time.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// Root returns the project's folder.
func Root(t testing.TB) string {
	t.Helper()
	return testenv.Root(t)
}

// All returns all sessions: Own, Generated and Shared, those over 500 KB only if Whole.
func All(t testing.TB) []Session {
	t.Helper()
	return upTo(500<<10, append(append(Own(t), Generated(t)...), Shared(t)...))
}

// upTo returns the sessions of at most a size, or all if Whole.
func upTo(size int, all []Session) []Session {
	return slices.DeleteFunc(all, func(s Session) bool { return !Whole() && len(s.Data) > size })
}

// Whole reports whether complete matrices are requested: every session in every way to use it,
// which takes half an hour; see make check-all.
func Whole() bool { return os.Getenv("CTXTOOL_WHOLE") != "" }

// Pick returns how much of something a test tries: a share by default, and all of it if Whole.
func Pick(share, whole int) int {
	if Whole() {
		return whole
	}
	return share
}

// Sample returns sessions for tests that are too slow for All: those with one feature or one
// kind of damage, one of each generated shape, and the real ones up to 100 KB. If Whole it
// returns All.
func Sample(t testing.TB) []Session {
	t.Helper()
	return slices.DeleteFunc(upTo(100<<10, All(t)), func(s Session) bool {
		return !Whole() && strings.HasPrefix(s.Name, "gen/") && !strings.HasSuffix(s.Name, "-0")
	})
}

// Small returns seeds for fuzzing, sessions of other agents among them.
func Small(t testing.TB) (small []Session) {
	t.Helper()
	for _, s := range append(All(t), Foreign(t)...) {
		if len(s.Data) <= 16<<10 {
			small = append(small, s)
		}
	}
	return small
}

// Own returns the sessions of testdata/sessions, including damaged ones.
func Own(t testing.TB) []Session {
	t.Helper()
	all := read(t, filepath.Join(Root(t), "testdata", "sessions"))
	if len(all) == 0 {
		t.Fatal("testdata/sessions is empty")
	}
	return all
}

// Shared returns the sessions of pi next to the project's folder, if there are any, and logs if
// not.
func Shared(t testing.TB) []Session {
	t.Helper()
	return slices.DeleteFunc(shared(t, "corpus", "vectors/pi-1.5", "vectors/envelope"), func(s Session) bool {
		return strings.Count(s.Name, "/") > 1 && strings.HasPrefix(s.Name, "corpus/")
	})
}

// Foreign returns the sessions of other agents next to the project's folder, likewise.
func Foreign(t testing.TB) []Session {
	t.Helper()
	return shared(t, "corpus/codex", "corpus/claude-code", "vectors/codex")
}

// Agents returns the project's own sessions of other agents.
func Agents(t testing.TB) []Session {
	t.Helper()
	root := filepath.Join(Root(t), "testdata")
	return append(read(t, filepath.Join(root, "agents")), read(t, filepath.Join(root, "dialects"))...)
}

// Least returns what a test has to reach at least: all with the sessions next to the project's
// folder, and own with only those of the project.
func Least(t testing.TB, all, own int) int {
	t.Helper()
	if len(testenv.Shared(t, "corpus")) == 0 {
		return own
	}
	return all
}

// shared returns the sessions of folders next to the project's.
func shared(t testing.TB, dirs ...string) []Session {
	t.Helper()
	var all []Session
	for _, dir := range testenv.Shared(t, dirs...) {
		all = append(all, read(t, dir)...)
	}
	return all
}

func read(t testing.TB, dir string) (all []Session) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".jsonl") {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(filepath.Dir(dir), name)
		all = append(all, Session{filepath.ToSlash(rel), data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Generated returns smaller sessions of the generator's shapes, each from several seeds; if Whole, also from one more,
// with more entries. They are shared and must not be changed.
func Generated(t testing.TB) []Session {
	t.Helper()
	return slices.Clone(generated())
}

var generated = sync.OnceValue(func() (all []Session) {
	for _, p := range gen.Presets() {
		if p.Shape.Entries == 0 || p.Shape.Entries > 1000 || p.Shape.Longest > 0 {
			continue
		}
		shape := p.Shape
		shape.Text, shape.MaxText = 60, 2000
		for shape.Seed = range uint64(Pick(2, 3)) {
			shape.Entries = 120 + 30*int(shape.Seed/2) // the first ones stay the same
			all = append(all, Session{fmt.Sprintf("gen/%s-%d", p.Name, shape.Seed), slices.Clip(gen.Session(shape))})
		}
	}
	return all
})
