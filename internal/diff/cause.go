package diff

import (
	"bytes"
	"encoding/json"
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt/jsonl"
)

// causes finds the entry that made a difference.
type causes struct {
	a, b *replay.Envelope
	span *Span // nil for two sessions

	omits [2]map[replay.Piece]int // the edits that omit messages of a and of b
	cut   *Cause                  // see compaction
}

func (c *causes) of(e *replay.Envelope, o origin.Origin) Cause {
	if o.Record < 0 {
		return Cause{Record: -1, Op: -1}
	}
	return newCause(e.Replay(), o.By, origin.Index(o.Op))
}

// added returns what added a message to B.
func (c *causes) added(m replay.Piece) Cause {
	o := m.Origin()
	if c.span == nil || c.span.onlyAt[1][o.By] {
		return c.of(c.b, o)
	}
	// Its entry is on both paths: A has lost it, or B has it again.
	if took := c.span.toA.of(m); took.known {
		return c.of(c.a, took.Origin)
	}
	if left := c.omission(0, m); left >= 0 {
		return newCause(c.a.Replay(), left, -1)
	}
	return c.compaction(c.of(c.b, o))
}

// removed returns what removed a message of A from the request, and whether a summary took its
// place.
func (c *causes) removed(m replay.Piece) (by Cause, summary bool) {
	o := m.Origin()
	if c.span == nil || c.span.onlyAt[0][o.By] {
		return c.of(c.a, o), false // its entry is not on B's path
	}
	if left := c.omission(1, m); left >= 0 {
		return newCause(c.b.Replay(), left, -1), false
	}
	took := c.span.toB.of(m)
	if !took.known {
		return c.compaction(c.of(c.a, o)), false
	}
	return c.of(c.b, took.Origin), took.summary
}

// omission returns the edit that omits a message of an envelope, -1 if none does.
func (c *causes) omission(side int, m replay.Piece) int {
	if c.omits[side] == nil {
		c.omits[side] = map[replay.Piece]int{}
		e := [2]*replay.Envelope{c.a, c.b}[side]
		for i := range e.Len() {
			if edit, omits := e.Piece(i).Edit(); omits {
				c.omits[side][e.Piece(i).Identity()] = edit
			}
		}
	}
	if edit, ok := c.omits[side][m.Identity()]; ok {
		return edit
	}
	return -1
}

// edited returns the edit that a message got or lost.
func (c *causes) edited(was, is replay.Piece) Cause {
	for _, s := range []struct {
		e *replay.Envelope
		m replay.Piece
	}{{c.b, is}, {c.a, was}} {
		if edit, _ := s.m.Edit(); edit >= 0 && (c.span.onlyAt[0][edit] || c.span.onlyAt[1][edit]) {
			return newCause(s.e.Replay(), edit, -1)
		}
	}
	return c.compaction(c.of(c.b, is.Origin()))
}

// moved returns what moved a message of both sides: its entry if only B's path has it, else the
// last patch that rearranged the messages.
func (c *causes) moved(m replay.Piece) Cause {
	own := c.of(c.b, m.Origin())
	if c.span == nil || c.span.onlyAt[1][own.Record] {
		return own
	}
	if by := c.span.toB.arrange; by.known {
		return c.of(c.b, by.Origin)
	}
	if by := c.span.toA.arrange; by.known {
		return c.of(c.a, by.Origin)
	}
	return c.compaction(own)
}

// compaction returns the compaction in force on one side only, if there is one.
func (c *causes) compaction(other Cause) Cause {
	if c.cut == nil {
		c.cut = &Cause{}
		for k, e := range []*replay.Envelope{c.a, c.b} {
			for i := range e.Len() {
				if m := e.Piece(i); m.Summary() && c.span.onlyAt[k][m.Origin().Record] {
					*c.cut = newCause(e.Replay(), m.Origin().Record, -1)
				}
			}
		}
	}
	if c.cut.In == nil {
		return other
	}
	return *c.cut
}

