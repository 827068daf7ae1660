package redact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Counts are what a run did besides replacing secrets.
type Counts struct {
	Stripped int `json:"stripped"` // signatures and encrypted texts
	Images   int `json:"images"`   // that stay: their pixels were not searched
	Bared    int `json:"bared"`    // of these, those whose metadata was removed
	Unread   int `json:"unread"`   // of these, unreadable: they may contain metadata
	Dropped  int `json:"dropped"`  // images that were replaced with a single pixel
}

// A Tally counts what a run has redacted.
type Tally struct {
	Counts

	r       *Redactor
	rules   []count // none until there is a hit: most texts have none
	number  int     // of the current line
	persons []string
	line    []int32 // rules with hits in it
}

// NotSearched is what redaction does not look into.
var NotSearched = []struct{ Name, About string }{
	{"sealed reasoning", "what providers encrypt; it is removed"},
	{"signatures", "of reasoning and of calls; they are removed"},
	{"images", "their pixels, and color profiles; metadata is removed from PNG, JPEG, GIF, WebP, BMP, HEIC and AVIF; " +
		"--images drop replaces them"},
	{"binary data", "what is neither text nor base64, hex, numbers of bytes or quoted-printable of text: archives, " +
		"audio, encrypted files"},
}

// of returns the count of a rule.
func (t *Tally) of(rule int32) *count {
	if t.rules == nil {
		t.rules = make([]count, len(t.r.names))
	}
	return &t.rules[rule]
}

// A count is the number of hits of a rule.
type count struct {
	numbers map[string]int // by value
	values  int            // distinct values
	places  int
	entries []string
}

// A Found is the hits of a rule in a session.
type Found struct {
	Rule    string   `json:"rule"`
	Values  int      `json:"values"`            // number of distinct values
	Places  int      `json:"places"`            // number of occurrences
	Entries []string `json:"entries,omitempty"` // ids of the entries with an occurrence, or their lines; at most 1,000
}

// maxEntries is the maximum number of entries listed per rule.
const maxEntries = 1000

// Found returns the hits of each rule, in the order of the rules.
func (t *Tally) Found() (all []Found) {
	for k, c := range t.rules {
		if c.places > 0 {
			all = append(all, Found{t.r.names[k], c.values, c.places, c.entries})
		}
	}
	return all
}

// add counts an occurrence of value number n of a rule.
func (t *Tally) add(rule int32, n int) {
	c := t.of(rule)
	c.values = max(c.values, n)
	c.places++
	if !slices.Contains(t.line, rule) {
		t.line = append(t.line, rule)
	}
}

// entry records the entry in which rules had hits, by its redacted id.
func (t *Tally) entry(line []byte) {
	var id string
	for _, k := range t.line {
		c := &t.rules[k]
		if len(c.entries) >= maxEntries {
			continue
		}
		if id == "" {
			id = fmt.Sprintf("line %d", t.number)
			if v, err := jsonl.ParseValue(line); err == nil && !v.Get("type").Is("session") &&
				v.Get("id").Text() != "" {
				id = sessionfmt.Quote(v.Get("id").Text())
			}
		}
		if !slices.Contains(c.entries, id) {
			c.entries = append(c.entries, id)
		}
	}
}

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
