// Command gensession writes generated sessions, or a whole store of them.
package main

import (
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
		fmt.Printf("%-20s %s\n", "store", "a folder of 3,142 sessions, 1.24 GB")
		fmt.Printf("%-20s %s\n", "store-v1", "the same of format version 1")
		return
	}
	if err := write(*preset, *seed, *entries, *bytes, *files, *output); err != nil {
		fmt.Fprintln(os.Stderr, "gensession:", err)
		os.Exit(2)
	}
}

func write(preset string, seed uint64, entries int, bytes int64, files int, output string) error {
	if preset == "store" || preset == "store-v1" {
		if output == "" {
			return errors.New("a store needs -o FOLDER")
		}
		s := gen.RealStore()
		if preset == "store-v1" {
			s = gen.OldStore()
		}
		s.Seed = seed
		if files > 0 {
			s.Files = files
		}
		return gen.WriteStore(output, s)
	}
	p, err := gen.Find(preset)
	if err != nil {
		return err
	}
	s := p.Shape
	s.Seed = seed
	if entries > 0 || bytes > 0 {
		s.Entries, s.Bytes = entries, bytes
	}
	if output == "" {
		return gen.Write(os.Stdout, s)
	}
	return gen.WriteFile(output, s)
}
