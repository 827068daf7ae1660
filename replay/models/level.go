package models

import "slices"

// levels are the thinking levels, lowest first.
var levels = []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"}

// HasLevel reports whether a model has a thinking level. Only some have the two highest.
func (m Model) HasLevel(level string) bool {
	name, named := m.Takes.Level(level)
	if level == "xhigh" || level == "max" {
		return name != ""
	}
	return name != "" || !named
}

// Clamp returns the level that pi requests in place of one: the next higher one that the model has, else the
// next lower one. It is empty for off, and the level itself if the model is unknown.
func (m Model) Clamp(level string) string {
	at := slices.Index(levels, level)
	switch {
	case level == "" || level == "off" || m.Takes != "" && !m.Takes.Has("reasoning"):
		return ""
	case m.Takes == "" || at < 0:
		return level
	}
	higher, lower := levels[at:], slices.Clone(levels[1:at])
	slices.Reverse(lower)
	for _, level := range slices.Concat(higher, lower) {
		if m.HasLevel(level) {
			return level
		}
	}
	return ""
}
