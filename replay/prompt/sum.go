package prompt

import (
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
	"hash/maphash"
	"math/bits"
)

// A Sum is the size and identity of a list of parts or tools, without their texts.
type Sum struct {
	// Hash identifies the texts of the parts as sent, one after the other, or the definitions of the tools. It
	// is valid in one process only. It is a polynomial of the bytes in a random base, modulo 2^61-1, so that
	// the hashes of two lists can be combined.
	Hash  uint64
	power uint64 // power of the base by the length; 0 for no text

	length int32 // length in the counter's measure; for tools as JSON, in UTF-16 units
	tokens int32 // tokens of texts that are rounded individually
}

const modulus = 1<<61 - 1

var base = maphash.String(seed, "base")%(modulus-256) + 256

func multiply(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	n := low&modulus + (low>>61 | high<<3)
	if n >= modulus {
		n -= modulus
	}
	return n
}

// plus returns the sum of both lists, one after the other.
func (s Sum) plus(o Sum) Sum {
	o.length, o.tokens = o.length+s.length, o.tokens+s.tokens
	switch {
	case o.power == 0:
		o.Hash, o.power = s.Hash, s.power
	case s.power != 0:
		o.Hash, o.power = (multiply(s.Hash, o.power)+o.Hash)%modulus, multiply(s.power, o.power)
	}
	return o
}

// hashed returns the sum of a text, without its size.
func hashed(text string) (s Sum) {
	if text == "" {
		return s
	}
	s.power = 1
	for i := range len(text) {
		s.Hash = multiply(s.Hash, base) + uint64(text[i]) + 1
		s.power = multiply(s.power, base)
	}
	s.Hash %= modulus
	return s
}

// A Meter measures parts and tools, each once.
type Meter struct {
	Counter   *tokens.Counter // nil to measure no size
	Separator string          // text between non-empty parts, as sent
	parts     map[uint64]Sum
	tools     map[uint64]*entry[Tool]
}

// part returns the sum of a part with a text.
func (m *Meter) part(text string) Sum {
	key := maphash.String(seed, text)
	s, ok := m.parts[key]
	if ok {
		return s
	}
	if text != "" {
		s = hashed(m.Separator + text)
	}
	if m.Counter != nil {
		s = m.sized(s, weigh.Length(m.Counter, []byte(jsonl.UTF8(text))))
	}
	if m.parts == nil {
		m.parts = map[uint64]Sum{}
	}
	m.parts[key] = s
	return s
}

func (m *Meter) sized(s Sum, length int) Sum {
	s.length, s.tokens = int32(length), int32(length)
	if m.Counter.ByText {
		s.tokens = int32(m.Counter.Of(length))
	}
	return s
}

// tokenizes reports whether the length of a text may differ from that of its pieces.
func (m *Meter) tokenizes() bool { return m != nil && m.Counter != nil && !m.Counter.Estimates() }

// longer returns the sum of a part to whose text another one is added. whole is only needed if the meter
// tokenizes.
func (m *Meter) longer(s Sum, added, whole string) Sum {
	length := int(s.length)
	s = s.plus(hashed(added))
	switch {
	case m.Counter == nil:
		return s
	case m.tokenizes():
		return m.sized(s, weigh.Length(m.Counter, []byte(jsonl.UTF8(whole))))
	}
	return m.sized(s, length+weigh.Length(m.Counter, []byte(jsonl.UTF8(added))))
}

// tool returns the entry of a tool, whose definition is kept once.
func (m *Meter) tool(t Tool) *entry[Tool] {
	key := maphash.Bytes(seed, t.Raw)
	e, ok := m.tools[key]
	if !ok {
		e = &entry[Tool]{item: t, key: t.Name}
		e.sum = Sum{Hash: e.item.Digest() % modulus, power: base}
		if m.Counter != nil {
			// a comma or a bracket follows it
			e.sum.length, e.sum.tokens = int32(t.Units()+1), int32(t.tokens(m.Counter))
		}
		if m.tools == nil {
			m.tools = map[uint64]*entry[Tool]{}
		}
		m.tools[key] = e
	}
	own := *e
	own.item.Origin = t.Origin
	return &own
}
