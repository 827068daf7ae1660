package cache

import (
	"cmp"
	"hash/maphash"
	"slices"

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
		all = append(all, section{p.Name, maphash.String(seed, p.Text)})
	}
	for i := range tools {
		all = append(all, section{"tool " + tools[i].Name, tools[i].Digest()})
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

// sectionsDiffering returns the names of the sections in which two prompts differ; see differing.
func (c *accountant) sectionsDiffering(was, is *prompt.State) []string {
	var all [2][]section
	var parts [2][]prompt.Part
	var tools [2][]prompt.Tool
	was.PartsDiffer(is, func(_ int, a, b *prompt.Part) {
		parts[0], parts[1] = appendItem(parts[0], a), appendItem(parts[1], b)
	})
	was.ToolsDiffer(is, func(_ int, a, b *prompt.Tool) {
		tools[0], tools[1] = appendItem(tools[0], a), appendItem(tools[1], b)
	})
	for k := range all {
		c.err = cmp.Or(c.err, c.texts.Texts(parts[k]))
		all[k] = sectionsOf(parts[k], tools[k])
	}
	return differing(all[0], all[1])
}

func appendItem[T any](all []T, item *T) []T {
	if item == nil {
		return all
	}
	return append(all, *item)
}
