package gen_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// small is a preset's shape with at most that many entries.
func small(p gen.Preset, entries int) gen.Shape {
	s := p.Shape
	if s.Entries == 0 || s.Entries > entries {
		s.Entries = entries
	}
	s.Bytes, s.Longest = 0, min(s.Longest, 1_000_000)
	return s
}

func open(t *testing.T, data []byte) *sessionfmt.Session {
	t.Helper()
	s := must.Get(sessionfmt.OpenReader("s.jsonl", bytes.NewReader(data), sessionfmt.Options{}))
	t.Cleanup(func() { s.Close() })
	return s
}

// TestSound: a session that is not to be damaged gives no findings, under both
// rules.
func TestSound(t *testing.T) {
	for _, p := range gen.Presets() {
		shape := small(p, 1500)
		for shape.Seed = range uint64(corpus.Pick(3, 8)) {
			s := open(t, gen.Session(shape))
			if got := s.Coverage.Entries; got < shape.Entries && shape.Damage == 0 || got > shape.Entries+40 {
				t.Errorf("%s: %d entries, want %d", p.Name, got, shape.Entries)
			}
			if shape.Damage > 0 {
				if len(s.Findings) == 0 {
					t.Errorf("%s: damaged, and nothing found", p.Name)
				}
				continue
			}
			for _, rules := range []replay.Rules{replay.ByPi, replay.ByEnvelope} {
				r := replay.New(s, replay.Options{Rules: rules})
				if _, err := r.At(sessionfmt.After(s.Leaf())); err != nil {
					t.Errorf("%s, seed %d: %v", p.Name, shape.Seed, err)
				}
				for _, f := range r.AllFindings() {
					t.Errorf("%s, seed %d, rules %s: line %d: %s: %s", p.Name, shape.Seed, rules, f.Line, f.Code, f.Text)
				}
			}
		}
	}
}

// TestSame: a seed gives the same bytes each time, whatever was made in between, and
// another one others.
func TestSame(t *testing.T) {
	for _, p := range gen.Presets() {
		shape := small(p, 200)
		a := gen.Session(shape)
		other := shape
		other.Seed++
		if bytes.Equal(a, gen.Session(other)) {
			t.Errorf("%s: two seeds give the same", p.Name)
		}
		if !bytes.Equal(a, gen.Session(shape)) {
			t.Errorf("%s: two runs differ", p.Name)
		}
	}
}

// TestEverything: the shape of that name has all kinds of entries and ops, and
// the damaged one all kinds of damage.
func TestEverything(t *testing.T) {
	p := must.Get(gen.Find("everything"))
	p.Shape.Entries = 4000
	text := string(gen.Session(p.Shape))
	for _, want := range []string{
		`"role":"system"`, `"role":"user"`, `"role":"assistant"`, `"role":"toolResult"`, `"role":"bashExecution"`,
		`"excludeFromContext":true`, `"type":"image"`, `"type":"thinking"`, `"type":"toolCall"`, `"sections":`, `"toolsAdded":`, `"toolsRemoved":`,
		`"type":"context_edit"`, `"replacement":null`, `"type":"compaction"`, `"systemMessage":`, `"type":"branch_summary"`,
		`"type":"custom_message"`, `"type":"custom"`, `"type":"label"`, `"type":"session_info"`, `"type":"model_change"`,
		`"type":"thinking_level_change"`, `"type":"context_transform"`, `"transformerName":"compaction"`, `"type":"ephemeral"`,
		"system_part_set", "system_part_remove", "system_parts_replace", "tools_replace", "tools_remove",
		"messages_cached_replace", "options_set", "compaction_apply",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in it", want)
		}
	}
	p = must.Get(gen.Find("damaged"))
	p.Shape.Entries = 4000
	found := map[string]bool{}
	for _, f := range open(t, gen.Session(p.Shape)).Findings {
		found[f.Code] = true
	}
	for _, code := range []string{"malformed", "glued", "duplicate-id", "orphan", "scalar-line", "falsy-line", "second-header", "invalid-utf8", "torn"} {
		if !found[code] {
			t.Errorf("no damage of the kind %s", code)
		}
	}
}

// TestLarge: the shape of the benchmarks is that of real sessions.
func TestLarge(t *testing.T) {
	p := must.Get(gen.Find("1g"))
	p.Shape.Bytes = 20_000_000
	data := gen.Session(p.Shape)
	if n := len(data); n < 20_000_000 || n > 20_300_000 {
		t.Errorf("%d bytes, want 20 MB", n)
	}
	s := open(t, data)
	path, _ := s.Path(s.Leaf())
	if share := float64(len(path)) / float64(s.Coverage.Entries); share < 0.85 || share > 0.99 {
		t.Errorf("%.2f of the entries are on the path, want about 0.92", share)
	}
	if mean := len(data) / s.Len(); mean < 1400 || mean > 2000 {
		t.Errorf("%d bytes a line, want about 1,690", mean)
	}
}

func TestUnknownPreset(t *testing.T) {
	if _, err := gen.Find("nothing"); err == nil || !strings.Contains(err.Error(), "one of linear, ") {
		t.Error(err)
	}
	if err := gen.Write(io.Discard, gen.Shape{}); err == nil {
		t.Error("a session without an end")
	}
}

func BenchmarkWrite(b *testing.B) {
	p := must.Get(gen.Find("1g"))
	p.Shape.Bytes = 16 << 20
	b.SetBytes(p.Shape.Bytes)
	for b.Loop() {
		must.Do(gen.Write(io.Discard, p.Shape))
	}
}
