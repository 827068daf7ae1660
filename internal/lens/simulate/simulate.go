// Package simulate replays a session under other context policies: request by request, as it
// grew, what each policy would have kept of the context, what that would have cost, and what the
// agent used later that was gone by then.
//
// The recorded path is a policy like the others. Its figures are those of package cache.
//
// # Keepers
//
// A policy acts through a compact.Keeper: a view that grows, in which the changes of one run stay.
// Passes are those of reduce, and TestKeeperIsReduce compares the contexts with those that reduce
// gives at the same moments. A keeper makes no entries, since planning, storing and replaying them at
// each request took nine times as long. A pass gets the messages that are new or changed since it ran,
// and remembers what it needs of the others: the last read of each file, the failures of a turn that
// wait for a retry, from where on results are not old yet. So its cost is linear in additions and
// changes. Removed messages stay as a gap until they are half of the view. A keeper itself stores only
// what is cheaper to know than to count again: sizes, and where the request differs from the one
// before.
//
// gsh and SWE-CLI act before each request. pi and y-agent act where a turn ends, and between the
// requests of a turn. Within a turn, y-agent only drops retries of that turn and thinking, and its
// guard acts. Its growth gate counts what is new since it last ran at the end of a turn.
//
// # Requests
//
// A request that differs from the recorded one is judged by cache.Row.Instead: counted tokens become
// the provider's by the ratio of the recorded request, a pause ends what it ended in the recorded
// session, and the rest of the beginning that the previous request had is read from the cache. As long
// as nothing differs, the figures are the recorded ones. A request for a summary is billed as input
// that no cache serves. Without --summarizer extract, its answer has a share of the tokens that it
// replaces.
//
// # Regrets
//
// A regret is what an answer used of a message that had left the context, if no other message or text
// in its place had it. If the recorded context lacked it too, the answer did not use it
// (reuse.Removals.Forget); only a repeated call counts, unless something may have changed its result.
// A line is used if an agent says it or an edit replaces it, without the paths and numbers of a
// listing; what only agents have said is a phrase. A file is known by its name without folders, unless
// every project has one of that name. A short identifier counts only with another one of its message,
// and not for a number at its end; a line or identifier that more than eight messages have is a word
// of the project.
//
// # Stores
//
// Over a store, one session per CPU is in work. The first ones are a sample (Sample): their time, by
// their share of all bytes, is the forecast for all. Spreads are of the sessions in which some policy
// acted, since in the others all policies are the same. Their values are those of sessions, without
// interpolation.
package simulate

import (
	"ctxtool/compact"
	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/reuse"
	"ctxtool/replay"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/dialect"
)

// The policies that every session has, besides those of package compact.
const (
	Recorded = "recorded" // what happened
	None     = "none"     // the path without compactions, edits and transforms
)

// Options configure a simulation.
type Options struct {
	Contenders []Contender
	Replay     replay.Options
	Summaries  Summaries
	Rows       bool // keep the requests of each run
	Changes    bool // and the changes of each request
	Regrets    bool // name the regrets of each request
	// Explain is the request whose decisions are kept, with Explained set.
	Explain   int
	Explained bool
}

// A Contender is a policy to try.
type Contender struct {
	Name   string
	Policy *compact.Policy // nil for Recorded and None
	Hook   *Hook           // in place of a policy; nil for none
}

// A Report is the simulation of a session.
//
// It is schema ctxtool/simulate/1.
type Report struct {
	Schema          string `json:"schema,omitempty"`
	File            string `json:"file,omitempty"` // with several sessions
	dialect.Reading        // of one session
	Runs            []*Run `json:"policies"`
	Optimize        Goal   `json:"optimize"`
	Best            string `json:"best,omitempty"` // the policy that is best for the goal
	// sentences: how much better it is, and where another policy is better
	Why    []string `json:"why,omitempty"`
	Prices string   `json:"prices,omitempty"` // date of the price table
	Error  string   `json:"error,omitempty"`  // why the session has no figures

	Path    *compact.View `json:"-"` // all messages, as no policy has changed them
	Answers []int         `json:"-"` // the messages that answer the requests
}

