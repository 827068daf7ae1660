package compact

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Prune replaces old tool results with placeholders, as gsh does: results with at least a
// window of tokens of later results after them are old (docs/policies.md 2.4).
var Prune = Pass{
	Name:     "prune",
	About:    "replace old tool results beyond a window of recent ones",
	System:   "gsh",
	Defaults: Options{Counter: &tokens.GSH, Protect: 40000},
	reads:    "protect",
	run:      prune,
}

// pruneAbove is the size in tokens up to which a result is not worth a placeholder.
const pruneAbove = 100

func prune(w *Work) {
	size := func(m *Message) int {
		if k := m.result(); k >= 0 {
			return tokens.GSH.Of(m.Blocks[k].Bytes)
		}
		return 0
	}
	old := func(m *Message, seen int) bool { return m.result() < 0 || seen > w.Protect }
	for i, seen := range w.aged(size, old) {
		if t := size(&w.Messages[i]); t > pruneAbove {
			w.replaceResult(i, fmt.Sprintf("[output pruned, was ~%d tokens]", t),
				fmt.Sprintf("%d tokens of later results follow", seen))
		}
	}
}

// An ageing is the memory of a pass that acts on messages after enough others have followed.
type ageing struct {
	from  int // the first message that is not old yet
	seen  int // number of messages at that time
	after int // size from that message on at that time
}

// aged yields the live messages that have become old, the last one first, with the size of what has followed
// them, as measured by size. If old holds for a message, it must hold for all earlier ones.
func (w *Work) aged(size func(m *Message) int, old func(m *Message, after int) bool) iter.Seq2[int, int] {
	a := recall[ageing](w)
	if len(w.changed) > 0 && w.changed[0] < a.seen {
		*a = ageing{from: min(a.from, w.changed[0])}
		a.seen = a.from
	}
	for ; a.seen < len(w.Messages); a.seen++ {
		if w.Live(a.seen) {
			a.after += size(&w.Messages[a.seen])
		}
	}
	var all, ages []int
	for ; a.from < len(w.Messages); a.from++ {
		m := &w.Messages[a.from]
		if !w.Live(a.from) {
			continue
		}
		n := a.after - size(m)
		if !old(m, n) {
			break
		}
		a.after = n
		all, ages = append(all, a.from), append(ages, n)
	}
	return func(yield func(i, after int) bool) {
		for k, i := range slices.Backward(all) {
			if !yield(i, ages[k]) {
				return
			}
		}
	}
}

// StaleResults replaces tool results with placeholders once many requests have included them.
var StaleResults = Pass{
	Name:     "stale-results",
	About:    "replace tool results older than a number of requests",
	System:   "ctxtool",
	Defaults: Options{Counter: &tokens.GSH, Requests: 10},
	reads:    "requests",
	run:      staleResults,
}

func staleResults(w *Work) {
	old := func(_ *Message, requests int) bool { return requests > w.Options.Requests }
	for i, requests := range w.aged((*Message).answers, old) {
		k := w.Messages[i].result()
		if k < 0 {
			continue
		}
		if t := tokens.GSH.Of(w.Messages[i].Blocks[k].Bytes); t > pruneAbove {
			w.replaceResult(i, fmt.Sprintf("[output elided after %d requests, was ~%d tokens]", w.Options.Requests, t),
				fmt.Sprintf("%d requests have had it", requests))
		}
	}
}

// answers returns 1 for an answer, which a request had, and 0 for other messages.
func (m *Message) answers() int {
	if m.isAssistant() {
		return 1
	}
	return 0
}

// DropImages replaces images in prompts and tool results with placeholders.
var DropImages = Pass{
	Name:     "drop-images",
	About:    "replace images, except those of the latest requests",
	System:   "ctxtool",
	Defaults: Options{Counter: &tokens.Pi},
	reads:    "keep",
	run:      dropImages,
}

const imagePlaceholder = "[image removed]"

func dropImages(w *Work) {
	old := func(m *Message, requests int) bool { return requests+m.answers() >= w.Keep }
	for i := range w.aged((*Message).answers, old) {
		w.dropImages(i)
	}
}

// dropImages replaces the images of one message. The placeholders of a result follow its
// text, which is one block; those of a prompt are at the places of the images.
func (w *Work) dropImages(i int) {
	k := w.Messages[i].result()
	images := 0
	for b := range w.Messages[i].Blocks {
		if w.Messages[i].Blocks[b].Kind != jsonl.ImageBlock {
			continue
		}
		if images++; k < 0 {
			w.Replace(i, b, imagePlaceholder, "an image")
		}
	}
	if k < 0 || images == 0 {
		return
	}
	lines := slices.Repeat([]string{imagePlaceholder}, images)
	if text := w.Text(i, k); text != "" {
		lines = append([]string{text}, lines...)
	}
	w.replaceResult(i, strings.Join(lines, "\n"), "its images")
}

// DropBootstrap and DropTools are the last steps of y-agent's guard
// (docs/policies.md 4.3). Only a patch can store them.
var (
	DropBootstrap = Pass{
		Name:     "drop-bootstrap",
		About:    "drop project notes, runtime and working directory from the prompt",
		System:   "y-agent",
		Defaults: Options{Counter: &tokens.YBytes},
		prompt:   true,
		run:      dropBootstrap,
	}
	DropTools = Pass{
		Name:     "drop-tools",
		About:    "drop all tools",
		System:   "y-agent",
		Defaults: Options{Counter: &tokens.YBytes},
		prompt:   true,
		run:      dropTools,
	}
)

