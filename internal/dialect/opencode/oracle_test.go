package opencode_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/dialect/opencode"
	"ctxtool/internal/rule"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	_ "ctxtool/sessionfmt/sqlite"
)

var update = flag.Bool("update", false, "write what was compared to compared_*.go")

// A sent is a request that the real program sent.
type sent struct {
	N         int
	Kind      string
	SessionID string `json:"session_id"`
	Messages  []any
}

// TestRequests holds what is replayed to the requests that opencode itself sent, in the order
// of the answers. One for a summary has the conversation as a text, which is made here of what
// is replayed at its place. Those for titles are in no database.
func TestRequests(t *testing.T) {
	folders := testenv.NeedShared(t, "vectors/opencode/*")
	turns, summaries, tally := 0, 0, claims.New(t, opencode.Rules, "rules.go")
	for _, folder := range folders {
		at := map[string][]request{}
		for _, q := range corpus.Requests[sent](t, folder) {
			if q.Kind == "title" {
				continue
			}
			if _, ok := at[q.SessionID]; !ok {
				at[q.SessionID] = collect(t, filepath.Join(folder, "opencode.db", q.SessionID))
			}
			replayed := at[q.SessionID]
			if len(replayed) == 0 {
				t.Fatalf("%s: request %d was not replayed", folder, q.N)
			}
			got := replayed[0]
			at[q.SessionID] = replayed[1:]
			switch {
			case q.Kind == "summary":
				summaries++
				_, text, _ := strings.Cut(fmt.Sprint(q.Messages[0].(map[string]any)["content"]), "<conversation>\n")
				text, _, _ = strings.Cut(text, "\n</conversation>")
				if text != conversation(got.items) {
					t.Errorf("%s: request %d for a summary:\n%s\nwant:\n%s", folder, q.N, conversation(got.items), text)
				}
			default:
				turns++
				equal := reflect.DeepEqual(got.items, q.Messages)
				if tally.Add(got.version, got.used, got.asked, equal); !equal {
					t.Errorf("%s: request %d:\n%v\nwant:\n%v", folder, q.N, got.items, q.Messages)
				}
			}
		}
		for id, left := range at {
			if len(left) > 0 {
				t.Errorf("%s: %s: %d requests too many", folder, id, len(left))
			}
		}
	}
	tally.Hold(t, *update, "compared_kit.go", "opencode", "comparedKit")
	if turns < 16 || summaries < 2 {
		t.Errorf("only %d requests of turns and %d for summaries were compared", turns, summaries)
	}
	t.Logf("%d requests of turns and %d for summaries are as they were sent", turns, summaries)
}

// unlike are the requests of testdata/recorded that are not replayed as they were sent, by folder: to a model
// without pictures, which the file does not tell. They are never exact.
var unlike = map[string]int{"media-seen": 9}

// TestRecorded holds what is replayed to requests of scripts of our own: kept tails, media, sub-agents, models
// and modes. Texts of the program are left out: reminders, which are hashes there, are in no row.
func TestRecorded(t *testing.T) {
	tally := claims.New(t, opencode.Rules, "rules.go")
	folders, n := must.Get(filepath.Glob("testdata/recorded/*")), 0
	for _, folder := range folders {
		at := map[string][]request{}
		for _, q := range corpus.Requests[sent](t, folder) {
			if _, ok := at[q.SessionID]; !ok {
				at[q.SessionID] = collect(t, filepath.Join(folder, q.SessionID+".jsonl"))
			}
			for len(at[q.SessionID]) > 0 && at[q.SessionID][0].summary {
				at[q.SessionID] = at[q.SessionID][1:]
			}
			if len(at[q.SessionID]) == 0 {
				t.Fatalf("%s: request %d was not replayed", folder, q.N)
			}
			got := at[q.SessionID][0]
			at[q.SessionID] = at[q.SessionID][1:]
			want, reminded := withoutReminders(q.Messages)
			equal := reflect.DeepEqual(got.items, want)
			n++
			if unlike[filepath.Base(folder)] == q.N {
				if equal || got.exact {
					t.Errorf("%s: request %d: equal %t, exact %t", folder, q.N, equal, got.exact)
				}
				continue
			}
			if tally.Add(got.version, got.used, got.asked, equal); !equal {
				t.Errorf("%s: request %d:\n%v\nwant:\n%v", folder, q.N, got.items, want)
			}
			if got.exact == reminded {
				t.Errorf("%s: request %d: exact %t, with a reminder that is in no row: %t", folder, q.N, got.exact, reminded)
			}
		}
	}
	tally.Hold(t, *update, "compared_own.go", "opencode", "comparedOwn")
	if n < 85 {
		t.Errorf("only %d requests were compared", n)
	}
	t.Logf("%d requests of %d scripts", n, len(folders))
}

// withoutReminders returns messages without the texts that are hashes, and whether there are any.
func withoutReminders(messages []any) (kept []any, had bool) {
	for _, m := range messages {
		m := m.(map[string]any)
		if parts, ok := m["content"].([]any); ok {
			rest := slices.DeleteFunc(slices.Clone(parts), func(p any) bool {
				text, _ := p.(map[string]any)["text"].(string)
				return strings.HasPrefix(text, "sha256:")
			})
			had = had || len(rest) < len(parts)
			if m["content"] = rest; len(rest) == 1 {
				m["content"] = rest[0].(map[string]any)["text"]
			}
		}
		kept = append(kept, m)
	}
	return kept, had
}

// A request is one that is replayed.
type request struct {
	items   []any
	version string
	used    rule.Set
	asked   rule.Asked
	summary bool
	exact   bool
}

// collect returns the requests of a session's branches, in the order of their answers. Those
// that a fork copied are not its own.
func collect(t *testing.T, name string) (all []request) {
	s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
	defer s.Close()
	r := replay.New(s, replay.Options{})
	lines := s.NewReader()
	begun := int64(0)
	for rec := range s.Len() {
		line := must.Get(lines.Line(rec))
		if s.Kind(rec) == jsonl.Header {
			raw, _ := lines.Raw(rec)
			begun = jsonl.Value(raw).Get("time_created").Int()
		}
		if ms, _ := line.Get("timestamp").Millis(); ms < begun || !s.Answers(rec) && s.Kind(rec) != jsonl.UsageEntry {
			continue
		}
		e := must.Get(r.At(sessionfmt.Before(rec)))
		ref := must.Get(e.ModelRef())
		reading, err := e.Reading()
		must.Do(err)
		all = append(all, request{corpus.Decoded[any](t, e.Native()), s.WrittenBy(), e.Rules(),
			rule.Asked{Host: ref.Provider, Model: ref.ID}, s.Kind(rec) == jsonl.UsageEntry, reading.Certainty.Messages == "exact"})
	}
	return all
}

// conversation is how a request for a summary has messages: without an earlier summary, and what
// asked for it.
func conversation(messages []any) string {
	var b strings.Builder
	summary := false
	for _, m := range messages {
		m := m.(map[string]any)
		text := fmt.Sprint(m["content"])
		switch {
		case text == "What did we do so far?":
			summary = true
			continue
		case summary:
			summary = false
			continue
		case m["role"] == "user":
			b.WriteString("\n\n[User]: " + text)
		case m["role"] == "tool":
			b.WriteString("\n[Tool result]: " + text)
		case text != "":
			b.WriteString("\n\n[Assistant]: " + text)
		}
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			f := c.(map[string]any)["function"].(map[string]any)
			fmt.Fprintf(&b, "\n\n[Assistant tool call]: %s(%s)", f["name"], f["arguments"])
		}
	}
	return strings.TrimPrefix(b.String(), "\n\n")
}
