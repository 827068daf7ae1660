package codex_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"ctxtool/internal/body"
	"ctxtool/internal/dialect/codex"
	"ctxtool/internal/rule"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A sent is a request that the real program sent.
type sent struct {
	N          int
	Kind       string
	Ended      string
	ResponseID string `json:"response_id"`
	Model      string
	Reasoning  struct{ Effort string }
	Input      []any
}

// TestRequests holds what is replayed to the requests that Codex itself sent, found by the
// response that each got. What no file holds is left out: requests that failed, and the last
// item of those for a summary.
func TestRequests(t *testing.T) {
	folders := testenv.NeedShared(t, "vectors/codex/*")
	all, tally := compared{}, claims.New(t, codex.Rules, "rules.go")
	for _, folder := range folders {
		all.add(compare(t, folder, tally))
	}
	tally.Hold(t, *update, "compared_kit.go", "codex", "comparedKit")
	if all.turns < 50 || all.summaries < 6 {
		t.Errorf("only %s", all)
	}
	t.Log(all)
}

// compared counts requests that are as they were sent. Those that forks share are in several
// files.
type compared struct {
	turns, summaries int
	places           int // files that a request was compared in, summed
	lost             int // requests that no file records: steered before their answer
}

func (c *compared) add(more compared) {
	*c = compared{c.turns + more.turns, c.summaries + more.summaries, c.places + more.places, c.lost + more.lost}
}

func (c compared) String() string {
	return fmt.Sprintf("%d requests of turns and %d for summaries compared, at %d places; %d are in no file", c.turns, c.summaries, c.places, c.lost)
}

// compare compares the completed requests of a folder with its rollouts.
func compare(t *testing.T, folder string, tally *claims.Tally) (n compared) {
	t.Helper()
	at := map[string][]native{}
	files, _ := filepath.Glob(filepath.Join(folder, "rollout*"))
	for _, file := range files {
		collect(t, file, at)
	}
	for _, q := range corpus.Requests[sent](t, folder) {
		if q.Ended != "completed" {
			continue
		}
		want, count := q.Input, &n.turns
		if q.Kind == "compaction" {
			want, count = want[:len(want)-1], &n.summaries
		}
		want = recorded(want)
		for _, got := range at[q.ResponseID] {
			if got.model != q.Model || got.effort != "" && got.effort != q.Reasoning.Effort {
				t.Errorf("%s: request %d, at %s: model %s, effort %s; sent were %s, %s", filepath.Base(folder), q.N, got.pos, got.model, got.effort, q.Model, q.Reasoning.Effort)
			}
			items := recorded(got.items)
			equal := reflect.DeepEqual(items, want)
			if tally.Add(got.version, got.used, got.asked, equal); !equal {
				t.Errorf("%s: request %d, at %s: %d items, and %d were sent%s", filepath.Base(folder), q.N, got.pos, len(items), len(want), unlike(items, want))
			}
		}
		if places := len(at[q.ResponseID]); places == 0 {
			n.lost++
		} else {
			*count++
			n.places += places
		}
	}
	return n
}

// made are ids that the program made when it sent an item.
var made = regexp.MustCompile(`^[a-z]+_[0-9a-f]{8}-[0-9a-f]{4}-5`)

// recorded is items without what is in no file: ids made when they were sent, the outputs of
// calls that have none, and what a provider called OpenAI gets beside each item.
func recorded(items []any) (kept []any) {
	for _, v := range items {
		it := v.(map[string]any)
		delete(it, "internal_chat_message_metadata_passthrough")
		if id, _ := it["id"].(string); made.MatchString(id) {
			if it["output"] == "aborted" {
				continue
			}
			delete(it, "id")
		}
		kept = append(kept, it)
	}
	return kept
}

// unlike is the first item that differs.
func unlike(got, want []any) string {
	for k := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[k], want[k]) {
			return fmt.Sprintf("; item %d: %.300v, and %.300v was sent", k, got[k], want[k])
		}
	}
	return ""
}

// A native is what a request got, by what is replayed.
type native struct {
	pos           sessionfmt.Pos
	model, effort string
	items         []any

	version string
	used    rule.Set
	asked   rule.Asked
}

// requestOf is the request of an envelope. Its first item may be the prompt, which has no type.
func requestOf(e *replay.Envelope, pos sessionfmt.Pos) native {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	of := slices.IndexFunc(body.Forms, func(f *body.Form) bool { return f.Name == codex.Dialect.Interface })
	must.Do(body.Forms[of].Write(w, e))
	w.Flush()
	var sent struct {
		Model     string
		Reasoning struct{ Effort string }
		Input     []any
	}
	must.Do(json.Unmarshal(b.Bytes(), &sent))
	if _, typed := sent.Input[0].(map[string]any)["type"]; !typed {
		sent.Input = sent.Input[1:]
	}
	ref := must.Get(e.ModelRef())
	return native{pos, sent.Model, sent.Reasoning.Effort, sent.Input, e.Replay().Session.WrittenBy(), e.Rules(),
		rule.Asked{Host: ref.Provider, Model: ref.ID}}
}

// collect adds the requests of a session's branches, by their responses.
func collect(t *testing.T, file string, at map[string][]native) {
	s := must.Get(sessionfmt.Open(file, sessionfmt.Options{}))
	defer s.Close()
	r := replay.New(s, replay.Options{})
	lines := s.NewReader()
	for rec := range s.Len() {
		if !s.Answers(rec) && s.Kind(rec) != jsonl.UsageEntry { // a summary has a usage of its own
			continue
		}
		raw := must.Get(lines.Raw(rec))
		for line := range bytes.SplitSeq(raw, []byte{'\n'}) {
			if v := jsonl.Value(line); v.Get("type").Is("token_usage_record") {
				e := must.Get(r.At(sessionfmt.Before(rec)))
				id := v.Get("payload").Get("response_id").Text()
				at[id] = append(at[id], requestOf(e, s.Pos(rec)))
			}
		}
	}
}
