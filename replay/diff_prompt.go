package replay

import (
	"bytes"
	"slices"
)

// An item is a part or a tool as a comparison sees it.
type item struct {
	name, text string
	by         Origin
}

func partItems(parts []Part) (all []item) {
	for _, p := range parts {
		all = append(all, item{p.Name, p.Text, p.Origin})
	}
	return all
}

func toolItems(tools []Tool) (all []item) {
	for _, t := range tools {
		var f [3]value
		t.Raw.Fields(f[:], "name", "description", "parameters")
		var text []byte
		for _, v := range f {
			text = append(v.AppendCompact(text), 0)
		}
		all = append(all, item{t.Name, string(text), t.Origin})
	}
	return all
}

// prompts compares parts, tools and options.
func (d *Difference) prompts(a, b *Prompt) error {
	hist, err := d.cause.histories()
	if err != nil {
		return err
	}
	d.Parts = d.items(partItems(a.Parts), partItems(b.Parts), hist, 'p')
	d.Tools = d.items(toolItems(a.Tools), toolItems(b.Tools), hist, 't')
	for _, o := range []struct {
		name string
		a, b value
	}{
		{"reasoning", a.Options.Reasoning, b.Options.Reasoning},
		{"temperature", a.Options.Temperature, b.Options.Temperature},
		{"maxTokens", a.Options.MaxTokens, b.Options.MaxTokens},
	} {
		if sameValue(o.a, o.b) {
			continue
		}
		by, ok := hist.cause(d, "o"+o.name)
		if !ok {
			by = d.cause.setting(d.A.Envelope.thinking, d.B.Envelope.thinking)
		}
		d.Options = append(d.Options, optionChange{o.name, o.a, o.b, by})
	}
	return nil
}

// items compares two lists of named items; of several with one name the first goes
// with the first.
func (d *Difference) items(a, b []item, hist history, kind byte) (rows []ItemChange) {
	pair := make([]int, len(b))
	taken := make([]bool, len(a))
	for j := range b {
		pair[j] = -1
		for i := range a {
			if !taken[i] && a[i].name == b[j].name {
				pair[j], taken[i] = i, true
				break
			}
		}
	}
	for i := range a {
		if !taken[i] {
			by, ok := hist.cause(d, string(kind)+a[i].name)
			if !ok {
				by = d.cause.item(d.A.Envelope, a[i].by, 0)
			}
			rows = append(rows, ItemChange{ChangeRemoved, a[i].name, i, -1, by})
		}
	}
	last := -1
	for j := range b {
		row := ItemChange{ChangeAdded, b[j].name, pair[j], j, d.cause.item(d.B.Envelope, b[j].by, 1)}
		if i := pair[j]; i >= 0 {
			moved := i < last
			last = max(last, i)
			switch {
			case a[i].text != b[j].text:
				row.Change = ChangeChanged
			case moved:
				row.Change = ChangeMoved
			default:
				continue
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// item is what put an item where it is, if only that side has it; else the compaction
// that has it come or go.
func (c *causes) item(e *Envelope, by Origin, side int) Cause {
	own := c.of(e, by)
	if c.span == nil || by.Record < 0 || c.span.onlyAt[side][by.By] {
		return own
	}
	return c.compaction(own)
}

// A history is what changed parts (p), tools (t) and options (o) last, by their kind
// and name: on the way to B from where the paths part, and on that to A.
type history [2]map[string]Origin

// cause is what changed an item last, by B's path, or else by A's.
func (h history) cause(d *Difference, key string) (Cause, bool) {
	if by, ok := h[1][key]; ok {
		return d.cause.of(d.B.Envelope, by), true
	}
	by, ok := h[0][key]
	return d.cause.of(d.A.Envelope, by), ok
}

// histories goes through what made both prompts, as far as only one side has it.
func (c *causes) histories() (h history, err error) {
	if c.span == nil {
		return h, nil
	}
	for k, e := range []*Envelope{c.a, c.b} {
		if h[k], err = c.history(e, k); err != nil {
			return h, err
		}
	}
	return h, nil
}

func (c *causes) history(e *Envelope, side int) (map[string]Origin, error) {
	deltas := e.state.deltas
	fresh := slices.IndexFunc(deltas, func(d delta) bool { return c.span.onlyAt[side][d.m.origin().By] })
	if fresh < 0 {
		return nil, nil
	}
	f := e.r.startingPrompt(hasSystem(deltas))
	l := e.r.newLoader()
	if err := l.fold(&f, deltas[:fresh]); err != nil {
		return nil, err
	}
	changed := map[string]Origin{}
	parts, tools, options := slices.Clone(f.parts), slices.Clone(f.tools), f.options
	for k := fresh; k < len(deltas); k++ {
		if err := l.fold(&f, deltas[k:k+1]); err != nil {
			return nil, err
		}
		by := deltas[k].m.origin()
		parts = changes(parts, f.parts, samePart, partName, func(name string) { changed["p"+name] = by })
		tools = changes(tools, f.tools, sameTool, toolName, func(name string) { changed["t"+name] = by })
		for _, o := range []struct {
			name    string
			was, is value
		}{
			{"reasoning", options.Reasoning, f.options.Reasoning},
			{"temperature", options.Temperature, f.options.Temperature},
			{"maxTokens", options.MaxTokens, f.options.MaxTokens},
		} {
			if !bytes.Equal(o.was, o.is) {
				changed["o"+o.name] = by
			}
		}
		options = f.options
	}
	return changed, nil
}

func partName(p *Part) string { return p.Name }
func toolName(t *Tool) string { return t.Name }

func samePart(a, b *Part) bool { return a.Name == b.Name && a.Text == b.Text }
func sameTool(a, b *Tool) bool { return a.Name == b.Name && bytes.Equal(a.Raw, b.Raw) }

// changes tells the names of what is otherwise in a list than it was, come and gone,
// and returns was as the list is now. Of long lists of which little changes only that
// is looked up and copied.
func changes[T any](was, is []T, same func(a, b *T) bool, name func(*T) string, tell func(name string)) []T {
	head, tail := 0, 0
	for head < min(len(was), len(is)) && same(&was[head], &is[head]) {
		head++
	}
	for tail < min(len(was), len(is))-head && same(&was[len(was)-1-tail], &is[len(is)-1-tail]) {
		tail++
	}
	if gone, come := was[head:len(was)-tail], is[head:len(is)-tail]; len(gone)+len(come) > 0 {
		before := map[string]*T{}
		for i := range gone {
			before[name(&gone[i])] = &gone[i]
		}
		for i := range come {
			n := name(&come[i])
			if old := before[n]; old == nil || !same(old, &come[i]) {
				tell(n)
			}
			delete(before, n)
		}
		for n := range before {
			tell(n)
		}
	}
	return append(was[:head], is[head:]...)
}
