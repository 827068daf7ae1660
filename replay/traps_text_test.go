package replay_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
)

// texts is a trap of one entry: what a provider gets of it by each set of rules.
type texts struct {
	trap     string
	entry    string
	version  int // 3 when 0
	pi       string
	envelope string
	lenient  string // the reference's answer
}

// alike is one whose text is the same by all rules.
func alike(trap, entry, text string) texts {
	return texts{trap: trap, entry: entry, pi: text, envelope: text, lenient: text}
}

// check holds the trap to one set of rules.
func (c texts) check(t *testing.T, opt replay.Options, want string) {
	t.Helper()
	e := must.Get(replayed(t, session(cmp.Or(c.version, 3), c.entry), opt))
	if got := strings.Join(sent(t, e), "|"); got != want {
		t.Errorf("rules %s, lenient %v: %s: %q, want %q", opt.Rules, opt.Lenient, c.entry, got, want)
	}
}

const (
	branchText  = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
	summaryText = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	ranText     = "Ran `ls`\n```\no\n```"

	hookEntry = `h "type":"message","message":{"role":"hookMessage","customType":"x","content":"H","display":true}`
)

var textTraps = []texts{
	{trap: "T22", entry: `r "type":"branch_summary","fromId":"root","summary":""`, pi: "", envelope: branchText + "</summary>", lenient: branchText + "</summary>"},
	alike("T23", `r "type":"branch_summary","fromId":"root","summary":"B"`, branchText+"B</summary>"),
	alike("T23", `k "type":"compaction","summary":"S","firstKeptEntryId":"k","tokensBefore":1`, summaryText+"S\n</summary>"),
	alike("T24", `b bash "output":"o"`, ranText),
	alike("T24", `b bash "output":"o","exitCode":null`, ranText),
	alike("T24", `b bash "output":"o","exitCode":3`, ranText+"\n\nCommand exited with code 3"),
	alike("T25", `b bash "output":"o","cancelled":true,"exitCode":3`, ranText+"\n\n(command cancelled)"),
	alike("T26", `b bash "output":"o","truncated":true`, ranText),
	alike("T26", `b bash "output":"o","truncated":true,"fullOutputPath":"/f"`, ranText+"\n\n[Output truncated. Full output: /f]"),
	{trap: "T27", entry: `b bash "output":"o","excludeFromContext":true`, pi: "", envelope: "", lenient: ranText},
	{trap: "T28", entry: hookEntry, version: 4, pi: "", envelope: "H", lenient: "H"},
	{trap: "T28", entry: hookEntry, version: 2, pi: "H", envelope: "H", lenient: "H"},
}

// TestTrapTexts: what a provider gets of shell commands, summaries and hooks.
func TestTrapTexts(t *testing.T) {
	for _, c := range textTraps {
		t.Run(c.trap, func(t *testing.T) {
			c.check(t, replay.Options{Rules: replay.ByPi}, c.pi)
			c.check(t, replay.Options{Rules: replay.ByEnvelope}, c.envelope)
			c.check(t, replay.Options{Rules: replay.ByEnvelope, Lenient: true}, c.lenient)
		})
	}
}

