package gen

import (
	"fmt"
	"strings"
)

// A Preset is a shape with a name.
type Preset struct {
	Name  string
	Shape Shape
	Store Store // of such sessions; a single one if it has no files
}

var presets = []Preset{
	// a plain session
	{"linear", Shape{Entries: 60, Tools: 0.6}, Store{}},
	// one that goes back often
	{"branched", Shape{Entries: 200, Tools: 0.5, Branch: 0.3, Labels: 0.1}, Store{}},
	// one with compactions and checkpoints
	{"compacted", Shape{Entries: 300, Tools: 0.6, CompactEvery: 60, Checkpoints: true, Systems: 0.1}, Store{}},
	// all kinds of entries and operations
	{"everything", everything, Store{}},
	// format version 1
	{"v1", Shape{Entries: 120, Version: 1, Tools: 0.6, Bash: 0.1, CompactEvery: 50}, Store{}},
	// format version 2
	{"v2", Shape{Entries: 120, Version: 2, Tools: 0.6, Branch: 0.1, Custom: 0.2, Bash: 0.1, CompactEvery: 50, Labels: 0.1}, Store{}},
	// all kinds of entries, one line in thirty damaged
	{"damaged", everything.with(func(s *Shape) { s.Damage = 0.03 }), Store{}},
	// 100,000 entries, one below the other
	{"deep", Shape{Entries: 100_000, Text: 20, MaxText: 200, Tools: 0.5}, Store{}},
	// 600,000 small entries
	{"600k", Shape{Entries: 600_000, Text: 60, MaxText: 600, Tools: 0.7, Branch: 0.05}, Store{}},
	// 1,000 patches over 10,000 messages
	{"transforms", patched(11_000), Store{}},
	// 16,000 patches over 160,000 messages
	{"transforms-x16", patched(176_000), Store{}},
	// one line of 95 MB
	{"longline", Shape{Entries: 200, Longest: 95_000_000}, Store{}},
	// 10 MB of the same lines as 1g
	{"10m", sized(10), Store{}},
	// 50 MB of them
	{"50m", sized(50), Store{}},
	// 100 MB of them
	{"100m", sized(100), Store{}},
	// 1 GB of lines as real sessions have them
	{"1g", large, Store{}},
	// the same with a compaction every 2,000 entries
	{"1g-compacted", large.with(func(s *Shape) { s.CompactEvery = 2000 }), Store{}},
	// a folder of 3,142 sessions, 1.24 GB
	{"store", stored(3), realStore},
	// the same of format version 1
	{"store-v1", stored(1), realStore},
}

var everything = Shape{
	Entries: 400, Tools: 0.6, Branch: 0.08, Systems: 0.15, Edits: 0.15, Transforms: 0.25, Ephemerals: 0.1, Images: 0.1,
	Bash: 0.15, Custom: 0.15, Labels: 0.1, Settings: 0.2, Checkpoints: true, CompactEvery: 90,
}

// large has lines with a median of 770 bytes and 58 escapes in a KB, and a path
// of most of its entries, as measured in long sessions.
var large = Shape{
	Bytes: 1_003_000_000, Text: 270, MaxText: 110 << 10, Spread: 1.6, Escapes: 54, Tools: 0.8, Branch: 0.02,
}

// with returns a shape with a change.
func (s Shape) with(change func(s *Shape)) Shape {
	change(&s)
	return s
}

func sized(megabytes int64) Shape {
	return large.with(func(s *Shape) { s.Bytes = megabytes * 1_000_000 })
}

// stored returns the shape of sessions of a store.
func stored(version int) Shape {
	return everything.with(func(s *Shape) { s.Entries, s.Transforms, s.Ephemerals, s.Version = 0, 0, 0, version })
}

// patched has a patch after every fifth prompt or so, and texts alone.
func patched(entries int) Shape {
	return Shape{Entries: entries, Transforms: 0.2, Systems: 0.01, Checkpoints: true}
}

// Presets returns the shapes with names.
func Presets() []Preset { return presets }

// Find returns the preset of that name.
func Find(name string) (Preset, error) {
	var names []string
	for _, p := range presets {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Preset{}, fmt.Errorf("unknown preset %q: one of %s", name, strings.Join(names, ", "))
}
