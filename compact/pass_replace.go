package compact

import (
	"cmp"
	"context"
	"ctxtool/internal/base/shell"
	"ctxtool/internal/lens/diff"
	"ctxtool/internal/lens/redact"
	"ctxtool/internal/read/ops"
	"ctxtool/replay/hook"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
	"fmt"
	"sync"
)

// ExecPass returns the pass that asks a command, as the running agent asks a hook before a
// request (docs/guide/hooks.md). The command may remove messages and replace their texts.
func ExecPass(ctx context.Context, c hook.Command) *Pass {
	p := NewPass("exec:"+c.Line, "change messages as a hook does", func(w *Work) error { return w.exec(ctx, c) })
	p.System = "ctxtool"
	return p
}

func (w *Work) exec(ctx context.Context, c hook.Command) error {
	for i := range w.Messages {
		if m := &w.Messages[i]; m.Removed || m.Edited || m.Heads {
			return fmt.Errorf("pass exec:%s must come before passes that change messages", shell.Short(c.Line, 80))
		}
	}
	h := hook.Shell(c, true)
	defer h.Close()
	r := w.Envelope.Replay()
	results, err := hook.Once(ctx, h, c.Line, r, w.Envelope.Leaf)
	if err != nil || len(results) == 0 {
		return err
	}
	for k := range results {
		n := 0
		for v := range results[k].Patch.Elements {
			if !v.Get("op").Is(ops.Replace) {
				return fmt.Errorf("command %q: op %d (%s): a pass may only replace messages", shell.Short(c.Line, 80),
					n, shell.Short(v.Get("op").Text(), 80))
			}
			n++
		}
	}
	t, err := hook.New(r.Session, results, hook.Options{
		Replay: r.Options, Leaf: w.Envelope.Leaf, At: w.Envelope.Leaf, Reason: hook.BeforeRequest,
		Counters: []*tokens.Counter{&tokens.Pi},
	})
	if err != nil {
		return err
	}
	live := w.live()
	for _, m := range t.Difference.Messages {
		for k := range m.Count {
			if err := w.take(c, t.Difference, m, k, live); err != nil {
				return err
			}
		}
	}
	return nil
}

// take makes one change of a command.
func (w *Work) take(c hook.Command, d *diff.Difference, m diff.MessageChange, k int, live []int) error {
	const why = "by the command"
	switch m.Change {
	case diff.Kept:
		return nil
	case diff.Removed:
		w.Omit(live[m.A+k], why)
		return nil
	case diff.Edited, diff.Truncated, diff.Replaced:
		v, err := d.ValueB(m.B + k)
		if err != nil {
			return err
		}
		if i := live[m.A+k]; w.replaceTexts(i, v.Message(), why) {
			return nil
		}
	}
	return fmt.Errorf("command %q: message %d: a pass may only remove messages and replace their texts",
		shell.Short(c.Line, 80), max(m.A, m.B)+k)
}

// replaceTexts replaces the texts of a message by those of another one, and reports whether
// nothing else differs.
func (w *Work) replaceTexts(i int, is *jsonl.Message, why string) bool {
	blocks := w.Messages[i].Blocks
	if w.Messages[i].isResult() {
		w.replaceResult(i, is.Exact(""), why)
		return true
	}
	if len(is.Blocks) != len(blocks) {
		return false
	}
	for k := range blocks {
		was := w.Text(i, k)
		switch b := &is.Blocks[k]; {
		case b.Kind != blocks[k].Kind:
			return false
		case b.Kind == jsonl.TextBlock:
			if text := b.Text.Exact(); text != was {
				w.Replace(i, k, text, why)
			}
		case b.Kind == jsonl.CallBlock && string(b.Args) != was:
			return false
		}
	}
	return true
}

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

func redactSecrets(w *Work) {
	r, err := redactor()
	if w.err = err; err != nil {
		return
	}
	run := r.NewRun()
	defer run.Close()
	for i := range w.news {
		for k := len(w.Messages[i].Blocks) - 1; w.Live(i) && k >= 0; k-- {
			w.redact(run, i, k)
		}
		w.sweep(i)
	}
}

// redact replaces the secrets of a block. Thinking is dropped, since its signature covers the
// original text.
func (w *Work) redact(run *redact.Run, i, k int) {
	kind := w.Messages[i].Blocks[k].Kind
	if kind == jsonl.ImageBlock {
		return
	}
	was := w.Text(i, k)
	is := was
	if kind == jsonl.CallBlock && was != "" { // stays JSON
		args, err := run.Definition(value(was))
		w.err = cmp.Or(w.err, err)
		is = string(args)
	} else {
		is = run.Text(was)
	}
	switch {
	case is == was:
	case kind == jsonl.ThinkingBlock:
		w.drop(i, k, "it has a secret")
	case kind == jsonl.CallBlock:
		w.replaceArguments(i, k, value(is), "it has a secret")
	default:
		w.Replace(i, k, is, "it has a secret")
	}
}
