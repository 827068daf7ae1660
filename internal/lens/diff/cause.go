package diff

import (
	"bytes"
	"cmp"
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
}

// only reports whether a record is on the path to one side alone.
func (c *causes) only(side, rec int) bool {
	return c.span == nil || rec >= 0 && c.span.to[side].only[rec]
}

func (c *causes) of(e *replay.Envelope, o origin.Origin) Cause {
	if o.Record < 0 {
		return Cause{Record: -1, Op: -1}
	}
	return newCause(e.Replay(), o.By, origin.Index(o.Op))
}

// or returns the first of these changes, else another cause.
func (c *causes) or(other Cause, changes ...*replay.Change) Cause {
	if by := cmp.Or(changes...); by != nil {
		return c.of(c.b, by.By)
	}
	return other
}

// added returns what added a message to B.
func (c *causes) added(m replay.Piece) Cause {
	own := c.of(c.b, m.Origin())
	if c.only(1, m.Origin().By) {
		return own
	}
	// Its entry is on both paths: A has lost it, or B has it again.
	took := c.span.to[0].removed(m)
	if left := c.omission(0, m); left >= 0 && took == nil {
		return newCause(c.a.Replay(), left, -1)
	}
	return c.or(own, took, c.span.to[1].cut)
}

// removed returns what removed a message of A from the request, and whether a summary took its
// place.
func (c *causes) removed(m replay.Piece) (by Cause, summary bool) {
	own := c.of(c.a, m.Origin())
	if c.only(0, m.Origin().By) {
		return own, false // its entry is not on B's path
	}
	if left := c.omission(1, m); left >= 0 {
		return newCause(c.b.Replay(), left, -1), false
	}
	took := c.span.to[1].removed(m)
	return c.or(own, took, c.span.to[0].cut), took != nil && took.Do != replay.OpReplace
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
	for _, m := range []replay.Piece{is, was} {
		if edit, _ := m.Edit(); edit >= 0 && (c.only(0, edit) || c.only(1, edit)) {
			return newCause(c.b.Replay(), edit, -1)
		}
	}
	return c.or(c.of(c.b, is.Origin()), c.span.to[1].cut, c.span.to[0].cut)
}

// moved returns what moved a message of both sides: its entry if only B's path has it, else the
// last patch that rearranged the messages.
func (c *causes) moved(m replay.Piece) Cause {
	own := c.of(c.b, m.Origin())
	if c.only(1, own.Record) {
		return own
	}
	a, b := &c.span.to[0], &c.span.to[1]
	return c.or(own, b.arrange, a.arrange, b.cut, a.cut)
}

// setting returns what changed a setting, given the records that set it on both sides, -1 for
// none.
func (c *causes) setting(a, b int) Cause {
	if b >= 0 && c.only(1, b) {
		return newCause(c.b.Replay(), b, -1)
	}
	if a >= 0 && c.only(0, a) {
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
	if !c.only(1, by.Record) {
		side, e = 0, c.a
	}
	want, err := e.ModelRef()
	if err != nil {
		return by, err
	}
	path, _ := e.Replay().Session.Path(by.Record)
	for _, rec := range slices.Backward(path) {
		if !c.only(side, rec) {
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
	if err := d.cause.histories(); err != nil {
		return err
	}
	d.Parts = d.items(partItems(a.Parts), partItems(b.Parts), "p")
	d.sections(a.Parts, b.Parts)
	d.Tools = d.items(toolItems(a.Tools), toolItems(b.Tools), "t")
	for _, o := range options(a.Options, b.Options) {
		if sameValue(jsonl.Value(o.A), jsonl.Value(o.B)) {
			continue
		}
		o.Cause = d.cause.set("o"+o.Name, d.cause.setting(d.A.Envelope.ThinkingBy, d.B.Envelope.ThinkingBy))
		d.Options = append(d.Options, o)
	}
	return d.recordedOptions()
}

// recordedOptions compares the other fields of two requests whose agent recorded them.
func (d *Difference) recordedOptions() error {
	a, err := d.A.Envelope.Proved()
	if err != nil || a == nil {
		return err
	}
	b, err := d.B.Envelope.Proved()
	if err != nil || b == nil {
		return err
	}
	compared := []string{"system", "tools", "model", "output_config", "temperature", "max_tokens"}
	for _, f := range slices.Concat(a.Head, b.Head) {
		o := optionChange{Name: f.Name, A: json.RawMessage(a.Field(f.Name)), B: json.RawMessage(b.Field(f.Name))}
		if !slices.Contains(compared, f.Name) && !sameValue(jsonl.Value(o.A), jsonl.Value(o.B)) {
			d.Options = append(d.Options, o)
		}
		compared = append(compared, f.Name)
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
		p.Sections = d.items(partItems(was), partItems(is), "p")
		for i := range p.Sections {
			p.Sections[i].Cause = p.Cause
			p.Named = append(p.Named, sectionChange{p.Sections[i].Change, p.Sections[i].Name})
		}
	}
}

// items compares two lists of named items. Items of equal name are matched in order.
func (d *Difference) items(a, b []item, kind string) (rows []ItemChange) {
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
			rows = append(rows, ItemChange{Change: Removed, Name: a[i].name, A: origin.Index(i), B: -1,
				Cause: d.cause.item(0, kind+a[i].name, a[i].by)})
		}
	}
	last := -1
	for j := range b {
		row := ItemChange{
			Change: Added, Name: b[j].name, A: origin.Index(pair[j]), B: origin.Index(j),
			Cause: d.cause.item(1, kind+b[j].name, b[j].by),
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

// item returns what set or removed a part or a tool of one side: what set it if only B's path has that, else what
// changed it last, or the compaction that restored or removed it.
func (c *causes) item(side int, key string, by origin.Origin) Cause {
	own := c.of([]*replay.Envelope{c.a, c.b}[side], by)
	switch only := c.only(side, by.By); {
	case only && side == 1:
		return own
	case !only && by.Record >= 0:
		own = c.or(own, c.span.to[1].cut, c.span.to[0].cut)
	}
	return c.set(key, own)
}

// set returns what changed a part, a tool or an option last, on the path to B or else on that to A, or another cause
// if nothing did.
func (c *causes) set(key string, other Cause) Cause {
	if c.span == nil {
		return other
	}
	for _, to := range []*course{&c.span.to[1], &c.span.to[0]} {
		if by, ok := to.set[key]; ok {
			return c.of(c.b, by)
		}
	}
	return other
}

// histories finds what changed parts (p), tools (t) and options (o) last on each path since the fork, by kind and name.
func (c *causes) histories() (err error) {
	for k, e := range []*replay.Envelope{c.a, c.b} {
		if c.span == nil || err != nil {
			return err
		}
		set, only := map[string]origin.Origin{}, func(o origin.Origin) bool { return c.only(k, o.By) }
		var had *prompt.State // nil before the first change
		err = e.PromptHistory(only, func(by origin.Origin, f *prompt.Fold) {
			if had != nil {
				had.PartsDiffer(&f.State, setBy(set, by, func(p *prompt.Part) string { return "p" + p.Name }))
				had.ToolsDiffer(&f.State, setBy(set, by, func(t *prompt.Tool) string { return "t" + t.Name }))
				for _, o := range options(had.Options, f.Options) {
					if !bytes.Equal(o.A, o.B) {
						set["o"+o.Name] = by
					}
				}
			}
			had = new(f.Kept())
		})
		c.span.to[k].set = set
	}
	return err
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
