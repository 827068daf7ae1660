// Command mutants measures tests: it changes one operator, number or statement of a package at a time, and reports the
// changes that the tests of the same package do not notice.
//
//	go run ./internal/test/mutants [-n 60] [-seed 1] [-least 48] PACKAGE...
//
// It changes no file: the tests are built with an overlay. Each mutant is of a package drawn by lot, and of a place
// drawn by lot in that; the same seed draws the same ones. One that does not compile is drawn again.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ctxtool/internal/test/must"
)

// limit is how long the tests of a package may take. A mutant that never ends is noticed by it.
const limit = "140s"

func main() {
	n := flag.Int("n", 60, "number of mutants")
	seed := flag.Int64("seed", 1, "draws the mutants")
	least := flag.Int("least", 0, "exit with 1 if fewer are noticed")
	flag.Parse()
	if flag.NArg() == 0 || *n < 1 {
		fmt.Fprintln(os.Stderr, "usage: mutants [-n 60] [-seed 1] [-least 48] PACKAGE...")
		os.Exit(2)
	}
	dir := must.Get(os.MkdirTemp("", "mutants-*"))
	defer os.RemoveAll(dir)
	noticed := 0
	for mutants := draw(rand.New(rand.NewSource(*seed)), flag.Args()); *n > 0; {
		m := mutants()
		switch m.run(dir) {
		case broken:
			continue
		case lives:
			fmt.Printf("not noticed: %s\n", m)
		case dead:
			noticed++
		}
		*n--
	}
	fmt.Printf("%d noticed, with seed %d\n", noticed, *seed)
	if noticed < *least {
		os.RemoveAll(dir)
		os.Exit(1)
	}
}

// draw returns a function that draws the next mutant.
func draw(r *rand.Rand, packages []string) func() Mutant {
	of := map[string][]Mutant{}
	return func() Mutant {
		name := packages[r.Intn(len(packages))]
		if of[name] == nil {
			for _, file := range must.Get(filepath.Glob(filepath.Join(name, "*.go"))) {
				if !strings.HasSuffix(file, "_test.go") {
					of[name] = append(of[name], Mutants(file, must.Get(os.ReadFile(file)))...)
				}
			}
		}
		if len(of[name]) == 0 {
			fmt.Fprintf(os.Stderr, "mutants: %s: no Go files with anything to change\n", name)
			os.Exit(2)
		}
		return of[name][r.Intn(len(of[name]))]
	}
}

// A verdict is the result of a mutant.
type verdict int

const (
	broken verdict = iota // it does not compile
	dead                  // a test failed
	lives
)

// run runs the tests of the mutant's package. Files of it are in dir.
func (m Mutant) run(dir string) verdict {
	changed, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	must.Do(os.WriteFile(changed, m.Source(must.Get(os.ReadFile(m.File))), 0o600))
	replaced := map[string]map[string]string{"Replace": {must.Get(filepath.Abs(m.File)): changed}}
	must.Do(os.WriteFile(overlay, must.Get(json.Marshal(replaced)), 0o600))
	name := "./" + filepath.ToSlash(filepath.Dir(m.File))
	if exec.Command("go", "build", "-overlay", overlay, name).Run() != nil {
		return broken
	}
	var said bytes.Buffer
	test := exec.Command("go", "test", "-overlay", overlay, "-vet=off", "-timeout", limit, name)
	test.Stdout, test.Stderr = &said, &said
	err := test.Run()
	switch {
	case err == nil:
		return lives
	case bytes.Contains(said.Bytes(), []byte("[build failed]")): // its tests do not compile
		return broken
	}
	return dead
}
