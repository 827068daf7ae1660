package show

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/lens/baseline"
	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// vectors are the sessions of a shared folder with what pi makes of them.
func vectors(t *testing.T, dir string) []string {
	t.Helper()
	return testenv.NeedShared(t, "vectors/"+dir+"/*.jsonl")
}

func readJSON(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %.200s", err, data)
	}
	return v
}

func expected(t *testing.T, session string) map[string]any {
	t.Helper()
	data := must.Get(os.ReadFile(strings.TrimSuffix(session, ".jsonl") + ".expected.json"))
	return readJSON(t, data).(map[string]any)
}

func envelopeOf(t *testing.T, name string, opt replay.Options) *replay.Envelope {
	t.Helper()
	s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
	t.Cleanup(func() { s.Close() })
	opt.Leaf = s.Leaf()
	return must.Get(replay.New(s, opt).At(sessionfmt.After(s.Leaf())))
}

// printed is an envelope in a form, or why it has none.
func printed(format string, r Report) []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	if refused, is := errors.AsType[*sessionfmt.Error](ContextForms.Of(r).Write(w, format, Screen{})); is {
		return []byte(refused.Err.Error())
	}
	must.Do(w.Flush())
	return b.Bytes()
}

// piThrows are the vectors on which pi itself fails, and the messages that we
// give in its place (docs/design.md: what pi cannot build adds nothing).
var piThrows = map[string][]string{"38-edit-missing-replacement": {"a", "b"}}

// TestPiVectors compares what we rebuild with what pi's own code built.
func TestPiVectors(t *testing.T) {
	n, tally := 0, claims.New(t, pi.Rules, "../../../internal/read/dialect/pi/rules.go")
	for _, file := range vectors(t, "pi-1.5") {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		n++
		t.Run(name, func(t *testing.T) {
			want := expected(t, file)
			e := envelopeOf(t, file, replay.Options{Rules: replay.ByPi})
			got := readJSON(t, printed("context", Report{Envelope: e})).(map[string]any)
			if texts, ok := piThrows[name]; ok {
				for i, m := range got["messages"].([]any) {
					if m.(map[string]any)["content"] != texts[i] {
						t.Errorf("message %d is %v, want %q", i, m, texts[i])
					}
				}
				return
			}
			tally.Add("3", e.Rules(), rule.Asked{}, reflect.DeepEqual(got["messages"], want["messages"]))
			for _, key := range []string{"messages", "thinkingLevel", "model"} {
				same(t, key, got[key], want[key])
			}
			same(t, "llm", readJSON(t, printed("llm", Report{Envelope: e})), want["llm"])
			leaf := any(nil)
			if e.Leaf >= 0 {
				leaf = e.Replay().Session.ID(e.Leaf)
			}
			same(t, "leafId", leaf, want["leafId"])
			p := must.Get(e.Prompt())
			same(t, "systemPrompt", any(p.Compiled), want["systemPrompt"])
			tools := []any{}
			for _, tool := range p.Tools {
				tools = append(tools, tool.Name)
			}
			same(t, "tools", any(tools), want["tools"])
			sameUsage(t, file, want["contextUsage"])
		})
	}
	tally.Hold(t, *golden.Update, "../../../internal/read/dialect/pi/compared.go", "pi", "compared")
	t.Logf("%d sessions compared with what pi built of them", n)
}

