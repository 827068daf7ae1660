package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// printAll prints every form of the envelope at the leaf, under both rules,
// strict and lenient, and sees that what should be JSON is.
func printAll(t *testing.T, data []byte) {
	s := open(t, corpus.Session{Data: data})
	if s == nil {
		return
	}
	for _, rules := range bothRules {
		for _, lenient := range []bool{false, true} {
			e, err := replay.New(s, replay.Options{Rules: rules, Lenient: lenient}).At(sessionfmt.After(s.Leaf()))
			if err != nil {
				continue
			}
			if e, err = e.WithEphemeral(); err != nil {
				t.Fatal(err)
			}
			for _, f := range Formats {
				text := printed(f.Name, Report{Envelope: e, Provenance: true, Ephemeral: true})
				if f.Name == "json" || f.Name == "context" || f.Name == "llm" {
					// The standard library reads to a depth of 10,000 only.
					if !json.Valid(text) && !bytes.Contains(data, bytes.Repeat([]byte{'['}, 5000)) {
						t.Fatalf("%s, rules %s: not JSON: %.400q", f.Name, rules, text)
					}
				}
			}
		}
	}
}

// FuzzReplay: whatever a file holds, a replay ends, and what it prints is whole.
func FuzzReplay(f *testing.F) {
	for _, c := range corpus.Small(f) {
		f.Add(c.Data)
	}
	f.Fuzz(printAll)
}

// FuzzPatch: whatever a patch says.
func FuzzPatch(f *testing.F) {
	for _, patch := range []string{
		`[]`, `{}`, `[null]`, `[{"op":"nothing","scope":"cached"}]`,
		`[{"op":"system_part_set","scope":"cached","partName":"a","text":"b","invalidateCacheReason":"r"}]`,
		`[{"op":"system_part_remove","scope":"cached","partName":"a","invalidateCacheReason":"r"}]`,
		`[{"op":"system_parts_replace","scope":"cached","parts":[{"name":"a","text":"b"}],"invalidateCacheReason":"r"}]`,
		`[{"op":"tools_replace","scope":"cached","tools":[{"name":"a","description":"d","parameters":{}}],"invalidateCacheReason":"r"}]`,
		`[{"op":"tools_remove","scope":"cached","toolNames":["a"],"invalidateCacheReason":"r"}]`,
		`[{"op":"messages_cached_replace","scope":"cached","messages":[{"role":"user","content":"x","timestamp":1}],"invalidateCacheReason":"r"}]`,
		`[{"op":"messages_uncached_append","scope":"uncached","messages":[{"role":"user","content":"x","timestamp":1}]}]`,
		`[{"op":"options_set","scope":"cached","temperature":0.5,"invalidateCacheReason":"r"}]`,
		`[{"op":"compaction_apply","scope":"cached","summary":"s","firstKeptMessageIndex":1,"tokensBefore":9,"timestamp":5,"invalidateCacheReason":"r"}]`,
	} {
		f.Add(patch)
	}
	f.Fuzz(func(t *testing.T, patch string) {
		var b bytes.Buffer
		io.WriteString(&b, `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n")
		parent := "null"
		for k, entry := range []string{
			`"type":"message","message":{"role":"system","content":"c","sections":{"a":"b"},"toolsAdded":[{"name":"a","description":"d","parameters":{}}],"timestamp":1}`,
			`"type":"message","message":{"role":"user","content":"x","timestamp":1}`,
			`"type":"context_transform","schemaVersion":1,"transformerName":"t","patch":` + patch,
			`"type":"message","message":{"role":"user","content":"y","timestamp":1}`,
			`"type":"context_transform","schemaVersion":1,"transformerName":"t","patch":` + patch,
		} {
			fmt.Fprintf(&b, `{"id":"%08x","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",%s}`+"\n", k, parent, entry)
			parent = fmt.Sprintf(`"%08x"`, k)
		}
		printAll(t, b.Bytes())
	})
}
