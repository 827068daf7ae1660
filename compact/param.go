package compact

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Param is an option of passes that users set: on a command line as NAME=VALUE, in a configuration
// as a key.
type Param struct {
	Name  string // as in intra-turn; reports and configurations use another spelling
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

// Params returns the options that a pass reads, and that users set.
func (p *Pass) Params() (all []Param) {
	for _, name := range strings.Fields(p.reads) {
		all = append(all, paramTable[slices.IndexFunc(paramTable, func(q Param) bool { return q.Name == name })])
	}
	return all
}

// Default returns the default of one of a pass's options.
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

// With returns the default options of a pass, changed by a text such as max=2000,unit=chars. The default of
// what to keep depends on the unit or style.
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

// styleKeeps are the default amounts that a compaction keeps: tokens for pi, messages for swe-cli.
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

// camel returns a name of words with dashes in JSON spelling.
func camel(name string) string {
	words := strings.Split(name, "-")
	for k, word := range words[1:] {
		words[k+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// layerTable lists the options of a layer's trigger that users can set.
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
