package codex_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

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
	Input      []any
}

// TestRequests holds what is replayed to the requests that Codex itself sent, found by the
// response that each got. What no file holds is left out: requests that failed, and the last
// item of those for a summary.
func TestRequests(t *testing.T) {
	folders, _ := filepath.Glob("../../../shared/vectors/codex/*")
	if len(folders) == 0 {
		t.Skip("left out: no vectors at ../shared/vectors/codex")
	}
	turns, summaries := 0, 0
	for _, folder := range folders {
		at := map[string][]native{}
		files, _ := filepath.Glob(filepath.Join(folder, "rollout*"))
		for _, file := range files {
			collect(t, file, at)
		}
		for _, q := range requests(t, folder) {
			want := q.Input
			switch {
			case q.Ended != "completed":
				continue
			case q.Kind == "compaction":
				want = want[:len(want)-1]
			}
			for _, got := range at[q.ResponseID] {
				if !reflect.DeepEqual(got.items, want) {
					t.Errorf("%s: request %d, at %s: %d items, and %d were sent", folder, q.N, got.pos, len(got.items), len(want))
				} else if q.Kind == "compaction" {
					summaries++
				} else {
					turns++
				}
			}
		}
	}
	if turns < 60 || summaries < 6 {
		t.Errorf("only %d requests of turns and %d for summaries were compared", turns, summaries)
	}
	t.Logf("%d requests of turns and %d for summaries are as they were sent, those that forks share counted in each", turns, summaries)
}

// A native is what a request got, by what is replayed.
type native struct {
	pos   sessionfmt.Pos
	items []any
}

// collect adds the requests of a session's branches, by their responses.
func collect(t *testing.T, file string, at map[string][]native) {
	s, err := sessionfmt.Open(file, sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := replay.New(s, replay.Options{})
	lines := s.NewReader()
	for rec := range s.Len() {
		summary := s.Kind(rec) == jsonl.Transform
		if !s.Answers(rec) && !summary {
			continue
		}
		raw, err := lines.Raw(rec)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.SplitSeq(raw, []byte{'\n'}) {
			if v := jsonl.Value(line); v.Get("type").Is("token_usage_record") {
				e, err := r.At(sessionfmt.Before(rec))
				if err != nil {
					t.Fatal(err)
				}
				id := v.Get("payload").Get("response_id").Text()
				at[id] = append(at[id], native{s.Pos(rec), items(t, e)})
			}
		}
	}
}

func items(t *testing.T, e *replay.Envelope) (all []any) {
	for item, err := range e.Native() {
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(item, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

func requests(t *testing.T, folder string) (all []sent) {
	data, err := os.ReadFile(filepath.Join(folder, "requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var q sent
		if err := json.Unmarshal(line, &q); err != nil {
			t.Fatal(err)
		}
		all = append(all, q)
	}
	return all
}
