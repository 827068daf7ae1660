package ledger

// Served returns the tokens of a request that an ideal cache, which keeps every prefix of every request, would
// serve.
type Served struct {
	Prompt int64   `json:"prompt"` // tokens of the whole request
	Read   int64   `json:"read"`   // of those, read from the cache
	Write  int64   `json:"write"`  // and written to it, or sent without it
	Cost   float64 `json:"cost"`   // of the prompt, in dollars; 0 without prices
}

// Plus adds another request.
func (s *Served) Plus(o Served) {
	s.Prompt += o.Prompt
	s.Read += o.Read
	s.Write += o.Write
	s.Cost += o.Cost
}

// Rebilled counts tokens that were billed more than once, and their cost in dollars beyond reading them from
// the cache.
type Rebilled struct {
	Tokens int64   `json:"tokens"`
	Cost   float64 `json:"cost"`
	// tokens without a known price, missing in `cost`
	Unpriced int64 `json:"unpriced,omitempty"`
}

// Plus adds the rebilled tokens of another request or session.
func (a *Rebilled) Plus(b Rebilled) {
	a.Tokens += b.Tokens
	a.Cost += b.Cost
	a.Unpriced += b.Unpriced
}

// A Cause is the reason why the cache of earlier requests serves no more of a request: `model`, `compaction`,
// `pause` and others (docs/formats.md).
type Cause string
