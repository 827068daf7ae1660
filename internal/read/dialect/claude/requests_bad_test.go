package claude_test

import (
	"encoding/json"
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
)

// A recordedSession is a transcript with two recorded requests, line by line.
type recordedSession []object

func newRecordedSession() (all recordedSession) {
	shape := object{"system": []any{textOf("You are it.")}, "tools": []any{}}
	blob := object{"role": "system", "content": []any{textOf("now")}, "output_config": object{"effort": "low"}}
	first := []any{turnOf("user", textOf("one")), blob}
	second := append(slices.Clone(first), turnOf("assistant", textOf("1")), turnOf("user", textOf("two")))
	chain := func(line [3]string) (o object) {
		must.Do(json.Unmarshal([]byte(newer(line)), &o))
		return o
	}
	return recordedSession{
		{"type": "api-request-shape", "sessionId": "s1", "shapeHash": hashed(shape), "shape": shape},
		{"type": "api-request-blob", "sessionId": "s1", "hash": hashed(blob), "message": blob},
		chain([3]string{"u1", "", said("one")}),
		recordOf("r1", "", 0, shape, first, nil),
		chain([3]string{"a1", "u1", answered("m1", `{"type":"text","text":"1"}`, "")}),
		chain([3]string{"u2", "a1", said("two")}),
		recordOf("r2", "r1", 2, shape, second, nil),
		chain([3]string{"a2", "u2", answered("m2", `{"type":"text","text":"2"}`, "")}),
	}
}

// with returns the record of a request with other fields; nil takes one out.
func with(record object, fields object) object {
	out := object{}
	for name, v := range record {
		out[name] = v
	}
	for name, v := range fields {
		if out[name] = v; v == nil {
			delete(out, name)
		}
	}
	return out
}

// TestUnusableRecords: a record that cannot be rebuilt, or proves nothing, leaves its request to the rule. The reason is
// named where the request is replayed, and by check at the line of the record.
func TestUnusableRecords(t *testing.T) {
	t.Parallel()
	without := func(k int) func(recordedSession) recordedSession {
		return func(s recordedSession) recordedSession { return slices.Delete(s, k, k+1) }
	}
	second := func(fields object) func(recordedSession) recordedSession {
		return func(s recordedSession) recordedSession {
			s[6] = with(s[6], fields)
			return s
		}
	}
	more := func(at int, of func(s recordedSession) object) func(recordedSession) recordedSession {
		return func(s recordedSession) recordedSession { return slices.Insert(s, at, of(s)) }
	}
	marks := slices.Repeat([]any{object{"path": []any{"system", 0}, "value": object{"type": "ephemeral"}}}, 17)
	for _, test := range []struct {
		about string
		do    func(recordedSession) recordedSession
		doubt string // empty for a request that is proved
		lines []int  // where check finds something, from 1
	}{
		{"nothing", func(s recordedSession) recordedSession { return s }, "", nil},
		{"the base", without(3), `the request "r1", which it builds on, is not in the file`, []int{6}},
		{"the blob", without(1), "the request in line 3, which it builds on, cannot be rebuilt", []int{3, 6}},
		{"the shape", without(0), "the request in line 3, which it builds on, cannot be rebuilt", []int{3, 6}},
		{"the shape's hash", second(object{"shapeHash": "ff"}), `its prompt and tools, with the hash "ff", are not in the file`, []int{7}},
		{"the message", func(s recordedSession) recordedSession { s[5]["message"].(object)["content"] = "two?"; return s },
			fmt.Sprintf("no message in the file has the hash %q", hashed(turnOf("user", textOf("two")))), []int{7}},
		{"a hash that is none", second(object{"tail": []any{"zz", 1, nil}}), `no message in the file has the hash "zz"`, []int{7}},
		{"the digest", second(object{"requestDigest": "ff"}), "its digest is not that of what it names", []int{7}},
		{"no digest", second(object{"requestDigest": nil}), "its digest is not that of what it names", []int{7}},
		{"another parameter", second(object{"params": object{"model": "claude-y", "max_tokens": 10}}), "its digest is not that of what it names", []int{7}},
		{"no parameters", second(object{"params": nil}), "params must be an object", []int{7}},
		{"a withheld field", second(object{"requestDigest": "ff", "withheld": []any{"temperature"}}), "its digest does not hold without what it lacks: temperature", []int{7}},
		{"more kept than there is", second(object{"keep": 1 << 40}), "it keeps 1099511627776 messages, and the request that it builds on does not have them", []int{7}},
		{"fewer than none", second(object{"keep": -1}), "it keeps -1 messages, and the request that it builds on does not have them", []int{7}},
		{"kept of nothing", second(object{"base": nil}), "it keeps 2 messages, and the request that it builds on does not have them", []int{7}},
		{"too many marks", second(object{"cacheControl": marks}), "it has more than 16 marks for the cache", []int{7}},
		{"another session", second(object{"sessionId": "s2"}), `it is of the session "s2", and its answer is of "s1"`, []int{7}},
		{"an id twice", more(6, func(s recordedSession) object { return with(s[3], object{"id": "r2"}) }),
			"the record in line 7 has the same id", []int{8}},
		{"two for one answer", more(6, func(s recordedSession) object { return with(s[3], object{"id": "r9"}) }),
			"the record in line 7, of other messages, stands before the same answer", []int{8}},
		{"one that failed, and is sent again", more(6, func(s recordedSession) object {
			return with(s[6], object{"id": "r9", "params": object{"model": "claude-x", "max_tokens": 11}, "requestDigest": "ff"})
		}), "", []int{7}},
		{"an answer that names one of two", func(s recordedSession) recordedSession {
			s[7]["requestRef"] = "r2"
			return slices.Insert(s, 7, with(s[3], object{"id": "r9"}))
		}, "", nil},
	} {
		t.Run(test.about, func(t *testing.T) {
			var text strings.Builder
			for _, o := range test.do(newRecordedSession()) {
				text.WriteString(string(must.Get(json.Marshal(o))) + "\n")
			}
			name := filepath.Join(t.TempDir(), "s.jsonl")
			must.Do(os.WriteFile(name, []byte(text.String()), 0o600))
			s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
			defer s.Close()
			e := must.Get(replay.New(s, replay.Options{}).At(must.Get(s.Point("request:1", s.Leaf()))))
			if r := must.Get(e.Recorded()); r == nil {
				t.Error("no record")
			} else if must.Get(r.Proof()); r.Doubt() != test.doubt {
				t.Errorf("doubt %q, want %q", r.Doubt(), test.doubt)
			}
			want, messages := "exact", 4
			if test.doubt != "" {
				want, messages = "rule", 3
			}
			if got := must.Get(e.Reading()).Certainty.Messages; got != want {
				t.Errorf("messages are %s, want %s", got, want)
			}
			items, n := must.Get(e.Items()), 0
			for _, err := range items {
				must.Do(err)
				n++
			}
			if n != messages {
				t.Errorf("%d messages are sent, want %d", n, messages)
			}
			var lines []int
			for _, f := range check.File(name, check.Options{}).Findings {
				if f.Code == "request-unproved" {
					lines = append(lines, f.Line)
				}
			}
			if !slices.Equal(lines, test.lines) {
				t.Errorf("check finds something in lines %v, want %v", lines, test.lines)
			}
		})
	}
}
