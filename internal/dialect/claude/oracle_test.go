package claude_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ctxtool/internal/dialect/claude"
	"ctxtool/internal/test/agents"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

var (
	update    = flag.Bool("update", false, "write what was compared to compared.go and docs/session-format.md")
	recording = flag.Bool("record", false, "write what is played to testdata/recorded; with -played these alone")
	through   = flag.String("through", "", "play them through these versions alone, separated by commas")
	unlike    = flag.String("unlike", "", "print how these parts of requests begin to differ, separated by commas")
	played    = flag.String("played", "", "play these scripts alone, separated by commas")
)

// TestMain plays a script where the test's binary is asked to.
func TestMain(m *testing.M) {
	agents.Main(agents.ClaudeCode)
	flag.Parse()
	os.Exit(m.Run())
}

// The versions that make claude installs. The pinned one plays all scripts, others the common ones.
const pinned = "2.1.332"
const others = "2.0.77 2.1.42 2.1.119 2.1.218 2.1.257 2.1.270 2.1.288 2.1.310"

var (
	versions = append(strings.Fields(others), pinned)
	common   = strings.Fields("agents compactions forks hooks inputs mcp prompts")
	// models are those that the pinned version plays the common scripts with too, besides its default.
	models = strings.Fields("claude-sonnet-4-5-20250929 claude-haiku-4-5-20251001")
)

// TestRecorded compares the requests of testdata/recorded with what their sessions replay to, with the records that the
// program made of them and without. What is called exact has to be equal. The rows of compared.go, and the table of
// docs/session-format.md, are made of it.
func TestRecorded(t *testing.T) {
	archives, table := must.Get(filepath.Glob("testdata/recorded/*.tar.zst")), agents.Table{}
	tally, lost := claims.New(t, claude.Rules, "rules.go"), 0
	for _, name := range archives {
		for _, dir := range agents.Unpack(t, name) {
			lost += table.Measure(t, dir, claude.Dialect.Interface, func(with bool, c agents.Comparison) {
				printUnlike(t, with, c)
				if !with {
					tally.Add(c.Version, c.Used, c.Asked, c.Equal[agents.Messages])
				}
			})
		}
	}
	tally.Hold(t, *update, "compared.go", "claude", "compared")
	agents.Hold(t, *update, "../../../docs/session-format.md", "<!-- compared claude -->",
		table.By(func(r agents.Row) agents.Row { r.Script = ""; return r }).String())
	if n := len(claude.Rules.Versions()); n < 7 {
		t.Errorf("only %d versions were compared", n)
	}
	t.Logf("%d requests are in no session: for titles and summaries, and those that failed\n%s", lost,
		table.By(func(r agents.Row) agents.Row { r.Script, _, _ = strings.Cut(r.Script, "@"); r.Model = ""; return r }))
}

// printUnlike prints how parts begin to differ, if that is asked for.
func printUnlike(t *testing.T, with bool, c agents.Comparison) {
	for p, how := range c.Unlike {
		if how != "" && *unlike != "" && listed(*unlike, agents.PartNames[p]) {
			t.Logf("%s of %s, request %d of %s, records %t: %s%s", c.Script, c.Version, c.N, c.Model, with,
				agents.PartNames[p], how)
		}
	}
}

// TestPlayed plays the scripts of testdata/scripts through the programs that are installed, compares what they sent
// with what is replayed, and holds the skeletons of the recordings to the recordings.
func TestPlayed(t *testing.T) {
	if !corpus.Whole() {
		t.Skip("left out: it plays scripts through versions of Claude Code, which takes minutes; make claude runs it")
	}
	dir := os.Getenv("CTXTOOL_CLAUDE")
	if cache, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(cache, "ctxtool-claude")
	}
	table, n := agents.Table{}, 0
	for _, version := range versions {
		program := filepath.Join(dir, version, "node_modules/.bin/claude")
		if _, err := os.Stat(program); err != nil || !listed(*through, version) {
			continue
		}
		n++
		p := &player{version: version, program: program, skeletons: t.TempDir(), table: table}
		archive := filepath.Join("testdata/recorded", version+".tar.zst")
		if _, err := os.Stat(archive); err == nil && *played != "" { // the others stay
			p.skeletons = filepath.Dir(agents.Unpack(t, archive)[0])
		}
		if ok := p.play(t); ok && *recording {
			agents.Pack(p.skeletons, archive)
		}
	}
	if n == 0 {
		testenv.Skip(t, "no package of Claude Code; make claude installs it")
	}
	t.Logf("\n%s\n%s", table, table.By(func(r agents.Row) agents.Row { r.Script = ""; return r }))
}

// listed reports whether a flag lists a name, or none.
func listed(flag, name string) bool {
	return flag == "" || slices.Contains(strings.Split(flag, ","), name)
}

// A player plays scripts through a version.
type player struct {
	version, program, skeletons string

	mu    sync.Mutex
	table agents.Table
}

// play plays all scripts of the version, two at a time. It reports whether all could be played, and their skeletons
// compare as they do.
func (p *player) play(t *testing.T) bool {
	scripts := must.Get(filepath.Glob("testdata/scripts/*.json"))
	var wait sync.WaitGroup
	var failed atomic.Bool
	free := make(chan bool, 2)
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".json")
		s := must.Get(agents.ReadScript(script))
		of := append([]string{""}, models...)
		if !slices.Contains(common, name) {
			if of = of[:1]; p.version != pinned {
				continue
			}
		}
		if p.version != pinned || s.Interactive() {
			of = of[:1]
		}
		if !s.Runs(p.version) || !listed(*played, name) {
			continue
		}
		for _, model := range of {
			wait.Go(func() {
				free <- true
				defer func() { <-free }()
				if !p.one(t, script, strings.Trim(name+"@"+model, "@"), model, s) {
					failed.Store(true)
				}
			})
		}
	}
	wait.Wait()
	return !failed.Load()
}

// one plays a script, and compares.
func (p *player) one(t *testing.T, script, name, model string, s agents.Script) bool {
	dir := filepath.Join(t.TempDir(), name)
	if err := agents.Play(script, p.program, dir, model); err != nil {
		t.Errorf("%s: %v", p.version, err)
		return false
	}
	of := [2][]agents.Comparison{}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.table.Measure(t, dir, claude.Dialect.Interface, func(with bool, c agents.Comparison) { of[0] = append(of[0], c) })
	skeleton := filepath.Join(p.skeletons, name)
	must.Do(os.RemoveAll(skeleton))
	must.Do(agents.Skeleton(dir, skeleton, s))
	agents.Table{}.Measure(t, skeleton, claude.Dialect.Interface, func(with bool, c agents.Comparison) { of[1] = append(of[1], c) })
	same := func(a, b agents.Comparison) bool {
		return a.N == b.N && a.Equal == b.Equal && a.Claim.Messages == b.Claim.Messages && a.Used == b.Used
	}
	if !slices.EqualFunc(of[0], of[1], same) {
		t.Errorf("%s of %s: %d comparisons, %d of the skeleton", name, p.version, len(of[0]), len(of[1]))
		for k := range min(len(of[0]), len(of[1])) {
			if a, b := of[0][k], of[1][k]; !same(a, b) {
				t.Errorf("%s of %s: request %d is compared as %v, %s; of its skeleton as %v, %s:\n%s\n%s", name, p.version, a.N,
					a.Equal, a.Claim.Messages, b.Equal, b.Claim.Messages, strings.Join(a.Unlike[:], "\n"), strings.Join(b.Unlike[:], "\n"))
				break
			}
		}
		return false
	}
	return true
}
