package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/must"
	"ctxtool/sessionfmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mark is planted in every string of a session; markStart is what no output may have of it,
// also of a text that was cut.
const (
	mark      = "zq7mkx9wvtr4lb8p"
	markStart = "zq7mkx9w"
)

// A planting marks the members of JSON values that may hold anything.
type planting struct {
	only func(path string) bool // the members that are marked
	seen map[string]bool        // the paths of all members
}

// value marks a value. A path has the names of members; those of lists are "[]".
func (p *planting) value(v any, path string) any {
	switch v := v.(type) {
	case string:
		if p.seen[path] = true; !p.only(path) {
			return v
		}
		if text, err := base64.StdEncoding.DecodeString(v); err == nil && len(text) > 0 && utf8.Valid(text) && len(v)%4 == 0 && strings.HasSuffix(path, ".data") {
			return base64.StdEncoding.EncodeToString([]byte(string(text) + " " + mark))
		}
		if in := any(nil); strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &in) == nil {
			return string(must.Get(json.Marshal(p.value(in, path+"{}"))))
		}
		return v + " " + mark
	case []any:
		for k := range v {
			v[k] = p.value(v[k], path+"[]")
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = p.value(v[name], path+"."+name)
		}
		if p.seen[path+"+"] = true; p.only(path + "+") {
			v["key "+mark] = mark
		}
	}
	return v
}

// session marks a session: lines, or one document.
func (p *planting) session(data []byte) []byte {
	var out bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		var v any
		if d.Decode(&v) != nil {
			return out.Bytes()
		}
		kind := ""
		if m, ok := v.(map[string]any); ok {
			kind = fmt.Sprint(m["type"], m["table"])
			if in, ok := m["payload"].(map[string]any); ok {
				kind += fmt.Sprint(in["type"])
			}
		}
		out.Write(must.Get(json.Marshal(p.value(v, kind))))
		out.WriteByte('\n')
	}
}

// shapeOf is what a session has besides texts.
func shapeOf(name string, data []byte) string {
	s, err := sessionfmt.OpenReader(name, bytes.NewReader(data), sessionfmt.Options{})
	if err != nil {
		return err.Error()
	}
	defer s.Close()
	var b strings.Builder
	fmt.Fprint(&b, s.Dialect().Agent(), s.Leaf())
	for i := range s.Len() {
		fmt.Fprint(&b, " ", s.Kind(i), s.Parent(i))
	}
	return b.String()
}

// marked is a session with the mark in every member that may have one: all without which it
// would be another session are left.
func marked(name string, data []byte) (session []byte, left []string) {
	p := &planting{only: func(string) bool { return false }, seen: map[string]bool{}}
	want := shapeOf(name, p.session(data))
	on := map[string]bool{}
	try := func(paths []string) bool {
		for _, path := range paths {
			on[path] = true
		}
		q := planting{only: func(path string) bool { return on[path] }, seen: map[string]bool{}}
		if shapeOf(name, q.session(data)) == want {
			return true
		}
		for _, path := range paths {
			delete(on, path)
		}
		return false
	}
	var split func(paths []string)
	split = func(paths []string) {
		switch {
		case len(paths) == 0 || try(paths):
		case len(paths) == 1:
			left = append(left, paths[0])
		default:
			split(paths[:len(paths)/2])
			split(paths[len(paths)/2:])
		}
	}
	split(slices.Sorted(maps.Keys(p.seen)))
	// what is in a text of JSON is a member as well
	q := planting{only: func(path string) bool { return on[path] }, seen: map[string]bool{}}
	q.session(data)
	split(slices.DeleteFunc(slices.Sorted(maps.Keys(q.seen)), func(path string) bool { return p.seen[path] }))
	q = planting{only: func(path string) bool { return on[path] }, seen: map[string]bool{}}
	return q.session(data), left
}

var base64Run = regexp.MustCompile(`[A-Za-z0-9+/]{12,}`)

// markIn returns what is around the mark in a text, in whatever spelling, empty for none.
func markIn(text string) string {
	text = strings.ToLower(text)
	if at := strings.Index(text, markStart); at >= 0 {
		return text[max(0, at-120):min(len(text), at+60)]
	}
	return ""
}

