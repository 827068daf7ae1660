package claude_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// made makes a transcript of short lines: uuid, parent (- for none), what it is, and more.
// Anything else is a line as it stands.
func made(short string) string {
	var b strings.Builder
	for n, s := range strings.Split(strings.TrimSpace(short), "\n") {
		s = strings.TrimSpace(s)
		if strings.HasPrefix(s, "{") {
			b.WriteString(s + "\n")
			continue
		}
		f := strings.Fields(s + " . .")
		parent := `"` + f[1] + `"`
		if f[1] == "-" {
			parent = "null"
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":%t,"sessionId":"s1","version":"2.1.17","uuid":"%s","timestamp":"2026-01-01T00:00:%02d.000Z",`, parent, strings.HasPrefix(f[0], "side"), f[0], n)
		usage := fmt.Sprintf(`"stop_reason":"end_turn","usage":{"input_tokens":1,"cache_read_input_tokens":2,"cache_creation_input_tokens":3,"output_tokens":%d}`, n)
		switch f[2] {
		case "user":
			fmt.Fprintf(&b, `"type":"user","message":{"role":"user","content":"%s"}}`, f[3])
		case "summary":
			fmt.Fprintf(&b, `"type":"user","isCompactSummary":true,"message":{"role":"user","content":"%s"}}`, f[3])
		case "text":
			fmt.Fprintf(&b, `"type":"assistant","message":{"id":"%s","role":"assistant","model":"claude-x","content":[{"type":"text","text":"%s"}],%s}}`, f[3], f[4], usage)
		case "sized":
			fmt.Fprintf(&b, `"type":"assistant","message":{"id":"%s","role":"assistant","model":"claude-%s","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"cache_read_input_tokens":%s}}}`, f[3], f[5], f[4])
		case "resumed":
			fmt.Fprintf(&b, `"type":"assistant","message":{"id":"%s","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}`, f[0])
		case "call":
			fmt.Fprintf(&b, `"type":"assistant","message":{"id":"%s","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"%s","name":"T","input":{}}],%s}}`, f[3], f[4], usage)
		case "result":
			var all []string
			for _, id := range strings.Split(f[3], ",") {
				all = append(all, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"%s","content":"out"}`, id))
			}
			fmt.Fprintf(&b, `"type":"user","message":{"role":"user","content":[%s]},"toolUseResult":{}}`, strings.Join(all, ","))
		case "attachment":
			fmt.Fprintf(&b, `"type":"attachment","attachment":{"type":"%s","content":"x"}}`, f[3])
		case "progress":
			b.WriteString(`"type":"progress","data":{}}`)
		case "system":
			fmt.Fprintf(&b, `"type":"system","subtype":"%s",%s}`, f[3], strings.TrimSuffix(strings.Join(f[4:], " "), " . ."))
		}
		b.WriteString("\n")
	}
	return strings.ReplaceAll(b.String(), ", . .}", `"x":1}`)
}

// rules are transcripts, the path of their leaf, what is sent there, and the findings.
var rules = []struct{ name, lines, path, sent, findings string }{
	{
		"lines of one answer are one entry, and parallel results follow it",
		`u1 - user hi
		a1 u1 text m1 one
		c1 a1 call m1 t1
		c2 c1 call m1 t2
		r1 c1 result t1
		p1 r1 progress
		r2 c2 result t2
		u2 p1 user on`,
		"u1 a1 r1 r2 u2", "hi one+T+T out+out+on", "",
	}, {
		"results of one record are entries of their own",
		`u1 - user hi
		c1 u1 call m1 t1
		c2 c1 call m1 t2
		r1 c2 result t1,t2
		a2 r1 text m2 done`,
		"u1 c1 r1 r1.1 a2", "hi T+T out+out done", "",
	}, {
		"what a record holds beside a result follows it",
		`u1 - user hi
		c1 u1 call m1 t1
		{"parentUuid":"c1","uuid":"r1","sessionId":"s1","version":"2.1.17","type":"user","message":{"role":"user","content":[{"type":"text","text":"note"},{"type":"tool_result","tool_use_id":"t1","content":"out"}]}}
		a2 r1 text m2 done
		b1 - system compact_boundary "compactMetadata":{"preservedMessages":{"uuids":["c1","r1"]}}
		s1 b1 summary sum
		u2 s1 user on`,
		"u1 c1 r1 r1.1 a2 b1 u2", "sum T out+note+on", "hidden-attachments",
	}, {
		"what hooks leave beside a call and its result is on the path, and sends nothing",
		`u1 - user hi
		c1 u1 call m1 t1
		h1 c1 attachment hook_success
		c2 c1 call m1 t2
		r1 c1 result t1
		h2 r1 attachment hook_success
		r2 c2 result t2
		a2 r2 text m2 done`,
		"u1 c1 h1 r1 h2 r2 a2", "hi T+T out+out done", "",
	}, {
		"a rewind leaves a branch",
		`u1 - user hi
		a1 u1 text m1 one
		u2 u1 user again
		a2 u2 text m2 two`,
		"u1 u2 a2", "hi+again two", "",
	}, {
		"a recorded leaf on another branch is the leaf, one above the last is not",
		`u1 - user hi
		a1 u1 text m1 one
		h1 a1 system turn_duration "x":1
		u2 u1 user again
		a2 u2 text m2 two
		{"type":"last-prompt","leafUuid":"u1","sessionId":"s1"}
		{"type":"last-prompt","leafUuid":"a1","sessionId":"s1"}`,
		"u1 a1 h1", "hi one", "",
	}, {
		"a recorded leaf that the user chose is the leaf",
		`u1 - user hi
		a1 u1 text m1 one
		u2 a1 user on
		{"type":"last-prompt","leafUuid":"a1","explicit":true,"sessionId":"s1"}`,
		"u1 a1", "hi one", "",
	}, {
		"a compaction replaces what came before it",
		`u1 - user hi
		a1 u1 text m1 one
		b1 - system compact_boundary "logicalParentUuid":"a1","compactMetadata":{}
		s1 b1 summary sum
		u2 s1 user on`,
		"u1 a1 b1 u2", "sum+on", "hidden-attachments",
	}, {
		"kept messages follow the summary, also where they are written after it",
		`u1 - user hi
		a1 u1 text m1 one
		u2 a1 user more
		b1 - system compact_boundary "compactMetadata":{"preservedMessages":{"anchorUuid":"s1","uuids":["a1","u2","a2"]}}
		s1 b1 summary sum
		a2 s1 text m2 two
		u3 a2 user on`,
		"u1 a1 u2 a2 b1 u3", "sum one more two on", "hidden-attachments",
	}, {
		"a segment is kept from its head to its tail",
		`u1 - user hi
		a1 u1 text m1 one
		u2 a1 user more
		a2 u2 text m2 two
		b1 - system compact_boundary "compactMetadata":{"preservedSegment":{"headUuid":"u2","anchorUuid":"s1","tailUuid":"a2"}}
		s1 b1 summary sum
		u3 a2 user on`,
		"u1 a1 u2 a2 b1 u3", "sum+more two on", "hidden-attachments",
	}, {
		"a segment that reaches back over a compaction has what that kept",
		`u1 - user hi
		a1 u1 text m1 one
		u2 a1 user more
		a2 u2 text m2 two
		b1 - system compact_boundary "compactMetadata":{"preservedSegment":{"headUuid":"u2","anchorUuid":"s1","tailUuid":"a2"}}
		s1 b1 summary sum
		u3 a2 user on
		a3 u3 text m3 three
		b2 - system compact_boundary "compactMetadata":{"preservedSegment":{"headUuid":"a2","anchorUuid":"s2","tailUuid":"a3"}}
		s2 b2 summary again
		u4 a3 user end`,
		"u1 a1 u2 a2 b1 u3 a3 b2 u4", "again two on three end", "hidden-attachments hidden-attachments",
	}, {
		"a segment that reaches back over a compaction's summary keeps nothing",
		`u1 - user hi
		a1 u1 text m1 one
		u2 a1 user more
		a2 u2 text m2 two
		b1 - system compact_boundary "compactMetadata":{"preservedSegment":{"headUuid":"u2","anchorUuid":"s1","tailUuid":"a2"}}
		s1 b1 summary sum
		u3 s1 user on
		a3 u3 text m3 three
		b2 - system compact_boundary "compactMetadata":{"preservedSegment":{"headUuid":"u2","anchorUuid":"s2","tailUuid":"a3"}}
		s2 b2 summary again
		u4 s2 user end`,
		"u1 a1 u2 a2 b1 u3 a3 b2 u4", "again+end", "hidden-attachments hidden-attachments kept-unresolved",
	}, {
		"attachments may stand between a compaction and its summary",
		`u1 - user hi
		b1 - system compact_boundary "compactMetadata":{}
		t1 b1 attachment date
		s1 t1 summary sum
		u2 s1 user on`,
		"u1 b1 u2", "sum+on", "hidden-attachments",
	}, {
		"messages that two compactions name are kept by both",
		`u1 - user hi
		a1 u1 text m1 one
		b1 - system compact_boundary "compactMetadata":{"preservedMessages":{"uuids":["u1","a1"]}}
		s1 b1 summary sum
		u2 a1 user on
		b2 - system compact_boundary "compactMetadata":{"preservedMessages":{"uuids":["a1","u2"]}}
		s2 b2 summary again
		u3 u2 user end`,
		"u1 a1 b1 u2 b2 u3", "again one on+end", "hidden-attachments hidden-attachments",
	}, {
		"a file that begins with what a compaction kept was rewritten",
		`u1 gone user hi
		b1 - system compact_boundary "compactMetadata":{"preservedMessages":{"uuids":["u1"]}}
		s1 b1 summary sum
		u2 s1 user on`,
		"u1 b1 u2", "sum+hi+on", "hidden-attachments rewritten",
	}, {
		"so was one whose compactions dropped more than it shows",
		`u1 - user hi
		b1 - system compact_boundary "compactMetadata":{"preTokens":900,"postTokens":100,"cumulativeDroppedTokens":801}
		s1 b1 summary sum
		u2 s1 user on
		b2 - system compact_boundary "compactMetadata":{"preTokens":900,"postTokens":100,"cumulativeDroppedTokens":1601}
		s2 b2 summary more`,
		"u1 b1 u2 b2", "more", "hidden-attachments hidden-attachments rewritten",
	}, {
		"a kept message that is nowhere leaves the summary alone",
		`u1 - user hi
		b1 - system compact_boundary "compactMetadata":{"preservedMessages":{"uuids":["u1","gone"]}}
		s1 b1 summary sum
		u3 s1 user on`,
		"u1 b1 u3", "sum+on", "hidden-attachments kept-unresolved",
	}, {
		"a boundary with a parent does not cut",
		`u1 - user hi
		b1 u1 system compact_boundary "compactMetadata":{}
		s1 b1 summary sum`,
		"u1 b1 s1", "hi+sum", "",
	}, {
		"results that were cleared are sent without their text",
		`u1 - user hi
		c1 u1 call m1 t1
		r1 c1 result t1
		b1 r1 system microcompact_boundary "microcompactMetadata":{"compactedToolIds":["t1","t9"],"clearedAttachmentUUIDs":[]}
		u2 b1 user on`,
		"u1 c1 r1 b1 b1.1 u2", "hi T -+on", "",
	}, {
		"removed messages are not sent",
		`u1 - user hi
		a1 u1 text m1 one
		u2 a1 user more
		b1 u2 system snip_boundary "snipMetadata":{"removedUuids":["u1","a1"]}
		u3 b1 user on`,
		"u1 a1 u2 b1 b1.1 u3", "more+on", "",
	}, {
		"another text is sent for a result",
		`u1 - user hi
		c1 u1 call m1 t1
		r1 c1 result t1
		{"type":"content-replacement","sessionId":"s1","replacements":[{"kind":"tool-result","toolUseId":"t1","replacement":"short"}]}`,
		"u1 c1 r1 +", "hi T short", "",
	}, {
		"what follows the result follows the other text, and the first one counts",
		`u1 - user hi
		c1 u1 call m1 t1
		r1 c1 result t1
		{"type":"content-replacement","sessionId":"s1","replacements":[{"kind":"tool-result","toolUseId":"t1","replacement":"short"}]}
		a2 r1 text m2 two
		{"type":"content-replacement","sessionId":"s1","replacements":[{"kind":"tool-result","toolUseId":"t1","replacement":"shorter"}]}
		u2 a2 user on`,
		"u1 c1 r1 + a2 u2", "hi T short two on", "",
	}, {
		"after kept messages, what follows a message that was not kept follows them",
		`u1 - user hi
		a1 u1 text m1 one
		u2 a1 user more
		b1 - system compact_boundary "compactMetadata":{"preservedMessages":{"anchorUuid":"s1","uuids":["u2"]}}
		s1 b1 summary sum
		u3 a1 user on`,
		"u1 a1 u2 b1 u3", "sum+more+on", "hidden-attachments",
	}, {
		"a resume of old versions has the parent chain only",
		`u1 - user hi
		c1 u1 call m1 t1
		c2 c1 call m1 t2
		c3 c2 call m1 t3
		r1 c1 result t1
		r3 c3 result t3
		r2 c2 result t2
		x1 r2 resumed
		u2 x1 user on`,
		"u1 c1 r1 r3 r2 x1 x1.1 x1.2 x1.3 u2", "hi T+T out No_response_requested. on", "resumed",
	}, {
		"a request that is smaller than the one it extends may have lost results",
		`u1 - user hi
		a1 u1 sized m1 90000 x
		u2 a1 user more
		a2 u2 sized m2 80000 x
		u3 a2 user on`,
		"u1 a1 u2 a2 u3", "hi x more x on", "maybe-cleared",
	}, {
		"not where the model is another one, or a record tells what was cleared",
		`u1 - user hi
		a1 u1 sized m1 90000 x
		a2 a1 sized m2 80000 y
		b1 a2 system microcompact_boundary "microcompactMetadata":{"clearedAttachmentUUIDs":["u1"]}
		a3 b1 sized m3 70000 y`,
		"u1 a1 a2 b1 a3", "x x x", "",
	}, {
		"a lost line is bridged",
		`u1 - user hi
		a1 u1 text m1 one
		h1 lost system stop_hook_summary "x":1
		u2 h1 user on`,
		"u1 a1 h1 u2", "hi one on", "bridged",
	}, {
		"a lost beginning is not",
		`u1 lost user hi
		a1 u1 text m1 one`,
		"u1 a1", "hi one", "incomplete",
	}, {
		"a repeated record has the first place and the last value",
		`u1 - user hi
		a1 u1 text m1 one
		u1 - user ho
		u2 a1 user on`,
		"u1 a1 u2", "ho one on", "repeated",
	}, {
		"a sub-agent's records are not the leaf, unless there are no others",
		`side1 - user task
		side2 side1 text m1 done`,
		"side1 side2", "task done", "",
	}, {
		"records of a sub-agent in a session are a tree of their own",
		`u1 - user hi
		side1 - user task
		side2 side1 text m1 done`,
		"u1", "hi", "",
	}, {
		"attachments are on the path, and sent in words that the file does not have",
		`u1 - user hi
		t1 u1 attachment skill_listing
		a1 t1 text m1 one`,
		"u1 t1 a1", "hi one", "",
	},
}

func TestRules(t *testing.T) {
	for _, test := range rules {
		t.Run(test.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x.jsonl")
			must.Do(os.WriteFile(name, []byte(made(test.lines)), 0o600))
			s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
			defer s.Close()
			var path, codes []string
			records, _ := s.Path(s.Leaf())
			for _, i := range records {
				id := s.ID(i)
				if len(id) == 8 { // made
					id = "+"
				}
				path = append(path, id)
			}
			for _, f := range s.Findings {
				codes = append(codes, f.Code)
			}
			for _, f := range check.File(name, check.Options{}).Findings {
				if f.Code == "maybe-cleared" {
					codes = append(codes, f.Code)
				}
			}
			slices.Sort(codes)
			if got := strings.Join(path, " "); got != test.path {
				t.Errorf("path %s, want %s", got, test.path)
			}
			if got := sent(t, s); got != test.sent {
				t.Errorf("sent %s, want %s", got, test.sent)
			}
			if got := strings.Join(codes, " "); got != test.findings {
				t.Errorf("findings %s, want %s", got, test.findings)
			}
		})
	}
}

// TestSniff: a transcript is known by its first object, whatever damage comes before it.
func TestSniff(t *testing.T) {
	for _, test := range []struct {
		begins string
		is     bool
	}{
		{"", true},
		{"\ufeff", true},
		{"{\"parentUu\n", true},
		{"\x00\x00", true},
		{"\n\n", true},
		{`{"type":"summary","summary":"x","leafUuid":"y"}` + "\n", true},
		{`{"type":"queue-operation","operation":"enqueue","sessionId":"s"}` + "\n", true},
		{`{"type":"session","version":3,"id":"s"}` + "\n", false},
		{`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"x"}}` + "\n", false},
	} {
		s, err := sessionfmt.OpenReader("x.jsonl", strings.NewReader(test.begins+made("u1 - user hi")), sessionfmt.Options{})
		if err != nil {
			t.Fatalf("%q: %v", test.begins, err)
		}
		if is := s.Dialect() != nil && s.Dialect().Name == "claude"; is != test.is {
			t.Errorf("%q: %t", test.begins, is)
		}
		s.Close()
	}
}

// sent is what the agent sends at the leaf: texts, tools that are called, and results, - for
// one whose text is not in the file. Newlines are left out.
func sent(t *testing.T, s *sessionfmt.Session) string {
	e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf())))
	var all []string
	for item, err := range e.Native() {
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		content := item.Get("content")
		if content.IsString() {
			parts = append(parts, content.Text())
		}
		for b := range content.Elements {
			parts = append(parts, says(b))
		}
		all = append(all, strings.ReplaceAll(strings.Join(parts, "+"), "\n", ""))
	}
	return strings.Join(all, " ")
}

func says(b jsonl.Value) string {
	for _, name := range []string{"text", "name", "content"} {
		if v := b.Get(name); v.IsString() {
			return strings.ReplaceAll(v.Text(), " ", "_")
		}
	}
	return "-"
}
