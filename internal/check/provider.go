package check

import (
	_ "embed"
	"iter"
	"strconv"
	"strings"
	"sync"

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

// A rule is something that a provider refuses. A new one is a row of refused.txt, with its source on the
// page of its check.
type rule struct {
	code     string // of the check that reports it
	provider string
	quote    string // the provider's error: see refused.txt
	find     finder
	mended   bool // pi sends something else in its place, which is accepted
}

// A hit is a place in a request that a rule refuses.
type hit struct {
	message int    // its index, -1 for the request as a whole
	block   int    // in the message, -1 for all of it
	it      string // what the error names
}

//go:embed refused.txt
var refusedTable string

// rules are all rules, by check, and by provider as in Providers.
var rules = sync.OnceValue(func() (all []rule) {
	code := ""
	for line := range strings.Lines(refusedTable) {
		words := strings.Fields(line)
		switch {
		case len(words) == 1:
			code = words[0]
		case line[0] == ' ':
			find, mended := strings.CutSuffix(words[1], "!")
			all = append(all, rule{code, words[0], strings.Join(words[2:], " "), refusers[find], mended})
		}
	}
	return all
})

// refusals yields what a provider refuses of a request, each place once for a rule.
func refusals(provider string, q *outgoing) iter.Seq2[*rule, hit] {
	return func(yield func(*rule, hit) bool) {
		all := rules()
		for i := range all {
			r := &all[i]
			if r.provider != provider || r.mended && q.byPi {
				continue
			}
			for _, h := range r.find(q) {
				if (h.message < 0 || h.message >= q.proven) && !yield(r, h) {
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
		for r, h := range refusals(w.opt.Provider, q) {
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
	q := &outgoing{byPi: s.Dialect() == nil, agent: s.Dialect().Agent(), provider: provider}
	ref, window, from, err := e.Model()
	if err != nil {
		return nil, err
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
	q.proven = proven(e, q, provider)
	return q, nil
}

// accepts is the fix of what a provider refuses.
const accepts = "ctxtool repair --provider PROVIDER FILE"
