package sessionfmt

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/jsonl"
)

const (
	baseHeader = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	baseA      = `{"type":"message","id":"aa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"A"}}` + "\n"
	baseB      = `{"type":"message","id":"bb","parentId":"aa","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"B"}}` + "\n"
	base       = baseHeader + baseA + baseB
)

var batchTime = time.Date(2026, 2, 3, 5, 5, 6, 789999999, time.FixedZone("", 3600))

// read opens a session that is no file.
func read(t testing.TB, data string) *Session {
	t.Helper()
	s := must.Get(OpenReader("s.jsonl", strings.NewReader(data), Options{}))
	t.Cleanup(func() { s.Close() })
	return s
}

// file writes a session to a folder of its own, and opens it.
func file(t testing.TB, data string) *Session {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(os.WriteFile(name, []byte(data), 0o600))
	return reopen(t, name)
}

func reopen(t testing.TB, name string) *Session {
	t.Helper()
	s := must.Get(Open(name, Options{}))
	t.Cleanup(func() { s.Close() })
	return s
}

// mark is a small batch: a label and a note below record parent.
func mark(s *Session, parent int) *Batch {
	b := s.NewBatch(parent, batchTime)
	b.Add(jsonl.Label, jsonl.Field{Name: "targetId", Value: jsonl.Value(`"aa"`)}, jsonl.Field{Name: "label", Value: jsonl.Value(`"mark"`)})
	b.Add(jsonl.CustomEntry, jsonl.Field{Name: "customType", Value: jsonl.Value(`"test"`)}, jsonl.Field{Name: "data", Value: jsonl.Value(`{"n":1.50,"s":"\u00e9 é"}`)})
	return b
}

// hashID is the rule for ids (docs/design.md), said a second time.
func hashID(parent, line string, clashes int) string {
	sum := sha256.Sum256([]byte(parent + "\n" + line + strings.Repeat("\n", clashes)))
	return hex.EncodeToString(sum[:])[:8]
}

// TestBatchLines: the spelling of a batch, to the byte.
func TestBatchLines(t *testing.T) {
	s := read(t, base)
	b := mark(s, s.Leaf())
	label := hashID("bb", `{"type":"label","timestamp":"2026-02-03T04:05:06.789Z","targetId":"aa","label":"mark"}`, 0)
	note := hashID(label, `{"type":"custom","customType":"test","data":{"n":1.50,"s":"\u00e9 é"},"timestamp":"2026-02-03T04:05:06.789Z"}`, 0)
	want := `{"type":"label","id":"` + label + `","parentId":"bb","timestamp":"2026-02-03T04:05:06.789Z","targetId":"aa","label":"mark"}` + "\n" +
		`{"type":"custom","customType":"test","data":{"n":1.50,"s":"\u00e9 é"},"id":"` + note + `","parentId":"` + label + `","timestamp":"2026-02-03T04:05:06.789Z"}` + "\n"
	if got := string(b.Lines()); got != want || b.Len() != 2 {
		t.Errorf("%d entries\n%s\nwant 2\n%s", b.Len(), got, want)
	}
	other := read(t, base)
	if again := mark(other, other.Leaf()); string(again.Lines()) != want {
		t.Errorf("made again it is\n%s", again.Lines())
	}
	if root := string(mark(s, -1).Lines()); !strings.Contains(root, `"parentId":null,`) {
		t.Errorf("a new root is\n%s", root)
	}
}

