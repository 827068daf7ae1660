package redact

import (
	"slices"
	"testing"
)

// TestPrograms: each program and call has its source, is found in its example, and not in what only looks alike.
func TestPrograms(t *testing.T) {
	s := mustNew(Options{}).NewScanner()
	find := func(text string) bool {
		return slices.ContainsFunc(s.Find([]byte(text)), func(h Hit) bool { return h.Secret() })
	}
	check := func(name, is, not, source string) {
		if is == "" || not == "" || source == "" {
			t.Errorf("%s has no examples, or no source", name)
		}
		if !find(is) || !find("then\n$ "+is+"\n") {
			t.Errorf("%s: %q is not found", name, is)
		}
		if find(not) {
			t.Errorf("%s: %q is found", name, not)
		}
	}
	for _, p := range programs {
		check(p.Names, p.Is, p.Not, p.Source)
	}
	for _, c := range calls {
		check(c.Name, c.Is, c.Not, c.Source)
	}
}
