package replay

import (
	"slices"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// A source is where a piece of a context comes from.
type source struct {
	ID   string `json:"id,omitempty"`   // of the entry that it comes from
	Line int    `json:"line,omitempty"` // of that entry, from 1
	Kind string `json:"kind,omitempty"` // of that entry: the role of a message, else the type; as `time` not of a log
	Time string `json:"time,omitempty"` // of that entry, as it stands in the file
	By   string `json:"by,omitempty"`   // id of the transform or edit that put it there
	Op   Index  `json:"op,omitzero"`    // the operation of that transform
}

// source is an origin as it is printed; without lines it has neither kind nor time.
func (r *Replay) source(from Origin, lines *sessionfmt.Reader) (source, error) {
	s, out := r.Session, source{Op: -1}
	if from.Record < 0 {
		return out, nil
	}
	out.ID, out.Line, out.Op = s.ID(from.Record), s.Line(from.Record), Index(from.Op)
	if from.By != from.Record || from.Op >= 0 {
		out.By = s.ID(from.By)
	}
	if lines == nil {
		return out, nil
	}
	line, err := lines.Line(from.Record)
	out.Kind, out.Time = s.Kind(from.Record).String(), line.Get("timestamp").Text()
	return out, err
}

// An Item is a message, part or tool of a context, with where it comes from: a line of
// schema ctxtool/trace.blame/1, or where it is new in a request, of
// ctxtool/log.request/1.
type Item struct {
	Schema   string `json:"schema"`
	Request  Index  `json:"request,omitzero"`   // that it is new in; absent of `trace --blame`
	As       string `json:"as"`                 // `part`, `tool`, or the role that a provider gets a message as
	Name     string `json:"name,omitempty"`     // of a part or tool
	Index    Index  `json:"index,omitzero"`     // of a message, from 0; as the next only of `trace --blame`
	Uncached bool   `json:"uncached,omitempty"` // it comes behind the cached messages
	source
	Text string `json:"text,omitempty"` // first words
}

// itemList gathers items.
type itemList struct {
	r       *Replay
	lines   *sessionfmt.Reader // nil where neither kind nor time is asked for
	request Index
	all     []Item
}

func (l *itemList) add(one Item, from Origin) (err error) {
	one.Schema, one.Request = "ctxtool/trace.blame/1", l.request
	if l.request >= 0 {
		one.Schema = "ctxtool/log.request/1"
	}
	one.source, err = l.r.source(from, l.lines)
	l.all = append(l.all, one)
	return err
}

// prompt adds parts and tools.
func (l *itemList) prompt(parts []Part, tools []Tool) error {
	for _, p := range parts {
		if err := l.add(Item{As: "part", Name: p.Name, Index: -1, Text: sessionfmt.FirstWords(p.Text)}, p.Origin); err != nil {
			return err
		}
	}
	for _, t := range tools {
		about := sessionfmt.FirstWords(t.Raw.Get("description").Text())
		if err := l.add(Item{As: "tool", Name: t.Name, Index: -1, Text: about}, t.Origin); err != nil {
			return err
		}
	}
	return nil
}

func (l *itemList) message(m Message, index int, uncached bool) error {
	one := Item{As: m.Raw.Get("role").Text(), Index: Index(index), Uncached: uncached, Text: m.Raw.MessageGist()}
	return l.add(one, m.Origin)
}

// Items are what a context holds: parts, tools, then messages in their order.
func (e *Envelope) Items() ([]Item, error) {
	l := itemList{r: e.r, lines: e.r.Session.NewReader(), request: -1}
	p, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	if err := l.prompt(p.Parts, p.Tools); err != nil {
		return nil, err
	}
	n := 0
	for m, err := range e.Sources(func(Message) bool { return true }) {
		if err != nil {
			return nil, err
		}
		if err := l.message(m, n, n >= e.Cached()); err != nil {
			return nil, err
		}
		n++
	}
	return l.all, nil
}

// NewItems are what a request has that an earlier envelope had not: parts and tools that
// are new or changed, then messages. They have neither kind nor time.
func (e *Envelope) NewItems(earlier *Envelope) ([]Item, error) {
	is, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	was, err := earlier.Prompt()
	if err != nil {
		return nil, err
	}
	l := itemList{r: e.r, request: Index(e.RequestIndex)}
	if err := l.prompt(differing(was.Parts, is.Parts, Part.said), differing(was.Tools, is.Tools, Tool.said)); err != nil {
		return nil, err
	}
	for m, err := range e.entered(earlier) {
		if err != nil {
			return nil, err
		}
		if err := l.message(m, -1, false); err != nil {
			return nil, err
		}
	}
	return l.all, nil
}

func (p Part) said() (name, text string) { return p.Name, p.Text }

func (t Tool) said() (name, text string) { return t.Name, string(t.Raw) }

// differing are those of is that was has not, or not so.
func differing[T any](was, is []T, said func(T) (name, text string)) []T {
	had := map[string]string{}
	for _, x := range was {
		name, text := said(x)
		had[name] = text
	}
	return slices.DeleteFunc(slices.Clone(is), func(x T) bool {
		name, text := said(x)
		before, ok := had[name]
		return ok && before == text
	})
}

// An EntryEffect is what an entry did to the envelope on its own path.
type EntryEffect struct {
	Before       Counts   `json:"before"`                 // tokens of the request before it
	After        Counts   `json:"after"`                  // tokens of the request behind it
	Entered      int      `json:"entered"`                // messages that the request before it had not
	Parts        []string `json:"parts,omitempty"`        // names of the parts that it set
	PartsRemoved []string `json:"partsRemoved,omitempty"` // and that it removed
	Tools        []string `json:"tools,omitempty"`        // names of the tools that it set
	ToolsRemoved []string `json:"toolsRemoved,omitempty"` // and that it removed
	Broken       string   `json:"broken,omitempty"`       // why a provider's cache of the request before cannot serve behind some point; absent where it can
}

// Effect is what makes an earlier envelope of the same replay this one.
func (e *Envelope) Effect(earlier *Envelope, c *tokens.Counter) (*EntryEffect, error) {
	n, err := counts(c, earlier, e)
	if err != nil {
		return nil, err
	}
	out := &EntryEffect{Before: n[0], After: n[1]}
	for _, err := range e.entered(earlier) {
		if err != nil {
			return nil, err
		}
		out.Entered++
	}
	was, err := earlier.Prompt()
	if err != nil {
		return nil, err
	}
	is, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	out.Parts, out.PartsRemoved = changedNames(was.Parts, is.Parts, Part.said)
	out.Tools, out.ToolsRemoved = changedNames(was.Tools, is.Tools, Tool.said)
	out.Broken, err = e.broken(earlier)
	return out, err
}

// changedNames are the names of what is new or different, and of what is gone.
func changedNames[T any](was, is []T, said func(T) (name, text string)) (set, gone []string) {
	here := map[string]bool{}
	for _, x := range is {
		name, _ := said(x)
		here[name] = true
	}
	for _, x := range differing(was, is, said) {
		name, _ := said(x)
		set = append(set, name)
	}
	for _, x := range was {
		if name, text := said(x); !here[name] && text != "" {
			gone = append(gone, name)
		}
	}
	return set, gone
}
