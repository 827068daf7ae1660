package stats

import "ctxtool/internal/lens/survival"

// A Survival counts the facts that a summary has.
type Survival struct {
	Paths       Kept `json:"paths"`
	Commands    Kept `json:"commands"`
	Errors      Kept `json:"errors"`
	Constraints Kept `json:"constraints"`
}

// Kept is the number of facts, and how many of them the summary has.
type Kept struct {
	Of    int      `json:"of"`
	Found int      `json:"found"`
	Lost  []string `json:"-"` // the others, in the order in which they came up
}

func survivalOf(s *survival.Survival) Survival {
	return Survival{keptOf(s.Paths), keptOf(s.Commands), keptOf(s.Errors), keptOf(s.Constraints)}
}

func keptOf(k survival.Kept) Kept {
	kept := Kept{Of: k.Of, Found: k.Found}
	for _, fact := range k.Lost {
		kept.Lost = append(kept.Lost, fact.What)
	}
	return kept
}
