package migrate

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// FuzzMigrate: whatever the file, migrating loses no line, its result opens, the
// context stays, and migrating again changes nothing.
func FuzzMigrate(f *testing.F) {
	for _, tt := range append(append(rules, compactions...), traps...) {
		f.Add([]byte(strings.Join(tt.in, "\n")), uint8(slices.Index(modes, cmp.Or(tt.opt.Compaction, Auto))), tt.opt.To == 2)
	}
	for k, c := range corpus.Small(f) {
		f.Add(c.Data, uint8(k), k%3 == 0)
	}
	for seed := range uint64(12) {
		f.Add(randomSession(seed, 1+int(seed%3)), uint8(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, mode uint8, two bool) {
		if len(data) > 64<<10 {
			return
		}
		s := open(t, "fuzz", data)
		if s == nil {
			return
		}
		defer s.Close()
		opt := Options{Compaction: modes[mode%4]}
		if two {
			opt.To = 2
		}
		p, err := New(s, opt)
		if err != nil {
			return
		}
		losesNothing(t, data, p)
		r := migrated(t, s, opt)
		if s.Len() < 200 {
			r.lawful(t, contexts{})
		}
		r.twice(t, opt)
	})
}

// losesNothing reports whether each line stays, is edited, or goes to the quarantine, and
// that the members of an entry stay the members of an entry.
func losesNothing(t *testing.T, data []byte, p *Plan) {
	t.Helper()
	var all []byte
	for c, err := range p.Changes {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c.Raw...)
		if c.Ended {
			all = append(all, '\n')
		}
		if c.Same && len(c.New) > 0 || c.Same && len(c.Notes) > 0 || !c.Same && len(c.Notes) == 0 {
			t.Fatalf("line %d: %+v", c.Number, c)
		}
		if c.Record >= 0 && p.s.Kind(c.Record) != jsonl.Scalar && !c.Same {
			keepsMembers(t, c)
		}
	}
	if !bytes.Equal(all, data) {
		t.Fatalf("the changes are of another file: %q, not %q", all, data)
	}
}

// keepsMembers reports whether the last line in an entry's place has all its members but
// those that migrating is about, as they were spelled.
func keepsMembers(t *testing.T, c sessionfmt.Change) {
	t.Helper()
	if len(c.New) == 0 {
		t.Fatalf("line %d: an entry goes", c.Number)
	}
	was, _, _ := object(c.Raw)
	is, err := jsonl.ParseValue(c.New[len(c.New)-1])
	if err != nil {
		t.Fatalf("line %d: %v in %q", c.Number, err, c.New)
	}
	for key, val := range was.Members {
		switch string(key) {
		case "id", "parentId", "version", "message", "firstKeptEntryId", "firstKeptEntryIndex", "type", "summary", "tokensBefore":
			continue
		}
		found := false
		for name, now := range is.Members {
			found = found || bytes.Equal(name, key) && bytes.Equal(now, val)
		}
		if !found && string(key) != "timestamp" {
			t.Fatalf("line %d: member %q is not in %q", c.Number, key, is)
		}
	}
}
