package search

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/sessionfmt"
)

// TestPass: without an index the same is found as with one, by any number of workers.
func TestPass(t *testing.T) {
	t.Parallel()
	passed := 0
	for _, f := range sessions(t) {
		head, err := os.ReadFile(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		header := currentHeader(firstObject(head[:min(len(head), sniffSize)]))
		if header == nil {
			continue
		}
		passed++
		opt := &Options{Query: Words("the error file", true)}
		for _, workers := range []int{1, 3} {
			s := newSearcher(opt)
			s.header = header
			one := &searched{}
			if err := s.pass(f, workers, nil, one); err != nil {
				t.Fatal(err)
			}
			ses, err := sessionfmt.Open(f.Name, sessionfmt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := &Session{}
			if err := s.indexed(ses, workers, want); err != nil {
				t.Fatal(err)
			}
			got := &Session{}
			if one.session != nil {
				got = one.session
			}
			sorted(got)
			for i := range got.found {
				got.found[i].at = int64(got.record(ses, &got.found[i]))
			}
			if one.lines != int64(ses.Len()) || !slices.Equal(got.counts, want.counts) || !slices.Equal(got.found, want.found) {
				t.Errorf("%s, %d workers: %d lines, found %+v; want %d, %+v", f.Given, workers, one.lines, got.found, ses.Len(), want.found)
			}
			if time, last := lastTime(ses, ses.NewReader()); len(got.found) > 0 && (got.Messages != want.Messages || got.Time != time || got.last != last) {
				t.Errorf("%s: %d messages until %s; want %d, %s", f.Given, got.Messages, got.Time, want.Messages, time)
			}
			ses.Close()
		}
	}
	if passed == 0 {
		t.Error("no session was searched without an index")
	}
}

// sorted sorts what several workers found by its place, with the counts.
func sorted(s *Session) {
	terms := len(s.counts) / max(1, len(s.found))
	order := make([]int, len(s.found))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.found[a].at, s.found[b].at) })
	of := *s
	s.found, s.counts = nil, nil
	for _, i := range order {
		s.found, s.counts = append(s.found, of.found[i]), append(s.counts, of.counts[i*terms:(i+1)*terms]...)
	}
}

// TestChanged: a file is validated again if it was replaced or rewritten since it was searched,
// although its size is the same.
func TestChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "s.jsonl")
	good := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n" +
		`{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"a plum"}}` + "\n"
	broken := strings.Replace(good, `"a plum"}`, `"a plum"]`, 1)
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name   string
		change func()
		hits   int
	}{
		{"nothing", func() {}, 1},
		{"rewritten", func() { write(name, broken); os.Chtimes(name, time.Time{}, time.Now().Add(time.Hour)) }, 0},
		{"replaced", func() { write(name+".new", broken); os.Rename(name+".new", name) }, 0},
	} {
		write(name, good)
		r := Run([]File{{name, "s.jsonl", ""}}, Options{Query: Words("plum", false)})
		if len(r.Sessions) != 1 || r.Sessions[0].sound == nil {
			t.Fatalf("%s: %+v", test.name, r)
		}
		test.change()
		hits := 0
		for s, err := range r.Read(0, 0) {
			if hits += len(s.Hits); err != nil && !errors.Is(err, errChanged) {
				t.Error(err)
			}
		}
		if hits != test.hits {
			t.Errorf("%s: %d hits, want %d", test.name, hits, test.hits)
		}
	}
}
