package plan_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// patches are results of a hook, with %s for the cached messages of the context.
var patches = []string{
	`[{"op":"system_part_set","scope":"cached","partName":"policy","text":"Be brief.","invalidateCacheReason":"r"}]`,
	`[{"op":"options_set","scope":"cached","reasoning":"low","invalidateCacheReason":"r"}]`,
	`[{"op":"messages_cached_replace","scope":"cached","messages":[%s{"role":"user","content":"Go on.","timestamp":5}],"invalidateCacheReason":"r"}]`,
	`[{"op":"compaction_apply","scope":"cached","summary":"s","firstKeptMessageIndex":0,"timestamp":5,"invalidateCacheReason":"r"}]`,
}

// TestUndoPatch: undo takes back what a patch stored, in each form. After another message a
// transform is refused by name.
func TestUndoPatch(t *testing.T) {
	undone, now := map[compact.Form]int{}, time.UnixMilli(0)
	for n, c := range corpus.Small(t) {
		s := opened(c.Name, c.Data)
		if s == nil || s.Leaf() < 0 || s.NewBatch(s.Leaf(), now).Err() != nil {
			continue
		}
		for form, rules := range map[compact.Form]replay.Rules{compact.AsEdits: replay.ByPi, compact.AsTransform: replay.ByEnvelope} {
			opt := hook.Options{
				Replay: replay.Options{Rules: rules, Leaf: s.Leaf()}, Leaf: s.Leaf(), At: s.Leaf(),
				Reason: hook.BeforeRequest, Counters: []*tokens.Counter{&tokens.Pi}, Now: now,
			}
			before, messages := context(t, s, rules)
			results := must.Get(hook.Read("", []byte(strings.ReplaceAll(patches[n%len(patches)], "%s", messages))))
			p, err := plan.Patch(c.Name, s.Copy(), results, opt, &compact.Job{Command: "patch", Form: form, GivenRules: true})
			if err != nil || p.Entries == 0 {
				continue // it has no form that pi reads, or changes nothing
			}
			after := opened(c.Name, append(bytes.Clone(c.Data), joined(p.Append)...))
			b, promise, last, err := compact.Undo(replay.New(after, replay.Options{Rules: rules}), now)
			if err != nil || !last {
				t.Fatalf("%s as %s: %v", c.Name, form, err)
			}
			must.Do(after.Hold(b))
			must.Do(promise(after))
			if is, _ := context(t, after, rules); is != before {
				t.Errorf("%s as %s: undone it is\n%s, want\n%s", c.Name, form, is, before)
			}
			undone[form]++
			if form == compact.AsTransform {
				refusesLater(t, c.Name, append(bytes.Clone(c.Data), joined(p.Append)...))
			}
		}
	}
	if undone[compact.AsEdits] < 5 || undone[compact.AsTransform] < 20 {
		t.Errorf("too few are undone: %v", undone)
	}
}

// refusesLater checks that a patch is not undone after another message.
func refusesLater(t *testing.T, name string, data []byte) {
	t.Helper()
	s := opened(name, data)
	data = fmt.Appendf(data, `{"type":"message","id":"later","parentId":%q,"message":{"role":"user","content":"x"}}`+"\n", s.ID(s.Leaf()))
	s = opened(name, data)
	if _, _, _, err := compact.Undo(replay.New(s, replay.Options{}), time.UnixMilli(0)); err == nil || !strings.Contains(err.Error(), "patched cannot be restored below entry later") {
		t.Errorf("%s: %v", name, err)
	}
}

func opened(name string, data []byte) *sessionfmt.Session {
	s, err := sessionfmt.OpenReader(name, bytes.NewReader(data), sessionfmt.Options{})
	if err != nil {
		return nil
	}
	return s
}

func joined(lines [][]byte) []byte { return append(bytes.Join(lines, []byte{'\n'}), '\n') }

// context returns prompt, options and messages at the leaf, and the cached messages alone, each
// with a comma.
func context(t *testing.T, s *sessionfmt.Session, rules replay.Rules) (all, messages string) {
	t.Helper()
	e, err := replay.New(s, replay.Options{Rules: rules}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return err.Error(), ""
	}
	p := must.Get(e.Prompt())
	for m, err := range e.CachedMessages() {
		if err != nil {
			t.Fatal(err)
		}
		messages += string(m.Raw) + ","
	}
	return fmt.Sprintf("%+v %s", p, messages), messages
}
