package main

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/rogpeppe/go-internal/txtar"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/read/fields"
	recorded "ctxtool/internal/test/agents"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen/tables"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// samples are the names of all sessions, by agent: our own, and those beside the project's folder.
func samples(t *testing.T) map[string][]string {
	all := map[string][]string{}
	add := func(name string) {
		if s, err := sessionfmt.Open(name, sessionfmt.Options{}); err == nil {
			agent := s.Dialect().Agent()
			all[agent] = append(all[agent], name)
			s.Close()
		}
	}
	stored := func(database string) {
		// One without sessions is of a test of errors.
		_ = sessionfmt.InDatabase(sessionfmt.Disk{}, database, func(name string, _ jsonl.Value, _ *dialect.Dialect, _ bool) { add(name) })
	}
	own := filepath.Join(corpus.Root(t), "testdata")
	folders := []string{own + "/sessions", own + "/agents", own + "/dialects"}
	for _, agent := range must.Get(filepath.Glob(corpus.Root(t) + "/internal/read/dialect/*/testdata/recorded")) {
		archives := must.Get(filepath.Glob(agent + "/*.tar.zst"))
		slices.SortFunc(archives, func(a, b string) int { return rule.Versions(filepath.Base(a), filepath.Base(b)) })
		if !corpus.Whole() {
			archives = archives[len(archives)-1:] // of the newest version
		}
		for _, archive := range archives {
			folders = append(folders, recorded.Unpack(t, archive)...)
		}
	}
	for _, folder := range append(folders, testenv.Shared(t, "corpus", "vectors")...) {
		err := filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() || strings.Contains(name, "/bad/"):
			case strings.HasSuffix(name, ".db"):
				stored(name)
			case strings.Contains(name, ".json"):
				add(name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, script := range must.Get(filepath.Glob("testdata/script/open*.txtar")) {
		for _, file := range must.Get(txtar.ParseFile(script)).Files {
			if !strings.HasPrefix(string(file.Data), `{"table"`) {
				continue
			}
			name := "opencode.db"
			if strings.Contains(script, "openclaw") {
				name = "openclaw-agent.sqlite"
			}
			name = filepath.Join(t.TempDir(), name)
			must.Do(must.Get(tables.Database(name, file.Data, false))())
			stored(name)
		}
	}
	return all
}

// TestCoverage: the lines of no sample have a field that is not declared: a new one is read, or it is declared as one
// that no answer depends on (see package fields).
func TestCoverage(t *testing.T) {
	t.Parallel()
	for agent, files := range samples(t) {
		for _, name := range files {
			c := check.Coverage{}
			s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
			must.Do(c.Add(s, name))
			s.Close()
			for _, m := range c.Fields {
				if !m.Known && !slices.Contains(hashed, m.Path[strings.LastIndexByte(m.Path, '.')+1:]) {
					t.Errorf("%s:%d: ctxtool does not know %s of %s", name, m.Line, m.Path, agent)
				}
			}
		}
	}
}

// hashed are the fields of what stands for a text in shared samples.
var hashed = []string{"sha256", "chars", "members"}

// TestUnread: no answer changes where a field that is declared as [fields.Unread] is taken out of a session.
func TestUnread(t *testing.T) {
	if !corpus.Whole() {
		t.Skip("CTXTOOL_WHOLE is not set: it runs commands once for each such field")
	}
	t.Parallel()
	for agent, files := range samples(t) {
		tried := map[string]int{} // in how many sessions a field was taken out
		for _, one := range bySize(t, files) {
			base := one.answers(t, one.without(""))
			for _, path := range slices.Sorted(maps.Keys(one.unread)) {
				if tried[path]++; tried[path] > mostTried {
					continue
				}
				for i, hash := range one.answers(t, one.without(path)) {
					if hash != base[i] {
						t.Errorf("%s: %s depends on %s of %s, which is declared as Unread", one.name, coverageLines[i], path, agent)
					}
				}
			}
		}
	}
}

// mostTried is how many sessions a field is taken out of.
const mostTried = 2

// A sample is a session with fields that no answer depends on.
type sample struct {
	name   string
	lines  []jsonl.Value // or its document
	known  *fields.Tree
	size   int
	unread map[string]bool // their paths
}

// bySize returns samples, the smallest first.
func bySize(t *testing.T, files []string) (all []*sample) {
	for _, name := range files {
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		data := must.Get(io.ReadAll(s.Plain()))
		one := &sample{name: name, known: pi.Fields(s.Dialect()), size: len(data), unread: map[string]bool{}}
		s.Close()
		switch d := s.Dialect(); {
		case d != nil && d.Document != nil && json.Valid(data):
			one.lines = []jsonl.Value{jsonl.Value(data).AppendOneLine(nil)}
		case d != nil && d.Document != nil && d.Files.Own != "":
			continue // it is several documents
		default:
			for line := range bytes.Lines(data) {
				if line = bytes.TrimSpace(line); json.Valid(line) {
					one.lines = append(one.lines, line)
				}
			}
		}
		for _, line := range one.lines {
			one.look(line, func(path string, _ jsonl.Value) { one.unread[path] = true })
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b *sample) int { return a.size - b.size })
	return all
}

// look calls found with each field of a line that no answer depends on.
func (one *sample) look(line jsonl.Value, found func(path string, v jsonl.Value)) {
	f := fields.Finder{Known: one.known, Found: func(path []byte, v jsonl.Value, known bool) {
		if known {
			found(string(path), v)
		}
	}}
	f.Line(line)
}

// taken stands for a field that is taken out.
const taken = `"\u0000taken"`

// without returns the session without the fields of a path; of an object whose type no answer depends on, only the type
// stays.
func (one *sample) without(path string) (text []byte) {
	for _, line := range one.lines {
		var cut []byte
		end := 0
		one.look(line, func(at string, v jsonl.Value) {
			if at != path {
				return
			}
			start := int(uintptr(unsafe.Pointer(unsafe.SliceData(v))) - uintptr(unsafe.Pointer(unsafe.SliceData(line))))
			cut = append(cut, line[end:start]...)
			end = start + len(v)
			if strings.HasSuffix(path, ">") {
				f := v.All("table", "type", "role")
				cut = jsonl.AppendObject(cut, jsonl.Field{Name: "table", Value: f[0]}, jsonl.Field{Name: "type", Value: f[1]},
					jsonl.Field{Name: "role", Value: f[2]})
			} else {
				cut = append(cut, taken...)
			}
		})
		d := json.NewDecoder(bytes.NewReader(append(cut, line[end:]...)))
		d.UseNumber()
		var v any
		must.Do(d.Decode(&v))
		text = append(append(text, must.Get(json.Marshal(untaken(v)))...), '\n')
	}
	return text
}

// untaken returns a value without the fields that stand for ones that are taken out.
func untaken(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = untaken(v[i])
		}
	case map[string]any:
		for key, val := range v {
			if val == "\x00taken" {
				delete(v, key)
			} else {
				v[key] = untaken(val)
			}
		}
	}
	return v
}

