package compact

import (
	"fmt"
	"strings"
	"testing"
)

// TestParams sets options of passes and policies by text, at the limits of what they take.
func TestParams(t *testing.T) {
	for _, c := range []struct {
		pass       *Pass
		text, want string // the options as JSON, else the error
	}{
		{&Truncate, "", `{"max":30000,"unit":"bytes"}`}, {&Truncate, "max=0", `"max":0`}, {&Truncate, "max=-1", "max=-1: must be a number, 0 or more"}, {&Truncate, "max=x", "max=x: must be a number, 0 or more"},
		{&Truncate, "unit=chars", `{"max":10000,"unit":"chars"}`}, {&Truncate, "unit=chars,max=7", `{"max":7,"unit":"chars"}`}, {&Truncate, "max=0,unit=tokens", "max=0: must be above 0 in tokens"},
		{&Truncate, "unit=words", "unit=words: expected one of bytes, chars, tokens"}, {&Truncate, "keep=1", `truncate has no option "keep": it has max, unit`},
		{&Compact, "", `"keep":20000`}, {&Compact, "style=swe-cli", `"keep":20`}, {&Compact, "style=gsh", `"style":"gsh"`}, {&Compact, "style=gsh,keep=0", `"keep":0`}, {&Compact, "style=gsh,keep=1", "keep=1: style gsh keeps nothing"},
		{&Compact, "keep=5", `"keep":5`}, {&RetryPrune, "intra-turn", `"intraTurn":true`}, {&RetryPrune, "intra-turn=false", `"intraTurn":false`}, {&RetryPrune, "intra-turn=x", "intra-turn=x: must be true or false"},
		{&StripThinking, "max=1", "has no options"},
	} {
		o, err := c.pass.With(c.text)
		got := string(c.pass.params(&o))
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || (err == nil) != strings.HasPrefix(got, "{") {
			t.Errorf("%s %s: %s, want %s", c.pass.Name, c.text, got, c.want)
		}
	}
	for _, pass := range []*Pass{&Truncate, &Compact, &Prune} {
		for _, q := range pass.Params() {
			if text := fmt.Sprint(pass.Default(q)); !strings.Contains(string(pass.params(&pass.Defaults)), text) {
				t.Errorf("%s: the default of %s is %s, not in %s", pass.Name, q.Name, text, pass.params(&pass.Defaults))
			}
		}
	}
}

