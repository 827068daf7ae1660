package hook

import (
	"context"
	"errors"
	"io"

	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// Once asks a hook once, with the context at the end of the path to a record, and returns what it
// answers. It is an error if an operation is refused.
func Once(ctx context.Context, h Hook, name string, r *replay.Replay, leaf int) (all []Result, err error) {
	quiet := *r
	step := quiet.Start().Step() // without an entry
	for step, err = range quiet.Walk(leaf) {
		if err != nil {
			return nil, err
		}
	}
	e := step.Envelope()
	n, err := e.Count(&tokens.Pi)
	if err != nil {
		return nil, err
	}
	size, err := e.Size()
	if err != nil {
		return nil, err
	}
	var write Writer
	answer, err := h.Ask(ctx, func(out io.Writer) error { return write.Write(out, BeforeRequest, step, n, size) })
	if err == nil {
		all, err = answered(name, answer)
	}
	if err == nil {
		err = Refused("", Judge(BeforeRequest, all))
	}
	return all, err
}

// answered reads one answer of a hook with that name.
func answered(name string, answer []byte) ([]Result, error) {
	all, err := Read("", answer)
	if at, ok := errors.AsType[*sessionfmt.Error](err); ok {
		err = at.Err
	}
	for k := range all {
		if all[k].Name == "" {
			all[k].Name = name
		}
	}
	return all, err
}
