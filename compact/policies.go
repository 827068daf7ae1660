package compact

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ctxtool/replay/tokens"
)

// GSHPolicy is gsh: it caps results, prunes old ones, and above a share of the window
// replaces everything with one message (docs/policies.md 2).
var GSHPolicy = Policy{
	Name:    "gsh",
	About:   "cap results at 30000 bytes, prune before the last 40000 tokens of them, compact above 85 %",
	Window:  100000,
	Windows: gshWindows,
	Counter: &tokens.GSH,
	Layers:  gshLayers(30000, 40000, 0.85),
	Presets: []Preset{
		{Name: "small", About: "for windows of 4,000 to 8,000 tokens", Layers: gshLayers(8000, 4000, 0.75)},
		{Name: "large", About: "for windows of 128,000 to 200,000 tokens", Layers: gshLayers(50000, 80000, 0.90)},
		{Name: "cost", About: "fewer tokens per request", Layers: gshLayers(15000, 20000, 0.70)},
	},
}

func gshLayers(bytes, protect int, share float64) []Layer {
	return []Layer{capped(bytes, "bytes"), {Pass: &Prune, Options: Options{Protect: protect}}, gshCompact(share)}
}

// capped returns a layer that caps results.
func capped(most int, unit string) Layer {
	return Layer{Pass: &Truncate, Options: Options{Max: most, Unit: unit}}
}

// gshCompact returns a layer that compacts as gsh does, above a share of the window.
func gshCompact(share float64) Layer {
	return Layer{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: share, Whole: true}}
}

// comparison is the note on a policy whose numbers do not come from its source.
const comparison = "numbers from the comparison in gsh's documentation only; how results are cut and summaries " +
	"framed is gsh's"

// The policies with the numbers of gsh's comparison: those of Claude Code; of Codex CLI,
// whose 10,000 tokens are 40,000 bytes, as both count; and of OpenCode, which prunes, and
// compacts what does not fit. The window of results to keep is gsh's, as the comparison has none.
var (
	claudeCodePolicy = Policy{
		Name: "claude-code", About: "cap results at 25000 tokens, compact above 95 %", Note: comparison,
		Window: 200000, Counter: &tokens.Pi, Layers: []Layer{capped(25000, "tokens"), gshCompact(0.95)},
	}
	codexPolicy = Policy{
		Name: "codex", About: "keep 10000 tokens of both ends of a result, compact above 95 %", Note: comparison,
		Window: 200000, Counter: &tokens.GSH, Layers: []Layer{capped(40000, "bytes"), gshCompact(0.95)},
	}
	openCodePolicy = Policy{
		Name: "opencode", About: "prune before the last 40000 tokens of results, compact what does not fit the window",
		Note:   comparison,
		Window: 200000, Counter: &tokens.Pi, Layers: []Layer{
			{Pass: &Prune, Options: Options{Protect: 40000}},
			{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: 1}},
		},
	}
)

// PiPolicy is the current pi: one compaction, when less than a reserve is left
// (docs/session-format.md 9.1, 9.2, 9.3).
var PiPolicy = Policy{
	Name:    "pi",
	About:   "compact above the window less 16384 tokens, and keep about the last 20000",
	Window:  200000,
	Counter: &tokens.Pi,
	ByUsage: true, TurnEnds: true,
	Layers: []Layer{
		{Pass: &Compact, Options: Options{Style: StylePi, Keep: 20000}, When: &Trigger{Reserve: 16384}},
	},
}

// swecliPolicy is SWE-CLI: from a share of the window on, all but the last messages
// become one (docs/policies.md 3.2).
var swecliPolicy = Policy{
	Name:    "swe-cli",
	About:   "compact from 80 % of 256000 tokens on, and keep the last 20 messages",
	Window:  256000,
	Counter: &tokens.SWE,
	counts:  notesOf,
	Layers: []Layer{
		{Pass: &Compact, Options: Options{Style: styleSWECLI, Keep: 20}, When: &Trigger{Share: 0.8, At: true}},
	},
}

// yAgentPolicy is y-agent: it blanks superseded reads, and drops retried failures and old
// thinking. If that is not enough, it summarises finished work, then the whole history
// (docs/policies.md 4). The three modes of its guard are presets; hybrid is the default.
var yAgentPolicy = Policy{
	Name: "y-agent",
	About: "blank superseded reads, drop retried failures and old thinking; from 85 % of 112000 tokens on " +
		"summarise finished work, then all",
	Window:  guardTotal,
	Counter: &tokens.YBytes, TurnEnds: true,
	Layers: yAgentLayers(guardActs),
	Warns:  &guardWarning,
	Presets: []Preset{
		{Name: "auto", About: "acts from 85 % on", Layers: yAgentLayers(guardActs)},
		{Name: "soft", About: "acts from 95 % on: until then the agent is expected to",
			Layers: yAgentLayers(guardStops)},
		{Name: "hybrid", About: "warns from 70 % on, acts from 85 % on", Layers: yAgentLayers(guardActs),
			Warns: &guardWarning},
	},
}

