package gemini_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/dialect/gemini"
	"ctxtool/internal/rule"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestQwen holds what is replayed of a session of Qwen Code to the requests that it sent, found by the ids of their
// answers. Reminders are left out, which are in no file, and calls that are no part of the conversation.
func TestQwen(t *testing.T) {
	dir := testenv.NeedShared(t, "vectors/agents/qwen")[0]
	s := must.Get(sessionfmt.Open(must.Get(filepath.Glob(filepath.Join(dir, "1*.jsonl")))[0], sessionfmt.Options{}))
	defer s.Close()
	r, lines, n, aside := replay.New(s, replay.Options{}), s.NewReader(), 0, 0
	tally := claims.New(t, gemini.QwenRules, "qwen_rules.go")
	for rec := range s.Len() {
		if s.Kind(rec) == jsonl.UsageEntry {
			aside++
		}
		if !s.Answers(rec) {
			continue
		}
		id := must.Get(lines.Line(rec)).Get("message").Get("responseId").Text()
		var q struct {
			Body struct{ Messages []map[string]any }
		}
		name := filepath.Join(dir, "req", strings.TrimPrefix(id, "cmpl_")+".json")
		must.Do(json.Unmarshal(must.Get(os.ReadFile(name)), &q))
		e := must.Get(r.At(sessionfmt.Before(rec)))
		got, want := corpus.Decoded[map[string]any](t, e.Native()), unreminded(q.Body.Messages[1:])
		ref := must.Get(e.ModelRef())
		equal := reflect.DeepEqual(got, want)
		if tally.Add(s.WrittenBy(), e.Rules(), rule.Asked{Host: ref.Provider, Model: ref.ID}, equal); !equal {
			t.Errorf("%s:\n%v\nwant:\n%v", id, got, want)
		}
		if reading := must.Get(e.Reading()); reading.Certainty.Messages == "exact" {
			t.Errorf("%s is called exact, without reminders", id)
		}
		n++
	}
	tally.Hold(t, *update, "compared_qwen.go", "gemini", "comparedQwen")
	if n != 8 || aside != 2 {
		t.Errorf("%d requests and %d other calls are replayed", n, aside)
	}
}

// unreminded returns messages without reminders.
func unreminded(messages []map[string]any) (kept []map[string]any) {
	for _, m := range messages {
		if parts, ok := m["content"].([]any); ok && m["role"] == "user" {
			m["content"] = slices.DeleteFunc(parts, func(p any) bool {
				return strings.HasPrefix(fmt.Sprint(p.(map[string]any)["text"]), "<system-reminder>")
			})
		}
		kept = append(kept, m)
	}
	return kept
}