// TestBatchTime: a batch is not older than what it follows, and times are spelled
// as pi does.
func TestBatchTime(t *testing.T) {
	for _, c := range []struct{ parent, now, want string }{
		{`"2026-01-01T00:00:02.000Z"`, "2026-01-01T00:00:02.001Z", "2026-01-01T00:00:02.001Z"},
		{`"2026-01-01T00:00:02.000Z"`, "2026-01-01T00:00:01.999Z", "2026-01-01T00:00:02.000Z"},
		{`"2026-01-01T02:00:02.5+01:00"`, "2026-01-01T00:00:00Z", "2026-01-01T01:00:02.500Z"},
		{`"soon"`, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"},
		{`null`, "2026-01-01T00:00:00+02:00", "2025-12-31T22:00:00.000Z"},
	} {
		s := read(t, baseHeader+baseA+strings.Replace(baseB, `"2026-01-01T00:00:02.000Z"`, c.parent, 1))
		now := must.Get(time.Parse(time.RFC3339, c.now))
		b := s.NewBatch(s.Leaf(), now)
		b.Add(jsonl.SessionInfo)
		if got := jsonl.Value(b.Lines()).Get("timestamp").Text(); got != c.want {
			t.Errorf("below %s at %s: %s, want %s", c.parent, c.now, got, c.want)
		}
	}
}

// TestBatchParents: a parent's id is spelled as the parent spells it, which for pi
// decides whether it is found.
func TestBatchParents(t *testing.T) {
	for _, id := range []string{`"bb"`, `7`, `"7"`, `"\u00e9\ud800"`, `"a\"b"`} {
		s := read(t, baseHeader+baseA+strings.Replace(baseB, `"bb"`, id, 1))
		b := mark(s, s.Leaf())
		if got := jsonl.Value(b.Lines()).Get("parentId"); string(got) != id || b.err != nil {
			t.Errorf("below %s: parentId %s, %v", id, got, b.err)
		}
		after := read(t, base[:len(base)-len(baseB)]+strings.Replace(baseB, `"bb"`, id, 1)+string(b.Lines()))
		if path, _ := after.Path(after.Leaf()); len(path) != 4 {
			t.Errorf("below %s: a path of %d entries, want 4", id, len(path))
		}
	}
}

// TestBatchIDs: an id that is in use anywhere in the file or the batch is not given
// again.
func TestBatchIDs(t *testing.T) {
	line := `{"type":"session_info","timestamp":"2026-02-03T04:05:06.789Z","name":"n"}`
	name := jsonl.Field{Name: "name", Value: jsonl.Value(`"n"`)}
	var taken []string
	data := base
	for clashes := range 3 {
		want := hashID("aa", line, clashes)
		s := read(t, data)
		if got := s.NewBatch(1, batchTime).Add(jsonl.SessionInfo, name); got != want {
			t.Errorf("%d clashes: id %s, want %s", clashes, got, want)
		}
		// The next time it is in use: on another branch, and of a record that cannot be reached.
		taken = append(taken, want)
		clash := strings.Replace(baseB, `"bb"`, `"`+want+`"`, 1)
		data = baseHeader + baseA + clash + strings.Replace(data, baseHeader+baseA, "", 1) + clash
	}
	b := read(t, base).NewBatch(1, batchTime)
	b.names.Take(taken[0])
	b.names.Take(taken[1])
	if got := b.Add(jsonl.SessionInfo, name); got != taken[2] {
		t.Errorf("in use in the batch: id %s, want %s", got, taken[2])
	}
	s := read(t, base)
	b = s.NewBatch(s.Leaf(), batchTime)
	given := map[string]bool{}
	for range 2000 {
		given[b.Add(jsonl.SessionInfo, name)] = true
	}
	if len(given) != 2000 {
		t.Errorf("2000 entries have %d ids", len(given))
	}
}

// TestBatchKeyOrder: pi's order of keys, kind by kind (docs/session-format.md
// 3.2, 3.3).
func TestBatchKeyOrder(t *testing.T) {
	for _, c := range []struct {
		kind jsonl.Kind
		keys string
	}{
		{jsonl.User, "type,id,parentId,timestamp,message"},
		{jsonl.System, "type,id,parentId,timestamp,message"},
		{jsonl.ThinkingChange, "type,id,parentId,timestamp,thinkingLevel"},
		{jsonl.ModelChange, "type,id,parentId,timestamp,provider,modelId"},
		{jsonl.Compaction, "type,id,parentId,timestamp,summary,firstKeptEntryId,tokensBefore,details,usage,fromHook,systemMessage"},
		{jsonl.BranchSummary, "type,id,parentId,timestamp,fromId,summary,details,usage,fromHook"},
		{jsonl.CustomEntry, "type,customType,data,id,parentId,timestamp"},
		{jsonl.CustomMessage, "type,customType,content,display,details,id,parentId,timestamp"},
		{jsonl.Label, "type,id,parentId,timestamp,targetId,label"},
		{jsonl.SessionInfo, "type,id,parentId,timestamp,name"},
		{jsonl.UsageEntry, "type,id,parentId,timestamp,kind,provider,model,usage,note"},
		{jsonl.ContextEdit, "type,id,parentId,timestamp,targetId,replacement"},
		{jsonl.Transform, "type,schemaVersion,transformerName,patch,display,id,parentId,timestamp"},
		{jsonl.Ephemeral, "type,messages,id,parentId,timestamp"},
	} {
		s := read(t, base)
		b := s.NewBatch(s.Leaf(), batchTime)
		var fields []jsonl.Field
		for _, name := range strings.Split(c.keys, ",") {
			if !slices.Contains([]string{"type", "id", "parentId", "timestamp"}, name) {
				fields = append(fields, jsonl.Field{Name: name, Value: jsonl.Value(`{"role":"user"}`)}, jsonl.Field{Name: "absent", Value: nil})
			}
		}
		if c.kind == jsonl.System {
			fields[0].Value = jsonl.Value(`{"role":"system"}`)
		}
		b.Add(c.kind, fields...)
		var keys []string
		for key := range jsonl.Value(jsonl.Trim(b.Lines())).Members {
			keys = append(keys, string(key))
		}
		if got := strings.Join(keys, ","); got != c.keys || b.err != nil {
			t.Errorf("%s: %s, %v; want %s", c.kind, got, b.err, c.keys)
		}
		if after := read(t, base+string(b.Lines())); after.Kind(after.Leaf()) != c.kind {
			t.Errorf("%s reads as %s", c.kind, after.Kind(after.Leaf()))
		}
	}
}

// TestLastActivity: what batches added does not count, by the ids of its entries, and what has no
// time of its own is not known.
func TestLastActivity(t *testing.T) {
	const (
		second = 1767225602000 // of baseB
		note   = `{"type":"custom","customType":"x","id":"cc","parentId":"bb","timestamp":"2026-01-01T00:00:03.000Z"}` + "\n"
	)
	with := func(data string) string {
		s := read(t, data)
		b := mark(s, s.Leaf())
		b.Add(jsonl.Compaction, jsonl.Field{Name: "summary", Value: jsonl.Value(`"s"`)}, jsonl.Field{Name: "firstKeptEntryId", Value: OwnID})
		return data + string(b.Lines())
	}
	for _, c := range []struct {
		name, data string
		want       int64 // 0 for none
	}{
		{"entries", base, second},
		{"a batch", with(base), second},
		{"a batch, CRLF", strings.ReplaceAll(with(base), "\n", "\r\n"), second},
		{"two batches", with(with(base)), second},
		{"another's entry after it", with(base) + note, second + 1000},
		{"another's entry before it", with(base + note), second + 1000},
		{"a batch that was changed", strings.Replace(with(base), `"s":"\u00e9 é"`, `"s":"e"`, 1), batchTime.UnixMilli()},
		{"its last entry was changed", strings.Replace(with(base), `"summary":"s"`, `"summary":"t"`, 1), batchTime.UnixMilli()},
		{"no time", base + `{"type":"custom","customType":"x","id":"cc","parentId":"bb"}` + "\n", 0},
		{"an invalid time", strings.Replace(base, "00:00:02.000Z", "soon", 1), 0},
		{"an incomplete line", base + note[:40], 0},
		{"a line without its end", strings.TrimSuffix(base, "\n"), 0},
		{"a broken line", base + note[:40] + "\n", 0},
		{"version 1", `{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"B"}}
`, second},
		{"version 1 without times", `{"type":"session","id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","message":{"role":"user","content":"B"}}
`, 0},
	} {
		if got, ok := read(t, c.data).LastActivity(); got != c.want || ok != (c.want != 0) {
			t.Errorf("%s: %d, %v; want %d", c.name, got, ok, c.want)
		}
	}
}
