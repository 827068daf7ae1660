package migrate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestPi asks pi's own code, once, about both: what it makes of old sessions, and of
// those that are migrated.
func TestPi(t *testing.T) {
	files := map[string][]byte{}
	old, migrations := map[string]*result{}, map[string]*result{}
	real := slices.DeleteFunc(corpus.Shared(t), func(c corpus.Session) bool {
		return len(c.Data) <= 300<<10 || len(c.Data) > 1<<20 || corpus.Whole() // in the sample, or too large
	})
	for _, c := range slices.Concat(corpus.Sample(t), real, randomSessions()) {
		s := open(t, c.Name, c.Data)
		if s == nil || s.Header() != 0 {
			continue
		}
		for _, mode := range modes[1:] {
			if mode != Native && len(c.Data) > 300<<10 && !corpus.Whole() {
				continue
			}
			r := migrated(t, s, Options{Compaction: mode})
			if mode == Native && s.Version <= 2 && !strings.HasPrefix(c.Name, "random") {
				files[c.Name], old[c.Name] = c.Data, r
			}
			if r != nil && !r.plan.Current() {
				name := c.Name + " " + string(mode)
				files[name], migrations[name] = r.out, r
			}
		}
	}
	answers := corpus.Pi(t, files, "open")
	for name, o := range answers {
		if o.Open.Throws != "" {
			t.Logf("%s: pi fails on it: %s", name, o.Open.Throws)
		}
		if o.Read.Endless || o.Open.Throws != "" {
			delete(answers, name)
		}
	}
	t.Run("migrates", func(t *testing.T) { piMigrates(t, old, answers) })
	t.Run("context", func(t *testing.T) { piContext(t, migrations, answers) })
}

// piMigrates: pi's own migration yields the entries that ours does, ids of version 1
// aside.
func piMigrates(t *testing.T, ours map[string]*result, answers map[string]corpus.PiAnswer) {
	same := 0
	for name, r := range ours {
		o, ok := answers[name]
		if !ok {
			continue
		}
		theirs := open(t, name, []byte(o.Open.After))
		got, want := entries(r.is, theirs), entries(theirs, theirs)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("%s: entry %d of %d and %d\n got %.600s\n  pi %.600s", name, i, len(got), len(want), append(got, "")[min(i, len(got))], append(want, "")[min(i, len(want))])
				break
			}
		}
		same++
	}
	if same < 5 {
		t.Errorf("only %d sessions compared", same)
	}
	t.Logf("%d sessions migrate as with pi", same)
}

// entries are the records of a session as JavaScript spells them, with the ids of
// the entries of another in their stead.
func entries(s, named *sessionfmt.Session) (all []string) {
	var others []int
	for i := range named.Len() {
		if named.Kind(i) != jsonl.Scalar {
			others = append(others, i)
		}
	}
	ids := map[string]string{}
	lines := s.NewReader()
	for i := range s.Len() {
		if s.Kind(i) == jsonl.Scalar {
			continue
		}
		if len(all) < len(others) && s.ID(i) != "" {
			ids[s.ID(i)] = named.ID(others[len(all)])
		}
		line := must.Get(lines.Line(i))
		var fields []jsonl.Field
		for _, name := range []string{"id", "parentId", "firstKeptEntryId"} {
			if id, ok := ids[line.Get(name).Text()]; ok {
				fields = append(fields, jsonl.Field{Name: name, Value: jsonl.AppendQuoted(nil, id)})
			}
		}
		all = append(all, string(jsonl.Value(line.AppendEdited(nil, fields...)).AppendMinified(nil)))
	}
	return all
}

// piContext: what pi builds from a migrated file is what we say that it does, and pi
// does not touch it.
func piContext(t *testing.T, ours map[string]*result, answers map[string]corpus.PiAnswer) {
	same := 0
	for name, r := range ours {
		o, ok := answers[name]
		if !ok {
			continue
		}
		if utf8.Valid(r.out) && o.Open.After != string(r.out) {
			t.Errorf("%s: pi changes the file", name)
		}
		e := must.Get(replay.New(r.is, replay.Options{Rules: replay.ByPi}).At(sessionfmt.After(r.is.Leaf())))
		got := []byte{'['}
		for m, err := range e.ContextMessages() {
			if err != nil {
				t.Fatal(err)
			}
			if len(got) > 1 {
				got = append(got, ',')
			}
			got = m.Raw.AppendMinified(got)
		}
		if got = append(got, ']'); !bytes.Equal(got, o.Open.Messages) {
			t.Errorf("%s:\n got %.600s\n  pi %.600s", name, got, o.Open.Messages)
		}
		same++
	}
	if same < 20 {
		t.Errorf("only %d sessions compared", same)
	}
	t.Logf("%d migrated sessions give pi the context that we replay", same)
}

func randomSessions() (all []corpus.Session) {
	seeds := uint64(40)
	if corpus.Whole() {
		seeds = 120
	}
	for seed := range seeds {
		all = append(all, corpus.Session{Name: fmt.Sprintf("random %d", seed), Data: randomSession(seed, 1+int(seed%3))})
	}
	return all
}
