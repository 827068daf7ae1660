package hook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestEdits: what a patch changes in the entries that pi reads, or why these cannot say it. The session with them has
// the context of the patch.
func TestEdits(t *testing.T) {
	const (
		a    = `{"role":"user","content":"one","timestamp":1}`
		b    = `{"role":"assistant","content":[{"type":"text","text":"two"}],"timestamp":2}`
		c    = `{"role":"user","content":"three","timestamp":3}`
		more = `{"role":"user","content":"more","timestamp":9}`
	)
	lines := []string{
		`{"type":"session","version":3,"id":"s"}`,
		`{"type":"message","id":"y","parentId":null,"message":{"role":"system","content":"","sections":{"a":"x","b":"y"},"toolsAdded":[{"name":"read","description":"r","parameters":{}},{"name":"edit","description":"e","parameters":{}}],"timestamp":0}}`,
		`{"type":"message","id":"a","parentId":"y","message":` + a + `}`, `{"type":"message","id":"b","parentId":"a","message":` + b + `}`, `{"type":"message","id":"c","parentId":"b","message":` + c + `}`,
	}
	set := func(name, fields string) string {
		return fmt.Sprintf(`{"op":%q,"scope":"cached",%s,"invalidateCacheReason":"r"}`, name, fields)
	}
	messages := func(all ...string) string {
		return set("messages_cached_replace", `"messages":[`+strings.Join(all, ",")+`]`)
	}
	for _, one := range []struct{ op, want string }{
		{set("system_part_set", `"partName":"a","text":"new"`), `"sections":{"a":"new"}`}, {set("system_part_set", `"partName":"c","text":"z"`), `"sections":{"c":"z"}`}, {set("system_part_remove", `"partName":"b"`), `"sections":{"b":null}`},
		{set("tools_remove", `"toolNames":["edit"]`), `"toolsRemoved":[{"name":"edit"}]`}, {set("tools_remove", `"toolNames":["none"]`), ""},
		{set("tools_replace", `"tools":[{"name":"read","description":"r","parameters":{}},{"name":"edit","description":"e","parameters":{}},{"name":"write","description":"w","parameters":{}}]`), `"toolsAdded":[{"name":"write"`},
		{set("options_set", `"reasoning":"low"`), `"thinkingLevel":"low"`}, {set("options_set", `"temperature":0.5`), "no form that pi reads"}, {set("options_set", `"maxTokens":5`), "no form that pi reads"},
		{messages(a, b, c), ""}, {messages(b, c), `"targetId":"a","replacement":null`}, {messages(a, c), `"targetId":"b","replacement":null`}, {messages(a, b, strings.Replace(c, "three", "3", 1)), `"targetId":"c","replacement":{"content":`},
		{messages(a, b, c, more), `"content":"more"`}, {messages(a, b, c, more, strings.Replace(more, "more", "most", 1)), `"content":"most"`}, {messages(more, a, b, c), "only messages of the user, at the end, can be added"}, {messages(a, b, c, b), "only messages of the user, at the end, can be added"},
		{messages(c, b, a), "no form that pi reads"}, {messages(), `"targetId":"a","replacement":null`},
		{set("compaction_apply", `"summary":"s","firstKeptMessageIndex":1,"timestamp":5`), "appends a compaction"},
	} {
		s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(strings.Join(lines, "\n")+"\n"), sessionfmt.Options{}))
		opt := hook.Options{Replay: replay.Options{Rules: replay.ByPi, Leaf: 4}, Leaf: 4, At: 4, Reason: hook.BeforeRequest, Counters: []*tokens.Counter{&tokens.Pi}, Now: time.UnixMilli(5000)}
		trial, err := hook.New(s, must.Get(hook.Read("r.json", []byte("["+one.op+"]"))), opt)
		if err != nil {
			t.Errorf("%s: %v", one.op, err)
			continue
		}
		batch := s.NewBatch(4, opt.Now)
		got := ""
		if err = trial.Store(batch, true); err != nil {
			got = err.Error()
		} else if got = string(batch.Lines()); batch.Len() > 0 {
			must.Do(batch.Err())
			after := s.Copy()
			must.Do(after.Hold(batch))
			if err := trial.Promise(after); err != nil {
				t.Errorf("%s: %v", one.op, err)
			}
		}
		if one.want == "" && got != "" || !strings.Contains(got, one.want) || err == nil && strings.Count(one.op, `"content":"more"`) != strings.Count(got, `"content":"more"`) {
			t.Errorf("%s:\n%s, want %s", one.op, got, one.want)
		}
		if err == nil && (strings.Contains(got, `"sections"`) && strings.Contains(got, `"toolsAdded":[]`) || strings.Contains(got, `"toolsRemoved":[]`) || strings.Contains(got, `"sections":{}`)) {
			t.Errorf("%s: empty changes in %s", one.op, got)
		}
	}
}

// TestIndexWarnings: the index of a compaction counts in the list that the operations before it leave.
func TestIndexWarnings(t *testing.T) {
	lines := []string{
		`{"type":"session","version":3,"id":"s"}`, `{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"1"}}`, `{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"2"}}`,
	}
	cut := func(index string) string {
		return `{"op":"compaction_apply","scope":"cached","summary":"s","firstKeptMessageIndex":` + index + `,"timestamp":5,"invalidateCacheReason":"r"}`
	}
	const one = `{"op":"messages_cached_replace","scope":"cached","messages":[{"role":"user","content":"x","timestamp":5}],"invalidateCacheReason":"r"}`
	for _, c := range []struct {
		ops  []string
		warn bool
	}{
		{[]string{cut("0")}, false}, {[]string{cut("2")}, false}, {[]string{cut("3")}, true}, {[]string{cut("-1")}, true}, {[]string{cut("1.5")}, true},
		{[]string{one, cut("1")}, false}, {[]string{one, cut("2")}, true},
		{[]string{cut("1"), cut("2")}, false}, {[]string{cut("1"), cut("3")}, true}, {[]string{cut("0"), cut("3")}, false}, {[]string{cut("2"), cut("1")}, false}, {[]string{cut("2"), cut("2")}, true},
	} {
		s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(strings.Join(lines, "\n")+"\n"), sessionfmt.Options{}))
		trial := must.Get(hook.New(s, must.Get(hook.Read("r.json", []byte("["+strings.Join(c.ops, ",")+"]"))), hook.Options{
			Replay: replay.Options{Leaf: 2, Lenient: true}, Leaf: 2, At: 2, Reason: hook.BeforeRequest, Counters: []*tokens.Counter{&tokens.Pi}, Now: time.UnixMilli(5000),
		}))
		warned := false
		for _, v := range trial.Verdicts {
			warned = warned || strings.Contains(fmt.Sprintf("%+v", v), "patch-index")
		}
		for _, f := range trial.Findings() {
			warned = warned || f.Code == "patch-index"
		}
		if warned != c.warn {
			t.Errorf("%s: warned %v", c.ops, warned)
		}
	}
}
