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
	set         func(p *compact.Policy, n float64) bool // reports whether the policy has it
}

// layersOf calls set for the layers of a policy that have a property, and reports whether there
// is one.
func layersOf(p *compact.Policy, has func(l *compact.Layer) bool, set func(l *compact.Layer)) (any bool) {
	for i := range p.Layers {
		if l := &p.Layers[i]; has(l) {
			set(l)
			any = true
		}
	}
	return any
}

// byPass returns a parameter of the layers with a pass.
func byPass(pass *compact.Pass, set func(l *compact.Layer, n float64)) func(*compact.Policy, float64) bool {
	return func(p *compact.Policy, n float64) bool {
		return layersOf(p, func(l *compact.Layer) bool { return l.Pass == pass }, func(l *compact.Layer) { set(l, n) })
	}
}

// byTrigger returns a parameter of the triggers that have a number of its kind.
func byTrigger(has func(t *compact.Trigger) bool, set func(t *compact.Trigger, n float64)) func(*compact.Policy, float64) bool {
	return func(p *compact.Policy, n float64) bool {
		return layersOf(p, func(l *compact.Layer) bool { return l.When != nil && has(l.When) }, func(l *compact.Layer) {
			t := *l.When
			set(&t, n)
			l.When = &t
		})
	}
}

// parameters are what a sweep can vary.
var parameters = []parameter{
	{"max", "the longest tool result", byPass(&compact.Truncate, func(l *compact.Layer, n float64) { l.Max = int(n) })},
	{"protect", "tokens of the latest results to keep", byPass(&compact.Prune, func(l *compact.Layer, n float64) { l.Protect = int(n) })},
	{"requests", "requests after which a result is stale", byPass(&compact.StaleResults, func(l *compact.Layer, n float64) { l.Requests = int(n) })},
	{"keep", "tokens or messages that a compaction keeps", func(p *compact.Policy, n float64) bool {
		return layersOf(p, func(l *compact.Layer) bool { return l.Pass == &compact.Compact && l.Style != compact.StyleGSH }, func(l *compact.Layer) { l.Keep = int(n) })
	}},
	{"share", "of the window, from 0 to 1, above which a layer runs", byTrigger(func(t *compact.Trigger) bool { return t.Share > 0 || t.Percent > 0 }, func(t *compact.Trigger, n float64) {
		if t.Percent > 0 {
			t.Percent = int64(100 * n)
		} else {
			t.Share = n
		}
	})},
	{"reserve", "tokens of the window to keep free", byTrigger(func(t *compact.Trigger) bool { return t.Reserve > 0 }, func(t *compact.Trigger, n float64) { t.Reserve = int64(n) })},
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
		if one.Policy == nil || !p.set(one.Policy.Copy(), 1) {
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
			p.set(next.Policy, n)
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
