// Command gensession writes generated sessions, or a whole store of them.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"

	"ctxtool/internal/gen"
)

func main() {
	preset := flag.String("preset", "everything", "the shape; store for a folder of sessions")
	seed := flag.Uint64("seed", 1, "seed: the same gives the same bytes")
	entries := flag.Int("entries", 0, "entries, in place of the preset's")
	bytes := flag.Int64("bytes", 0, "bytes, in place of the preset's")
	files := flag.Int("files", 0, "files of a store, in place of the preset's")
	output := flag.String("o", "", "file, or folder of a store; standard output when empty")
	list := flag.Bool("list", false, "list the presets")
	flag.Parse()
	if *list {
		for _, p := range gen.Presets() {
			fmt.Printf("%-20s %s\n", p.Name, p.About)
		}
		return
	}
	if err := write(*preset, *seed, *entries, *bytes, *files, *output); err != nil {
		fmt.Fprintln(os.Stderr, "gensession:", err)
		os.Exit(2)
	}
}

func write(preset string, seed uint64, entries int, bytes int64, files int, output string) error {
	p, err := gen.Find(preset)
	if err != nil {
		return err
	}
	s := p.Shape
	s.Seed = seed
	if p.Store.Files > 0 {
		if output == "" {
			return errors.New("a store needs -o FOLDER")
		}
		p.Store.Files = cmp.Or(files, p.Store.Files)
		return p.Store.Write(output, s)
	}
	if entries > 0 || bytes > 0 {
		s.Entries, s.Bytes = entries, bytes
	}
	if output == "" {
		return gen.Write(os.Stdout, s)
	}
	return gen.WriteFile(output, s)
}
