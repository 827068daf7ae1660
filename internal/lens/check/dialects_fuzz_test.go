package check

import (
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// seeds are small sessions with what arrangers treat in their own way.
var seeds = map[string]string{
	"codex": `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s1","cwd":"/work","cli_version":"0.169.0","base_instructions":{"text":"Be brief."}}}
{"timestamp":"2026-01-01T00:00:01Z","type":"turn_context","payload":{"model":"gpt-5.5"}}
{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"message","id":"u1","role":"user","content":[{"type":"input_text","text":"a"}]}}
{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"function_call","id":"f1","name":"t","call_id":"c1","arguments":"{}"}}
{"timestamp":"2026-01-01T00:00:03Z","type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":9,"output_tokens":1}}}
{"timestamp":"2026-01-01T00:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"x"}}
{"timestamp":"2026-01-01T00:00:05Z","type":"compacted","payload":{"message":"s"}}
{"timestamp":"2026-01-01T00:00:06Z","type":"response_item","payload":{"type":"message","id":"u2","role":"user","content":[{"type":"input_text","text":"b"}]}}
{"timestamp":"2026-01-01T00:00:07Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":2}}
{"timestamp":"2026-01-01T00:00:08Z","type":"moon","payload":{}}
`,
	"claude": `{"type":"file-history-snapshot","messageId":"u1"}
{"parentUuid":null,"type":"user","message":{"role":"user","content":"a"},"uuid":"u1","sessionId":"s1","version":"2.1.12","timestamp":"2026-01-01T00:00:00Z"}
{"parentUuid":"u1","type":"assistant","message":{"id":"m1","role":"assistant","model":"claude","content":[{"type":"tool_use","id":"c1","name":"t","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":1}},"uuid":"a1","sessionId":"s1","timestamp":"2026-01-01T00:00:01Z"}
{"parentUuid":"a1","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]},"uuid":"u2","sessionId":"s1","timestamp":"2026-01-01T00:00:02Z"}
{"parentUuid":null,"logicalParentUuid":"u2","type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preservedMessages":{"anchorUuid":"s","uuids":["u2"]}},"uuid":"b1","sessionId":"s1","timestamp":"2026-01-01T00:00:03Z"}
{"parentUuid":"b1","type":"user","isCompactSummary":true,"message":{"role":"user","content":"s"},"uuid":"s","sessionId":"s1","timestamp":"2026-01-01T00:00:04Z"}
{"parentUuid":"s","type":"system","subtype":"snip_boundary","snipMetadata":{"removedUuids":["u2"]},"uuid":"p1","sessionId":"s1","timestamp":"2026-01-01T00:00:05Z"}
{"type":"last-prompt","leafUuid":"s","sessionId":"s1"}
`,
}

// samples are the seeds, and the samples of all agents.
func samples() (all []corpus.Session) {
	for _, agent := range slices.Sorted(maps.Keys(seeds)) {
		all = append(all, corpus.Session{Name: agent, Data: []byte(seeds[agent])})
	}
	must.Do(filepath.WalkDir("../../../testdata/dialects", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.Ext(name), ".json") {
			return err
		}
		data, err := os.ReadFile(name)
		all = append(all, corpus.Session{Name: name, Data: data})
		return err
	}))
	return all
}

// FuzzDialects reads whatever comes as a session of any agent. Where fuzzing is asked for it also
// starts from damaged samples: few and short ones, since all of them are read before it begins.
// TestDialectsDamage has more of them.
func FuzzDialects(f *testing.F) {
	const most = 4 << 10
	fuzzing := flag.Lookup("test.fuzz").Value.String() != ""
	random := rand.New(rand.NewPCG(1, 53))
	for _, c := range samples() {
		f.Add(c.Data)
		for k := 0; fuzzing && k < 6; k++ {
			f.Add(broken(c.Data[:min(len(c.Data), most)], random))
		}
	}
	for _, c := range corpus.Foreign(f) {
		if len(c.Data) <= 2*most || !fuzzing && len(c.Data) <= 4*most {
			f.Add(c.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { reads(t, "fuzzed", data) })
}

// TestDialectsDamage reads sessions of other agents that are cut, spliced or overwritten.
func TestDialectsDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 53))
	for _, c := range append(corpus.Foreign(t), samples()...) {
		for range 30 {
			reads(t, c.Name, broken(c.Data[:min(len(c.Data), 200<<10)], random))
		}
	}
}

// broken returns data damaged or spliced, and cut.
func broken(data []byte, random *rand.Rand) []byte {
	if random.IntN(2) == 0 {
		data = damage(data, random.Uint64())
		return data[:random.IntN(len(data)+1)]
	}
	return splice(data, random)
}

// splice copies short pieces of data over others, and cuts it.
func splice(data []byte, random *rand.Rand) []byte {
	data = bytes.Clone(data)
	for range 1 + random.IntN(3) {
		from, to, n := random.IntN(len(data)), random.IntN(len(data)), random.IntN(40)
		copy(data[from:], data[to:min(to+n, len(data))])
	}
	return data[:random.IntN(len(data)+1)]
}

// reads reads a session: it gives a context or an error, its entries are JSON, and the same in
// any order, its findings are checks and name lines of the file.
func reads(t *testing.T, name string, data []byte) {
	s, err := sessionfmt.OpenReader(name, bytes.NewReader(data), sessionfmt.Options{Times: true})
	if err != nil {
		return
	}
	defer s.Close()
	lines, back := s.NewReader(), s.NewReader()
	shown := make([]string, s.Len())
	for rec := range s.Len() {
		for _, read := range []func(int) (jsonl.Value, error){lines.Native, lines.Line} {
			line, err := read(rec)
			if err == nil {
				_, err = jsonl.ParseValue(line)
			}
			if err != nil {
				t.Fatalf("%s: %v: %s", s.Pos(rec), err, line)
			}
			shown[rec] = string(line)
		}
	}
	for rec := s.Len() - 1; rec >= 0; rec-- {
		if line, err := back.Line(rec); err != nil || string(line) != shown[rec] {
			t.Fatalf("%s: %v: %s\nbefore: %s", s.Pos(rec), err, line, shown[rec])
		}
	}
	r := replay.New(s, replay.Options{})
	if e, err := r.At(sessionfmt.After(s.Leaf())); err == nil {
		for _, err := range e.Native() {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	} else if !replay.Stopped(err) {
		t.Errorf("%s: %v", name, err)
	}
	most := bytes.Count(data, []byte{'\n'}) + 1
	for _, f := range s.Findings {
		if Find(f.Code) == nil && f.Code != "more" || f.Line < 0 || f.Line > most {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
