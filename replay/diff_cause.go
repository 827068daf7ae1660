package replay

import (
	"bytes"
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

// causes tells which entry made a difference.
type causes struct {
	a, b *Envelope
	span *Span // nil for two sessions

	omits [2]map[message]int // the edits that leave messages out of a and of b
	cut   *Cause             // see compaction
}

func (c *causes) of(e *Envelope, o Origin) Cause {
	if o.Record < 0 {
		return Cause{Record: -1, Op: -1}
	}
	return newCause(e.r, o.By, Index(o.Op))
}

// came is what put a message into B.
func (c *causes) came(m *message) Cause {
	o := m.origin()
	if c.span == nil || c.span.onlyAt[1][o.By] {
		return c.of(c.b, o)
	}
	// Both paths have its entry: A had lost it, or B has it again.
	if took, ok := c.span.toA[m.itself()]; ok {
		return c.of(c.a, took.Origin)
	}
	if left := c.left(0, m); left >= 0 {
		return newCause(c.a.r, left, -1)
	}
	return c.compaction(c.of(c.b, o))
}

// gone is what took a message of A out of the request, and whether a summary stands
// for it now.
func (c *causes) gone(m *message) (by Cause, summary bool) {
	o := m.origin()
	if c.span == nil || c.span.onlyAt[0][o.By] {
		return c.of(c.a, o), false // its entry is not on B's path
	}
	if left := c.left(1, m); left >= 0 {
		return newCause(c.b.r, left, -1), false
	}
	took, ok := c.span.toB[m.itself()]
	if !ok {
		return c.compaction(c.of(c.a, o)), false
	}
	return c.of(c.b, took.Origin), took.summary
}

// left is the edit that leaves a message out of an envelope that still has it, -1
// where none does.
func (c *causes) left(side int, m *message) int {
	if c.omits[side] == nil {
		c.omits[side] = map[message]int{}
		for other := range [2]*Envelope{c.a, c.b}[side].messages {
			if other.flags&omitted != 0 {
				c.omits[side][other.itself()] = int(other.edit)
			}
		}
	}
	if edit, ok := c.omits[side][m.itself()]; ok {
		return edit
	}
	return -1
}

// edited is the edit that a message has got or lost.
func (c *causes) edited(was, is *message) Cause {
	for _, s := range []struct {
		e    *Envelope
		edit int32
	}{{c.b, is.edit}, {c.a, was.edit}} {
		if s.edit >= 0 && (c.span.onlyAt[0][int(s.edit)] || c.span.onlyAt[1][int(s.edit)]) {
			return newCause(s.e.r, int(s.edit), -1)
		}
	}
	return c.compaction(c.of(c.b, is.origin()))
}

// moved is what has put a message that both sides have elsewhere: its entry where only
// B's path has it, else the patch that arranged the messages last.
func (c *causes) moved(m *message) Cause {
	own := c.of(c.b, m.origin())
	if c.span == nil || c.span.onlyAt[1][own.Record] {
		return own
	}
	if by, ok := c.span.toB[message{}]; ok {
		return c.of(c.b, by.Origin)
	}
	if by, ok := c.span.toA[message{}]; ok {
		return c.of(c.a, by.Origin)
	}
	return c.compaction(own)
}

// compaction is the compaction in force of one side that the other has not, if there
// is one.
func (c *causes) compaction(other Cause) Cause {
	if c.cut == nil {
		c.cut = &Cause{}
		for k, e := range []*Envelope{c.a, c.b} {
			for m := range e.messages {
				if m.form == summary && c.span.onlyAt[k][int(m.rec)] {
					*c.cut = newCause(e.r, int(m.rec), -1)
				}
			}
		}
	}
	if c.cut.In == nil {
		return other
	}
	return *c.cut
}

// setting is what has set something else, by the records that set it on both sides,
// -1 for none.
func (c *causes) setting(a, b int) Cause {
	if b >= 0 && (c.span == nil || c.span.onlyAt[1][b]) {
		return newCause(c.b.r, b, -1)
	}
	if a >= 0 && (c.span == nil || c.span.onlyAt[0][a]) {
		return newCause(c.a.r, a, -1)
	}
	return Cause{Record: -1, Op: -1}
}

// model is what changed the model: of the entries that name the one that a side has
// now, one after the other, the first.
func (c *causes) model() (Cause, error) {
	by := c.setting(c.a.model, c.b.model)
	if by.In == nil || c.span == nil {
		return by, nil
	}
	side, e := 1, c.b
	if !c.span.onlyAt[1][by.Record] {
		side, e = 0, c.a
	}
	want, _, _, err := e.Model()
	if err != nil {
		return by, err
	}
	path, _ := e.r.Session.Path(by.Record)
	for _, rec := range slices.Backward(path) {
		if !c.span.onlyAt[side][rec] {
			break
		}
		if k := e.r.Session.Kind(rec); k != jsonl.ModelChange && k != jsonl.Assistant {
			continue
		}
		at := *e
		at.model = rec
		is, _, _, err := at.Model()
		if err != nil || is != want {
			return by, err
		}
		by = newCause(e.r, rec, -1)
	}
	return by, nil
}

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
