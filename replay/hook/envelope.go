package hook

import (
	"ctxtool/internal/lens/entry"
	"ctxtool/replay"
	"ctxtool/replay/prompt"
	"ctxtool/replay/weigh"
	"encoding/json"
	"io"
)

// A Writer writes the requests of one walk in the form that hooks receive, one per line. It keeps the cached
// messages of the last request as JSON, since most requests only add to them.
type Writer struct {
	prompt replay.PromptTracker
	load   *replay.Reader
	last   *replay.Envelope
	front  []byte // system and tools
	cached []byte // messages, separated by commas
	ends   []int  // length of cached after each message, by index of the list
	buf    []byte
}

// Write writes the state of a walk, with these counts and this size, as the input of a hook that runs for a
// reason.
func (w *Writer) Write(out io.Writer, reason Reason, step replay.Step, n weigh.Counts, size weigh.Size) error {
	e := step.Envelope()
	meta, err := entry.NewMeta(e, n, size)
	if err != nil {
		return err
	}
	options, err := w.follow(step, e)
	if err != nil {
		return err
	}
	about, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	head := append(append(w.buf[:0], `{"type":"context","reason":"`...), reason...)
	head = append(append(head, `","state":{"envelope":{`...), w.front...)
	w.buf = append(head, `,"messages":{"cached":[`...)
	if _, err := out.Write(w.buf); err != nil {
		return err
	}
	if _, err := out.Write(w.cached); err != nil {
		return err
	}
	uncached, err := appendMessages(value{'['}, e.UncachedMessages())
	if err != nil {
		return err
	}
	tail := append(append(w.buf[:0], `],"uncached":`...), uncached...)
	tail = options.Append(append(tail, `]},"options":`...))
	tail = append(append(append(tail, `,"meta":`...), about...), "}}"...)
	w.buf = append(appendNumbers(tail, e, meta), "}\n"...)
	_, err = out.Write(w.buf)
	return err
}

// appendNumbers appends the number of the request, and how many tokens of the window are left if that is known.
func appendNumbers(dst []byte, e *replay.Envelope, meta entry.Meta) []byte {
	numbers := struct {
		Request int    `json:"requestIndex"`
		Turn    int    `json:"turnIndex"`
		Budget  *int64 `json:"budget,omitempty"`
	}{Request: e.RequestIndex, Turn: e.TurnIndex}
	if meta.Limit > 0 {
		left := meta.Limit - int64(meta.Tokens.Total)
		numbers.Budget = &left
	}
	text, _ := json.Marshal(numbers) // numbers only
	return append(append(dst, ','), text[1:len(text)-1]...)
}

// follow advances to the next request, and returns its options.
func (w *Writer) follow(step replay.Step, e *replay.Envelope) (options prompt.Options, err error) {
	changed, err := w.prompt.Follow(step)
	if err != nil {
		return options, err
	}
	r := e.Replay()
	if w.load == nil {
		w.load = r.NewReader()
	}
	if changed || w.front == nil {
		p, err := w.load.Prompt(&w.prompt.Current.State)
		if err != nil {
			return options, err
		}
		p.Compiled = r.Rules.Compiled(p.Parts)
		w.front = p.AppendSystem(append(w.front[:0], `"system":`...))
		w.front = p.AppendTools(append(w.front, `,"tools":`...))
	}
	options = w.prompt.Current.Options
	if options.Reasoning == nil {
		level, err := e.ThinkingLevel()
		if err != nil {
			return options, err
		}
		options.Reasoning = r.Rules.Reasoning(level)
	}
	return options, w.messages(e)
}

// messages updates the cached messages.
func (w *Writer) messages(e *replay.Envelope) error {
	same := min(e.Listed(), len(w.ends))
	for i := range e.Differs(w.last) {
		same = min(same, i)
		break
	}
	w.ends = w.ends[:same]
	w.cached = w.cached[:w.end()]
	for i := same; i < e.Listed(); i++ {
		if m := e.Piece(i); m.Sent() {
			v, err := w.load.Provider(m)
			if err != nil {
				return err
			}
			if len(w.cached) > 0 {
				w.cached = append(w.cached, ',')
			}
			w.cached = append(w.cached, v...)
		}
		w.ends = append(w.ends, len(w.cached))
	}
	w.last = e
	return nil
}

// end returns the length of the messages that are kept.
func (w *Writer) end() int {
	if len(w.ends) == 0 {
		return 0
	}
	return w.ends[len(w.ends)-1]
}
