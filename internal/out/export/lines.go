package export

import (
	"bufio"
	"ctxtool/internal/out/body"
	"ctxtool/replay/ledger"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
	"fmt"
)

// Forms of lines.
const (
	AsChat = "chat" // a request and its answer
	AsSFT  = "sft"  // a turn: the context at its end, of which only its own answers are to be learned
)

// lines writes the requests of a session, or the turns, of all branches in the order of the file. Those
// that failed are left out, and in turns those that call tools, which go on.
func lines(w *writing, f *stats.Facts) error {
	calls := map[int32]*stats.Call{}
	for i := range f.Calls {
		if c := &f.Calls[i]; f.Book.Answered(c.Record) >= 0 {
			calls[int32(c.Record)] = c
		}
	}
	return w.create(".jsonl", func(out *bufio.Writer) error {
		reader := f.Replay.NewReader()
		for k := range f.Book.Requests {
			q := &f.Book.Requests[k]
			if !q.Known() || q.Warms || q.Failed {
				continue
			}
			own := f.Replay.Own(int(q.Record))
			raw, err := reader.Agent(own)
			if err != nil {
				return err
			}
			m := raw.Message()
			answer := body.ChatAnswer(m)
			if answer == nil || w.As == AsSFT && answer["tool_calls"] != nil {
				continue
			}
			about := object{
				"session": f.Report.ID, "entry": f.Session.ID(int(q.Record)), "request": q.Number, "model": modelOf(m),
				"stop_reason": m.Stop.Text(),
			}
			if f.Copied(int(q.Record)) {
				about["copied"] = true // its session has what it cost
			} else if c := calls[q.Record]; c != nil {
				about["prompt_tokens"], about["completion_tokens"] = c.Usage.Prompt(), c.Usage.Output
				if c.Source != "" {
					about["cost_usd"] = c.Cost
				}
			}
			if err := w.line(out, f, q, answer, about); err != nil {
				return err
			}
			w.result.Rows["lines"]++
		}
		return nil
	})
}

// line writes a line.
func (w *writing) line(out *bufio.Writer, f *stats.Facts, q *ledger.Request, answer, about object) error {
	e, err := f.Replay.At(sessionfmt.Before(int(q.Record)))
	if err != nil {
		return err
	}
	messages, tools, err := body.Chat(e)
	if err != nil {
		return err
	}
	turn := 0 // where what is to be learned begins
	if w.As == AsSFT {
		if turn, err = lastPrompt(messages); err != nil {
			return err
		}
	}
	out.WriteString(`{"messages":[`)
	at := 0
	for item, err := range messages {
		if err != nil {
			return err
		}
		m := item.(object)
		if w.As == AsSFT && at < turn && m["role"] == jsonl.Assistant.Role() {
			m["weight"] = 0
		}
		if err := put(out, m, ","); err != nil {
			return err
		}
		at++
	}
	if err := put(out, answer, "]"); err != nil {
		return err
	}
	if tools != nil {
		out.WriteString(`,"tools":`)
		if err := put(out, tools, ""); err != nil {
			return err
		}
	}
	out.WriteString(`,"metadata":`)
	return put(out, about, "}\n")
}

// lastPrompt returns the index of the last prompt of the user among messages.
func lastPrompt(messages func(yield func(any, error) bool)) (last int, failed error) {
	at := 0
	for item, err := range messages {
		if err != nil {
			return 0, err
		}
		if item.(object)["role"] == jsonl.User.Role() {
			last = at
		}
		at++
	}
	return last, nil
}

// put writes a value as JSON, and what follows it.
func put(out *bufio.Writer, v any, after string) error {
	b, err := body.JSON(v)
	if err != nil {
		return fmt.Errorf("as JSON: %w", err)
	}
	out.Write(b)
	_, err = out.WriteString(after)
	return err
}