func markSpelled(text string) string {
	for _, run := range base64Run.FindAllString(text, -1) {
		for from := range 4 {
			part := run[from:]
			if plain, _ := base64.RawStdEncoding.DecodeString(part[:len(part)/4*4]); markIn(string(plain)) != "" {
				return "base64: " + markIn(string(plain))
			}
		}
	}
	return markIn(text)
}

// changingLines are the command lines that print what they would change.
var changingLines = []string{
	"reduce FILE", "reduce FILE -f entries", "reduce FILE --pass truncate", "truncate FILE --max 1 -f entries", "truncate FILE --max 1", "strip FILE -f json", "prune FILE",
	"compact FILE --keep 1 -f entries", "label FILE leaf here", "label FILE leaf here -f entries", "name FILE here", "edit FILE leaf --omit", "edit FILE leaf --omit -f json", "undo FILE", "repair FILE", "repair FILE -f diff",
	"migrate FILE", "migrate FILE -f diff", "migrate FILE --to 3 -f json",
}

// waysOut are the command lines that print or write parts of a session.
func waysOut() (lines []string) {
	for _, line := range slices.Concat(readingLines(), lensLines, findingLines, changingLines) {
		line = strings.ReplaceAll(line, "LENSES", everyLens())
		if !strings.HasPrefix(line, "redact") && !strings.Contains(line, "--structure-only") {
			lines = append(lines, strings.ReplaceAll(line, " --redact", "")+" --redact")
		}
	}
	return lines
}

func TestWaysOut(t *testing.T) {
	t.Parallel()
	files := madeSessions(t)
	for _, dir := range strings.Fields(os.Getenv("WAYS")) {
		found, _ := filepath.Glob(dir)
		files = append(files, found...)
	}
	for k, file := range files {
		_ = k
		data := must.Get(os.ReadFile(file))
		if len(data) > 300<<10 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "of "+mark)
			must.Do(os.MkdirAll(dir, 0o700))
			values := filepath.Join(t.TempDir(), "values")
			must.Do(os.WriteFile(values, []byte(mark+"\n"), 0o600))
			session, left := marked(filepath.Base(file), data)
			t.Logf("%d marks; left: %s", bytes.Count(session, []byte(mark)), strings.Join(left, " "))
			in, out := filepath.Join(dir, "s-"+mark+filepath.Ext(file)), filepath.Join(t.TempDir(), "out")
			must.Do(os.WriteFile(in, session, 0o600))
			notFresh(in)
			for _, line := range append(waysOut(), "redact FILE", "redact FILE -f json", "redact FILE -o OUT") {
				os.Remove(out)
				r := ranIn("", append(commandLine(line, "FILE", in, "OUT", out), "--values", values)...)
				written, _ := os.ReadFile(out)
				if r.status > exitFound && !strings.Contains(line, "--strict") && !strings.Contains(line, "--tail") {
					t.Errorf("%s: status %d: %s", line, r.status, &r.stderr)
				}
				for where, text := range map[string]string{"stdout": r.stdout.String(), "stderr": r.stderr.String(), "OUT": string(written)} {
					if around := markSpelled(text); around != "" {
						t.Errorf("%s: %s: %q", line, where, around)
					}
				}
			}
			client := served(t, filepath.Dir(dir), "--sessions-dir", ".", "--values", values)
			said := func(what, text string) {
				if around := markSpelled(text); around != "" {
					t.Errorf("serve: %s: %q", what, around)
				}
			}
			for _, call := range [][2]string{
				{"show", "{}"}, {"get_context", "{}"}, {"diff", `{"from":"root"}`}, {"trace", `{"text":"a"}`}, {"cost", "{}"}, {"list_sessions", "{}"},
				{"search_context", `{"source":"sessions"}`}, {"search_context", `{"source":"logs"}`}, {"search_context", `{"source":"shell_history"}`},
				{"show", `{"point":"nowhere"}`},
			} {
				text, _ := asked(client, call[0], call[1])
				said(call[0]+call[1], text)
			}
			for _, r := range must.Get(client.ListResources(t.Context(), nil)).Resources {
				said("resource", r.Title+r.Name+r.URI)
				page := must.Get(client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI}))
				said("page", page.Contents[0].Text)
			}
		})
	}
}