// TestTrapCounts: tokens of one message, by /context (docs/session-format.md 8.2) and
// by pi's own estimate (docs/session-format.md 8.1).
func TestTrapCounts(t *testing.T) {
	const image = `{"type":"image","data":"","mimeType":"image/png"}`
	for _, c := range []struct {
		trap, entry string
		shown, pi   int
	}{
		{"T29", `u "type":"message","message":{"role":"user","content":[` + image + `]}`, 1200, 1200},
		{"T29", `r "type":"message","message":{"role":"toolResult","content":[{"type":"text","text":"1"},` + image + `]}`, 1201, 1201},
		{"T30", `u user 12345`, 2, 2},
		{"T30", `u user 😀😀😀xyz`, 3, 3},
		{"T30", `u "type":"message","message":{"role":"user","content":"\ud83d\ude00\ud83d\ude00\ud83d\ude00xyz"}`, 3, 3},
		{"T30", `s system "content":"😀😀😀xyz"`, 0, 3},
		{"T30", `u user 漢字漢字é`, 2, 2},
		{"T31", `a "type":"message","message":{"role":"assistant","content":[{"type":"text","text":"1234"},{"type":"toolCall","name":"ls","arguments":{"a":"<&>"}}]}`, 5, 5},
		{"T31", `a "type":"message","message":{"role":"assistant","content":[{"type":"toolCall","name":"ls","arguments":{ "a" : "\u003c\u0026\u003e" }}]}`, 4, 4},
	} {
		t.Run(c.trap, func(t *testing.T) {
			e := must.Get(replayed(t, session(3, c.entry), replay.Options{Rules: replay.ByPi, Window: 1000}))
			n := must.Get(e.Count(&tokens.Pi))
			u := must.Get(e.Size())
			if n.Messages != c.shown || u.Tokens != c.pi {
				t.Errorf("%s: %d and %d tokens, want %d and %d", c.entry, n.Messages, u.Tokens, c.shown, c.pi)
			}
		})
	}
}

// TestTrapUsage: the context usage that pi shows.
func TestTrapUsage(t *testing.T) {
	answer := func(usage string) string {
		return `"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"A"}],"provider":"p","model":"m","stopReason":"stop","usage":{` + usage + `}}`
	}
	zero := `"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0`
	for _, c := range []struct {
		trap    string
		entries []string
		tokens  int
	}{
		{"T49", []string{"u user 1234", "a " + answer(zero)}, 2},
		{"N5", []string{"u user 1234", "a " + answer(`"totalTokens":50`), "b " + answer(zero)}, 51},
		{"T53", []string{"u user U", "a " + answer(`"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":0`)}, 10},
		{"N28", []string{"u user U", "a " + answer(`"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":999`)}, 999},
		{"N31", []string{"u user U", "a " + answer(`"totalTokens":70`), "e edit a null"}, 1},
		{"N31", []string{"u user U", "e edit a null", "a " + answer(`"totalTokens":70`)}, 1},
		{"T48", []string{"u user U", "a " + answer(`"totalTokens":50`), "b " + strings.Replace(answer(`"totalTokens":70`), `"stop"`, `"error"`, 1)}, 51},
		{"N5", []string{`u "type":"message","message":{"role":"user","content":[{"type":"image","data":"","mimeType":"image/png"}]}`}, 1200},
		{"N5", []string{`c "type":"custom_message","customType":"x","content":"12345678","display":false`}, 2},
		{"N32", []string{"u user U", "a " + answer(`"totalTokens":70`), "e edit u 12345678"}, 3},
		{"N32", []string{"u user U", "a " + answer(`"totalTokens":70`), "k compaction a S"}, 2},
	} {
		t.Run(c.trap, func(t *testing.T) {
			e := must.Get(replayed(t, session(3, c.entries...), replay.Options{Rules: replay.ByPi, Window: 1000}))
			u := must.Get(e.Size())
			if u.Tokens != c.tokens {
				t.Errorf("%+v, want %d tokens", u, c.tokens)
			}
		})
	}
}

// prompt is the envelope's prompt as NAME=TEXT, tools and options.
func prompt(t *testing.T, rules replay.Rules, entries ...string) string {
	t.Helper()
	e := must.Get(replayed(t, session(3, entries...), replay.Options{Rules: rules}))
	p := must.Get(e.Prompt())
	var all []string
	for _, part := range p.Parts {
		all = append(all, part.Name+"="+part.Text)
	}
	for _, tool := range p.Tools {
		all = append(all, "+"+tool.Name+tool.Raw.Get("description").Text())
	}
	if n := p.Options.MaxTokens; n.Exists() {
		all = append(all, "max="+string(n))
	}
	if n := p.Options.Temperature; n.Exists() {
		all = append(all, "temperature="+string(n))
	}
	return strings.Join(all, " ")
}

