package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/agents"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// unreadSamples are sessions of files with lines, by patterns below the project's folder.
var unreadSamples = []string{
	"testdata/sessions/good/*.jsonl", "testdata/agents/*/*.jsonl", "testdata/dialects/*.jsonl",
}

// unreadFiles are the files of those patterns, and of what opencode recorded.
func unreadFiles(t *testing.T) (names []string) {
	for _, pattern := range unreadSamples {
		names = append(names, must.Get(filepath.Glob(filepath.Join(corpus.Root(t), pattern)))...)
	}
	packed := filepath.Join(corpus.Root(t), "internal/read/dialect/opencode/testdata/recorded/1.18.33.tar.zst")
	for _, dir := range agents.Unpack(t, packed) {
		names = append(names, must.Get(filepath.Glob(filepath.Join(dir, "home/.local/share/opencode/ses*.jsonl")))...)
	}
	return names
}

// TestUnread: of each agent, an unknown field in a part of a message, a part of an unknown type, and a
// line of an unknown type leave the rest of the context as it was, are named, and no context with one is exact.
func TestUnread(t *testing.T) {
	random, made, exact := rand.New(rand.NewPCG(54, 1)), map[string]int{}, map[string]int{}
	for _, name := range unreadFiles(t) {
		data := must.Get(os.ReadFile(name))
		base, ok := readAt(t, data, filepath.Base(name))
		if !ok || len(base.texts) == 0 || strings.HasSuffix(name, "good/rearranged.jsonl") {
			continue // a patch keeps whole messages as they are
		}
		for _, kind := range []string{"field", "part", "line"} {
			for range corpus.Pick(2, 20) {
				changed := disturb(random, data, kind, base)
				if changed == nil {
					continue
				}
				got, ok := readAt(t, changed, filepath.Base(name))
				about := fmt.Sprintf("%s, a %s", name, kind)
				made[base.agent+" "+kind]++
				if base.exact {
					exact[base.agent+" "+kind]++
				}
				switch {
				case !ok:
					t.Errorf("%s: cannot be read", about)
				case !reflect.DeepEqual(got.texts, base.texts):
					t.Errorf("%s: changed the context\n%q\nto\n%q", about, base.texts, got.texts)
				case got.exact:
					t.Errorf("%s: the context is exact", about)
				case !got.named:
					t.Errorf("%s: is not named in %s", about, got.codes)
				}
			}
		}
	}
	for _, want := range []string{"pi field", "pi part", "pi line", "opencode field", "opencode line"} {
		if exact[want] == 0 {
			t.Errorf("%s: in no context that was exact: %v", want, exact)
		}
	}
	t.Log(made, exact)
}

// A reading is what is read of a session at its leaf.
type reading struct {
	agent string
	texts []string // of the context, by message
	exact bool
	named bool // a finding names a field or a type called moon
	codes []string
}

func readAt(t *testing.T, data []byte, name string) (got reading, ok bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	must.Do(os.WriteFile(file, data, 0o600))
	s, err := sessionfmt.Open(file, sessionfmt.Options{})
	if err != nil {
		return got, false
	}
	defer s.Close()
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return got, false
	}
	got.agent = s.Agent()
	for raw, err := range e.ProviderMessages() {
		if err != nil {
			return got, false
		}
		m := raw.Raw.Message()
		text := fmt.Sprint(m.Kind, ":")
		for _, b := range m.Blocks {
			if slices.Contains([]jsonl.BlockKind{jsonl.TextBlock, jsonl.ThinkingBlock, jsonl.CallBlock}, b.Kind) {
				text += "\n" + b.Text.Exact() + b.Name.Text()
			}
		}
		got.texts = append(got.texts, text)
	}
	sure, err := e.Reading()
	got.exact = err == nil && sure.Certainty != nil && sure.Certainty.Messages == "exact"
	for _, f := range File(file, everything()).Findings {
		got.named = got.named || strings.Contains(f.Text, "moon") || f.Code == "unknown-type"
		got.codes = append(got.codes, f.Code)
	}
	return got, true
}

// disturb returns a session with something unknown, nil where there is no place for it.
func disturb(random *rand.Rand, data []byte, kind string, base reading) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines) < 3 {
		return nil
	}
	if kind == "line" {
		return slices.Concat(data, unknownLine(lines))
	}
	whole := strings.Join(base.texts, "\n")
	compacted := func(l []byte) bool { return bytes.Contains(l, []byte(`"replacement_history"`)) }
	for slices.ContainsFunc(lines, compacted) { // which keeps items of lines before it, as they are
		k := slices.IndexFunc(lines, compacted)
		lines = append([][]byte{slices.Concat(lines[:k+1]...)}, lines[k+1:]...)
		if k == 0 {
			break
		}
	}
	for _, k := range random.Perm(len(lines)) {
		d := json.NewDecoder(bytes.NewReader(lines[k]))
		d.UseNumber()
		var line any
		if k == 0 || d.Decode(&line) != nil {
			continue
		}
		if !change(line, nil, kind, whole) {
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		must.Do(e.Encode(line))
		lines[k] = b.Bytes()
		return slices.Concat(lines...)
	}
	return nil
}

// change adds a field to the first part whose text is in the context, or a part after it in its list, and reports
// whether there is one. Texts that are long are in one part alone.
func change(v any, list func(any), kind, whole string) bool {
	switch v := v.(type) {
	case map[string]any:
		text, _ := v["text"].(string)
		if typ, _ := v["type"].(string); typ != "" && len(text) > 12 && strings.Count(whole, text) == 1 {
			switch {
			case kind == "field":
				v["moon"] = 1
			case list == nil:
				return false
			default:
				list(map[string]any{"type": "moon", "moon": "x"})
			}
			return true
		}
		if v["type"] == "event_msg" { // what Codex shows beside what it sends
			return false
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			each, more := v[name], (func(any))(nil)
			if of, ok := each.([]any); ok {
				more = func(one any) { v[name] = append(of, one) }
			}
			if change(each, more, kind, whole) {
				return true
			}
		}
	case []any:
		for _, each := range v {
			if change(each, list, kind, whole) {
				return true
			}
		}
	}
	return false
}

// unknownLine returns a line of an unknown type, in the form of a session's last line.
func unknownLine(lines [][]byte) []byte {
	var last map[string]any
	for k := len(lines) - 1; k > 0 && last == nil; k-- {
		json.Unmarshal(lines[k], &last)
	}
	for _, name := range []string{"message", "payload", "content", "data", "uuid"} {
		delete(last, name)
	}
	if id, ok := last["id"].(string); ok {
		last["parentId"], last["id"] = id, "moon0001"
	}
	if _, ok := last["role"]; ok {
		last["role"] = "moon"
	}
	last["type"], last["moon"] = "moon", 1
	if last["table"] == "event" {
		last["seq"], last["type"] = 1e6, "message.moon.1"
	}
	return append(must.Get(json.Marshal(last)), '\n')
}
