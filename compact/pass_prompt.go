package compact

import (
	"fmt"
	"slices"

	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
)

// DropBootstrap and DropTools are the last steps by which y-agent's guard makes room
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

// Bootstrap reports whether a part of a split prompt says where a session starts.
func Bootstrap(p prompt.Part) bool {
	return slices.Contains([]string{"project_context", "runtime", "cwd"}, p.Name) || p.File != "" && p.Skill == ""
}

func dropBootstrap(w *work) error {
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
	return nil
}

func dropTools(w *work) error {
	if w.Prompt == nil || len(w.Prompt.Tools) == 0 {
		return nil
	}
	n := len(w.Prompt.Tools)
	w.reprompt(w.Prompt.Tools[0].Origin.Record, fmt.Sprintf("all %d tools", n), func(p *prompt.Prompt) { p.Tools = nil })
	return nil
}

// reprompt changes the prompt, which a record has set; below 0 is the baseline.
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

// allOf is what prompt and tools count for; notesOf, the project's notes in it.
func allOf(p *prompt.Prompt, c *tokens.Counter) int   { return p.Counts(c).Total }
func notesOf(p *prompt.Prompt, c *tokens.Counter) int { return weigh.TextTokens(c, []byte(p.Notes())) }

// beside is how a policy counts the prompt, nil where it does not. What drops parts of it
// counts them.
func (p *Policy) beside() func(*prompt.Prompt, *tokens.Counter) int {
	if slices.ContainsFunc(p.Layers, func(l Layer) bool { return l.Pass.prompt }) {
		return allOf
	}
	return p.counts
}

// besides is a view that counts the prompt too.
func (v *View) besides(count func(*prompt.Prompt, *tokens.Counter) int) (*View, error) {
	if count == nil || v.prompted != nil {
		return v, nil
	}
	p, err := v.Envelope.Prompt()
	w := *v
	w.Prompt, w.prompted = p, count
	return &w, err
}

// promptOps are the operations of a patch that make one prompt of another, which lacks some of
// it.
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

// samePrompt reports whether a context has the prompt that was promised.
func samePrompt(promised, is *prompt.Prompt) bool {
	return slices.EqualFunc(promised.Parts, is.Parts, func(a, b prompt.Part) bool { return a.Name == b.Name && a.Text == b.Text }) &&
		slices.EqualFunc(promised.Tools, is.Tools, func(a, b prompt.Tool) bool { return a.Name == b.Name })
}
