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