// sameUsage compares the size of the context with pi's indicator, with the window of the vectors.
// Where pi shows none, or fails, all of it is estimated.
func sameUsage(t *testing.T, file string, want any) {
	t.Helper()
	e := envelopeOf(t, file, replay.Options{Rules: replay.ByPi, Window: 1000})
	u := must.Get(e.Size())
	u = u.Of(u.Stored()) // pi leaves out what the session does not record
	if shown, ok := want.(map[string]any); ok && shown["tokens"] != nil {
		same(t, "contextUsage", any(map[string]any{"tokens": float64(u.Tokens), "contextWindow": float64(u.Window), "percent": *u.Percent}), want)
	} else if u.Recorded() && u.Tokens > 0 {
		t.Errorf("pi shows no size, we %s", u)
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// TestEnvelopeVectors compares with what the dialect's reference code built. Its
// run did not restore reasoning from the session's thinking level, and its last
// summary line names its own commands.
func TestEnvelopeVectors(t *testing.T) {
	n := 0
	for _, file := range vectors(t, "envelope") {
		n++
		t.Run(filepath.Base(file), func(t *testing.T) {
			want := expected(t, file)
			base := must.Get(baseline.Load(sessionfmt.Disk{}, filepath.Join(filepath.Dir(file), "baseline.json")))
			opt := replay.Options{
				Rules: replay.ByEnvelope, Baseline: base, Lenient: true,
				Model: models.Ref{Provider: "anthropic", ID: "claude-sonnet-4-5"}, Window: 200000,
			}
			asReference(t, envelopeOf(t, file, opt), want)
			asReference(t, envelopeOf(t, patchedAgain(t, file, opt), opt), want)
		})
	}
	t.Logf("%d sessions compared with what the reference code built of them", n)
}

// asReference compares an envelope with that of the reference code.
func asReference(t *testing.T, e *replay.Envelope, want map[string]any) {
	t.Helper()
	p := must.Get(e.Prompt())
	wantEnvelope := want["envelope"].(map[string]any)
	if level, _ := e.ThinkingLevel(); wantEnvelope["options"].(map[string]any)["reasoning"] == nil && !level.Is("off") {
		p.Options.Reasoning = nil
	}
	got := readJSON(t, printed("json", Report{Envelope: e})).(map[string]any)
	for _, key := range []string{"system", "tools", "messages", "options"} {
		same(t, key, got[key], wantEnvelope[key])
	}
	same(t, "model", got["meta"].(map[string]any)["model"], wantEnvelope["meta"].(map[string]any)["model"])
	sameText(t, "full", string(printed("full", Report{Envelope: e})), want["full"].(string))
	cut := func(s string) string { return s[:strings.LastIndexByte(strings.TrimSpace(s), '\n')] }
	sameText(t, "summary", cut(string(printed("summary", Report{Envelope: e}))), cut(want["summary"].(string)))
}

// patchedAgain writes a session entry by entry, and each transform as a hook's result that
// would be stored there, and returns the name of the file.
func patchedAgain(t *testing.T, file string, opt replay.Options) string {
	t.Helper()
	data := must.Get(os.ReadFile(file))
	var out []byte
	ids := map[string]string{}
	for line := range bytes.Lines(data) {
		v := jsonl.Value(bytes.TrimSpace(line))
		parent := v.Get("parentId").Text()
		if id, ok := ids[parent]; ok {
			parent = id
		}
		if !v.Get("type").Is("context_transform") {
			if v.Get("parentId").Text() != parent {
				v = v.AppendEdited(nil, jsonl.Field{Name: "parentId", Value: jsonl.AppendQuoted(nil, parent)})
			}
			out = append(append(out, v...), '\n')
			continue
		}
		s := must.Get(sessionfmt.OpenReader("again", bytes.NewReader(out), sessionfmt.Options{}))
		defer s.Close()
		results := must.Get(hook.Read("", v))
		at, _ := v.Get("timestamp").Millis()
		opt.Leaf = s.Find(parent)
		trial := must.Get(hook.New(s, results, hook.Options{
			Replay: opt, Leaf: opt.Leaf, At: opt.Leaf, Reason: hook.BeforeRequest, Counters: []*tokens.Counter{&tokens.Pi}, Now: time.UnixMilli(at),
		}))
		b := s.NewBatch(opt.Leaf, time.UnixMilli(at))
		if trial.Envelope == nil { // the reference code would have refused it, and the vector stores it
			b.Add(jsonl.Transform, jsonl.Field{Name: "schemaVersion", Value: v.Get("schemaVersion")}, jsonl.Field{Name: "transformerName", Value: v.Get("transformerName")},
				jsonl.Field{Name: "patch", Value: v.Get("patch")}, jsonl.Field{Name: "display", Value: v.Get("display")})
		} else if err := trial.Store(b, false); err != nil {
			t.Fatal(err)
		}
		out = append(out, b.Lines()...)
		ids[v.Get("id").Text()] = jsonl.Value(b.Lines()).Get("id").Text()
	}
	name := filepath.Join(t.TempDir(), "again.jsonl")
	must.Do(os.WriteFile(name, out, 0o600))
	return name
}

func sameText(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s differs at line %d:\n got %q\nwant %q", what, i+1, a[i], b[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d; %q against %q", what, len(a), len(b), got[max(0, len(got)-80):], want[max(0, len(want)-80):])
}
