package models

import (
	"encoding/json"
	"testing"
)

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		why          string
		provider, id string
		how          Match
		want         key
	}{
		{"to the letter", "anthropic", "claude-sonnet-4-5-20250929", Exact, key{"anthropic", "claude-sonnet-4-5-20250929"}},
		{"provider inside the id", "", "anthropic/claude-opus-4-5", Exact, key{"anthropic", "claude-opus-4-5"}},
		{"a slash that belongs to the id", "", "openrouter/anthropic/claude-opus-4.5", Exact, key{"openrouter", "anthropic/claude-opus-4.5"}},

		{"date off", "anthropic", "claude-opus-4-6-20260101", Dated, key{"anthropic", "claude-opus-4-6"}},
		{"date off, dashes", "openai", "gpt-5.4-2026-03-05", Dated, key{"openai", "gpt-5.4"}},
		{"date off, at sign", "anthropic", "claude-opus-4-6@20260101", Dated, key{"anthropic", "claude-opus-4-6"}},
		{"latest off", "anthropic", "claude-opus-4-6-latest", Dated, key{"anthropic", "claude-opus-4-6"}},
		{"same date, other spelling", "anthropic", "claude-opus-4-5@20251101", Dated, key{"anthropic", "claude-opus-4-5-20251101"}},
		{"latest on", "mistral", "mistral-large", Dated, key{"mistral", "mistral-large-latest"}},
		{"a date is not the latest", "mistral", "mistral-large-20250101", None, key{}},
		{"provider inside the id, date off", "", "openai/gpt-5.4-2026-03-05", Dated, key{"openai", "gpt-5.4"}},

		{"no provider", "", "claude-opus-4-5", Bare, key{"anthropic", "claude-opus-4-5"}},
		{"the maker", "acme", "gpt-5.4", Bare, key{"openai", "gpt-5.4"}},
		{"the maker, same date", "vertex", "claude-sonnet-4-5@20250929", Bare, key{"anthropic", "claude-sonnet-4-5-20250929"}},
		{"vendor inside the id", "anthropic", "anthropic/claude-opus-4-7", Bare, key{"anthropic", "claude-opus-4-7"}},
		{"region, vendor, revision", "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", Bare, key{"anthropic", "claude-sonnet-4-5-20250929"}},
		{"the asked provider before the maker", "amazon-bedrock", "us.anthropic.claude-opus-4-7-20260101-v1:0", Bare, key{"amazon-bedrock", "anthropic.claude-opus-4-7"}},
		{"revision on", "amazon-bedrock", "anthropic.claude-opus-4-6", Bare, key{"amazon-bedrock", "anthropic.claude-opus-4-6-v1"}},
		{"the only date there is", "acme", "claude-sonnet-4", Bare, key{"amazon-bedrock", "apac.anthropic.claude-sonnet-4-20250514-v1:0"}},

		{"unknown", "acme", "m1", None, key{}},
		{"older than the table", "anthropic", "claude-3-opus-20240229", None, key{}},
		{"another model", "google-antigravity", "claude-opus-4-6-thinking", None, key{}},
		{"a router's alias", "router", "auto", None, key{}},
		{"a family, not a model", "acme", "glm", None, key{}},
		{"a version is not a name", "acme", "v3.2", None, key{}},
		{"no maker, windows differ", "acme", "openai/gpt-oss-120b", None, key{}},
		{"not a day", "openai", "gpt-5.4-20261301", None, key{}},
		{"nothing", "", "", None, key{}},
		{"only a date", "openai", "-20250101", None, key{}},
		{"columns are not names", "xai\tgrok-4.7", "500000", None, key{}},
		{"columns are not ids", "xai", "grok-4.7\t500000", None, key{}},
	} {
		m, how, ok := Builtin().Lookup(c.provider, c.id)
		if how != c.how || m.key() != c.want || ok != (c.how != None) {
			t.Errorf("%s: Lookup(%q, %q) = %v, %v, %v; want %v, %v", c.why, c.provider, c.id, m.key(), how, ok, c.want, c.how)
		}
	}
}

