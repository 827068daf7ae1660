package compact

import (
	"sync"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/redact"
)

// Redact replaces secrets in the messages of the context, by the rules of ctxtool redact. The
// session keeps them: only later requests do not have them.
var Redact = Pass{
	Name:     "redact",
	About:    "replace secrets that later requests would send",
	System:   "ctxtool",
	Defaults: Options{Counter: &tokens.Pi},
	run:      redactSecrets,
}

// redactor finds secrets by the built-in rules.
var redactor = sync.OnceValues(func() (*redact.Redactor, error) { return redact.New(redact.Options{}) })

func redactSecrets(w *work) error {
	r, err := redactor()
	if err != nil {
		return err
	}
	run := r.NewRun()
	defer run.Close()
	for _, i := range w.live() {
		for k := len(w.Messages[i].Blocks) - 1; k >= 0; k-- { // dropping one moves those after it
			if err := w.redact(run, i, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// redact replaces the secrets of a block. Thinking is dropped, since its signature covers the
// original text. The arguments of calls stay, since no form stores other ones.
func (w *work) redact(run *redact.Run, i, k int) error {
	kind := w.Messages[i].Blocks[k].Kind
	if kind == jsonl.ImageBlock {
		return nil
	}
	was, err := w.text(i, k)
	if err != nil {
		return err
	}
	is := run.Text(was)
	switch {
	case is == was:
	case kind == jsonl.CallBlock:
		w.Cannot = append(w.Cannot, w.placed(Change{Message: i, Block: blockIndex(k), Action: Replace, Why: "a secret is in the arguments of a call, which no entry replaces: edit --omit omits the call"}))
	case kind == jsonl.ThinkingBlock:
		w.drop(i, k, "it has a secret")
	default:
		w.replace(i, k, is, "it has a secret")
	}
	return nil
}
