package compact

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"ctxtool/internal/activity"
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

func prune(w *work) {
	size := func(m *message) int {
		if k := m.result(); k >= 0 {
			return tokens.GSH.Of(m.Blocks[k].Bytes)
		}
		return 0
	}
	old := func(m *message, seen int) bool { return m.result() < 0 || seen > w.Protect }
	for i, seen := range w.aged(size, old) {
		if t := size(&w.Messages[i]); t > pruneAbove {
			w.replaceResult(i, fmt.Sprintf("[output pruned, was ~%d tokens]", t), fmt.Sprintf("%d tokens of later results follow", seen))
		}
	}
}

// An ageing is what a pass remembers that acts on messages once enough has come after them.
type ageing struct {
	from  int // the first message that is not old yet
	seen  int // messages then
	after int // what there was from that one on
}

// aged yields the live messages that have become old, the last one first, with what has come after
// them as measured by size. old must hold for all messages before one for which it does.
func (w *work) aged(size func(m *message) int, old func(m *message, after int) bool) iter.Seq2[int, int] {
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

func staleResults(w *work) {
	old := func(_ *message, requests int) bool { return requests > w.Options.Requests }
	for i, requests := range w.aged((*message).answers, old) {
		k := w.Messages[i].result()
		if k < 0 {
			continue
		}
		if t := tokens.GSH.Of(w.Messages[i].Blocks[k].Bytes); t > pruneAbove {
			w.replaceResult(i, fmt.Sprintf("[output elided after %d requests, was ~%d tokens]", w.Options.Requests, t), fmt.Sprintf("%d requests have had it", requests))
		}
	}
}

// answers returns 1 for an answer, which a request had, and 0 for other messages.
func (m *message) answers() int {
	if m.isAssistant() {
		return 1
	}
	return 0
}

// Superseded blanks reads of a file that has been read again, and results that only state
// that there is nothing, as y-agent does (docs/policies.md 4.9). A newer read supersedes an
// older one only if it did not fail and covers the same part.
var Superseded = Pass{
	Name:     "superseded",
	About:    "blank older reads of a file, and results that say nothing",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YScalars},
	reads:    "busy",
	run:      superseded,
}

const (
	supersededNotice = "[Superseded by a newer read of this file]"
	uselessNotice    = "[Uneventful result elided]"

	blankFrom  = 50   // the least tokens of a result that is worth a notice
	uselessMax = 200  // the most bytes of a result that states that there is nothing
	busySuffix = 8000 // tokens after a result above which keeping the cache saves more
)

// A read is the part of a file that a result shows, as the call gives it.
type read struct{ file, part string }

func superseded(w *work) {
	known := recall[reads](w)
	all := w.newlyRead(known)
	if w.Busy { // later runs may have less after a message
		all = slices.Collect(w.backward)
	}
	after := 0 // tokens
	for _, i := range all {
		if w.Busy && after > busySuffix {
			break
		}
		if k := w.Messages[i].result(); k >= 0 && w.Messages[i].Call >= 0 {
			notice, why := w.notice(i, known)
			n := tokensOf(&tokens.YScalars, w.Messages[i].Blocks[k].length)
			if notice != "" && n >= blankFrom {
				after += n
				w.replaceResult(i, notice, why)
				continue
			}
		}
		after += w.Messages[i].Tokens(&tokens.YScalars)
	}
}

// reads are the results that show a file, by what they show.
type reads struct {
	shown map[int]read
	good  map[read][]int              // those that did not fail, in order
	open  map[string]map[string][]int // by file and part, those that no later one supersedes
}

// newlyRead adds the new results to those that are known, and returns them with those that they may
// supersede, the last one first.
func (w *work) newlyRead(known *reads) (all []int) {
	if known.good == nil {
		*known = reads{map[int]read{}, map[read][]int{}, map[string]map[string][]int{}}
	}
	for i := range w.news {
		if !w.Live(i) || w.Messages[i].Call < 0 || w.Messages[i].result() < 0 {
			continue
		}
		all = append(all, i)
		r := w.read(i)
		if r.file == "" {
			continue
		}
		parts := known.open[r.file]
		if parts == nil {
			parts = map[string][]int{}
			known.open[r.file] = parts
		}
		known.shown[i], parts[r.part] = r, append(parts[r.part], i)
		at, had := slices.BinarySearch(known.good[r], i)
		if w.failed(i) {
			if had {
				known.good[r] = slices.Delete(known.good[r], at, at+1)
			}
			continue
		}
		if !had {
			known.good[r] = slices.Insert(known.good[r], at, i)
		}
		all = append(all, supersede(parts, r.part, i)...)
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(i int) bool { return !w.Live(i) })
	slices.Reverse(all)
	return all
}

// supersede takes out of the results of a file those that one of a part supersedes, and returns them.
func supersede(parts map[string][]int, part string, by int) (all []int) {
	take := func(part string) {
		n, _ := slices.BinarySearch(parts[part], by)
		all = append(all, parts[part][:n]...)
		if parts[part] = parts[part][n:]; len(parts[part]) == 0 {
			delete(parts, part)
		}
	}
	take(part)
	if part == "" {
		for other := range parts {
			take(other)
		}
	}
	return all
}