// answers returns hashes of what commands tell of a session.
func (one *sample) answers(t *testing.T, text []byte) (all []uint64) {
	dir := t.TempDir() // of its own: a file beside it may be its parent
	file := filepath.Join(dir, filepath.Base(strings.TrimSuffix(one.name, ".gz")))
	must.Do(os.WriteFile(file, text, 0o644))
	defer os.Remove(file)
	for _, line := range coverageLines {
		sum := fnv.New64a()
		if len(text) <= mostPage || !strings.Contains(line, "html") {
			r := ranIn(dir, commandLine(line, "FILE", file)...)
			answer := bytes.ReplaceAll(r.stdout.Bytes(), []byte(dir), nil)
			sum.Write(sizes.ReplaceAll(answer, nil))
		}
		all = append(all, sum.Sum64())
	}
	return all
}

// mostPage is how large a session is, bytes, whose page has no parts that depend on its size.
const mostPage = 200 << 10

// sizes are of files, which everything in them changes.
var sizes = regexp.MustCompile(`"size":\s*\d+`)

// coverageLines are the commands whose answers tell what is read of a session.
var coverageLines = []string{
	"ls FILE --json", "replay FILE -f json", "replay FILE -f native", "log --tree FILE -f jsonl", "log FILE -f jsonl --all", "check FILE -f json", "render FILE -f html -o -",
	"stats FILE -f json --lens session,context,growth,cost,cache,compactions",
}
