package agents

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/rule"
)

// A Bench plays the scripts of a dialect's testdata/scripts through versions of its agent, and compares the recordings
// in testdata/recorded with what is replayed. Its tests run in the folder of the dialect.
type Bench struct {
	Agent   *Agent
	Dialect *dialect.Dialect // nil for pi's
	Rules   *rule.Table      // of Dialect, unless set

	Format   string   // the version of the format, by which rules are compared where sessions name no program's
	Dir      string   // of scripts and recorded; testdata unless set
	Scripts  string   // of scripts that are another agent's too
	Declared string   // the file with the rules; rules.go unless set
	Compared string   // the file of the compared rules: compared.go unless set. Its variable is named like it
	Package  string   // of that file; the dialect's name unless set
	Models   []string // that the pinned version plays the common scripts with too, besides that of the script
}

// options are the flags of a test that has a bench.
var options struct {
	update, record, newest, install bool
	agents, through, only, unlike   string
	keep                            string
}

// Main is the TestMain of a package with benches: it plays a script where the test's binary is asked to, or else runs
// the tests.
func Main(m *testing.M, benches ...*Bench) {
	var all []*Agent
	for _, b := range benches {
		all = append(all, b.Agent)
	}
	playJob(all...)
	o := &options
	if flag.Lookup("update") == nil {
		flag.BoolVar(&o.update, "update", false, "write what was compared to compared.go and docs/compared.md")
	}
	flag.BoolVar(&o.record, "record", false, "write what is played to testdata/recorded")
	flag.BoolVar(&o.newest, "newest", false, "also play the newest version on npm")
	flag.BoolVar(&o.install, "install", false, "install versions that are not there")
	flag.StringVar(&o.agents, "agents", "", "play scripts through these agents alone, separated by commas")
	flag.StringVar(&o.through, "through", "", "play them through these versions alone, separated by commas")
	flag.StringVar(&o.only, "only", "", "play these scripts alone, separated by commas")
	flag.StringVar(&o.unlike, "unlike", "", "print how these parts of requests begin to differ, separated by commas")
	flag.StringVar(&o.keep, "keep", "", "keep the recordings, with all texts, in this folder")
	flag.Parse()
	os.Exit(m.Run())
}

// updates reports whether tables are written. The flag may be one of the package.
func updates() bool { return flag.Lookup("update").Value.String() == "true" }

func listed(list, name string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), name)
}

func (b *Bench) in(name string) string { return filepath.Join(or(b.Dir, "testdata"), name) }

func (b *Bench) interfaceOf() string {
	if b.Dialect == nil {
		return ""
	}
	return b.Dialect.Interface
}

func (b *Bench) rules() *rule.Table {
	if b.Rules == nil {
		return b.Dialect.Rules
	}
	return b.Rules
}