// TestLookupDates asks a table of a few models where the dates differ.
func TestLookupDates(t *testing.T) {
	var added []Model
	for _, id := range []string{"zed-1-20260101", "zed-1-20260202", "zed-2-20260101", "zed-3-latest", "zed-3-20260101", "zed-4-20260101", "zed-4"} {
		added = append(added, Model{Provider: "zed", ID: id, ContextWindow: 1000})
	}
	table := Builtin().With(added...)
	for _, c := range []struct{ asked, want string }{
		{"zed-1", ""},
		{"zed-1-latest", ""},
		{"zed-1@2026-02-02", "zed-1-20260202"},
		{"zed-1-20260303", ""},
		{"zed-2", "zed-2-20260101"},
		{"zed-2-latest", "zed-2-20260101"},
		{"zed-2-20260303", ""},
		{"zed-3", "zed-3-latest"},
		{"zed-3-20260303", ""},
		{"zed-4-latest", "zed-4"},
		{"zed-4-20260303", "zed-4"},
	} {
		for provider, how := range map[string]Match{"zed": Dated, "other": Bare} {
			if c.want == "" {
				how = None
			}
			m, got, _ := table.Lookup(provider, c.asked)
			if m.ID != c.want || got != how {
				t.Errorf("Lookup(%q, %q) = %q, %v; want %q, %v", provider, c.asked, m.ID, got, c.want, how)
			}
		}
	}
}

func TestMatchText(t *testing.T) {
	got, err := json.Marshal([]Match{None, Exact, Dated, Bare, Match(9)})
	if want := `["none","exact","dated","bare","none"]`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestBareName(t *testing.T) {
	for _, c := range []struct{ id, name, date string }{
		{"claude-opus-4-5", "claude-opus-4-5", ""},
		{"us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5", "20251101"},
		{"us-gov.openai.gpt-oss-120b-1:0", "gpt-oss-120b", ""},
		{"anthropic.claude-opus-4-6-v1", "claude-opus-4-6", ""},
		{"anthropic.claude-v2:1", "claude-v2:1", ""},
		{"anthropic.claude-3-sonnet-20240229-v1:0:28k", "claude-3-sonnet-20240229-v1:0:28k", ""},
		{"deepseek.v3-v1:0", "deepseek.v3", ""},
		{"us.deepseek.v3.2", "deepseek.v3.2", ""},
		{"nvidia.nemotron-nano-9b-v2", "nemotron-nano-9b-v2", ""},
		{"amazon/nova-pro-v1", "nova-pro-v1", ""},
		{"accounts/fireworks/models/glm-5p3", "glm-5p3", ""},
		{"workers-ai/@cf/zai-org/glm-5.3", "glm-5.3", ""},
		{"openai/gpt-5.4:batch", "gpt-5.4:batch", ""},
		{"gpt-4o-2024-08-06", "gpt-4o", "20240806"},
		{"codestral-2508", "codestral-2508", ""},
		{"gpt-5-chat-latest", "gpt-5-chat", "latest"},
		{"", "", ""},
		{"a.", "a.", ""},
		{":0", ":0", ""},
		{"-v:0", "-v:0", ""},
	} {
		if name, date := bareName(c.id); name != c.name || date != c.date {
			t.Errorf("bareName(%q) = %q, %q; want %q, %q", c.id, name, date, c.name, c.date)
		}
	}
}

// FuzzLookup asks for anything: nothing may panic, and what is found must be
// what its Match says.
func FuzzLookup(f *testing.F) {
	f.Add("anthropic", "claude-opus-4-5@20251101")
	f.Add("", "us.anthropic.claude-opus-4-6-v1:0")
	f.Add("a\tb", "\n")
	f.Fuzz(func(t *testing.T, provider, id string) {
		m, how, ok := Builtin().Lookup(provider, id)
		asked, _ := bareName(id)
		found, _ := bareName(m.ID)
		switch {
		case ok != (how != None) || ok != (m.ContextWindow > 0):
			t.Errorf("%v, %v, %+v", how, ok, m)
		case how == Exact && m.key() != (key{provider, id}) && m.Provider+"/"+m.ID != id:
			t.Errorf("exact, but %v", m.key())
		case how == Dated && m.Provider != provider && provider != "":
			t.Errorf("dated, but %v", m.key())
		case how == Bare && asked != found:
			t.Errorf("bare, but %q is not %q", found, asked)
		}
	})
}
