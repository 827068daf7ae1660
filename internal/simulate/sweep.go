package simulate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ctxtool/compact"
)

// A parameter is a number of a policy that a sweep varies.
type parameter struct {
	name, about string
	of          func(l *compact.Layer) bool // reports whether a layer has it
	set         func(l *compact.Layer, n float64)
}

// vary sets the parameter in the layers of a policy that have it.
func (x *parameter) vary(p *compact.Policy, n float64) {
	for i := range p.Layers {
		l := &p.Layers[i]
		if !x.of(l) {
			continue
		}
		if l.When != nil {
			when := *l.When
			l.When = &when
		}
		x.set(l, n)
	}
}

// with returns a function that reports whether a layer has a pass.
func with(pass *compact.Pass) func(*compact.Layer) bool {
	return func(l *compact.Layer) bool { return l.Pass == pass }
}

// parameters are what a sweep can vary.
var parameters = []parameter{
	{"max", "the longest tool result", with(&compact.Truncate), func(l *compact.Layer, n float64) { l.Max = int(n) }},
	{"protect", "tokens of the latest results to keep", with(&compact.Prune), func(l *compact.Layer, n float64) { l.Protect = int(n) }},
	{"requests", "requests after which a result is stale", with(&compact.StaleResults), func(l *compact.Layer, n float64) { l.Requests = int(n) }},
	{"keep", "tokens or messages that a compaction keeps", func(l *compact.Layer) bool { return l.Pass == &compact.Compact && l.Style != compact.StyleGSH }, func(l *compact.Layer, n float64) { l.Keep = int(n) }},
	{"share", "of the window, from 0 to 1, above which a layer runs", func(l *compact.Layer) bool { return l.When != nil && (l.When.Share > 0 || l.When.Percent > 0) }, func(l *compact.Layer, n float64) {
		if l.When.Percent > 0 {
			l.When.Percent = int64(100 * n)
		} else {
			l.When.Share = n
		}
	}},
	{"reserve", "tokens of the window to keep free", func(l *compact.Layer) bool { return l.When != nil && l.When.Reserve > 0 }, func(l *compact.Layer, n float64) { l.When.Reserve = int64(n) }},
}

// Parameters returns the names of what a sweep can vary.
func Parameters() (names []string) {
	for _, p := range parameters {
		names = append(names, p.name)
	}
	return names
}

// Sweep returns the policies with each value of a parameter: KEY=A,B,C. Policies without that
// parameter stay as they are; it is an error if none has it.
func Sweep(all []Contender, spec string) (out []Contender, err error) {
	key, list, ok := strings.Cut(spec, "=")
	at := slices.Index(Parameters(), key)
	if at < 0 || !ok {
		return nil, fmt.Errorf("%q: must be KEY=A,B,C with a key of %s", spec, strings.Join(Parameters(), ", "))
	}
	p := &parameters[at]
	any := false
	for _, one := range all {
		if one.Policy == nil || !slices.ContainsFunc(one.Policy.Layers, func(l compact.Layer) bool { return p.of(&l) }) {
			out = append(out, one)
			continue
		}
		any = true
		for text := range strings.SplitSeq(list, ",") {
			n, err := strconv.ParseFloat(text, 64)
			if whole := key != "share"; err != nil || !(n >= 0) || n > 1e15 || whole && n != math.Trunc(n) || !whole && n > 1 {
				return nil, fmt.Errorf("%q: %q is not a value of %s, %s", spec, text, p.name, p.about)
			}
			next := Contender{Name: one.Name + " " + key + "=" + text, Policy: one.Policy.Copy()}
			p.vary(next.Policy, n)
			if !slices.ContainsFunc(out, func(c Contender) bool { return c.Name == next.Name }) {
				out = append(out, next)
			}
		}
	}
	if !any {
		return nil, fmt.Errorf("%q: no policy has %s, %s", spec, p.name, p.about)
	}
	return out, nil
}