var guardWarning = Trigger{Percent: guardWarns, At: true}

func yAgentLayers(percent int64) []Layer {
	guard := &Trigger{Percent: percent, At: true}
	return []Layer{
		{Pass: &Superseded, Between: true},
		{Pass: &RetryPrune, When: &Trigger{Tokens: growth, At: true, Growth: true}, Between: true},
		{Pass: &StripThinking},
		{Pass: &Progressive, Options: Options{MinTokens: growth, Retries: 2}, When: guard},
		{Pass: &Compact, Options: Options{Style: styleYAgent, Retries: 3}, When: guard},
		{Pass: &DropBootstrap, When: guard},
		{Pass: &DropTools, When: guard},
	}
}

// A Guarding is how y-agent's guard judges the size of a context (docs/policies.md 4.3).
type Guarding struct {
	Verdict string `json:"verdict"` // ok, warning, overflow, critical
	Percent int    `json:"percent"` // of the budget, rounded down
	Over    int    `json:"tokensOver"`
	Status  string `json:"status"` // the line that the agent gets, with advice on a second line
}

// The guard's total, in tokens, and its steps, in whole percent of that.
const (
	guardTotal = 8000 + 16000 + 80000 + 8000
	guardWarns = 70
	guardActs  = 85
	guardStops = 95
)

// guard returns the guard's verdict on the tokens used of a budget.
func guard(used, budget int) *Guarding {
	g, advice := &Guarding{Verdict: "ok", Percent: 100}, ""
	if budget > 0 {
		g.Percent = used * 100 / budget
	}
	switch {
	case g.Percent >= guardStops:
		g.Verdict, g.Over, advice = "critical", max(0, used-budget), "\nCRITICAL: the context is full"
	case g.Percent >= guardActs:
		g.Verdict, g.Over, advice = "overflow", used-budget*guardActs/100, "\nWARNING: the context is nearly full"
	case g.Percent >= guardWarns:
		g.Verdict, advice = "warning", "\nconsider compress_experience"
	}
	g.Status = fmt.Sprintf("[Context Status: working_tokens=%d, threshold=%d, utilization=%d%%]%s",
		used, budget, g.Percent, advice)
	return g
}

// A Param is an option of passes that users set: on a command line as NAME=VALUE, in a configuration
// as a key.
type Param struct {
	Name  string // as in intra-turn; reports and configurations spell it their own way
	About string
	get   func(o *Options) any
	set   func(o *Options, text string) error
}

// paramTable are the options that users set, in the order of help.
var paramTable = []Param{
	numberParam("max", "keep at most N units of a result (0 bytes: no limit)", func(o *Options) *int { return &o.Max }),
	wordParam("unit", "bytes, of both ends, or chars or tokens, of the beginning",
		func(o *Options) *string { return &o.Unit }, "bytes", "chars", "tokens"),
	numberParam("protect", "keep the results of the last N tokens", func(o *Options) *int { return &o.Protect }),
	numberParam("requests", "remove results older than N requests", func(o *Options) *int { return &o.Requests }),
	switchParam("intra-turn", "only the last turn", func(o *Options) *bool { return &o.IntraTurn }),
	numberParam("min-tokens", "do nothing for fewer than N tokens", func(o *Options) *int { return &o.MinTokens }),
	switchParam("busy", "only if few tokens follow, as during a turn", func(o *Options) *bool { return &o.Busy }),
	wordParam("style", "cut as a system does: pi, gsh, swe-cli, y-agent",
		func(o *Options) *string { return (*string)(&o.Style) },
		string(StylePi), string(StyleGSH), string(styleSWECLI), string(styleYAgent)),
	numberParam("keep", "keep N tokens, messages or requests", func(o *Options) *int { return &o.Keep }),
}

func numberParam(name, about string, at func(o *Options) *int) Param {
	return Param{name, about, func(o *Options) any { return *at(o) }, func(o *Options, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("%s=%s: must be a number, 0 or more", name, text)
		}
		*at(o) = n
		return nil
	}}
}

func wordParam(name, about string, at func(o *Options) *string, words ...string) Param {
	return Param{name, about, func(o *Options) any { return *at(o) }, func(o *Options, text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("%s=%s: expected one of %s", name, text, strings.Join(words, ", "))
		}
		*at(o) = text
		return nil
	}}
}

func switchParam(name, about string, at func(o *Options) *bool) Param {
	return Param{name, about, func(o *Options) any { return *at(o) }, func(o *Options, text string) (err error) {
		if *at(o), err = strconv.ParseBool(text); err != nil {
			err = fmt.Errorf("%s=%s: must be true or false", name, text)
		}
		return err
	}}
}