// A Run is the result of one policy for a session. Tokens are the provider's where it recorded the
// size of the request, converted from counted ones.
//
// It is a policy of schema ctxtool/simulate/1.
type Run struct {
	Policy   string `json:"policy"`
	Sessions int    `json:"sessions,omitempty"` // number of sessions summed up
	Requests int    `json:"requests"`
	// tokens, of the last request's model, the same for all policies; 0 if the summed sessions differ
	Window int64 `json:"window,omitempty"`
	// as in the lens `context`; `assumed` for an unknown model: 200,000, or the largest recorded request;
	// `several` if they differ
	WindowFrom string `json:"windowFrom,omitempty"`
	// tokens of the largest request of recorded size; without any, of all
	Peak        int64   `json:"peak"`
	Mean        float64 `json:"mean"`             // tokens of a request, on average
	Overflows   int     `json:"overflows"`        // of the same requests, those that exceed the window
	Compactions int     `json:"compactions"`      // requests before which history was summarized
	Acts        int     `json:"acts"`             // requests before which the policy changed anything
	Layers      []Layer `json:"layers,omitempty"` // what each layer did
	// tokens of all requests; like the next seven, of requests with recorded usage; without any, of all
	Prompt  int64   `json:"prompt"`
	Read    int64   `json:"read"`    // of these, served by an ideal cache
	Write   int64   `json:"write"`   // and not served
	HitRate float64 `json:"hitRate"` // the share of `read`, from 0 to 1
	// tokens sent before and billed again; for `recorded`, including those that the provider did not serve
	Rebilled cache.Rebilled `json:"rebilled"`
	Output   int64          `json:"output"` // tokens of the answers, the same for all policies
	// by the price table, with an ideal cache
	Cost      Cost    `json:"cost"`
	Billed    *Billed `json:"billed,omitempty"` // of `recorded`: what was paid, and served
	Unpriced  int     `json:"unpriced,omitempty"`
	Estimated bool    `json:"estimated,omitempty"` // no usage is recorded: all tokens are counted
	Regrets   int     `json:"regrets"`             // what answers used after the policy had removed it
	ByKind    Kinds   `json:"regretsByKind"`
	// of a sum: quartiles, and the 95th percentile `p95`
	Spread  *Spread `json:"spread,omitempty"`
	Idle    string  `json:"idle,omitempty"`    // why the policy changed nothing, if it did not
	Failed  int     `json:"failed,omitempty"`  // failed calls of a hook, which changed nothing
	Failure string  `json:"failure,omitempty"` // why the first of them failed
	Skipped int     `json:"skipped,omitempty"` // calls not made, because three in a row took too long

	Rows      []Request `json:"-"`
	Decision  *Decision `json:"decision,omitempty"` // with --explain
	Regretted []Regret  `json:"-"`
	counted   int       // requests in the sums
}

// Billed is what the recorded path cost as it was billed, and what the provider's cache served
// (docs/figures.md, "Cost" and "Cache").
type Billed struct {
	Cost     float64 `json:"cost"`     // dollars of the answers, as recorded or by the table
	Recorded float64 `json:"recorded"` // the part of it that is recorded
	Prompt   int64   `json:"prompt"`   // tokens of the requests with a recorded usage
	Read     int64   `json:"read"`     // of these, served by the cache
	HitRate  float64 `json:"hitRate"`  // the share of `read`, from 0 to 1
}

func (b *Billed) plus(o *Billed) {
	b.Cost, b.Recorded, b.Prompt, b.Read = b.Cost+o.Cost, b.Recorded+o.Recorded, b.Prompt+o.Prompt, b.Read+o.Read
	if b.Prompt > 0 {
		b.HitRate = float64(b.Read) / float64(b.Prompt)
	}
}

// A Layer is the effect of a policy's layer in a run.
type Layer struct {
	Pass    string `json:"pass"`
	Changes int    `json:"changes"`
	// by the policy's counter; counted once, not again in later requests
	Saved int `json:"savedTokens"`
}

