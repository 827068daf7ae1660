package body

import (
	"math"

	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// estimated returns the tokens of a context as pi 1.6 estimates them before it limits an answer: the recorded
// size of the last answer that nothing older than itself was put before, and 3.5 UTF-16 units a token for
// what follows it, or for all. It differs from what pi shows, which takes four.
func estimated(e *replay.Envelope) (n int64, err error) {
	newest := math.Inf(-1) // time of the messages so far; NaN if one has none
	for raw, err := range e.ProviderMessages() {
		if err != nil {
			return 0, err
		}
		m := raw.Raw.Message()
		ms, timed := raw.Raw.Get("timestamp").Float()
		if !timed {
			ms = math.NaN()
		}
		size := int64(0)
		if m.Kind == jsonl.Assistant && ms >= newest && !m.Failed() {
			u := m.Usage.Usage()
			size = u.Context()
		}
		newest = max(newest, ms)
		if size > 0 {
			n = size
			continue
		}
		n += messageTokens(m, raw.Raw)
	}
	return n, nil
}

func messageTokens(m *jsonl.Message, v jsonl.Value) int64 {
	const image = 4800
	if m.Kind == jsonl.System {
		u := newUpdate(v)
		return tokensOf(jsonl.Units(u.prompt())) + jsonTokens(v.Get("toolsAdded")) + jsonTokens(v.Get("toolsRemoved"))
	}
	n := 0
	for _, b := range m.Blocks {
		switch b.Kind {
		case jsonl.TextBlock, jsonl.ThinkingBlock:
			n += b.Text.Units()
		case jsonl.CallBlock:
			n += b.Name.Units() + jsonl.Units([]byte(raw(b.Args)))
		default:
			n += image
		}
	}
	return tokensOf(n)
}

// jsonTokens returns the tokens of a list as JSON, none of an empty one.
func jsonTokens(list jsonl.Value) int64 {
	for range list.Elements {
		return tokensOf(jsonl.Units([]byte(list.AppendMinified(nil))))
	}
	return 0
}

func tokensOf(units int) int64 { return int64(math.Ceil(float64(units) / 3.5)) }