// scripts returns the names of the scripts, without their ends.
func (b *Bench) scripts() (names []string) {
	for _, file := range must.Get(filepath.Glob(b.script("*"))) {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	return names
}

func (b *Bench) script(name string) string {
	return filepath.Join(or(b.Scripts, b.in("scripts")), name+".json")
}

// Recorded compares the recordings with what is replayed, with the records that the program made of its requests and
// without. What is called exact has to be equal. The rows of compared.go, and those of the agent in the table of
// docs/compared.md, are made of it.
func (b *Bench) Recorded(t *testing.T) {
	if !listed(options.agents, b.Agent.Name) {
		t.Skip("left out: -agents names others")
	}
	for _, name := range b.scripts() {
		if s := must.Get(ReadScript(b.script(name))); len(s.Expect) == 0 {
			t.Errorf("the script %s does not say what its author expects to be sent", name)
		}
	}
	table, lost := Table{}, 0
	tally := claims.New(t, b.rules(), or(b.Declared, "rules.go"))
	var lines []string
	var one sync.Mutex // for table, lost, tally and lines
	measure := func(t *testing.T, dir string) {
		t.Parallel()
		b.reaches(t, dir)
		own, read := Table{}, entries(dir)
		n := own.Measure(t, b.Agent, dir, b.interfaceOf(), func(with bool, c Comparison) {
			printUnlike(t, with, c)
			if !with && !c.Hidden {
				one.Lock()
				tally.Add(or(c.Version, b.Format), c.Used, c.Asked, c.Equal[Messages])
				one.Unlock()
			}
		})
		one.Lock()
		lost += n
		lines = append(lines, read)
		table.join(own, func(r Row) Row { return r })
		one.Unlock()
	}
	t.Run("recordings", func(t *testing.T) {
		for _, packed := range must.Get(filepath.Glob(b.in("recorded/*.tar.zst"))) {
			for _, dir := range Unpack(t, packed) {
				t.Run(filepath.Base(dir), func(t *testing.T) { measure(t, dir) })
			}
		}
	})
	slices.Sort(lines)
	golden.Lines(t, b.in("entries.txt"), lines)
	file := or(b.Compared, "compared.go")
	tally.Hold(t, updates(), file, or(b.Package, b.Agent.Name), variable(file))
	table.Hold(t, updates(), filepath.Join(testenv.Root(t), "docs/compared.md"), b.Agent.Name)
	t.Logf("%d requests are in no session: for titles and summaries, and those that failed\n%s", lost,
		table.By(func(r Row) Row { r.Script, _, _ = strings.Cut(r.Script, "@"); r.Model = ""; return r }))
}

// reaches reports a recording that has not what its script is there for.
func (b *Bench) reaches(t *testing.T, dir string) {
	name, _, _ := strings.Cut(filepath.Base(dir), "@")
	if s, err := ReadScript(b.script(name)); err != nil {
		t.Errorf("a recording without its script: %v", err)
	} else if err := s.Least.reached(dir); err != nil {
		t.Errorf("%s: %v", dir, err)
	}
}

// variable is that of a file of compared rules: compared_own.go has comparedOwn.
func variable(file string) string {
	var b strings.Builder
	for k, word := range strings.Split(strings.TrimSuffix(file, ".go"), "_") {
		if k > 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		b.WriteString(word)
	}
	return b.String()
}

// printUnlike prints how parts begin to differ, if that is asked for.
func printUnlike(t *testing.T, with bool, c Comparison) {
	for p, how := range c.Unlike {
		if how != "" && options.unlike != "" && listed(options.unlike, PartNames[p]) {
			t.Logf("%s of %s, request %d of %s, records %t: %s%s", c.Script, c.Played, c.N, c.Model, with,
				PartNames[p], how)
		}
	}
}

// Played plays the scripts through the versions that are installed, compares what they sent with what is replayed, and
// holds the skeletons of the recordings to the recordings.
func (b *Bench) Played(t *testing.T) {
	if !corpus.Whole() {
		t.Skip("left out: it plays scripts through the real program, which takes minutes; CTXTOOL_WHOLE=1 runs it")
	}
	if !listed(options.agents, b.Agent.Name) {
		t.Skip("left out: -agents names others")
	}
	table, n := Table{}, 0
	for _, version := range b.versions(t) {
		if !listed(options.through, version) {
			continue
		}
		if options.install {
			if err := b.Agent.Install(version); err != nil {
				t.Error(err)
			}
		}
		if !b.Agent.Has(version) {
			continue
		}
		n++
		p := &playing{Bench: b, version: version, table: table, skeletons: t.TempDir()}
		archive := b.in(filepath.Join("recorded", version+".tar.zst"))
		if _, err := os.Stat(archive); err == nil && options.only != "" { // the others stay
			p.skeletons = filepath.Dir(Unpack(t, archive)[0])
		}
		began := time.Now()
		ok := p.all(t)
		t.Logf("%s %s: %d scripts in %s", b.Agent.Name, version, p.scripts, time.Since(began).Round(time.Second))
		if ok && options.record {
			Pack(p.skeletons, archive)
		}
	}
	if n == 0 {
		testenv.Skip(t, "no package of %s in %s; make agents AGENT=%[1]s installs it", b.Agent.Name, Dir())
	}
	t.Logf("\n%s\n%s", table, table.By(func(r Row) Row { r.Script = ""; return r }))
}

// versions returns those to play. A newer one on npm is reported, and played if that is asked for.
func (b *Bench) versions(t *testing.T) []string {
	if !options.install {
		return b.Agent.Versions
	}
	newest, err := b.Agent.Newest()
	switch pinned := b.Agent.Pinned(); {
	case err != nil:
		t.Logf("newer versions of %s are not known: %v", b.Agent.Name, err)
	case rule.Versions(newest, pinned) <= 0:
	case options.newest:
		return append(slices.Clone(b.Agent.Versions), newest)
	default:
		t.Logf("npm has %s %s; %s is pinned", b.Agent.Name, newest, pinned)
	}
	return b.Agent.Versions
}

// A playing plays the scripts through a version.
type playing struct {
	*Bench
	version, skeletons string
	scripts            int

	mu    sync.Mutex
	table Table
}

// all plays all scripts of the version, two at a time. It reports whether all could be played, and their skeletons
// compare as they do.
func (p *playing) all(t *testing.T) bool {
	var wait sync.WaitGroup
	var failed atomic.Bool
	free := make(chan bool, 2)
	for _, name := range p.Bench.scripts() {
		s := must.Get(ReadScript(p.script(name)))
		if !p.Agent.plays(p.version, name) || !s.Runs(p.version) || !listed(options.only, name) {
			continue
		}
		for _, model := range p.models(name, &s) {
			p.scripts++
			wait.Go(func() {
				free <- true
				defer func() { <-free }()
				if !p.one(t, name, model, s) {
					failed.Store(true)
				}
			})
		}
	}
	wait.Wait()
	return !failed.Load()
}

// models returns those that a script is played with; an empty one is its own.
func (p *playing) models(name string, s *Script) []string {
	if p.version != p.Agent.Pinned() || !slices.Contains(p.Agent.Common, name) || s.Interactive() {
		return []string{""}
	}
	return append([]string{""}, p.Models...)
}

// one plays a script, and compares.
func (p *playing) one(t *testing.T, name, model string, s Script) bool {
	full := strings.Trim(name+"@"+strings.ReplaceAll(model, "/", "-"), "@")
	t.Logf("%s %s, %s: expected is that\n\t%s", p.Agent.Name, p.version, full, strings.Join(s.Expect, "\n\t"))
	dir, skeleton := filepath.Join(t.TempDir(), full), filepath.Join(p.skeletons, full)
	if options.keep != "" {
		dir = filepath.Join(options.keep, p.Agent.Name, p.version, full)
		must.Do(os.RemoveAll(dir))
	}
	if err := p.Agent.Record(p.version, p.script(name), dir, model); err != nil {
		t.Errorf("%s: %v", p.version, err)
		return false
	}
	if err := s.Least.reached(dir); err != nil {
		t.Errorf("%s %s, %s: %v", p.Agent.Name, p.version, full, err)
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var of [2][]Comparison
	lost := p.table.Measure(t, p.Agent, dir, p.interfaceOf(), func(with bool, c Comparison) {
		printUnlike(t, with, c)
		of[0] = append(of[0], c)
	})
	t.Logf("%s %s, %s: compared were\n%s", p.Agent.Name, p.version, full, summary(of[0], lost))
	must.Do(os.RemoveAll(skeleton))
	must.Do(Skeleton(p.Agent, dir, skeleton, s))
	Table{}.Measure(t, p.Agent, skeleton, p.interfaceOf(), func(_ bool, c Comparison) { of[1] = append(of[1], c) })
	return p.same(t, full, of)
}

// same reports whether a skeleton compares as the recording does.
func (p *playing) same(t *testing.T, name string, of [2][]Comparison) bool {
	same := func(a, b Comparison) bool {
		return a.N == b.N && a.Equal == b.Equal && a.Claim.Messages == b.Claim.Messages && a.Used == b.Used
	}
	if slices.EqualFunc(of[0], of[1], same) {
		return true
	}
	t.Errorf("%s of %s: %d comparisons, %d of the skeleton", name, p.version, len(of[0]), len(of[1]))
	for k := range min(len(of[0]), len(of[1])) {
		if a, b := of[0][k], of[1][k]; !same(a, b) {
			t.Errorf("%s of %s: request %d is compared as %v, %s, by rules %b; of its skeleton as %v, %s, by rules %b:"+
				"\n%s\n%s", name, p.version, a.N, a.Equal, a.Claim.Messages, a.Used, b.Equal, b.Claim.Messages, b.Used,
				strings.Join(a.Unlike[:], "\n"), strings.Join(b.Unlike[:], "\n"))
			break
		}
	}
	return false
}
