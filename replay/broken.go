package replay

import (
	"fmt"
	"slices"
)

// broken says why a provider's cache of an earlier request cannot serve this one
// beyond some point: its prompt, its tools, or a message of it has changed or is
// gone. It is empty where this request only adds to the earlier one.
func (e *Envelope) broken(earlier *Envelope) (string, error) {
	is, err := e.Prompt()
	if err != nil {
		return "", err
	}
	was, err := earlier.Prompt()
	if err != nil {
		return "", err
	}
	if was.Compiled != "" && is.Compiled != was.Compiled {
		return "the system prompt changed", nil
	}
	same := func(a, b Tool) bool { return string(a.Raw) == string(b.Raw) }
	if len(was.Tools) > 0 && !slices.EqualFunc(is.Tools, was.Tools, same) {
		return "the tools changed", nil
	}
	n := 0
	next := e.shownMessages()
	for _, m := range earlier.state.msgs.all {
		if !m.shown() {
			continue
		}
		other := next()
		switch {
		case other == nil:
			return fmt.Sprintf("message %d and what followed it is gone", n), nil
		case other.place() != m.place():
			return fmt.Sprintf("message %d is another", n), nil
		}
		n++
	}
	return "", nil
}

// shownMessages hands out the cached messages of a request one by one, nil behind
// the last.
func (e *Envelope) shownMessages() func() *message {
	i := 0
	return func() *message {
		for ; i < e.state.msgs.n; i++ {
			if m := e.state.msgs.at(i); m.shown() {
				i++
				return m
			}
		}
		return nil
	}
}
