package simulate

import (
	"fmt"
	"slices"
	"strings"
)

// Sweep returns the policies with each value of an option: KEY=A,B,C. Policies without that option
// stay as they are; it is an error if none has it.
func Sweep(all []Contender, spec string) (out []Contender, err error) {
	key, list, ok := strings.Cut(spec, "=")
	if !ok {
		return nil, fmt.Errorf("%q: must be KEY=A,B,C", spec)
	}
	if !slices.ContainsFunc(all, func(c Contender) bool { return c.Policy != nil && c.Policy.Has(key) }) {
		return nil, fmt.Errorf("%q: no policy has the option %s", spec, key)
	}
	for _, one := range all {
		if one.Policy == nil || !one.Policy.Has(key) {
			out = append(out, one)
			continue
		}
		for text := range strings.SplitSeq(list, ",") {
			next := Contender{Name: one.Name + " " + key + "=" + text, Policy: one.Policy.Copy()}
			if err := next.Policy.Set(key, text); err != nil {
				return nil, fmt.Errorf("%q: %w", spec, err)
			}
			if !slices.ContainsFunc(out, func(c Contender) bool { return c.Name == next.Name }) {
				out = append(out, next)
			}
		}
	}
	return out, nil
}
