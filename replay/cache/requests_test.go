package cache

import (
	"bytes"
	"iter"
	"slices"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/internal/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// requestsTo are the requests of the path to record leaf.
func requestsTo(r *replay.Replay, leaf int) iter.Seq2[Request, error] {
	return requests(r.Walk(leaf, newRequestTracker(r, &tokens.Pi, false)))
}

// requestsOfTree are the requests of all branches, each once.
func requestsOfTree(r *replay.Replay, t *sessionfmt.Tree) iter.Seq2[Request, error] {
	return requests(r.WalkTree(t, newRequestTracker(r, &tokens.Pi, false)))
}

// TestRequests: what is known of each request by numbers is what its messages say:
// sizes are those that counting gives, and two requests share what they share.
func TestRequests(t *testing.T) {
	requests := 0
	always := 10 // requests of each session
	if corpus.Whole() {
		always = 20
	}
	for _, c := range corpus.Sample(t) {
		if len(c.Data) > 1<<20 {
			continue
		}
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		r := replay.New(s, replay.Options{Lenient: true})
		var was []string // the messages of the request before
		var hashes []uint64
		var lone []int // answers
		for q, err := range requestsTo(r, s.Leaf()) {
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			lone = append(lone, q.Record)
			if requests++; requests%5 > 0 && q.Index > always {
				was, hashes = nil, nil
				continue
			}
			counts := must.Get(q.Before.Count(&tokens.Pi))
			if counts != q.Counts {
				t.Errorf("%s: request %d has %v, counted %v", c.Name, q.Index, q.Counts, counts)
			}
			var is []string
			for _, list := range []func(func(replay.Message, error) bool){q.Before.CachedMessages(), q.Before.UncachedMessages()} {
				for m, err := range list {
					if err != nil {
						t.Fatal(err)
					}
					var f [5]jsonl.Value
					m.Raw.Fields(f[:], "role", "content", "toolCallId", "toolName", "isError")
					text := ""
					for _, part := range f {
						text += string(part.AppendMinified(nil)) + "\x00"
					}
					is = append(is, text)
				}
			}
			if len(is) != q.Prefix.Len() || q.Prefix.Cached != q.Before.Cached() {
				t.Errorf("%s: request %d has %d messages, the prefix %d", c.Name, q.Index, len(is), q.Prefix.Len())
				continue
			}
			shared := 0
			for shared < min(len(is), len(was)) && is[shared] == was[shared] {
				shared++
			}
			for n := 1; n <= min(len(hashes), q.Prefix.Len()); n++ {
				if same := q.Prefix.hash(n) == hashes[n-1]; same != (n <= shared) {
					t.Errorf("%s: request %d: the first %d messages are the same: %v, and %d are", c.Name, q.Index, n, same, shared)
					break
				}
			}
			if was != nil && q.Prefix.Same > shared {
				t.Errorf("%s: request %d keeps %d messages, and %d are the same", c.Name, q.Index, q.Prefix.Same, shared)
			}
			was, hashes = is, nil
			for n := 1; n <= q.Prefix.Len(); n++ {
				hashes = append(hashes, q.Prefix.hash(n))
			}
		}
		seen := map[int]uint64{}
		for q, err := range requestsOfTree(r, s.Tree()) {
			if err == nil {
				seen[q.Record] = q.Prefix.hash(q.Prefix.Len())
			}
		}
		for q, err := range requestsTo(r, s.Leaf()) {
			if h, ok := seen[q.Record]; err == nil && ok && h != q.Prefix.hash(q.Prefix.Len()) {
				t.Errorf("%s: request %d is another one in the tree", c.Name, q.Index)
			}
		}
		if len(lone) > 0 && !slices.ContainsFunc(lone, func(rec int) bool { _, ok := seen[rec]; return ok }) {
			t.Logf("%s: the path is a cycle", c.Name)
		}
	}
	if requests < 100 {
		t.Errorf("only %d requests", requests)
	}
}
