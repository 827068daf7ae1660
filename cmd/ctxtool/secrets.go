package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/redact"
)

// A secretScan counts what looks like one in what a command prints.
type secretScan struct {
	scanners sync.Pool
	mu       sync.Mutex
	found    map[int]map[string]int // by the entry's record, -1 for none, and by rule
}

func newSecretScan(r *redact.Redactor) *secretScan {
	return &secretScan{scanners: sync.Pool{New: func() any { return r.NewScanner() }}, found: map[int]map[string]int{}}
}

// scan looks through a piece of what is printed. Several may call it at a time.
func (s *secretScan) scan(record int, text []byte) {
	scanner := s.scanners.Get().(*redact.Scanner)
	defer s.scanners.Put(scanner)
	for _, hit := range scanner.Find(text) {
		if !hit.Secret() {
			continue
		}
		s.mu.Lock()
		if s.found[record] == nil {
			s.found[record] = map[string]int{}
		}
		s.found[record][hit.Rule]++
		s.mu.Unlock()
	}
}

// namedSecrets is how many entries with likely secrets are named.
const namedSecrets = 10

// note says what was found, and never what it was.
func (s *secretScan) note(e *env, session *sessionfmt.Session) {
	if len(s.found) == 0 {
		return
	}
	total := 0
	var words []string
	for _, record := range slices.Sorted(maps.Keys(s.found)) {
		rules := s.found[record]
		for _, n := range rules {
			total += n
		}
		name := "the head"
		if record >= 0 {
			name = sessionfmt.Quote(session.ID(record))
		}
		words = append(words, fmt.Sprintf("%s (%s)", name, strings.Join(slices.Sorted(maps.Keys(rules)), ", ")))
	}
	if more := len(words) - namedSecrets; more > 0 {
		words = append(words[:namedSecrets], fmt.Sprintf("%d more", more))
	}
	what := "likely secrets"
	if total == 1 {
		what = "likely secret"
	}
	e.note("%s: %d %s in %s; --redact leaves them out", session.Name, total, what, strings.Join(words, ", "))
}
