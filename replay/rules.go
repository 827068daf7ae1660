package replay

import (
	"fmt"

	"ctxtool/sessionfmt"
)

// Rules say by whose rules a session is replayed.
type Rules uint8

const (
	Auto       Rules = iota // Envelope where the path has transforms or ephemerals, else ByPi
	ByPi                    // what today's pi builds
	ByEnvelope              // pi's rules and transforms, by the context-engineering dialect
)

var rulesNames = [...]string{Auto: "auto", ByPi: "pi", ByEnvelope: "envelope"}

// String is the name on the command line.
func (r Rules) String() string { return rulesNames[r] }

// MarshalText and UnmarshalText are the name.
func (r Rules) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (r *Rules) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRules(string(text))
	return err
}

// RulesNames are the names that ParseRules takes.
func RulesNames() []string { return rulesNames[:] }

// ParseRules reads a name of RulesNames.
func ParseRules(name string) (Rules, error) {
	for r, n := range rulesNames {
		if n == name {
			return Rules(r), nil
		}
	}
	return 0, fmt.Errorf("unknown rules %q", name)
}

// Decide settles Auto for a session: by the path of its leaf, whatever point of
// it is asked for later.
func (r Rules) Decide(s *sessionfmt.Session, leaf int) Rules {
	if r != Auto {
		return r
	}
	path, _ := s.Path(leaf)
	for _, i := range path {
		if k := s.Kind(i); k == sessionfmt.Transform || k == sessionfmt.Ephemeral {
			return ByEnvelope
		}
	}
	return ByPi
}
