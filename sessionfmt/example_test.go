package sessionfmt_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"ctxtool/internal/read/outline"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Opening a session indexes it; points name its entries.
func ExampleOpen() {
	s, err := sessionfmt.Open("../testdata/sessions/demo.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println(s.Len(), "records,", len(s.Findings), "findings")
	for _, name := range []string{"leaf", "race-fixed", "request:7"} {
		p, err := s.Point(name, s.Leaf())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, s.Line(p.Record), s.ID(p.Record), s.Kind(p.Record), p.Before)
	}
	// Output:
	// 68 records, 0 findings
	// leaf 68 fbe34465 assistant false
	// race-fixed 22 9d2f6da1 assistant false
	// request:7 35 b89d44a3 assistant true
}

// The path leads from the root to a record; a Reader reads its lines.
func ExampleSession_Path() {
	s, err := sessionfmt.Open("../testdata/sessions/good/branched.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	path, _ := s.Path(s.Leaf())
	rows, err := outline.Rows(s, path)
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range rows {
		fmt.Println(row.ID, row.Kind, row.Text)
	}
	// Output:
	// 01bca874 user Should the cache be keyed by URL or by content hash?
	// 02c5d15b assistant Both work. By hash, equal files are kept once; by URL, lookups need no download.
	// 050f047c branch_summary Keying by URL was tried: 14 lines, but redirects miss the cache.
	// 06bff0ca user Then by content hash.
	// 074afaa8 assistant Keyed by SHA-256 of the content. Redirects hit.
	// 0a5552f5 user And how long did the hash version take?
	// 0b6d981b assistant 18 ms more for each download, on average.
}

// A batch is the same, byte for byte, wherever it is made of the same session and time.
// Append would write it to the file.
func ExampleSession_NewBatch() {
	s, err := sessionfmt.Open("../testdata/sessions/good/linear.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	b := s.NewBatch(s.Leaf(), time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC))
	b.Add(jsonl.SessionInfo, jsonl.Field{Name: "name", Value: jsonl.AppendQuoted(nil, "A name")})
	fmt.Printf("%s", b.Lines())
	with, err := sessionfmt.OpenReader("with", s.With(b), sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer with.Close()
	fmt.Println(s.Len(), "records, then", with.Len())
	// Output:
	// {"type":"session_info","id":"d01c0c14","parentId":"06eeb99e","timestamp":"2026-11-03T00:00:00.000Z","name":"A name"}
	// 7 records, then 8
}

// Append locks the file, looks at it again, and writes once.
func ExampleSession_Append() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS("../testdata/sessions/good")); err != nil {
		log.Fatal(err)
	}
	s, err := sessionfmt.Open(filepath.Join(dir, "linear.jsonl"), sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	b := s.NewBatch(s.Leaf(), time.Now())
	b.Add(jsonl.CustomEntry, jsonl.Field{Name: "customType", Value: jsonl.Value(`"example"`)})
	err = s.Append(b, sessionfmt.AppendOptions{Who: "example"})
	s.Close()
	fmt.Println(b.Len(), "entry,", err)
	// Output:
	// 1 entry, <nil>
}
