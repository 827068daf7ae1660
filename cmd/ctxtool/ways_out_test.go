package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/base/help"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen/tables"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mark is planted in every string of a session; markStart is what no output may have of it,
// also of a text that was cut.
const (
	mark      = "zq7mkx9wvtr4lb8p"
	markStart = "zq7mkx9w"
)

// imageStart is how an image begins.
const imageStart = "iVBORw0KGgo"

// markedImage is an image that has the mark in its metadata.
func markedImage() string {
	var b bytes.Buffer
	must.Do(png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))))
	chunk := "\x00\x00\x00\x12tEXta\x00" + mark + "\x00\x00\x00\x00"
	return base64.StdEncoding.EncodeToString(slices.Insert(b.Bytes(), 33, []byte(chunk)...))
}

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
		if at := strings.Index(v, imageStart); at >= 0 {
			return v[:at] + markedImage()
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
func marked(name string, data []byte) []byte {
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
		case len(paths) == 0 || try(paths) || len(paths) == 1:
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
	return q.session(data)
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

// pagePart is a part of a page that is packed: see package html.
var pagePart = regexp.MustCompile(`(?s)<script type="text/plain" id="\w+">(.*?)</script>`)

// unpacked is what a page's part says.
func unpacked(part string) string {
	part = strings.NewReplacer("\x7f0", "\x00", "\x7f1", "\r", "\x7f2", "<", "\x7f3", "\x7f").Replace(part)
	var packed []byte
	bits, n := 0, 0
	for _, code := range []byte(part) {
		if bits, n = bits<<7&0x7fff|int(code), n+7; n >= 8 {
			n -= 8
			packed = append(packed, byte(bits>>n))
		}
	}
	text, _ := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	return string(text)
}

func markSpelled(text string) string {
	for _, part := range pagePart.FindAllStringSubmatch(text, -1) {
		if around := markSpelled(unpacked(part[1])); around != "" {
			return "page: " + around
		}
	}
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
	"reduce FILE", "reduce FILE -f entries", "reduce FILE --pass truncate", "reduce --pass truncate:max=1 FILE -f entries", "reduce --pass truncate:max=1 FILE", "reduce --pass strip-thinking FILE -f json", "prune FILE",
	"compact --pass compact:keep=1 FILE -f entries", "label FILE leaf here", "label FILE leaf here -f entries", "label --session FILE here", "edit FILE leaf --omit", "edit FILE leaf --omit -f json", "undo FILE", "repair FILE", "repair FILE -f diff",
	"compact --pass compact:keep=1 FILE --emit -", "patch FILE --set reasoning=low", "migrate FILE", "migrate FILE -f diff", "migrate FILE --to 3 -f json",
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

// silent are the commands that print no text of a session; redact and serve always redact.
var silent = []string{"branch", "completion", "config", "count", "help", "models", "policies", "mcp", "redact", "version"}

// TestRedactionFlags: every other command redacts what it prints, and fails if there is a secret in
// it.
func TestRedactionFlags(t *testing.T) {
	t.Parallel()
	for _, cmd := range newRoot(&env{machine: machine{stdin: os.Stdin}}, "").Commands() {
		for _, flag := range []string{"redact", "fail-on-secret"} {
			has, runs := help.Takes(cmd, flag), !slices.Contains(silent, cmd.Name()) && !cmd.Hidden
			if runs && !has {
				t.Errorf("%s has no --%s", cmd.Name(), flag)
			}
		}
	}
}

// agentSessions are the recorded sessions of other agents.
func agentSessions(t *testing.T) []string {
	return must.Get(filepath.Glob(filepath.Join(corpus.Root(t), "testdata/agents/*/*.jsonl")))
}

// TestRedactedParts: attachments in base64, images in any place, and the files that a session
// continues are redacted as the rest is, and the copy replays to the same messages.
func TestRedactedParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	values := filepath.Join(dir, "values")
	must.Do(os.WriteFile(values, []byte(mark+"\n"), 0o600))
	config := filepath.Join(dir, "config.toml")
	must.Do(os.WriteFile(config, fmt.Appendf(nil, "values = %q\n", values), 0o600))
	attached := base64.StdEncoding.EncodeToString([]byte("the text says " + mark + " twice\n"))
	rows := `{"table":"session","id":"ses_v2","parent_id":null,"directory":"/w","title":"t","version":"2.0.1","time_created":1767225600000,"time_updated":1767225602000}
{"table":"session_message","id":"m1","session_id":"ses_v2","type":"user","seq":1,"time_created":1767225600001,"time_updated":1767225600001,"data":{"text":"Read it.","files":[{"mime":"text/plain","name":"a.txt","data":"` + attached + `"}]}}
`
	db := filepath.Join(dir, "opencode.db")
	must.Do(must.Get(tables.Database(db, []byte(rows), false))())
	base := `{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"b1","cwd":"/w","cli_version":"0.150.0","history_mode":"legacy"}}
{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"the base says ` + mark + `"}]}}
`
	fork := fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:02.000Z","type":"session_meta","payload":{"id":"f1","cwd":"/w","cli_version":"0.150.0","history_mode":"paginated","history_base":{"thread_id":"b1","end_ordinal_exclusive":2,"end_byte_offset":%d}}}
{"timestamp":"2026-01-01T00:00:03.000Z","ordinal":1,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"the fork"}]}}
`, len(base))
	must.Do(os.WriteFile(filepath.Join(dir, "rollout-b1.jsonl"), []byte(base), 0o600))
	must.Do(os.WriteFile(filepath.Join(dir, "rollout-f1.jsonl"), []byte(fork), 0o600))
	for name, want := range map[string]string{"opencode.db/ses_v2": "the text says [redacted:value-1] twice", "rollout-f1.jsonl": "the base says [redacted:value-1]"} {
		for _, line := range []string{"show FILE leaf", "render FILE", "replay FILE -f llm", "trace FILE -F says", "log FILE --all", "notes FILE", "redact FILE -o OUT"} {
			out := filepath.Join(dir, "out.jsonl")
			os.Remove(out)
			r := ranIn(dir, append(commandLine(line+" --redact", "FILE", name, "OUT", out), "--config", config)...)
			if strings.HasPrefix(line, "redact") {
				r = ranIn(dir, append(commandLine(line, "FILE", name, "OUT", out), "--values", values)...)
			}
			written, _ := os.ReadFile(out)
			if r.status != exitOK {
				t.Errorf("%s %s: status %d: %s", line, name, r.status, &r.stderr)
			}
			if around := markSpelled(r.stdout.String() + r.stderr.String() + string(written)); around != "" {
				t.Errorf("%s %s: %q", line, name, around)
			}
			if strings.HasPrefix(line, "replay") && !strings.Contains(r.stdout.String(), want) {
				t.Errorf("%s %s: %s, want %q", line, name, &r.stdout, want)
			}
		}
	}
}

// leakable are the sessions of TestWaysOut: the project's, and the smallest of each agent and form
// of those next to the project, with CTXTOOL_WHOLE all up to 1 MB.
func leakable(t *testing.T) (all []corpus.Session) {
	for _, file := range append(madeSessions(t), agentSessions(t)...) {
		if data := must.Get(os.ReadFile(file)); len(data) <= 300<<10 {
			all = append(all, corpus.Session{Name: filepath.Base(file), Data: data})
		}
	}
	smallest := map[string]corpus.Session{}
	for _, c := range append(corpus.Shared(t), corpus.Foreign(t)...) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil || len(c.Data) > 1<<20 {
			continue
		}
		form := s.Dialect().Agent()
		if head, err := s.HeaderLine(); err == nil {
			form += head.Get("version").Text()
		}
		s.Close()
		if was, ok := smallest[form]; corpus.Whole() {
			all = append(all, c)
		} else if !ok || len(c.Data) < len(was.Data) {
			smallest[form] = c
		}
	}
	for _, form := range slices.Sorted(maps.Keys(smallest)) {
		all = append(all, smallest[form])
	}
	return all
}

// TestWaysOut: a value that is to be redacted is in nothing that any command prints or writes of a
// session of any agent, wherever the session and the name of its file have it, in whatever spelling.
func TestWaysOut(t *testing.T) {
	t.Parallel()
	lines := append(waysOut(), "redact FILE", "redact FILE -f json", "redact FILE -o OUT", "render FILE --all -f html -o OUT --redact")
	for k, file := range leakable(t) {
		data := file.Data
		t.Run(file.Name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "of "+mark)
			must.Do(os.MkdirAll(dir, 0o700))
			values, config := filepath.Join(t.TempDir(), "values"), filepath.Join(t.TempDir(), "config.toml")
			must.Do(os.WriteFile(config, fmt.Appendf(nil, "values = %q\n", values), 0o600))
			must.Do(os.WriteFile(values, []byte(mark+"\n"), 0o600))
			session := marked(filepath.Base(file.Name), data)
			if !bytes.Contains(session, []byte(mark)) {
				t.Fatal("nothing is marked")
			}
			in, out := filepath.Join(dir, "s-"+mark+filepath.Ext(file.Name)), filepath.Join(t.TempDir(), "out")
			must.Do(os.WriteFile(in, session, 0o600))
			notFresh(in)
			for _, line := range dealt(k, 12, lines) {
				os.Remove(out)
				r := ranIn("", append(commandLine(line, "FILE", in, "OUT", out), "--config", config)...)
				written, _ := os.ReadFile(out)
				if strings.Contains(r.stderr.String(), "unknown flag") {
					t.Errorf("%s: %s", line, &r.stderr)
				}
				for where, text := range map[string]string{"stdout": r.stdout.String(), "stderr": r.stderr.String(), "OUT": string(written)} {
					if around := markSpelled(text); around != "" {
						t.Errorf("%s: %s: %q", line, where, around)
					}
				}
			}
			if page := ranIn("", "render", in, "--all", "-f", "html", "-o", "-"); page.status == exitOK && !strings.Contains(markSpelled(page.stdout.String()), "page: ") {
				t.Error("a page that is not redacted does not show the mark")
			}
			copies := t.TempDir()
			if r := ranIn("", "redact", filepath.Dir(dir), "-o", copies, "--values", values); r.status > exitFound {
				t.Logf("redact DIR: status %d: %s", r.status, &r.stderr)
			}
			must.Do(filepath.WalkDir(copies, func(name string, d fs.DirEntry, err error) error {
				if around := markIn(strings.TrimPrefix(name, copies)); around != "" {
					t.Errorf("redact DIR writes %q", around)
				}
				if err == nil && !d.IsDir() {
					if around := markSpelled(string(must.Get(os.ReadFile(name)))); around != "" {
						t.Errorf("redact DIR: %q", around)
					}
				}
				return err
			}))
			client := served(t, filepath.Dir(dir), "--sessions-dir", ".", "--config", config)
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
