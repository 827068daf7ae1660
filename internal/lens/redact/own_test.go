package redact

import (
	"slices"
	"strings"
	"testing"
)

// TestOwnRules: each rule and token has its source, is found in its examples, and not in what
// only looks alike.
func TestOwnRules(t *testing.T) {
	r := mustNew(Options{})
	for _, k := range r.always {
		t.Errorf("%s: has no anchor and no keyword: it would read each text", r.rules[k].ID)
	}
	s := r.NewScanner()
	find := func(text, id string) bool {
		return slices.ContainsFunc(s.Find([]byte(text)), func(h Hit) bool { return h.Rule == id })
	}
	for _, r := range ownRules {
		if r.Source == "" || len(r.Is) == 0 || len(r.Not) == 0 {
			t.Errorf("%s has no source, or no examples", r.ID)
		}
		for _, text := range r.Is {
			if !find(text, r.ID) {
				t.Errorf("%s: %q is not found", r.ID, text)
			}
		}
		for _, text := range r.Not {
			if find(text, r.ID) {
				t.Errorf("%s: %q is found", r.ID, text)
			}
		}
	}
	for _, text := range []string{"ghp_xxxx", "github_pat_xxxx", "sk-ant-xxxx"} { // short placeholders
		if found := s.Find([]byte(`export TOKEN="` + text + `"`)); found != nil {
			t.Errorf("%s: %v", text, found)
		}
	}
	if found := s.Find([]byte("    --- PASS: TestInit/a-valid_ID-2026 (0.02s)")); found != nil {
		t.Errorf("the name of a test: %v", found)
	}
	for _, k := range prefixes {
		if k.Source == "" || len(k.Is) < len(k.Prefix)+k.Least || !strings.HasPrefix(k.Is, k.Prefix) {
			t.Errorf("%s has no source, or no example", k.Prefix)
		}
		for _, around := range []string{"%", "x %.", "「%」", "(%)", "%,y", "[%]", "%&a=b", "é%é", "\"%\""} {
			if text := strings.Replace(around, "%", k.Is, 1); len(s.Find([]byte(text))) != 1 {
				t.Errorf("%q is not found", text)
			}
		}
		for _, not := range []string{"", "...", "your-api-key-here", "your_token", strings.Repeat("x", 40), "loading-spinner-container", "…"} {
			if text := k.Prefix + not; find(text, k.ID) {
				t.Errorf("%q is found", text)
			}
		}
	}
}
