package replay

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
)

// TestPrompting: prompt, tools and options followed along a path of patches, system
// messages and compactions are what folding everything again makes of each place.
func TestPrompting(t *testing.T) {
	for seed := range uint64(corpus.Pick(20, 60)) {
		s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(promptSession(seed)), sessionfmt.Options{}))
		r := New(s, Options{Rules: ByEnvelope})
		again := 0
		for step, err := range r.Walk(s.Leaf()) {
			if err != nil {
				t.Fatal(err)
			}
			m := step.m
			if m.cut != nil && step.Did == Compacted && len(m.prompt.ops) > 0 {
				again++
			}
			deltas := m.current().deltas
			if _, err := m.prompt.follow(r, deltas); err != nil {
				t.Fatal(err)
			}
			want := r.startingPrompt(hasSystem(deltas), prompt.Fold{})
			must.Do(r.NewReader().fold(&want, deltas))
			whole := want.Prompt()
			got, err := m.reader.Prompt(&m.prompt.Current.State)
			if err != nil {
				t.Fatal(err)
			}
			if text := promptText(&got); text != promptText(&whole) || !reflect.DeepEqual(got.Options, whole.Options) {
				t.Fatalf("seed %d, record %d:\n got %s\nwant %s", seed, step.Record, text, promptText(&whole))
			}
		}
		if again == 0 {
			t.Fatalf("seed %d: no compaction brings ops back", seed)
		}
	}
}

func promptText(f *prompt.Prompt) string {
	var b strings.Builder
	for _, p := range f.Parts {
		fmt.Fprintf(&b, "%s=%s %v %v; ", p.Name, p.Text, p.Content, p.Origin)
	}
	for _, t := range f.Tools {
		fmt.Fprintf(&b, "%s %v; ", t.Raw, t.Origin)
	}
	return b.String()
}

// promptSession is a session of few names that are set and removed again and again.
func promptSession(seed uint64) []byte {
	rnd := rand.New(rand.NewPCG(seed, 7))
	name := func() string { return []string{"a", "b", "content", "1", "0"}[rnd.IntN(5)] }
	tool := func() string { return fmt.Sprintf(`{"name":%q,"description":"%d"}`, name(), rnd.IntN(100)) }
	system := func() string {
		return fmt.Sprintf(`{"role":"system","content":%q,"sections":{%q:"s%d"},"toolsAdded":[%s]}`, []string{"", "c"}[rnd.IntN(2)], name(), rnd.IntN(100), tool())
	}
	ops := []func() string{
		func() string {
			return fmt.Sprintf(`{"op":"system_part_set","partName":%q,"text":"t%d"`, name(), rnd.IntN(100))
		},
		func() string { return fmt.Sprintf(`{"op":"system_part_remove","partName":%q`, name()) },
		func() string { return fmt.Sprintf(`{"op":"tools_remove","toolNames":[%q]`, name()) },
		func() string { return fmt.Sprintf(`{"op":"options_set","temperature":%d`, rnd.IntN(9)) },
		func() string {
			return fmt.Sprintf(`{"op":"system_parts_replace","parts":[{"name":%q,"text":"p"},{"name":%q,"text":"q"}]`, name(), name())
		},
		func() string { return fmt.Sprintf(`{"op":"tools_replace","tools":[%s,%s]`, tool(), tool()) },
	}
	kinds := len(ops) - rnd.IntN(3) // half of the sessions replace little
	b := bytes.NewBufferString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}` + "\n")
	parent := "null"
	line := func(i int, fields string) {
		fmt.Fprintf(b, `{"id":"e%d","parentId":%s,"timestamp":"2026-01-01T00:00:00Z",%s}`+"\n", i, parent, fields)
		parent = fmt.Sprintf(`"e%d"`, i)
	}
	for i := range 120 {
		switch rnd.IntN(8) {
		case 0:
			line(i, `"type":"message","message":`+system())
		case 1:
			checkpoint := ""
			if rnd.IntN(2) == 0 {
				checkpoint = `,"systemMessage":` + system()
			}
			line(i, fmt.Sprintf(`"type":"compaction","summary":"s","firstKeptEntryId":"e%d","tokensBefore":1%s`, max(0, i-rnd.IntN(4)), checkpoint))
		default:
			line(i, `"type":"context_transform","schemaVersion":1,"transformerName":"x","patch":[`+ops[rnd.IntN(kinds)]()+`,"scope":"cached","invalidateCacheReason":"r"}]`)
		}
	}
	return b.Bytes()
}
