package check

import (
	"iter"
	"strconv"
	"strings"

	"ctxtool/replay"
)

// The providers whose rules are known, as `--provider` names them.
const (
	anthropic = "anthropic"
	openai    = "openai"
	google    = "google"
)

// Providers are the names of all providers whose rules are known.
var Providers = []string{anthropic, openai, google}

// OwnProvider stands for the provider of the model that gets the next request, none if its rules are not known.
const OwnProvider = "own"

// A rule is something that a provider refuses.
type rule struct {
	code     string // of the check that reports it
	provider string
	// the provider's error: {m} stands for the number of a message as the provider counts them, {b} for that of a block
	// in it, and {it} for what is found
	quote  string
	find   finder
	mended bool // pi sends something else in its place, which is accepted
	// it holds for messages of the last answered request too, since their agent may have left out of that what it says
	always bool
}

// A hit is a place in a request that a rule refuses.
type hit struct {
	message int    // its index, -1 for the request as a whole
	block   int    // in the message, -1 for all of it
	it      string // what the error names
}

// refusals yields what a provider refuses of a request, each place once for a rule.
func refusals(provider string, q *outgoing) iter.Seq2[*rule, hit] {
	return func(yield func(*rule, hit) bool) {
		for i := range rules {
			r := &rules[i]
			if r.provider != provider || r.mended && q.byPi {
				continue
			}
			for _, h := range r.find(q) {
				if (h.message < 0 || h.message >= q.proven || r.always) && !yield(r, h) {
					return
				}
			}
		}
	}
}

// says returns the provider's error for a hit.
func (r *rule) says(q *outgoing, h hit) string {
	m, b := 0, 0
	if h.message >= 0 {
		m, b = q.messages[h.message].at, q.messages[h.message].first+max(0, h.block)
	}
	return strings.NewReplacer("{m}", strconv.Itoa(m), "{b}", strconv.Itoa(b), "{it}", h.it).Replace(r.quote)
}

// refused returns the check of a code in the group provider, which reports what the provider refuses.
func refused(code string) func(w *walk) {
	return func(w *walk) {
		if w.opt.Provider == "" {
			return
		}
		q, err := w.outgoing()
		if err != nil {
			w.err = err
			return
		}
		w.report.provider = q.provider // which a fix names
		for r, h := range refusals(q.provider, q) {
			switch {
			case r.code != code:
			case h.message < 0:
				w.addLine(0, "", "%s refuses the request: %q", r.provider, r.says(q, h))
			default:
				w.add(q.messages[h.message].rec, "%s refuses message %d: %q", r.provider, h.message, r.says(q, h))
			}
		}
	}
}

// outgoing returns the request that a resume would send, read on first use.
func (w *walk) outgoing() (*outgoing, error) {
	if w.sends == nil {
		q, err := newOutgoing(w.active, w.opt.Provider)
		if err != nil {
			return nil, err
		}
		w.sends = q
	}
	return w.sends, nil
}

// newOutgoing reads the request that a resume sends: the messages of a context, as its agent sends
// them, before a new prompt.
func newOutgoing(e *replay.Envelope, provider string) (*outgoing, error) {
	s := e.Replay().Session
	q := &outgoing{byPi: s.Dialect() == nil, agent: s.Agent(), provider: provider}
	ref, window, from, err := e.Model()
	if err != nil {
		return nil, err
	}
	if provider == OwnProvider {
		q.provider = maker(ref.Provider, ref.ID)
	}
	q.bedrock = strings.Contains(ref.Provider, "bedrock")
	size, err := e.Size()
	if err != nil {
		return nil, err
	}
	q.tokens = int64(size.Tokens)
	if from != "recorded" { // else requests were larger than the window of the table
		q.window = window
	}
	for m, err := range e.Sources(func(replay.Message) bool { return true }) {
		if err != nil {
			return nil, err
		}
		q.add(&m)
	}
	q.number()
	q.proven = proven(e, q, q.provider)
	return q, nil
}

// accepts is the fix of what a provider refuses.
const accepts = "ctxtool repair --provider PROVIDER FILE"
