package redact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"ctxtool/internal/phrase"
	"ctxtool/sessionfmt"
)

// Leaks count likely secrets in texts, by record and rule. Its methods may be called concurrently.
type Leaks struct {
	scanners sync.Pool
	mu       sync.Mutex
	found    map[int]map[string]int // by record, -1 for none, and by rule
}

// NewLeaks returns Leaks by the rules of a redactor.
func NewLeaks(r *Redactor) *Leaks {
	return &Leaks{scanners: sync.Pool{New: func() any { return r.NewScanner() }}, found: map[int]map[string]int{}}
}

// Add searches a text of a record, -1 for none.
func (s *Leaks) Add(record int, text []byte) {
	scanner := s.scanners.Get().(*Scanner)
	defer s.scanners.Put(scanner)
	hits := scanner.Find(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, hit := range hits {
		if !hit.Secret() {
			continue
		}
		if s.found[record] == nil {
			s.found[record] = map[string]int{}
		}
		s.found[record][hit.Rule]++
	}
}

// mostNamed is how many entries with likely secrets are named at most.
const mostNamed = 10

// Summary returns how many likely secrets there are and in which entries of the session, nil for
// none, and never a secret. It is empty if there are none.
func (s *Leaks) Summary(session *sessionfmt.Session) string {
	if len(s.found) == 0 {
		return ""
	}
	total := 0
	var words []string
	for _, record := range slices.Sorted(maps.Keys(s.found)) {
		rules := s.found[record]
		for _, n := range rules {
			total += n
		}
		name := "the head"
		switch {
		case session == nil:
			name = "the answer"
		case record >= 0:
			name = sessionfmt.Quote(session.ID(record))
		}
		words = append(words, fmt.Sprintf("%s (%s)", name, strings.Join(slices.Sorted(maps.Keys(rules)), ", ")))
	}
	if more := len(words) - mostNamed; more > 0 {
		words = append(words[:mostNamed], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s in %s", phrase.Count(total, "likely secret"), strings.Join(words, ", "))
}
