package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/tokens"
)

// An unknownKey is a key of a table that nothing reads.
type unknownKey string

func (k unknownKey) Error() string { return "unknown key " + string(k) }

// readTable hands over the keys of a table in their order. Of one that read does not
// know it returns errUnknownKey.
func readTable(table any, read func(key string, v any) error) error {
	keys, ok := table.(map[string]any)
	if !ok {
		return fmt.Errorf("%v is no table", table)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		err := read(key, keys[key])
		var below unknownKey
		switch {
		case err == errUnknownKey:
			return unknownKey(key)
		case errors.As(err, &below):
			return unknownKey(key + "." + string(below))
		case err != nil:
			return err
		}
	}
	return nil
}

const errUnknownKey = unknownKey("")

// whole reads a number of tokens or of things into to.
func whole[T int | int64](key string, v any, to *T) error {
	n, ok := v.(int64)
	if *to = T(n); !ok || n < 0 {
		return fmt.Errorf("%s = %v: want a number from 0 on", key, v)
	}
	return nil
}

// word reads a text into to, one of these where there are any.
func word[T ~string](key string, v any, to *T, one ...string) error {
	text, ok := v.(string)
	switch *to = T(text); {
	case !ok:
		return fmt.Errorf("%s = %v: want a text", key, v)
	case len(one) > 0 && !slices.Contains(one, text):
		return fmt.Errorf("%s = %q: one of %v", key, text, one)
	}
	return nil
}

// readPolicies reads the tables [policies.NAME] of a configuration file, which are
// stronger than the policies of another one.
func readPolicies(tables map[string]any, weaker []*compact.Policy) (all []*compact.Policy, err error) {
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		p, err := readPolicy(name, tables[name])
		var key unknownKey
		if errors.As(err, &key) {
			return nil, unknownKey("policies." + name + "." + string(key))
		} else if err != nil {
			return nil, fmt.Errorf("policies.%s: %w", name, err)
		}
		all = append(all, p)
	}
	for _, p := range weaker {
		if tables[p.Name] == nil {
			all = append(all, p)
		}
	}
	return all, nil
}

// readPolicy reads the table [policies.NAME] of a configuration file.
func readPolicy(name string, table any) (p *compact.Policy, err error) {
	p = &compact.Policy{Window: compact.PiPolicy.Window, Counter: &tokens.Pi, Note: "from the configuration"}
	own, _ := table.(map[string]any)
	if like, ok := own["like"].(string); ok { // the rest is over its numbers
		if p, err = compact.FindPolicy(like); err != nil {
			return nil, err
		}
		p = p.Copy()
		p.Note = "from the configuration, like " + like
	}
	p.Name = name
	err = readTable(table, func(key string, v any) (err error) {
		var text string
		switch strings.ToLower(key) {
		case "like":
			return word(key, v, &text)
		case "about":
			return word(key, v, &p.About)
		case "window":
			return whole(key, v, &p.Window)
		case "counter":
			if err = word(key, v, &text); err == nil {
				p.Counter, err = tokens.Find(text)
			}
		case "layers":
			p.Layers, err = policyLayers(v)
		default:
			return errUnknownKey
		}
		return err
	})
	if err == nil && (len(p.Layers) == 0 || p.Window == 0) {
		err = errors.New("want layers, or like = a policy, and a window of tokens")
	}
	return p, err
}

func policyLayers(list any) (layers []compact.Layer, err error) {
	tables, ok := list.([]any)
	if !ok {
		return nil, errors.New("layers: want tables [[policies.NAME.layers]]")
	}
	for k, table := range tables {
		l, err := policyLayer(table)
		if errors.As(err, new(unknownKey)) {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("layer %d: %w", k, err)
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// policyLayer reads a layer of a policy: the pass, its options, and when it runs: above an
// amount (over), or where less than so many tokens are left of the window (reserve).
func policyLayer(table any) (l compact.Layer, err error) {
	own, _ := table.(map[string]any)
	pass, _ := own["pass"].(string)
	if l.Pass, err = compact.FindPass(pass); err != nil {
		return l, err
	}
	l.Options = l.Pass.Defaults
	l.Patterns = nil
	var over string
	var when compact.Trigger
	numbers := map[string]*int{"max": &l.Max, "protect": &l.Protect, "requests": &l.Requests, "min_tokens": &l.MinTokens, "keep": &l.Keep}
	err = readTable(table, func(key string, v any) error {
		if to := numbers[strings.ToLower(key)]; to != nil {
			return whole(key, v, to)
		}
		switch strings.ToLower(key) {
		case "pass":
			return nil
		case "unit":
			return word(key, v, &l.Unit, "bytes", "chars", "tokens")
		case "profile":
			return word(key, v, &l.Profile, "seed", "source")
		case "style":
			return word(key, v, &l.Style, "pi", "gsh", "swe-cli", "y-agent")
		case "patterns":
			list, _ := v.([]any)
			l.Patterns = make([]string, len(list))
			for i := range list {
				err = cmp.Or(err, word(key, list[i], &l.Patterns[i]))
			}
			return err
		case "over":
			return word(key, v, &over)
		case "reserve":
			return whole(key, v, &when.Reserve)
		}
		return errUnknownKey
	})
	limit, wrong := amount("over", over)
	if when.Share, when.Tokens = limit.Share, limit.Tokens; over != "" {
		when.Reserve = 0
	}
	if when != (compact.Trigger{}) {
		l.When = &when
	}
	return l, cmp.Or(err, wrong)
}

// policyText is what a policy of a configuration file consists of: ctxtool policies has
// the numbers.
func policyText(table any) string {
	own, _ := table.(map[string]any)
	var parts []string
	if like, ok := own["like"]; ok {
		parts = append(parts, fmt.Sprint("like ", like))
	}
	layers, _ := own["layers"].([]any)
	for _, l := range layers {
		parts = append(parts, fmt.Sprint(l.(map[string]any)["pass"]))
	}
	return strings.Join(parts, ",")
}