// Cost is what a run costs, in dollars.
type Cost struct {
	Input      float64 `json:"input"` // neither read from the cache nor written to it
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Output     float64 `json:"output"`
	Summaries  float64 `json:"summaries"` // requests for summaries
	Total      float64 `json:"total"`
}

// plus adds a cost.
func (c *Cost) plus(o Cost) {
	c.Input += o.Input
	c.CacheRead += o.CacheRead
	c.CacheWrite += o.CacheWrite
	c.Output += o.Output
	c.Summaries += o.Summaries
	c.Total += o.Total
}

// Kinds counts regrets by what was used: the same call again, a path, a line of at least 24
// bytes, an identifier.
type Kinds struct {
	Call       int `json:"call"`
	Path       int `json:"path"`
	Line       int `json:"line"`
	Identifier int `json:"identifier"`
}

// add counts a regret.
func (k *Kinds) add(kind reuse.Kind) {
	switch kind {
	case reuse.Call:
		k.Call++
	case reuse.Path:
		k.Path++
	case reuse.Line:
		k.Line++
	default:
		k.Identifier++
	}
}

// A Request is a request as a policy would have sent it.
//
// It is a line of schema ctxtool/simulate.request/1.
type Request struct {
	Schema   string `json:"schema"`
	File     string `json:"file,omitempty"`
	Policy   string `json:"policy"`
	Request  int    `json:"request"` // from 0
	Entry    string `json:"entry"`   // id of the answer
	Line     int    `json:"line"`    // of that entry
	Time     string `json:"time,omitempty"`
	Model    string `json:"model,omitempty"`
	Prompt   int64  `json:"prompt"` // tokens of the whole request, recorded or counted
	Tokens   Tokens `json:"tokens"` // counted
	Messages int    `json:"messages"`
	Window   int64  `json:"window,omitempty"`
	Overflow int64  `json:"overflow,omitempty"` // tokens above the window
	// `prompt` is counted; `peak` and `overflows` include the request only if no request has a recorded size
	Estimated bool           `json:"estimated,omitempty"`
	Shared    int64          `json:"shared"` // leading tokens shared with the previous request of the model
	Read      int64          `json:"read"`
	Write     int64          `json:"write"`
	Rebilled  cache.Rebilled `json:"rebilled,omitzero"`
	Cause     cache.Cause    `json:"cause,omitempty"` // why the shared beginning ends
	Cost      Cost           `json:"cost"`
	Changes   []Change       `json:"changes,omitempty"` // that the policy made before the request
	Regrets   []Regret       `json:"regrets,omitempty"` // what its answer used that was gone
}

// Tokens are the counted tokens of a request.
type Tokens struct {
	System int   `json:"system"`
	Tools  int   `json:"tools"`
	Hidden int64 `json:"hidden,omitempty"` // of prompt and tools that the file does not record
	weigh.Shares
	Total int64 `json:"total"`
}

// A Change is a policy's change of a message before a request.
type Change struct {
	Pass   string `json:"pass"`
	Action string `json:"action"` // replace, drop, omit or summarise
	Entry  string `json:"entry"`
	Line   int    `json:"line"`
	Was    int    `json:"wasTokens"`
	Now    int    `json:"nowTokens"`
	Why    string `json:"why,omitempty"`

	Message int    `json:"-"` // index of the message, -1 for the prompt
	Gone    []int  `json:"-"` // the messages that a summary replaces
	Text    string `json:"-"` // what stands in its place
}

// A Regret is something that an answer used after the policy had removed it.
type Regret struct {
	// `call` (the same call again), `path`, `line` (of at least 24 bytes), `identifier`
	Kind    reuse.Kind `json:"kind"`
	What    string     `json:"what"`    // the path, line or word, or the call in a few words
	Entry   string     `json:"entry"`   // the last message that had it
	Line    int        `json:"line"`    // of that entry
	Removed int        `json:"removed"` // the first request without that message
	Request int        `json:"request"` // whose answer used it

	Message int `json:"-"`
}