// Params are the options that a pass reads, and that users set.
func (p *Pass) Params() (all []Param) {
	for _, name := range strings.Fields(p.reads) {
		all = append(all, paramTable[slices.IndexFunc(paramTable, func(q Param) bool { return q.Name == name })])
	}
	return all
}

// Default is the default of one of a pass's options.
func (p *Pass) Default(q Param) any { return q.get(&p.Defaults) }

// Set sets an option by its name. It returns an error if the pass has no such option, or it cannot
// have the value.
func (p *Pass) Set(o *Options, name, text string) error {
	var names []string
	for _, q := range p.Params() {
		if q.Name == name {
			return q.set(o, text)
		}
		names = append(names, q.Name)
	}
	if names == nil {
		return fmt.Errorf("%s has no options", p.Name)
	}
	return fmt.Errorf("%s has no option %q: it has %s", p.Name, name, strings.Join(names, ", "))
}

// With returns the default options of a pass with those of a text, such as max=2000,unit=chars. What
// is kept, and how much of it, depends on the unit or style unless it is set.
func (p *Pass) With(text string) (o Options, err error) {
	o = p.Defaults
	given := map[string]bool{}
	for _, pair := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' }) {
		name, value, is := strings.Cut(pair, "=")
		if !is {
			value = "true"
		}
		if err := p.Set(&o, name, value); err != nil {
			return o, err
		}
		given[name] = true
	}
	switch {
	case p == &Compact && !given["keep"]:
		o.Keep = styleKeeps[o.Style]
	case p == &Compact && o.Style == StyleGSH && o.Keep > 0:
		return o, fmt.Errorf("keep=%d: style gsh keeps nothing", o.Keep)
	case p == &Truncate && o.Unit == "chars" && !given["max"]:
		o.Max = 10000
	case p == &Truncate && o.Unit != "bytes" && o.Max == 0:
		return o, fmt.Errorf("max=0: must be above 0 in %s", o.Unit)
	}
	return o, nil
}

// styleKeeps are the defaults of what a compaction keeps: tokens for pi, messages for swe-cli.
var styleKeeps = map[Style]int{StylePi: 20000, styleSWECLI: 20}

// params returns the options that a pass reads, as a JSON object.
func (p *Pass) params(o *Options) json.RawMessage {
	out := []byte{'{'}
	for _, q := range p.Params() {
		value, _ := json.Marshal(q.get(o)) // a number, a word or a bool
		out = fmt.Appendf(comma(out), "%q:%s", camel(q.Name), value)
	}
	return append(out, '}')
}

// camel is a name of words with dashes between them as JSON has it.
func camel(name string) string {
	words := strings.Split(name, "-")
	for k, word := range words[1:] {
		words[k+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// layerTable are what users set of the trigger of a layer.
var layerTable = []struct {
	Name, About string
	of          func(t *Trigger) bool
	set         func(t *Trigger, n float64)
}{
	{"share", "run above SHARE of the window, from 0 to 1", func(t *Trigger) bool {
		return t.Share > 0 ||
			t.Percent > 0
	}, func(t *Trigger, n float64) {
		if t.Percent > 0 {
			t.Percent = int64(100 * n)
		} else {
			t.Share = n
		}
	}},
	{"reserve", "run with less than N tokens of the window left", func(t *Trigger) bool { return t.Reserve > 0 },
		func(t *Trigger, n float64) { t.Reserve = int64(n) }},
}

// Has reports whether a layer of the policy has an option: of its pass, or share or reserve of its
// trigger.
func (p *Policy) Has(name string) bool {
	return slices.ContainsFunc(p.Layers, func(l Layer) bool { return l.has(name) })
}

func (l *Layer) has(name string) bool {
	for _, q := range layerTable {
		if q.Name == name {
			return l.When != nil && q.of(l.When)
		}
	}
	keepsNone := name == "keep" && l.Pass == &Compact && l.Style == StyleGSH
	return !keepsNone && slices.ContainsFunc(l.Pass.Params(), func(q Param) bool { return q.Name == name })
}

// Set sets an option in each layer that has it. p must share no layers, see [Policy.Copy].
func (p *Policy) Set(name, text string) error {
	if !p.Has(name) {
		return fmt.Errorf("policy %s has no option %q", p.Name, name)
	}
	for i := range p.Layers {
		if l := &p.Layers[i]; l.has(name) {
			if err := l.setOption(name, text); err != nil {
				return fmt.Errorf("policy %s: %w", p.Name, err)
			}
		}
	}
	return nil
}

func (l *Layer) setOption(name, text string) error {
	for _, q := range layerTable {
		if q.Name != name {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if whole := name != "share"; err != nil || !(n >= 0 && n <= 1e15) || whole && n != math.Trunc(n) ||
			!whole && n > 1 {
			return fmt.Errorf("%s=%s: must be a number to %s", name, text, q.About)
		}
		when := *l.When
		l.When = &when
		q.set(l.When, n)
		return nil
	}
	return l.Pass.Set(&l.Options, name, text)
}
