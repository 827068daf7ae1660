package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ctxtool/internal/dialect"
	"ctxtool/internal/rule"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

// A Bench plays the scripts of a dialect's testdata/scripts through versions of its program, and compares the
// recordings in testdata/recorded with what is replayed. Its tests run in the folder of the dialect.
type Bench struct {
	Dialect  *dialect.Dialect
	Binary   string   // in the folder of a version
	Versions []string // the last one plays all scripts
	Common   []string // scripts that the others play
	Update   bool     // writes compared.go and the table of docs/session-format.md
	Record   bool     // writes what is played to testdata/recorded
	Through  string   // versions to play alone, separated by commas; empty for all
	Only     string   // scripts, likewise
}

// Recorded compares the recordings. What is called exact has to be equal.
func (b *Bench) Recorded(t *testing.T) {
	table, lost := Table{}, 0
	tally := claims.New(t, b.Dialect.Rules, "rules.go")
	for _, name := range must.Get(filepath.Glob("testdata/recorded/*.tar.zst")) {
		for _, dir := range Unpack(t, name) {
			lost += table.Measure(t, dir, b.Dialect.Interface, func(_ bool, c Comparison) {
				if !missing(b.Dialect.Rules, c.Used) {
					tally.Add(c.Version, c.Used, c.Asked, c.Equal[Messages])
				}
			})
		}
	}
	tally.Hold(t, b.Update, "compared.go", b.Dialect.Name, "compared")
	Hold(t, b.Update, "../../../docs/session-format.md", "<!-- compared "+b.Dialect.Name+" -->",
		table.By(func(r Row) Row { return Row{Version: r.Version} }).Brief(b.Dialect.Name))
	t.Logf("%d requests are in no session: for summaries, and those that failed\n%s", lost,
		table.By(func(r Row) Row { r.Model = ""; return r }))
}

// Played plays the scripts through the versions that a folder has, and holds the skeletons of the recordings to the
// recordings.
func (b *Bench) Played(t *testing.T, dir string) {
	if !corpus.Whole() {
		t.Skip("left out: it plays scripts through the real program, which takes minutes; CTXTOOL_WHOLE=1 runs it")
	}
	table, n := Table{}, 0
	for k, version := range b.Versions {
		program := filepath.Join(dir, version, b.Binary)
		if _, err := os.Stat(program); err != nil || !listed(b.Through, version) {
			continue
		}
		n++
		skeletons, failed := t.TempDir(), false
		var mu sync.Mutex
		var wait sync.WaitGroup
		free := make(chan bool, 2)
		for _, script := range must.Get(filepath.Glob("testdata/scripts/*.json")) {
			name := strings.TrimSuffix(filepath.Base(script), ".json")
			s := must.Get(ReadScript(script))
			all := k == len(b.Versions)-1 || slices.Contains(b.Common, name)
			if !all || !s.Runs(version) || !listed(b.Only, name) {
				continue
			}
			wait.Go(func() {
				free <- true
				defer func() { <-free }()
				out := filepath.Join(t.TempDir(), name)
				err := Play(script, program, out, "")
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("%s: %v", version, err)
				}
				if err != nil || !b.same(t, table, out, filepath.Join(skeletons, name), s) {
					failed = true
				}
			})
		}
		wait.Wait()
		if b.Record && !failed {
			Pack(skeletons, filepath.Join("testdata/recorded", version+".tar.zst"))
		}
	}
	if n == 0 {
		testenv.Skip(t, "no package of %s; make %[1]s installs it", b.Dialect.Name)
	}
	t.Logf("\n%s", table)
}

func listed(list, name string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), name)
}

// same writes the skeleton of a recording, and reports whether it compares as the recording does.
func (b *Bench) same(t *testing.T, table Table, dir, skeleton string, s Script) bool {
	var of [2][]string
	note := func(to *[]string) func(bool, Comparison) {
		return func(_ bool, c Comparison) {
			*to = append(*to, fmt.Sprint(c.N, c.Equal[System], c.Equal[Messages], " ", c.Claim.Messages,
				names(b.Dialect.Rules, c.Used)))
			if testing.Verbose() && (!c.Equal[System] || !c.Equal[Messages]) {
				t.Logf("%s of %s, request %d: %s\n%s\n%s", c.Script, c.Version, c.N, (*to)[len(*to)-1],
					c.Unlike[System], c.Unlike[Messages])
			}
		}
	}
	table.Measure(t, dir, b.Dialect.Interface, note(&of[0]))
	must.Do(Skeleton(dir, skeleton, s))
	Table{}.Measure(t, skeleton, b.Dialect.Interface, note(&of[1]))
	if !slices.Equal(of[0], of[1]) {
		t.Errorf("%s: the skeleton compares otherwise:\n%s\nand the recording:\n%s", dir, strings.Join(of[1], "\n"),
			strings.Join(of[0], "\n"))
		return false
	}
	return true
}

// missing reports whether the file does not hold what the program sends by one of the rules. Others are not to blame
// for such a request.
func missing(table *rule.Table, used rule.Set) bool {
	for r := range used.All {
		if table.Info(r).Missing {
			return true
		}
	}
	return false
}

// names are the names of rules.
func names(table *rule.Table, used rule.Set) (all []string) {
	for r := range used.All {
		all = append(all, table.Info(r).Name)
	}
	return all
}