// Bootstrap reports whether a part of a split prompt describes where a session starts.
func Bootstrap(p prompt.Part) bool {
	return slices.Contains([]string{"project_context", "runtime", "cwd"}, p.Name) || p.File != "" && p.Skill == ""
}

func dropBootstrap(w *Work) {
	for i := 0; w.Prompt != nil && i < len(w.Prompt.Parts); i++ {
		part := w.Prompt.Parts[i]
		rest := part
		rest.Text = ""
		for _, p := range prompt.Split([]prompt.Part{part}) {
			if !Bootstrap(p) {
				rest.Text += p.Text
			}
		}
		if rest.Text == part.Text {
			continue
		}
		w.reprompt(part.Origin.Record, "part "+part.Name+" of the prompt", func(p *prompt.Prompt) {
			p.Parts = slices.Clone(p.Parts)
			if rest.Text == "" {
				p.Parts = slices.Delete(p.Parts, i, i+1)
				i--
			} else {
				p.Parts[i] = rest
			}
		})
	}
}

func dropTools(w *Work) {
	if w.Prompt == nil || len(w.Prompt.Tools) == 0 {
		return
	}
	n := len(w.Prompt.Tools)
	w.reprompt(w.Prompt.Tools[0].Origin.Record, fmt.Sprintf("all %d tools", n),
		func(p *prompt.Prompt) { p.Tools = nil })
}

// reprompt changes the prompt by f, if the form can store it. rec is the record that set the
// prompt, below 0 for the baseline.
func (w *Work) reprompt(rec int, what string, f func(p *prompt.Prompt)) {
	c := Change{Pass: w.pass, Action: Drop, Block: -1, Message: -1, Record: rec, Why: what}
	if rec >= 0 {
		c.Entry, c.Line = sessionfmt.Quote(w.session().ID(rec)), w.session().Line(rec)
	}
	if w.form != "" && w.form != AsTransform {
		c.Why, c.Could = what+": no edit changes the prompt", AsTransform
		w.Cannot = append(w.Cannot, c)
		return
	}
	if w.View == w.from {
		w.View = w.from.fork()
	}
	before, p := allOf(w.Prompt, w.Counter), *w.Prompt
	f(&p)
	w.Prompt, w.reprompted = &p, true
	c.Was = before - allOf(&p, w.Counter)
	w.Changes = append(w.Changes, c)
}

// allOf returns the tokens of prompt and tools; notesOf, those of the project's notes in it.
func allOf(p *prompt.Prompt, c *tokens.Counter) int   { return p.Counts(c).Total }
func notesOf(p *prompt.Prompt, c *tokens.Counter) int { return weigh.TextTokens(c, []byte(p.Notes())) }

// beside returns how a policy counts the prompt, nil if it does not. A policy that drops parts of the prompt
// counts all of it.
func (p *Policy) beside() func(*prompt.Prompt, *tokens.Counter) int {
	if slices.ContainsFunc(p.Layers, func(l Layer) bool { return l.Pass.prompt }) {
		return allOf
	}
	return p.counts
}

// besides returns a view that counts the prompt too.
func (v *View) besides(count func(*prompt.Prompt, *tokens.Counter) int) (*View, error) {
	if count == nil || v.prompted != nil {
		return v, nil
	}
	p, err := v.Envelope.Prompt()
	w := *v
	w.Prompt, w.prompted = p, count
	return &w, err
}

// promptOps returns the operations of a patch that change a prompt from was to is, which
// lacks some of it.
func promptOps(was, is *prompt.Prompt, reason value) (ops []value) {
	if was == is {
		return nil
	}
	kept := map[string]string{}
	for _, p := range is.Parts {
		kept[p.Name] = p.Text
	}
	for _, p := range was.Parts {
		switch text, there := kept[p.Name]; {
		case !there:
			ops = append(ops,
				fmt.Appendf(nil,
					`{"op":"system_part_remove","scope":"cached","partName":%s,"invalidateCacheReason":%s}`,
					quoted(p.Name), reason))
		case text != p.Text:
			ops = append(ops,
				fmt.Appendf(nil,
					`{"op":"system_part_set","scope":"cached","partName":%s,"text":%s,"invalidateCacheReason":%s}`,
					quoted(p.Name), quoted(text), reason))
		}
	}
	if len(is.Tools) == 0 && len(was.Tools) > 0 {
		ops = append(ops,
			fmt.Appendf(nil, `{"op":"tools_replace","scope":"cached","tools":[],"invalidateCacheReason":%s}`, reason))
	}
	return ops
}

// samePrompt reports whether a context has the planned prompt.
func samePrompt(promised, is *prompt.Prompt) bool {
	return slices.EqualFunc(promised.Parts, is.Parts, func(a, b prompt.Part) bool {
		return a.Name == b.Name &&
			a.Text == b.Text
	}) &&
		slices.EqualFunc(promised.Tools, is.Tools, func(a, b prompt.Tool) bool { return a.Name == b.Name })
}