// TestPolicyOptions sets options of layers, and of their triggers.
func TestPolicyOptions(t *testing.T) {
	for _, c := range []struct{ policy, name, text, want string }{
		{"pi", "reserve", "5", ""}, {"pi", "reserve", "5.5", "reserve=5.5: must be a number to run with less than N tokens"}, {"pi", "reserve", "-1", "must be a number"}, {"pi", "reserve", "1e15", ""},
		{"pi", "reserve", "2e15", "must be a number"}, {"pi", "reserve", "NaN", "must be a number"}, {"pi", "share", "0.5", `policy pi has no option "share"`}, {"pi", "keep", "7", ""}, {"pi", "keep", "x", "policy pi: keep=x"},
		{"gsh", "share", "0.5", ""}, {"gsh", "share", "1", ""}, {"gsh", "share", "1.01", "share=1.01: must be a number to run above SHARE"}, {"gsh", "share", "x", "must be a number"},
		{"gsh", "reserve", "5", `policy gsh has no option "reserve"`}, {"gsh", "none", "5", `policy gsh has no option "none"`},
	} {
		was, err := FindPolicy(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		p, before := was.Copy(), fmt.Sprintf("%+v", was.Layers)
		err = p.Set(c.name, c.text)
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s %s=%s: %s, want %q", c.policy, c.name, c.text, got, c.want)
		}
		if p.Has(c.name) == strings.Contains(c.want, "has no option") {
			t.Errorf("%s has %s: %v", c.policy, c.name, p.Has(c.name))
		}
		if fmt.Sprintf("%+v", was.Layers) != before {
			t.Errorf("%s %s=%s changes the policy that was copied", c.policy, c.name, c.text)
		}
		for _, l := range p.Layers {
			if w := l.When; c.want == "" && w != nil && (c.name == "share" && fmt.Sprint(max(w.Share, float64(w.Percent)/100)) != c.text || c.name == "reserve" && c.text == "5" && w.Reserve != 5) {
				t.Errorf("%s %s=%s: %+v", c.policy, c.name, c.text, w)
			}
		}
	}
	for agent, want := range map[string]string{"pi": "reserve 16384", "gsh": "share", "codex": "percent 90 true", "claude": "none", "y-agent": "none"} {
		got := "none"
		if w := AgentTrigger(agent); w != nil {
			switch {
			case w.Percent > 0 && w.At:
				got = fmt.Sprintf("percent %d %v", w.Percent, w.At)
			case w.Reserve > 0:
				got = fmt.Sprintf("reserve %d", w.Reserve)
			default:
				got = "share"
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
	}
	for _, c := range []struct {
		t            Trigger
		used, window int64
		want         bool
	}{
		{Trigger{Percent: 90}, 90, 100, false}, {Trigger{Percent: 90}, 91, 100, true}, {Trigger{Percent: 90, At: true}, 90, 100, true}, {Trigger{Percent: 90, At: true}, 89, 100, false},
		{Trigger{Share: 0.5}, 50, 100, false}, {Trigger{Share: 0.5}, 51, 100, true}, {Trigger{Reserve: 10}, 90, 100, false}, {Trigger{Reserve: 10}, 91, 100, true},
	} {
		if got := c.t.fires(c.used, c.window); got != c.want {
			t.Errorf("%+v at %d of %d: %v", c.t, c.used, c.window, got)
		}
	}
}

// TestAmounts reads amounts of tokens and shares of a window, at the limits of both.
func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		text string
		want Amount
		of   int64 // a window of 200
		ok   bool
	}{
		{"", Amount{}, 0, true}, {"1", Amount{Tokens: 1}, 1, true}, {"150k", Amount{Tokens: 150_000}, 150_000, true}, {"80%", Amount{Share: 0.8}, 160, true}, {"100%", Amount{Share: 1}, 200, true},
		{"0.5%", Amount{Share: 0.005}, 1, true}, {"0", Amount{}, 0, false}, {"0%", Amount{}, 0, false}, {"101%", Amount{}, 0, false}, {"1.5", Amount{}, 0, false}, {"-1", Amount{}, 0, false}, {"x", Amount{}, 0, false},
		{"1000000000000000", Amount{Tokens: 1e15}, 1e15, true}, {"1000000000000001", Amount{}, 0, false}, {"NaN", Amount{}, 0, false}, {"%", Amount{}, 0, false},
	} {
		got, err := ParseAmount("--over", c.text)
		if got != c.want || got.of(200) != c.of || (err == nil) != c.ok || err != nil && !strings.HasPrefix(err.Error(), fmt.Sprintf("--over %q: ", c.text)) {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
}

// TestPolicyParams: marks tell policies apart by each of their numbers, under the names of a configuration.
func TestPolicyParams(t *testing.T) {
	layer := func(change func(p *Policy, l *Layer)) string {
		p := &Policy{Name: "p", Layers: []Layer{{Pass: &RetryPrune, Options: RetryPrune.Defaults, When: &Trigger{Share: 0.5}}}}
		change(p, &p.Layers[0])
		return p.params()
	}
	seen := map[string]string{}
	for name, change := range map[string]func(p *Policy, l *Layer){
		"plain": func(*Policy, *Layer) {}, "pass": func(_ *Policy, l *Layer) { l.Pass = &Truncate }, "option": func(_ *Policy, l *Layer) { l.MinTokens = 77 }, "switch": func(_ *Policy, l *Layer) { l.IntraTurn = !l.IntraTurn },
		"trigger": func(_ *Policy, l *Layer) { l.When = &Trigger{Share: 0.25} }, "no trigger": func(_ *Policy, l *Layer) { l.When = nil }, "target": func(p *Policy, _ *Layer) { p.Target = Amount{Tokens: 5} },
		"share": func(p *Policy, _ *Layer) { p.Target = Amount{Share: 0.5} }, "two": func(p *Policy, l *Layer) { p.Layers = append(p.Layers, *l) },
	} {
		text := layer(change)
		if other, had := seen[text]; had {
			t.Errorf("%s and %s have the same numbers: %s", name, other, text)
		}
		if seen[text] = name; strings.Contains(text, "intraTurn") || strings.Contains(text, "minTokens") || name == "option" && !strings.Contains(text, `"min_tokens":77`) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
