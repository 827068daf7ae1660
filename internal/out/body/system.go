package body

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// An update is a system message of the transcript: a text, changes of sections, and of tools.
type update struct {
	text     string
	sections []section
	added    []tool
	removed  []string
}

// A section is a named part of the prompt; one without text is removed.
type section struct {
	name, text string
	removed    bool
}

func newUpdate(v jsonl.Value) (u update) {
	u.text = v.Get("content").ContentText()
	for name, text := range v.Get("sections").Ordered {
		u.sections = append(u.sections, section{name, text.Exact(), text.IsNull()})
	}
	for t := range v.Get("toolsAdded").Elements {
		u.added = append(u.added, newTool(slices.Clone(t)))
	}
	for t := range v.Get("toolsRemoved").Elements {
		u.removed = append(u.removed, t.Get("name").Text())
	}
	return u
}

// prompt returns the update as a whole prompt.
func (u *update) prompt() string {
	texts := []string{u.text}
	for _, s := range u.sections {
		texts = append(texts, s.text)
	}
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n\n")
}

// change returns the update as the text of a later system message.
func (u *update) change() string {
	var texts []string
	if u.text != "" {
		texts = append(texts, u.text)
	}
	for _, s := range u.sections {
		if s.removed {
			texts = append(texts, fmt.Sprintf("Removed system prompt section %q.", s.name))
			continue
		}
		texts = append(texts, fmt.Sprintf("Updated system prompt section %q:\n\n%s", s.name, s.text))
	}
	return strings.Join(texts, "\n\n")
}

// gone returns the names of the tools that the update removes and does not define again.
func (u *update) gone() (names []string) {
	for _, name := range u.removed {
		if !slices.ContainsFunc(u.added, func(t tool) bool { return t.name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// A placement is where an interface has the changes of tools.
type placement int

const (
	folded    placement = iota // the request's list has the current tools
	additions                  // a tool added later stands in place; after a removal all before are folded
	changes                    // all stand in place, also the first ones; the list is empty
)

// A transcript is what the system messages of a context say, by how the model takes them.
type transcript struct {
	inPlace bool     // later system messages stand where they are in the conversation
	updates []update // all system messages, in order; none where they are folded into one
	lead    bool     // the first message of the conversation is a system message
	prompt  string   // the prompt before the conversation
	tools   []tool   // the list of the request
	folded  int      // the first updates whose tools are in that list

	declared bool     // tools have been defined in place
	gone     []string // tools that were removed in place, and not defined again since
}

// newTranscript reads the system messages of a request.
func newTranscript(r *request, inPlace bool, place placement) (t transcript, err error) {
	if !inPlace {
		t.prompt, t.tools = r.prompt.Compiled, r.currentTools()
		return t, nil
	}
	t.inPlace = true
	for m, err := range r.e.SystemMessages() {
		if err != nil {
			return t, err
		}
		t.updates = append(t.updates, newUpdate(m.Raw))
	}
	for m, err := range r.e.ProviderMessages() {
		if err != nil {
			return t, err
		}
		t.lead = m.Kind == jsonl.System
		break
	}
	if t.lead {
		t.prompt = t.updates[0].prompt()
	}
	switch place {
	case folded:
		t.folded = len(t.updates)
	case additions:
		if t.lead {
			t.folded = 1
		}
		t.folded = max(t.folded, lastReplaced(t.updates)+1)
	}
	t.tools = current(t.updates[:t.folded])
	return t, nil
}

// lastReplaced returns the index of the last update that removes a tool or defines one again, -1 for none.
func lastReplaced(updates []update) int {
	last, known := -1, map[string]bool{}
	for k, u := range updates {
		if len(u.removed) > 0 {
			last = k
		}
		for _, t := range u.added {
			if known[t.name] {
				last = k
			}
			known[t.name] = true
		}
	}
	return last
}

// current returns the tools after some updates, in the order in which they first were defined.
func current(updates []update) (tools []tool) {
	for _, u := range updates {
		tools = slices.DeleteFunc(tools, func(t tool) bool { return slices.Contains(u.removed, t.name) })
		for _, t := range u.added {
			if k := slices.IndexFunc(tools, func(old tool) bool { return old.name == t.name }); k >= 0 {
				tools[k] = t
				continue
			}
			tools = append(tools, t)
		}
	}
	return tools
}
