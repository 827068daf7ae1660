package gen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Preset is a shape with a name.
type Preset struct {
	Name  string
	Shape Shape
	Store Store // of such sessions; a single one if it has no files
}

var presets = []Preset{
	{"linear", Shape{Entries: 60, Tools: 0.6}, Store{}},                                                                              // a plain session
	{"branched", Shape{Entries: 200, Tools: 0.5, Branch: 0.3, Labels: 0.1}, Store{}},                                                 // one that goes back often
	{"compacted", Shape{Entries: 300, Tools: 0.6, CompactEvery: 60, Checkpoints: true, Systems: 0.1}, Store{}},                       // one with compactions and checkpoints
	{"everything", everything, Store{}},                                                                                              // all kinds of entries and operations
	{"v1", Shape{Entries: 120, Version: 1, Tools: 0.6, Bash: 0.1, CompactEvery: 50}, Store{}},                                        // format version 1
	{"v2", Shape{Entries: 120, Version: 2, Tools: 0.6, Branch: 0.1, Custom: 0.2, Bash: 0.1, CompactEvery: 50, Labels: 0.1}, Store{}}, // format version 2
	{"damaged", everything.with(func(s *Shape) { s.Damage = 0.03 }), Store{}},                                                        // all kinds of entries, one line in thirty damaged
	{"deep", Shape{Entries: 100_000, Text: 20, MaxText: 200, Tools: 0.5}, Store{}},                                                   // 100,000 entries, one below the other
	{"600k", Shape{Entries: 600_000, Text: 60, MaxText: 600, Tools: 0.7, Branch: 0.05}, Store{}},                                     // 600,000 small entries
	{"transforms", patched(11_000), Store{}},                                                                                         // 1,000 patches over 10,000 messages
	{"transforms-x16", patched(176_000), Store{}},                                                                                    // 16,000 patches over 160,000 messages
	{"longline", Shape{Entries: 200, Longest: 95_000_000}, Store{}},                                                                  // one line of 95 MB
	{"10m", sized(10), Store{}},   // 10 MB of the same lines as 1g
	{"50m", sized(50), Store{}},   // 50 MB of them
	{"100m", sized(100), Store{}}, // 100 MB of them
	{"1g", large, Store{}},        // 1 GB of lines as real sessions have them
	{"1g-compacted", large.with(func(s *Shape) { s.CompactEvery = 2000 }), Store{}}, // the same with a compaction every 2,000 entries
	{"store", stored(3), realStore},    // a folder of 3,142 sessions, 1.24 GB
	{"store-v1", stored(1), realStore}, // the same of format version 1
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

// stored is the shape of sessions of a store.
func stored(version int) Shape {
	return everything.with(func(s *Shape) { s.Entries, s.Transforms, s.Ephemerals, s.Version = 0, 0, 0, version })
}

// patched has a patch after every fifth prompt or so, and texts alone.
func patched(entries int) Shape {
	return Shape{Entries: entries, Transforms: 0.2, Systems: 0.01, Checkpoints: true}
}

// Presets are the shapes with names.
func Presets() []Preset { return presets }

// Find is the preset of that name.
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

// damages are the ways in which a line goes wrong. Each has the whole line, and
// writes what is left of it.
var damages = []func(g *generator){
	func(g *generator) { // torn in the middle
		g.line = g.line[:len(g.line)/2]
		g.write()
	},
	func(g *generator) { // glued to the next
		g.bytes += int64(len(g.line))
		g.w.Write(g.line)
		g.line = g.line[:0]
	},
	func(g *generator) { // twice
		whole := string(g.line)
		g.write()
		g.put("%s", whole)
		g.write()
	},
	func(g *generator) { // after a blank line, with a carriage return
		whole := string(g.line)
		g.line = g.line[:0]
		g.put("  ")
		g.write()
		g.put("%s\r", whole)
		g.write()
	},
	func(g *generator) { // before lines that are not objects
		g.write()
		for _, scalar := range []string{"42", `"text"`, "[]", "null"} {
			g.put("%s", scalar)
			g.write()
		}
	},
	func(g *generator) { // before an entry of another kind of program
		g.write()
		g.open("note_of_another")
		g.put("}")
		g.write()
	},
	func(g *generator) { // before a second header
		g.write()
		g.header()
	},
	func(g *generator) { // with bytes that are not UTF-8
		g.line[len(g.line)/2] = 0xff
		g.write()
	},
	func(g *generator) { // before an entry whose parent is not there
		g.write()
		g.at.leaf = g.nextID()
	},
	func(g *generator) { // before two entries that are each other's parent
		g.write()
		g.at.leaf = (g.ids+2)*0x9e3779b1 ^ uint32(g.Seed)
		g.open("label")
		g.put(`,"targetId":null}`)
		g.write()
		g.open("label")
		g.put(`,"targetId":null}`)
		g.write()
	},
}

// damage writes the line in one of the ways.
func (g *generator) damage() {
	damages[g.r.IntN(len(damages))](g)
}

// end ends the session; a damaged one in the middle of a line.
func (g *generator) end() {
	if g.Damage > 0 {
		g.put(`{"type":"message","id":"ffff`)
		g.bytes += int64(len(g.line))
		g.w.Write(g.line)
	}
}

// A Store says what a folder of sessions is made of. Sizes are log-normal.
type Store struct {
	Files  int
	Median int64 // bytes of a file
	Spread float64
	Max    int64 // bytes of the largest
}

// realStore imitates a store that somebody worked with for a year: 3,142 files,
// 1.24 GB, median 105 KB, 90th percentile 654 KB, 99th 5.4 MB, largest 87 MB.
var realStore = Store{Files: 3142, Median: 105_000, Spread: 1.55, Max: 87_000_000}

// Write writes a store into a folder, as pi lays it out: a folder for each
// project, files named by time and id. The shape is that of each session, its seed and bytes aside.
func (s Store) Write(dir string, shape Shape) error {
	seed := shape.Seed
	r := rand.New(rand.NewPCG(seed, 0x5702e))
	for k := range s.Files {
		size := int64(float64(s.Median) * math.Exp(r.NormFloat64()*s.Spread))
		if k == s.Files/2 {
			size = s.Max
		}
		shape.Seed = seed + uint64(k)
		shape.Bytes = min(max(size, 2000), s.Max)
		shape.Project = fmt.Sprintf("/home/mara/src/project%d", k%17)
		project := filepath.Join(dir, "-"+strings.ReplaceAll(shape.Project, "/", "-")+"--")
		if err := os.MkdirAll(project, 0o755); err != nil {
			return err
		}
		at := time.UnixMilli(start + int64(k)*3_600_000).UTC()
		stamp := strings.NewReplacer(":", "-", ".", "-").Replace(at.Format("2006-01-02T15:04:05.000Z"))
		if err := WriteFile(filepath.Join(project, stamp+"_"+uuid(shape.Seed)+".jsonl"), shape); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile writes a session to a file atomically.
func WriteFile(name string, s Shape) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".gen-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	err = Write(f, s)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// WriteFile writes the session of a preset to a file, or its store to a folder.
func (p Preset) WriteFile(name string) error {
	if p.Shape.Seed = 1; p.Store.Files > 0 {
		return p.Store.Write(name, p.Shape)
	}
	return WriteFile(name, p.Shape)
}