// setting returns what changed a setting, given the records that set it on both sides, -1 for
// none.
func (c *causes) setting(a, b int) Cause {
	if b >= 0 && (c.span == nil || c.span.onlyAt[1][b]) {
		return newCause(c.b.Replay(), b, -1)
	}
	if a >= 0 && (c.span == nil || c.span.onlyAt[0][a]) {
		return newCause(c.a.Replay(), a, -1)
	}
	return Cause{Record: -1, Op: -1}
}

// model returns what changed the model: the first of the consecutive entries that set the
// side's current model.
func (c *causes) model() (Cause, error) {
	by := c.setting(c.a.ModelBy, c.b.ModelBy)
	if by.In == nil || c.span == nil {
		return by, nil
	}
	side, e := 1, c.b
	if !c.span.onlyAt[1][by.Record] {
		side, e = 0, c.a
	}
	want, err := e.ModelRef()
	if err != nil {
		return by, err
	}
	path, _ := e.Replay().Session.Path(by.Record)
	for _, rec := range slices.Backward(path) {
		if !c.span.onlyAt[side][rec] {
			break
		}
		if k := e.Replay().Session.Kind(rec); k != jsonl.ModelChange && k != jsonl.Assistant {
			continue
		}
		at := *e
		at.ModelBy = rec
		is, err := at.ModelRef()
		if err != nil || is != want {
			return by, err
		}
		by = newCause(e.Replay(), rec, -1)
	}
	return by, nil
}

// An item is a part or a tool in a comparison.
type item struct {
	name, text string
	value      func() json.RawMessage
	by         origin.Origin
}

func partItems(parts []prompt.Part) (all []item) {
	for _, p := range parts {
		all = append(all,
			item{p.Name, p.Text, func() json.RawMessage { return json.RawMessage(jsonl.AppendQuoted(nil, p.Text)) },
				p.Origin})
	}
	return all
}

func toolItems(tools []prompt.Tool) (all []item) {
	for _, t := range tools {
		var f [3]jsonl.Value
		t.Raw.Fields(f[:], "name", "description", "parameters")
		var text []byte
		for _, v := range f {
			text = append(v.AppendMinified(text), 0)
		}
		all = append(all,
			item{t.Name, string(text), func() json.RawMessage { return json.RawMessage(t.Append(nil)) }, t.Origin})
	}
	return all
}

// prompts compares parts, tools and options.
func (d *Difference) prompts(a, b *prompt.Prompt) error {
	hist, err := d.cause.histories()
	if err != nil {
		return err
	}
	d.Parts = d.items(partItems(a.Parts), partItems(b.Parts), hist, 'p')
	d.sections(a.Parts, b.Parts)
	d.Tools = d.items(toolItems(a.Tools), toolItems(b.Tools), hist, 't')
	for _, o := range options(a.Options, b.Options) {
		if sameValue(jsonl.Value(o.A), jsonl.Value(o.B)) {
			continue
		}
		var ok bool
		if o.Cause, ok = hist.cause(d, "o"+o.Name); !ok {
			o.Cause = d.cause.setting(d.A.Envelope.ThinkingBy, d.B.Envelope.ThinkingBy)
		}
		d.Options = append(d.Options, o)
	}
	return nil
}

// options pairs the options of two prompts.
func options(a, b prompt.Options) []optionChange {
	return []optionChange{
		{Name: "reasoning", A: json.RawMessage(a.Reasoning), B: json.RawMessage(b.Reasoning)},
		{Name: "temperature", A: json.RawMessage(a.Temperature), B: json.RawMessage(b.Temperature)},
		{Name: "maxTokens", A: json.RawMessage(a.MaxTokens), B: json.RawMessage(b.MaxTokens)},
	}
}

// sections says of the parts that changed which of their sections did.
func (d *Difference) sections(a, b []prompt.Part) {
	for k := range d.Parts {
		p := &d.Parts[k]
		if p.Change != Changed {
			continue
		}
		was, is := prompt.Split(a[p.A:p.A+1]), prompt.Split(b[p.B:p.B+1])
		if len(was) == 1 && len(is) == 1 {
			continue
		}
		p.Sections = d.items(partItems(was), partItems(is), history{}, 'p')
		for i := range p.Sections {
			p.Sections[i].Cause = p.Cause
			p.Named = append(p.Named, sectionChange{p.Sections[i].Change, p.Sections[i].Name})
		}
	}
}

