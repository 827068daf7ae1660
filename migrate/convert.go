package migrate

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"ctxtool/internal/ops"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// ErrNotForeign refuses to convert a session that is pi's already.
var ErrNotForeign = errors.New("this is a session of pi already")

// Convert returns another agent's session as one of pi, of version 3, which Plain of the result
// reads. Where that agent
// replaced all messages, the new ones follow a new root, so that pi's path has only them;
// prompt and model are declared again there. The messages at both leaves are compared. The
// error is a *sessionfmt.Error.
func Convert(s *sessionfmt.Session) (*sessionfmt.Session, error) {
	if s.Dialect() == nil {
		return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: s.Name}, Err: ErrNotForeign, Hint: "ctxtool migrate upgrades old versions"}
	}
	from, to := io.Pipe()
	defer from.Close()
	var wrong error
	go func() {
		out := bufio.NewWriterSize(to, 64<<10)
		if wrong = convert(out, s); wrong == nil {
			wrong = out.Flush()
		}
		to.CloseWithError(wrong)
	}()
	made, err := sessionfmt.OpenReader(s.Name, from, sessionfmt.Options{})
	if wrong != nil {
		return nil, wrong
	}
	if err == nil {
		err = sameContext(s, made)
	}
	if err != nil && made != nil {
		made.Close()
	}
	return made, err
}

// convert writes the entries of a session.
func convert(w io.Writer, s *sessionfmt.Session) error {
	c := &converter{s: s, r: s.NewReader(), names: s.NewNamer(), ids: make([]string, s.Len()), out: w}
	for i := range s.Len() {
		if err := c.record(i); err != nil {
			if _, placed := errors.AsType[*sessionfmt.Error](err); placed {
				return err
			}
			return &sessionfmt.Error{Pos: s.Pos(i), Err: err}
		}
	}
	return nil
}

// A converter writes entries in the order of the file.
type converter struct {
	s     *sessionfmt.Session
	r     *sessionfmt.Reader
	names *sessionfmt.Namer
	out   io.Writer
	buf   []byte
	ids   []string // what stands for each record: the entry that others follow
	// What a new root repeats: the last declaration of the prompt, and of the model.
	system, model jsonl.Value
}

func (c *converter) record(i int) error {
	line, err := c.r.Line(i)
	if err != nil {
		return err
	}
	parent := ""
	if up := c.s.Parent(i); up >= 0 {
		parent = c.ids[up]
	}
	switch kind := c.s.Kind(i); kind {
	case jsonl.Header:
		return c.write(line)
	case jsonl.Unknown, jsonl.Scalar:
		c.ids[i] = parent
		return nil
	case jsonl.Transform:
		c.ids[i], err = c.replaced(i, line)
		return err
	case jsonl.System:
		c.system = bytes.Clone(line)
	case jsonl.ModelChange:
		c.model = bytes.Clone(line)
	}
	c.ids[i] = c.s.ID(i)
	return c.entry(line, c.ids[i], parent)
}

// entry writes an entry with an id and a parent; an answer with all that pi reads of a usage.
func (c *converter) entry(line jsonl.Value, id, parent string) error {
	up := jsonl.Value("null")
	if parent != "" {
		up = jsonl.AppendQuoted(nil, parent)
	}
	fields := []jsonl.Field{{Name: "id", Value: jsonl.AppendQuoted(nil, id)}, {Name: "parentId", Value: up}}
	if msg := line.Get("message"); msg.Get("role").Is("assistant") {
		fields = append(fields, jsonl.Field{Name: "message", Value: set(msg, "usage", completeUsage(msg.Get("usage")))})
	} else if line.Get("type").Is("usage") {
		fields = append(fields, jsonl.Field{Name: "usage", Value: completeUsage(line.Get("usage"))})
	}
	c.buf = line.AppendEdited(c.buf[:0], fields...)
	return c.write(c.buf)
}

func (c *converter) write(line jsonl.Value) error {
	_, err := c.out.Write(append(line, '\n'))
	return err
}

// replaced writes the messages by which the patch of record i replaces all, below a new root, and
// returns the id of the last one. Prompts that it keeps are written again.
func (c *converter) replaced(i int, line jsonl.Value) (id string, err error) {
	line = bytes.Clone(line)
	add := func(entry jsonl.Value) {
		if err == nil {
			parent := id
			id = c.names.Name(parent, append(bytes.Clone(line.Get("id")), entry...))
			err = c.entry(entry, id, parent)
		}
	}
	for _, v := range []jsonl.Value{c.system, c.model} {
		if v.Exists() {
			add(v)
		}
	}
	stamp := line.Get("timestamp")
	for op := range line.Get("patch").Elements {
		if !op.Get("op").Is(ops.Replace) {
			return "", fmt.Errorf("its operation %s has no form in pi", sessionfmt.Quote(op.Get("op").Text()))
		}
		messages, err := c.withPrompts(i, slices.Collect(op.Get("messages").Elements))
		if err != nil {
			return "", err
		}
		for _, msg := range messages {
			add(jsonl.Value(`{"type":"message","id":"","parentId":null}`).With("timestamp", stamp).With("message", msg))
		}
	}
	return id, err
}

// withPrompts returns the messages of record i with the prompts that it keeps.
func (c *converter) withPrompts(i int, messages []jsonl.Value) ([]jsonl.Value, error) {
	k, _ := c.s.Kept(i)
	if k.Count() == 0 {
		return messages, nil
	}
	var prompts []int
	path, _ := c.s.Path(i)
	for _, rec := range path {
		if kept, ok := c.s.Kept(rec); ok {
			prompts = prompts[:kept.To]
		} else if c.s.Kind(rec) == jsonl.User {
			prompts = append(prompts, rec)
		}
	}
	var kept []jsonl.Value
	for _, rec := range prompts[k.From:] {
		line, err := c.r.Line(rec)
		if err != nil {
			return nil, err
		}
		kept = append(kept, bytes.Clone(line.Get("message")))
	}
	return slices.Insert(messages, k.Before(), kept...), nil
}

// set is an object with one member set, or without it.
func set(v jsonl.Value, name string, to jsonl.Value) jsonl.Value {
	return v.AppendEdited(nil, jsonl.Field{Name: name, Value: to})
}

// completeUsage is a usage with all members that pi reads; what is not recorded is 0.
func completeUsage(v jsonl.Value) jsonl.Value {
	if !v.IsObject() {
		v = jsonl.Value(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0}`)
	}
	if !v.Get("cost").Exists() {
		v = set(v, "cost", jsonl.Value(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}`))
	}
	return v
}

// sameContext is the error of two sessions whose messages differ at their leaves.
func sameContext(was, is *sessionfmt.Session) error {
	a, err := messages(was)
	b, err2 := messages(is)
	if err = cmp.Or(err, err2); err != nil {
		return err
	}
	for k := range max(len(a), len(b)) {
		if k >= len(a) || k >= len(b) || !bytes.Equal(a[k], b[k]) {
			return &sessionfmt.Error{Pos: sessionfmt.Pos{File: was.Name}, Err: fmt.Errorf("converted, its context would differ from message %d on", k)}
		}
	}
	return nil
}

// messages are those of the context at a session's leaf, as a provider gets them.
func messages(s *sessionfmt.Session) (all [][]byte, err error) {
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return nil, err
	}
	for m, err := range e.CachedMessages() {
		if err != nil {
			return nil, err
		}
		if m.Raw.Get("role").Is("assistant") {
			m.Raw = set(m.Raw, "usage", nil)
		}
		all = append(all, m.Raw.AppendMinified(nil))
	}
	return all, nil
}