// last returns the last of the results that showed something and still do, -1 for none.
func (w *work) last(good map[read][]int, r read) int {
	all := good[r]
	for len(all) > 0 && !w.Live(all[len(all)-1]) {
		all = all[:len(all)-1]
		good[r] = all
	}
	if len(all) == 0 {
		return -1
	}
	return all[len(all)-1]
}

// notice returns the text that replaces a result, and why; both empty if nothing does.
func (w *work) notice(i int, known *reads) (notice, why string) {
	r := known.shown[i]
	switch {
	case r.file != "" && (w.last(known.good, read{file: r.file}) > i || w.last(known.good, r) > i):
		return supersededNotice, "read again later"
	case w.useless(i):
		return uselessNotice, "it reports that there is nothing"
	}
	return "", ""
}

// read returns the part of a file that the result of a message shows, the zero value for
// other tools.
func (w *work) read(i int) (r read) {
	if call, k := w.callOf(i); k >= 0 {
		c := activity.New(w.Messages[call].Blocks[k].tool(), "", jsonl.Value(w.text(call, k)))
		r.file, r.part = c.Reads()
	}
	return r
}

// callOf returns the message and the block of the call of a result, block -1 if there is none.
func (v *View) callOf(i int) (message, block int) {
	m := &v.Messages[i]
	k := m.result()
	if m.Call < 0 || k < 0 {
		return 0, -1
	}
	for b := range v.Messages[m.Call].Blocks {
		if c := &v.Messages[m.Call].Blocks[b]; c.Kind == jsonl.CallBlock && c.ID == m.Blocks[k].ID {
			return m.Call, b
		}
	}
	return 0, -1
}

// useless reports whether the result of a message only states that there is nothing, and is
// long enough to be worth a notice.
func (w *work) useless(i int) bool {
	k := w.Messages[i].result()
	if b := &w.Messages[i].Blocks[k]; b.Bytes > uselessMax || tokensOf(&tokens.YScalars, b.length) < blankFrom {
		return false
	}
	return containsAny(w.text(i, k), "[]", "{}", `"results": []`, `"count": 0`, "no results", "No results", "no matches", "No matches", "nothing found")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
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

func dropImages(w *work) {
	old := func(m *message, requests int) bool { return requests+m.answers() >= w.Keep }
	for i := range w.aged((*message).answers, old) {
		w.dropImages(i)
	}
}

// dropImages replaces the images of one message. The placeholders of a result follow its
// text, which is one block; those of a prompt are at the places of the images.
func (w *work) dropImages(i int) {
	k := w.Messages[i].result()
	images := 0
	for b := range w.Messages[i].Blocks {
		if w.Messages[i].Blocks[b].Kind != jsonl.ImageBlock {
			continue
		}
		if images++; k < 0 {
			w.replace(i, b, imagePlaceholder, "an image")
		}
	}
	if k < 0 || images == 0 {
		return
	}
	lines := slices.Repeat([]string{imagePlaceholder}, images)
	if text := w.text(i, k); text != "" {
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

func dropBootstrap(w *work) {
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
			if p.Parts = slices.Clone(p.Parts); rest.Text == "" {
				p.Parts = slices.Delete(p.Parts, i, i+1)
				i--
			} else {
				p.Parts[i] = rest
			}
		})
	}
}

func dropTools(w *work) {
	if w.Prompt == nil || len(w.Prompt.Tools) == 0 {
		return
	}
	n := len(w.Prompt.Tools)
	w.reprompt(w.Prompt.Tools[0].Origin.Record, fmt.Sprintf("all %d tools", n), func(p *prompt.Prompt) { p.Tools = nil })
}

// reprompt changes the prompt by f, if the form can store it. rec is the record that set the
// prompt, below 0 for the baseline.
func (w *work) reprompt(rec int, what string, f func(p *prompt.Prompt)) {
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

// allOf returns the tokens of prompt and tools, notesOf those of the project's notes in it.
func allOf(p *prompt.Prompt, c *tokens.Counter) int   { return p.Counts(c).Total }
func notesOf(p *prompt.Prompt, c *tokens.Counter) int { return weigh.TextTokens(c, []byte(p.Notes())) }

// beside returns how a policy counts the prompt, nil if it does not. A policy that drops
// parts of the prompt counts all of it.
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
			ops = append(ops, fmt.Appendf(nil, `{"op":"system_part_remove","scope":"cached","partName":%s,"invalidateCacheReason":%s}`, quoted(p.Name), reason))
		case text != p.Text:
			ops = append(ops, fmt.Appendf(nil, `{"op":"system_part_set","scope":"cached","partName":%s,"text":%s,"invalidateCacheReason":%s}`, quoted(p.Name), quoted(text), reason))
		}
	}
	if len(is.Tools) == 0 && len(was.Tools) > 0 {
		ops = append(ops, fmt.Appendf(nil, `{"op":"tools_replace","scope":"cached","tools":[],"invalidateCacheReason":%s}`, reason))
	}
	return ops
}

// samePrompt reports whether a context has the planned prompt.
func samePrompt(promised, is *prompt.Prompt) bool {
	return slices.EqualFunc(promised.Parts, is.Parts, func(a, b prompt.Part) bool { return a.Name == b.Name && a.Text == b.Text }) &&
		slices.EqualFunc(promised.Tools, is.Tools, func(a, b prompt.Tool) bool { return a.Name == b.Name })
}
