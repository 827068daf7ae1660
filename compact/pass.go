package compact

import (
	"fmt"
	"strings"

	"ctxtool/replay/tokens"
)

// A Pass is one way to take something out of a context. It looks at a view and says
// what changes; it never touches a session.
type Pass struct {
	Name     string
	About    string
	System   string // whose it is
	Defaults Options
	run      func(w *work) error
}

// MarshalText writes the name. It never fails.
func (p *Pass) MarshalText() ([]byte, error) { return []byte(p.Name), nil }

// passes are all passes, in the order in which they run where several are asked for
// (spec/policies.md 4).
var passes = []*Pass{
	&Truncate, &Superseded, &RetryPrune, &StripThinking, &DropImages, &StaleResults, &Prune, &MergeNotes, &Progressive, &Compact,
}

// FindPass is the pass of that name.
func FindPass(name string) (*Pass, error) {
	var names []string
	for _, p := range passes {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return nil, fmt.Errorf("unknown pass %q: one of %s", name, strings.Join(names, ", "))
}

// Options are what passes can be told. Each reads its own, and has its defaults.
type Options struct {
	Counter *tokens.Counter `json:"-"` // in which the report is; what a system decides by is its own

	Max       int      `json:"max,omitempty"`        // truncate: the longest result, in Unit; 0 for no limit
	Unit      string   `json:"unit,omitempty"`       // truncate: "bytes" keeps both ends, "chars" and "tokens" the beginning
	Protect   int      `json:"protect,omitempty"`    // prune: tokens of the latest results that stay
	Requests  int      `json:"requests,omitempty"`   // stale-results: requests after which a result is stale
	Profile   string   `json:"profile,omitempty"`    // retry-prune: "seed" or "source"
	IntraTurn bool     `json:"intra_turn,omitempty"` // retry-prune: in the last turn only, five messages at most
	MinTokens int      `json:"min_tokens,omitempty"` // retry-prune, progressive: fewer tokens are not worth a run
	Patterns  []string `json:"patterns,omitempty"`   // retry-prune: texts that make a result an error, besides the known ones
	Busy      bool     `json:"busy,omitempty"`       // superseded: only where little stands behind, as while an agent works
	Compat    bool     `json:"compat,omitempty"`     // truncate, superseded: as the source does, where that is unsafe

	Style   Style `json:"style,omitempty"`   // compact: whose compaction
	Keep    int   `json:"keep,omitempty"`    // compact: messages that stay, for pi tokens; drop-images: requests whose images stay
	Retries int   `json:"retries,omitempty"` // progressive, compact: attempts for one summary, 1 where it is less

	Summarize func(Request) (string, error) `json:"-"` // progressive, compact: without it nothing is summarised
}

// An Action is what happens to a message or a part of one.
type Action string

// The actions.
const (
	Replace   Action = "replace"   // a text stands in the place of what a block said
	Drop      Action = "drop"      // a block goes, the rest of the message stays
	Omit      Action = "omit"      // the message goes
	Summarise Action = "summarise" // a summary stands in the place of a range of messages
)

// A Change is one thing that a pass does.
type Change struct {
	Pass    string `json:"pass"`
	Message int    `json:"message"` // its place in the view; of a range the first
	Record  int    `json:"record"`  // the entry that the message comes from
	Block   int    `json:"block"`   // as the message was before the change; -1 for all of it
	Action  Action `json:"action"`
	Text    string `json:"text,omitempty"` // what stands there now
	Was     int    `json:"was_tokens"`
	Now     int    `json:"now_tokens"`
	Why     string `json:"why"`

	Range *stretch `json:"range,omitempty"` // of a summary
}

// A touch is a change in a report.
type touch struct {
	Ref    int    `json:"ref"` // the message's place in the view
	Block  int    `json:"block"`
	Action string `json:"action"` // the pass
	Was    int    `json:"was_tokens"`
	Now    int    `json:"now_tokens"`
}

// A report is what a pass did, in numbers (spec/policies.md 0.5).
type report struct {
	Policy         string  `json:"policy"`
	System         string  `json:"system"`
	Counter        string  `json:"counter"`
	Params         any     `json:"params"`
	MessagesBefore int     `json:"messages_before"`
	MessagesAfter  int     `json:"messages_after"`
	TokensBefore   int     `json:"tokens_before"`
	TokensAfter    int     `json:"tokens_after"`
	TokensSaved    int     `json:"tokens_saved"`
	BytesBefore    int     `json:"bytes_before"`
	BytesAfter     int     `json:"bytes_after"`
	Touched        []touch `json:"touched"`
	Unestimated    int     `json:"unestimated_blocks"` // images, where the counter takes them for nothing
	Skipped        bool    `json:"skipped"`
	SkipReason     string  `json:"skip_reason"`
	Pending        int     `json:"pending_summaries,omitempty"` // that have to be supplied before the pass can run
}

// A passResult is what a pass makes of a view.
type passResult struct {
	View    *View // as the pass leaves it
	Changes []Change
	Cannot  []refusal
	Report  report
	Events  []any // as the system itself would log them
	// Requests are the summaries that have to be supplied before the pass can do anything.
	Requests []Request
}

// apply runs a pass over a view, which stays as it is. Where nothing changes the
// result has the view itself.
func (p *Pass) apply(v *View, o Options) (*passResult, error) {
	if o.Counter == nil {
		o.Counter = p.Defaults.Counter
	}
	w := &work{View: v, from: v, Options: o, pass: p.Name, system: p.System, skip: "nothing to do"}
	w.was = totals(v, o.Counter)
	if err := p.run(w); err != nil {
		return nil, err
	}
	return &passResult{View: w.View, Changes: w.changes, Cannot: w.cannot, Report: w.report(), Events: w.events, Requests: w.requests}, nil
}

// A total is what a view has in all.
type total struct{ messages, tokens, bytes, images int }

func totals(v *View, c *tokens.Counter) (t total) {
	for i := range v.Messages {
		if !v.Live(i) {
			continue
		}
		m := &v.Messages[i]
		t.messages++
		t.tokens += m.Tokens(c)
		for k := range m.Blocks {
			t.bytes += m.Blocks[k].Bytes
			if m.Blocks[k].Kind == imageBlock && c.Image == 0 {
				t.images++
			}
		}
	}
	return t
}
