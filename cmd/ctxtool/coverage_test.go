package main

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"ctxtool/internal/lens/check"
	recorded "ctxtool/internal/test/agents"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen/tables"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// fieldFile is where the fields of an agent's lines are known.
func fieldFile(t *testing.T, agent string) string {
	switch agent {
	case "pi":
		return filepath.Join(corpus.Root(t), "internal/read/fields/pi.txt")
	case "kilo":
		agent = "opencode/kilo"
	case "opencode2":
		agent = "opencode/2"
	}
	return filepath.Join(corpus.Root(t), "internal/read/dialect", strings.ReplaceAll(agent, "-", ""), "fields.txt")
}

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
	for _, archive := range must.Get(filepath.Glob(corpus.Root(t) + "/internal/read/dialect/codex/testdata/recorded/*.tar.zst")) {
		folders = append(folders, recorded.Unpack(t, archive)...)
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

// TestCoverage: of no sample there is a field that is not known: a new one is read, or it is named
// in fields.txt as one that nothing needs. With -update and CTXTOOL_WHOLE the tables are measured: a field is read
// if any answer changes where it is taken out of a session. One that was read stays so.
func TestCoverage(t *testing.T) {
	t.Parallel()
	for agent, files := range samples(t) {
		if *golden.Update && corpus.Whole() {
			measureFields(t, agent, files)
			continue
		}
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

// asItIs are fields whose own fields are free: they are read or kept as they are.
var asItIs = strings.Fields("arguments args input parameters parametersJsonSchema input_schema schema data details metadata toolUseResult result resultDisplay structuredPatch properties extra state env headers " +
	"content_item_metadata sections")

// hashed are the fields of what stands for a text in shared samples.
var hashed = []string{"sha256", "chars", "members"}

// A taking takes a field out of values, or lists all fields there are.
type taking struct {
	path  string              // to take out, empty for none
	data  string              // the member of lines that holds what their agent says, whose fields are its own
	types map[string]int      // of how many types of lines a field is
	seen  map[string]struct{} // paths
}

// value returns a value without the field, whose path is that of the value.
func (k *taking) value(v any, path string, root bool) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = k.value(v[i], path, root)
		}
	case map[string]any:
		if v[hashed[0]] != nil {
			return v
		}
		base := path
		for _, name := range []string{"table", "type", "role"} {
			if of, ok := v[name].(string); ok {
				path += "<" + of + ">"
				k.see(path)
				if path == k.path {
					return map[string]any{name: of}
				}
				break
			}
		}
		for key, val := range v {
			below := strings.TrimPrefix(path+"."+key, ".")
			if root && base != path && k.types[key] > 2 {
				below = "<*>." + key
			}
			if _, row := v["table"]; slices.Contains(asItIs, key) && !row && (!root || key != k.data) {
				below += ".*"
			}
			k.see(below)
			if below == k.path {
				delete(v, key)
			} else if !strings.HasSuffix(below, "*") {
				v[key] = k.value(val, below, false)
			}
		}
	}
	return v
}

func (k *taking) see(path string) {
	if k.seen != nil {
		k.seen[path] = struct{}{}
	}
}

// parsedLines are the lines of a file, or its document.
func parsedLines(data []byte) (all []any) {
	for line := range bytes.Lines(data) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil {
			all = append(all, v)
		}
	}
	var document map[string]any
	if json.Unmarshal(data, &document) == nil {
		all = []any{document}
	}
	return all
}

// measureFields writes the table of an agent.
func measureFields(t *testing.T, agent string, files []string) {
	type sample struct {
		name string
		data []byte
		base uint64
		has  map[string]struct{}
	}
	var all []*sample
	types := map[string]map[string]bool{}
	for _, name := range files {
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		var plain bytes.Buffer
		must.Get(plain.ReadFrom(s.Plain()))
		s.Close()
		one := &sample{name: filepath.Join(t.TempDir(), filepath.Base(strings.TrimSuffix(name, ".gz"))), data: plain.Bytes(), has: map[string]struct{}{}}
		all = append(all, one)
		for _, v := range parsedLines(one.data) {
			if line, ok := v.(map[string]any); ok {
				for key := range line {
					if types[key] == nil {
						types[key] = map[string]bool{}
					}
					for _, name := range []string{"table", "type", "role"} {
						if of, ok := line[name].(string); ok {
							types[key][of] = true
							break
						}
					}
				}
			}
		}
	}
	k := taking{types: map[string]int{}}
	for _, d := range sessionfmt.Dialects() {
		if d.Name == agent {
			k.data = d.Pick.As.Message
		}
	}
	for key, of := range types {
		k.types[key] = len(of)
	}
	paths := map[string]struct{}{}
	answers := func(one *sample, path string) uint64 {
		k.path, k.seen = path, nil
		if path == "" {
			k.seen = one.has
		}
		var text []byte
		for _, v := range parsedLines(one.data) {
			text = append(append(text, must.Get(json.Marshal(k.value(v, "", true)))...), '\n')
		}
		dir := filepath.Dir(one.name) // of its own: a file beside it may be its parent
		file := one.name
		must.Do(os.WriteFile(file, text, 0o644))
		sum := fnv.New64a()
		for _, line := range coverageLines {
			if len(one.data) > mostPage && strings.Contains(line, "html") {
				continue
			}
			r := ranIn(dir, commandLine(line, "FILE", file)...)
			sum.Write(sizes.ReplaceAll(r.stdout.Bytes(), nil))
		}
		return sum.Sum64()
	}
	slices.SortStableFunc(all, func(a, b *sample) int { return len(a.data) - len(b.data) })
	for _, one := range all {
		one.base = answers(one, "")
		maps.Copy(paths, one.has)
	}
	var table []string
	was := map[string]bool{} // whether a field was read when the table was measured before
	for line := range strings.Lines(string(must.Get(os.ReadFile(fieldFile(t, agent))))) {
		path, unread := strings.CutPrefix(strings.TrimSpace(line), "- ")
		was[path] = !unread
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if slices.ContainsFunc(table, func(row string) bool {
			above, unread := strings.CutPrefix(row, "- ")
			return unread && strings.HasPrefix(path, above) && len(path) > len(above) && strings.Contains(".<", path[len(above):len(above)+1])
		}) {
			continue
		}
		read, tried := was[path], 0
		for _, one := range all {
			if _, has := one.has[path]; has && tried < 12 && !read {
				tried++
				read = answers(one, path) != one.base
			}
		}
		if !read {
			path = "- " + strings.TrimSuffix(path, ".*")
		}
		table = append(table, path)
	}
	for path, read := range was { // of what no sample has
		bare := strings.TrimSuffix(path, ".*")
		_, has := paths[bare]
		if _, whole := paths[bare+".*"]; !has && !whole {
			table = append(table, map[bool]string{false: "- "}[read]+path)
		}
	}
	byPath := func(a, b string) int {
		return strings.Compare(strings.TrimPrefix(a, "- "), strings.TrimPrefix(b, "- "))
	}
	slices.SortFunc(table, byPath)
	table = slices.Compact(table)
	must.Do(os.WriteFile(fieldFile(t, agent), []byte(strings.Join(table, "\n")+"\n"), 0o644))
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