// TestTrapPrompts: sections, tools and options.
func TestTrapPrompts(t *testing.T) {
	set := cached("options_set", `"temperature":0.5,"maxTokens":9`)
	twice := cached("system_parts_replace", `"parts":[{"name":"a","text":"1"},{"name":"b","text":"2"},{"name":"a","text":"3"}]`)
	for _, c := range []struct {
		trap    string
		rules   replay.Rules
		entries []string
		want    string
	}{
		{"T36", replay.ByEnvelope, []string{"p patch " + set, "q patch " + cached("options_set", `"temperature":null,"maxTokens":0`)}, "max=0 temperature=0.5"},
		{"T37", replay.ByEnvelope, []string{"p patch " + twice, "q patch " + cached("system_part_set", `"partName":"a","text":"9"`)}, "a=9 b=2 a=3"},
		{"T37", replay.ByEnvelope, []string{"p patch " + twice, "q patch " + cached("system_part_remove", `"partName":"a"`)}, "b=2"},
		{"T38", replay.ByEnvelope, []string{"p patch " + twice, "q patch " + cached("system_part_remove", `"partName":"z"`)}, "a=1 b=2 a=3"},
		{"N9", replay.ByPi, []string{`s system "content":"C","toolsAdded":[{"name":"t"}]`, "u user U", "k compaction u S"}, ""},
		{"N10", replay.ByPi, []string{`k "type":"compaction","summary":"S","firstKeptEntryId":"k","tokensBefore":1,"systemMessage":{"role":"system","content":"","sections":{"a":"1","b":"2"}}`, `s system "sections":{"a":null}`}, "b=2"},
		{"N11", replay.ByPi, []string{`s system "sections":{"a":"1","b":"2"}`, `r system "sections":{"a":null}`, `q system "sections":{"a":"3"}`}, "b=2 a=3"},
		{"N12", replay.ByPi, []string{`s system "sections":{"10":"x","9":"y","zeta":"z"}`}, "9=y 10=x zeta=z"},
		{"N12", replay.ByPi, []string{`s system "sections":{"zeta":"z","10":"x"}`, `r system "sections":{"9":"y"}`}, "9=y 10=x zeta=z"},
		{"N13", replay.ByPi, []string{`s system "content":"A","sections":{"a":"1"}`, `r system "content":"B"`}, "content=A\n\nB a=1"},
		{"N13", replay.ByPi, []string{`s system "sections":{"a":"1"}`, `r system "content":"B"`}, "content=B a=1"},
		{"N14", replay.ByPi, []string{`s system "toolsAdded":[{"name":"t"},{"name":"v"}]`, `r system "toolsAdded":[{"name":"t","description":"2"}],"toolsRemoved":[{"name":"t"}]`}, "+v +t2"},
	} {
		t.Run(c.trap, func(t *testing.T) {
			if got := prompt(t, c.rules, c.entries...); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestTrapModels: the model is what the last answer says, the router's name aside.
func TestTrapModels(t *testing.T) {
	for trap, entries := range map[string][]string{
		"T48": {"m model m0", `a "type":"message","message":{"role":"assistant","content":[],"provider":"acme","model":"m1","stopReason":"error"}`},
		"N33": {"m model router", "u user U", "a answer A"},
	} {
		t.Run(trap, func(t *testing.T) {
			e := must.Get(replayed(t, session(3, entries...), replay.Options{Rules: replay.ByPi}))
			if ref, _, _, err := e.Model(); err != nil || ref != (models.Ref{Provider: "acme", ID: "m1"}) {
				t.Errorf("model %v, %v", ref, err)
			}
		})
	}
}

// TestTrapT27StillInContext: what is not sent is still in pi's own context.
func TestTrapT27StillInContext(t *testing.T) {
	e := must.Get(replayed(t, session(3, `b bash "output":"o","excludeFromContext":true`), replay.Options{Rules: replay.ByPi}))
	if got := context(t, e); !slices.Contains(strings.Fields(got), "bashExecution:ls") {
		t.Errorf("context %q", got)
	}
}
