package claude_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// A record is a line, as the rule of docs/session-format.md 16 needs it.
type record struct {
	UUID       string    `json:"uuid"`
	Parent     string    `json:"parentUuid"`
	Type       string    `json:"type"`
	Subtype    string    `json:"subtype"`
	Leaf       string    `json:"leafUuid"`
	Explicit   bool      `json:"explicit"`
	Sidechain  bool      `json:"isSidechain"`
	Time       time.Time `json:"timestamp"`
	Compaction struct {
		Kept struct {
			Anchor string   `json:"anchorUuid"`
			UUIDs  []string `json:"uuids"`
		} `json:"preservedMessages"`
	} `json:"compactMetadata"`
	Message struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   struct {
			Input  int64 `json:"input_tokens"`
			Read   int64 `json:"cache_read_input_tokens"`
			Write  int64 `json:"cache_creation_input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"usage"`
	} `json:"message"`

	pos int
}

func (r *record) conversation() bool { return r.Type == "user" || r.Type == "assistant" }

func (r *record) isResult() bool {
	return r.Type == "user" && bytes.Contains(r.Message.Content, []byte(`"tool_use_id"`))
}

// A transcript is a file by the rule: simple, and a second time.
type transcript struct {
	lines   int
	records []*record // in the order of the file
	by      map[string]*record
	answers map[string][]*record
	leaf    *record
}

// readTranscript reads a file, and decides its leaf.
func readTranscript(data []byte) *transcript {
	tr := &transcript{by: map[string]*record{}, answers: map[string][]*record{}}
	var recorded *record
	var boundary *record
	for line := range bytes.Lines(data) {
		tr.lines++
		r := &record{pos: tr.lines}
		if json.Unmarshal(line, r) != nil {
			continue
		}
		switch r.Type {
		case "last-prompt":
			recorded = tr.by[r.Leaf]
			continue
		case "user", "assistant", "system", "attachment", "progress":
		default:
			continue
		}
		if r.UUID == "" {
			continue
		}
		if tr.by[r.UUID] == nil {
			tr.records = append(tr.records, r)
		}
		tr.by[r.UUID] = r
		if r.Type == "assistant" {
			tr.answers[r.Message.ID] = append(tr.answers[r.Message.ID], r)
		}
		if r.Subtype == "compact_boundary" {
			recorded, boundary = nil, r
		}
	}
	if boundary != nil {
		tr.keep(boundary)
	}
	for _, r := range slices.Backward(tr.records) {
		if !r.Sidechain {
			tr.leaf = r
			break
		}
	}
	if recorded != nil && !slices.Contains(tr.walk(tr.leaf), recorded) {
		tr.leaf = recorded
	}
	return tr
}

// keep links the messages that a compaction kept.
func (tr *transcript) keep(boundary *record) {
	kept := boundary.Compaction.Kept
	last := kept.Anchor
	for _, id := range kept.UUIDs {
		tr.by[id].Parent, last = last, id
	}
	for _, r := range tr.records {
		if kept.Anchor != "" && r.Parent == kept.Anchor && !slices.Contains(kept.UUIDs, r.UUID) {
			r.Parent = last
		}
	}
}

// walk returns a record and its ancestors, nearest first.
func (tr *transcript) walk(from *record) (way []*record) {
	seen := map[*record]bool{}
	for r := from; r != nil; {
		seen[r] = true
		way = append(way, r)
		if r.Parent == "" {
			break
		}
		next := tr.by[r.Parent]
		if next == nil || seen[next] {
			next = nil
			for _, o := range tr.records {
				if d := r.Time.Sub(o.Time); !seen[o] && o.Sidechain == r.Sidechain && d >= 0 && d <= 5*time.Second {
					if next == nil || !o.Time.Before(next.Time) {
						next = o
					}
				}
			}
		}
		r = next
	}
	return way
}

// chain is what a resume loads, in order: the walk from the leaf, with the other lines of its
// answers and the results whose parent is any of them, and the marks below the leaf.
func (tr *transcript) chain() (chain []*record) {
	way := tr.walk(tr.leaf)
	slices.Reverse(way)
	in := map[*record]bool{}
	put := func(r *record) {
		if !in[r] {
			in[r] = true
			chain = append(chain, r)
		}
	}
	for _, r := range way {
		if r.Type != "assistant" {
			put(r)
			continue
		}
		lines := tr.answers[r.Message.ID]
		for _, l := range lines {
			put(l)
		}
		for _, o := range tr.records {
			if p := tr.by[o.Parent]; o.isResult() && slices.Contains(lines, p) {
				put(o)
			}
		}
	}
	for _, r := range tr.records {
		if p := tr.by[r.Parent]; p != nil && in[p] && r.pos > tr.leaf.pos && !r.conversation() && chain[len(chain)-1] == p {
			put(r)
		}
	}
	return chain
}
