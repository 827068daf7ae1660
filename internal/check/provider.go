package check

import (
	_ "embed"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
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
var rules = readRules()

func readRules() (all []rule) {
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

// removedImage is the text that stands for an image that a provider refuses, and noResult the one that pi sends in
// place of a missing result.
const (
	removedImage = "[image removed: the provider refuses it]"
	noResult     = "No result provided"
)

// A leaving is what is left out of the request that a resume would send, as edits will leave it out.
type leaving struct {
	e *replay.Envelope
	q *outgoing
	// by record, the blocks that go, and the texts in their place; nil for the whole message
	changed map[int]map[int]string
	fixed   *sent    // a message that no edit reaches
	notes   []string // the provider's error for each
}

// leaving returns a leaving of nothing, and a batch for what is to be appended. The session must be one of pi.
func (r *Repair) leaving(provider string, now time.Time) (*leaving, *sessionfmt.Batch, error) {
	if err := r.was.Foreign(); err != nil {
		return nil, nil, err
	}
	s, err := r.repaired()
	if err != nil {
		return nil, nil, err
	}
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return nil, nil, err
	}
	q, err := newOutgoing(e, provider)
	return &leaving{e: e, q: q, changed: map[int]map[int]string{}}, s.NewBatch(s.Leaf(), now), err
}

// append makes a batch the end of the repair.
func (r *Repair) append(b *sessionfmt.Batch, why ...string) error {
	if b.Len() > 0 {
		r.tail, r.why = b, why
	}
	return b.Err()
}

// AnswerCalls plans entries to append so that providers accept the next request: calls at
// the end of the conversation get an error as their result; earlier calls without a result
// and results without a call are removed by context edits.
func (r *Repair) AnswerCalls(now time.Time) error {
	l, b, err := r.leaving("", now)
	if err != nil {
		return err
	}
	pairs, last := l.q.paired(false), l.q.last()
	early := slices.DeleteFunc(slices.Clone(pairs.unanswered), func(h hit) bool { return h.message >= last })
	for _, h := range slices.Backward(slices.Concat(early, pairs.stray, pairs.doubled)) {
		if l.q.messages[h.message].ours {
			l.leave(h)
		}
	}
	if err := l.edits(b); err != nil {
		return err
	}
	for _, h := range pairs.unanswered[len(early):] {
		id, name := jsonl.AppendQuoted(nil, h.it), jsonl.AppendQuoted(nil, l.q.messages[h.message].blocks[h.block].name)
		result := fmt.Appendf(nil,
			`{"role":"toolResult","toolCallId":%s,"toolName":%s,"content":[{"type":"text","text":"%s"}],`+
				`"isError":true,"timestamp":%d}`, id, name, noResult, now.UnixMilli())
		b.Add(jsonl.ToolResult, jsonl.Field{Name: "message", Value: result})
	}
	if b.Len() == 0 {
		return nil
	}
	return r.append(b, "for tool calls and results without each other")
}

// Accept plans context edits after which a provider accepts the next request: what it refuses is left out, and
// no more. A call goes with its results; an image becomes a text.
func (r *Repair) Accept(provider string, now time.Time) error {
	l, b, err := r.leaving(provider, now)
	if err != nil {
		return err
	}
	s := l.e.Replay().Session
	for l.round(s, provider) {
	}
	if l.fixed != nil {
		return &sessionfmt.Error{Pos: s.Pos(l.fixed.rec),
			Err: fmt.Errorf("%s refuses what a patch has put there, which no edit reaches", provider)}
	}
	if err := l.edits(b); err != nil {
		return err
	}
	return r.append(b, append([]string{"to leave out what " + provider + " refuses"}, l.notes...)...)
}

// round leaves out what the first rule refuses that refuses anything, the last place first, and reports whether
// there was any. Leaving something out can make another rule refuse the rest.
func (l *leaving) round(s *sessionfmt.Session, provider string) bool {
	var all []hit
	var first *rule
	for r, h := range refusals(provider, l.q) {
		if h.message < 0 {
			continue // the whole request is too large
		}
		if first != nil && r != first {
			break
		}
		first, all = r, append(all, h)
	}
	for _, h := range slices.Backward(all) {
		if m := &l.q.messages[h.message]; !m.ours {
			l.fixed = m
			return false
		}
		l.notes = append(l.notes, fmt.Sprintf("entry %s: %s", sessionfmt.Quote(s.ID(l.q.messages[h.message].rec)),
			first.says(l.q, h)))
		l.leave(h)
	}
	l.q.number()
	return len(all) > 0
}

// leave leaves a message or a block of it out.
func (l *leaving) leave(h hit) {
	m := &l.q.messages[h.message]
	if h.block < 0 {
		m.gone, l.changed[m.rec] = true, nil
		return
	}
	b, text := &m.blocks[h.block], ""
	if l.changed[m.rec] == nil {
		l.changed[m.rec] = map[int]string{}
	}
	if b.kind == jsonl.ImageBlock {
		text = removedImage
	}
	l.changed[m.rec][b.index] = text
	if text != "" {
		*b = sentBlock{kind: jsonl.TextBlock, index: b.index}
		return
	}
	m.blocks = slices.Delete(m.blocks, h.block, h.block+1)
	// it says nothing
	if !slices.ContainsFunc(m.blocks, func(b sentBlock) bool { return b.kind != jsonl.ThinkingBlock }) {
		m.gone, l.changed[m.rec] = true, nil
	}
}

// edits adds the edits to a batch.
func (l *leaving) edits(b *sessionfmt.Batch) error {
	s := l.e.Replay().Session
	changes := func(m replay.Message) bool {
		_, ok := l.changed[m.Origin.Record]
		return ok && m.Origin.Op < 0
	}
	for m, err := range l.e.Sources(changes) {
		if err != nil {
			return err
		}
		if !changes(m) {
			continue
		}
		rec, replacement := m.Origin.Record, jsonl.Value("null")
		if cut := l.changed[rec]; cut != nil && (s.Kind(rec) == jsonl.CustomMessage || s.Kind(rec).Replaceable()) {
			replacement = withoutBlocks(m.Raw.Message().Blocks, cut)
		}
		b.Add(jsonl.ContextEdit,
			jsonl.Field{Name: "targetId", Value: jsonl.AppendQuoted(nil, s.ID(rec))},
			jsonl.Field{Name: "replacement", Value: replacement})
	}
	return nil
}

// withoutBlocks returns a content without some of its blocks, or with texts in their place, as the
// replacement of an edit.
func withoutBlocks(blocks []jsonl.Block, cut map[int]string) jsonl.Value {
	kept := []byte(`{"content":[`)
	for i := range blocks {
		text, goes := cut[i]
		if goes && text == "" {
			continue
		}
		if kept[len(kept)-1] != '[' {
			kept = append(kept, ',')
		}
		if goes {
			kept = append(jsonl.AppendQuoted(append(kept, `{"type":"text","text":`...), text), '}')
		} else {
			kept = append(kept, blocks[i].Raw...)
		}
	}
	return append(kept, "]}"...)
}
