package ledger

import (
	"hash/maphash"

	"ctxtool/replay"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
)

// A Prompt is the prompt and the tools of requests.
type Prompt struct {
	Text   uint64 // hash of prompt and tools, valid in one process only
	Tools  uint64 // hash of the tools alone
	Counts weigh.Counts
	// State has the parts without their texts; see replay.Reader.Texts.
	prompt.State

	estimate int // pi's estimate for them as one system message, in tokens
}

var seed = maphash.MakeSeed()

// Mix combines two hashes.
func Mix(a, b uint64) uint64 {
	var both [16]byte
	for i := range 8 {
		both[i], both[8+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	return maphash.Bytes(seed, both[:])
}

// prompt returns the number of the prompt at a step. at is the place of the last call.
func (l *Ledger) prompt(t *replay.PromptTracker, step replay.Step, at int32) (int32, error) {
	changed, err := t.Follow(step)
	if !changed || err != nil {
		return at, err
	}
	return l.numbered(&t.Current), nil
}

// PromptAt returns the number of the prompt of an envelope.
func (l *Ledger) PromptAt(e *replay.Envelope) (int32, error) {
	t := replay.PromptTracker{Meter: l.meter}
	err := t.Reach(e)
	return l.numbered(&t.Current), err
}

// numbered returns the number of a prompt.
func (l *Ledger) numbered(now *prompt.Fold) int32 {
	parts, tools := now.Sums()
	p := Prompt{Text: Mix(parts.Hash, tools.Hash), Tools: tools.Hash}
	key := Mix(p.Text, maphash.Bytes(seed, now.Options.Append(nil)))
	if now.Known {
		key++
	}
	at, ok := l.prompts[key]
	if !ok {
		if !l.live { // otherwise only its size is needed
			p.State = now.Kept()
		}
		if l.opt.Counter != nil {
			var units int
			p.Counts, units = now.Counts(l.opt.Counter)
			p.estimate = tokens.Pi.Of(units)
		}
		at = int32(len(l.Prompts))
		l.prompts[key] = at
		l.Prompts = append(l.Prompts, p)
	}
	return at
}
