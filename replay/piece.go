package replay

import (
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// A Piece is a message of a request, known without its text.
type Piece struct {
	Origin
	Kind   sessionfmt.Kind // by its role in the session
	Plain  bool            // it is what its entry says, as it stands there
	Hash   uint64          // of what it says, good for one run only
	Tokens int             // that it counts for

	m message
}

// At is message i of the request.
func (p *Prefix) At(i int) Piece { return pieceOf(p.sums[i], p.tokens(i+1)-p.tokens(i)) }

// Gone are the messages that the request before had in place of those from Same on.
// They stay as they are until the next request of the same path.
func (p *Prefix) Gone() []Piece {
	gone := make([]Piece, len(p.gone))
	before := p.tokens(p.Same)
	for i, s := range p.gone {
		gone[i] = pieceOf(s, s.tokens-before)
		before = s.tokens
	}
	return gone
}

func pieceOf(s sum, tokens int) Piece {
	m := s.place
	plainly := m.form == plain && m.edit < 0
	switch m.kind {
	case sessionfmt.User, sessionfmt.Assistant, sessionfmt.ToolResult:
	default:
		plainly = false
	}
	return Piece{Origin: m.origin(), Kind: m.kind, Plain: plainly, Hash: s.one, Tokens: tokens, m: m}
}

// Pieces are the messages of an envelope's request, cached then uncached, with what
// the whole counts for. What other requests of p's asking had is not read again; p may
// be nil.
func (e *Envelope) Pieces(p *Prefix, c *tokens.Counter) (all []Piece, n Counts, err error) {
	whole := Prefix{}
	if p != nil {
		whole.says = p.says
	} else {
		whole.says = newSayings(e.r, c)
	}
	if err := whole.follow(e); err != nil {
		return nil, n, err
	}
	for i := range whole.sums {
		all = append(all, whole.At(i))
	}
	prompt, err := e.Prompt()
	if err != nil {
		return nil, n, err
	}
	n = countPrompt(c, prompt.Parts, prompt.Tools)
	n.Messages = whole.tokens(whole.Len())
	n.Total = n.System + n.Tools + n.Messages
	return all, n, nil
}

// A Speaker reads what pieces say. It is not safe for concurrent use.
type Speaker struct{ load *loader }

// NewSpeaker returns a Speaker of r's session.
func (r *Replay) NewSpeaker() *Speaker { return &Speaker{r.newLoader()} }

// Value is a piece as a provider gets it, valid until the next call.
func (s *Speaker) Value(p Piece) (sessionfmt.Value, error) { return s.load.provider(&p.m) }