// items compares two lists of named items. Items of equal name are matched in order.
func (d *Difference) items(a, b []item, hist history, kind byte) (rows []ItemChange) {
	pair := make([]int, len(b))
	taken := make([]bool, len(a))
	named := map[string][]int{} // in a, those that are not taken
	for i := range a {
		named[a[i].name] = append(named[a[i].name], i)
	}
	for j := range b {
		pair[j] = -1
		if all := named[b[j].name]; len(all) > 0 {
			pair[j], taken[all[0]], named[b[j].name] = all[0], true, all[1:]
		}
	}
	for i := range a {
		if !taken[i] {
			by, ok := hist.cause(d, string(kind)+a[i].name)
			if !ok {
				by = d.cause.item(d.A.Envelope, a[i].by, 0)
			}
			rows = append(rows, ItemChange{Change: Removed, Name: a[i].name, A: origin.Index(i), B: -1, Cause: by})
		}
	}
	last := -1
	for j := range b {
		row := ItemChange{
			Change: Added, Name: b[j].name, A: origin.Index(pair[j]), B: origin.Index(j),
			Cause: d.cause.item(d.B.Envelope, b[j].by, 1),
		}
		if i := pair[j]; i >= 0 {
			moved := i < last
			last = max(last, i)
			switch {
			case a[i].text != b[j].text:
				row.Change = Changed
			case moved:
				row.Change = Moved
			default:
				continue
			}
		}
		if row.Change != Moved {
			row.Value = b[j].value()
		}
		rows = append(rows, row)
	}
	return rows
}

// item returns what set an item if only that side has the entry, else the compaction that
// restored or removed it.
func (c *causes) item(e *replay.Envelope, by origin.Origin, side int) Cause {
	own := c.of(e, by)
	if c.span == nil || by.Record < 0 || c.span.onlyAt[side][by.By] {
		return own
	}
	return c.compaction(own)
}

// A history is what changed parts (p), tools (t) and options (o) last, by kind and name: on the
// path to B from the fork, and on that to A.
type history [2]map[string]origin.Origin

// cause returns what changed an item last, on B's path, or else on A's.
func (h history) cause(d *Difference, key string) (Cause, bool) {
	if by, ok := h[1][key]; ok {
		return d.cause.of(d.B.Envelope, by), true
	}
	by, ok := h[0][key]
	return d.cause.of(d.A.Envelope, by), ok
}

// histories collects the changes of both prompts that only one side has.
func (c *causes) histories() (h history, err error) {
	for k, e := range []*replay.Envelope{c.a, c.b} {
		if c.span == nil || err != nil {
			return h, err
		}
		h[k] = map[string]origin.Origin{}
		var had *prompt.State // nil before the first change
		fresh := func(o origin.Origin) bool { return c.span.onlyAt[k][o.By] }
		err = e.PromptHistory(fresh, func(by origin.Origin, f *prompt.Fold) {
			if had != nil {
				had.PartsDiffer(&f.State, setBy(h[k], by, func(p *prompt.Part) string { return "p" + p.Name }))
				had.ToolsDiffer(&f.State, setBy(h[k], by, func(t *prompt.Tool) string { return "t" + t.Name }))
				for _, o := range options(had.Options, f.Options) {
					if !bytes.Equal(o.A, o.B) {
						h[k]["o"+o.Name] = by
					}
				}
			}
			kept := f.Kept()
			had = &kept
		})
	}
	return h, err
}

// setBy returns a function that records what has set or removed the items that differ.
func setBy[T any](h map[string]origin.Origin, by origin.Origin, key func(*T) string) func(at int, was, is *T) {
	return func(_ int, was, is *T) {
		for _, item := range []*T{was, is} {
			if was != is && item != nil {
				h[key(item)] = by
			}
		}
	}
}
