package cache

import (
	"cmp"
	"slices"

	"ctxtool/replay/ledger"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
)

// A section is a section of a prompt, or a tool: its name, and a hash of its text, valid in
// one process only.
type section struct {
	name string
	hash uint64
}

// sectionsOf returns the sections of a prompt and its tools, without their texts.
func sectionsOf(parts []prompt.Part, tools []prompt.Tool) (all []section) {
	for _, p := range prompt.Split(parts) {
		all = append(all, section{p.Name, ledger.Hash(p.Text, nil)})
	}
	for i := range tools {
		all = append(all, section{"tool " + tools[i].Name, ledger.Hash("", tools[i:i+1])})
	}
	return all
}

// differing returns the names of the sections that only one of two prompts has, or that have
// another text, in their order. Of prompts with the same sections in another order it is the
// first that moved.
func differing(was, is []section) (names []string) {
	had, has := map[section]bool{}, map[string]bool{}
	for _, s := range was {
		had[s] = true
	}
	for _, s := range is {
		has[s.name] = true
	}
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	rest, moved := was, ""
	for _, s := range is {
		for len(rest) > 0 && !has[rest[0].name] {
			add(rest[0].name)
			rest = rest[1:]
		}
		if !had[s] {
			add(s.name)
		}
		if len(rest) > 0 && rest[0].name == s.name {
			rest = rest[1:]
		} else if moved == "" {
			moved = s.name
		}
	}
	for _, s := range rest {
		if !has[s.name] {
			add(s.name)
		}
	}
	if names == nil && moved != "" {
		add(moved)
	}
	return names
}

// sectionsSet returns the names of what a system message sets.
func (c *accountant) sectionsSet(rec int32) []string {
	var f prompt.Fold
	f.Message(c.line(rec).Get("message"), origin.Origin{})
	return differing(nil, sectionsOf(f.Parts, f.Tools))
}

// sections returns the sections of a request's prompt.
func (c *accountant) sections(q *ledger.Request) []section {
	p, err := c.promptOf(q).Read()
	c.err = cmp.Or(c.err, err)
	return sectionsOf(p.Parts, p.Tools)
}
