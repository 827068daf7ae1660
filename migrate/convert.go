package migrate

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/ops"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// ErrNotForeign is the error for converting a session that is already pi's.
var ErrNotForeign = errors.New("this is already a session of pi")

// Convert returns another agent's session as a session of pi, version 3, which Plain of the result reads. Its
// messages have the form in which pi can send them on (docs/session-format.md 23, docs/import.md). If that
// agent replaced all messages, the new ones follow a new root, so that pi's path has only them; prompt and
// model are declared again there. The messages at both leaves are compared. The error is a *sessionfmt.Error.
func Convert(s *sessionfmt.Session) (*sessionfmt.Session, error) {
	if s.Dialect() == nil {
		return nil, sessionfmt.Errorf("%w", ErrNotForeign).In(s.Name).Hinted("ctxtool migrate upgrades old versions")
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
	c := &converter{
		s: s, r: s.NewReader(), names: s.NewNamer(), out: w,
		ids: make([]string, s.Len()), forms: make([]form, s.Len()), children: make([]int32, s.Len()),
	}
	for i := range s.Len() {
		if up := s.Parent(i); up >= 0 {
			c.children[up]++
		}
	}
	for i := 0; i < s.Len(); {
		n := c.turn(i)
		if err := c.records(i, n); err != nil {
			if _, placed := errors.AsType[*sessionfmt.Error](err); placed {
				return err
			}
			return &sessionfmt.Error{Pos: s.Pos(i), Err: err}
		}
		i += n
	}
	leaf := ""
	if i := s.Leaf(); i >= 0 {
		leaf = c.ids[i]
	}
	if leaf == c.last {
		return nil
	}
	// pi continues after the last entry of a file
	at := jsonl.Value(`{"type":"custom","id":"","parentId":null,"customType":"leaf"}`).With("timestamp", c.time)
	return c.entry(at, c.names.Name(leaf, at), leaf, &form{}, false)
}

// A converter writes entries in the order of the file.
type converter struct {
	s     *sessionfmt.Session
	r     *sessionfmt.Reader
	names *sessionfmt.Namer
	out   io.Writer
	buf   []byte
	// By record: the entry that stands for it, which others follow; the form after it; and the number of
	// records that follow it.
	ids      []string
	forms    []form
	children []int32
	last     string      // id of the entry just written
	time     jsonl.Value // time of that entry
	began    jsonl.Value // first time of the session; nil until an entry needs it
	// Repeated at a new root: the last declaration of the prompt, and of the model.
	system, model jsonl.Value
}

// turn returns the number of records from i on that are written together: those between calls and the next
// answer, if each is the only child of the one before it.
func (c *converter) turn(i int) (n int) {
	if up := c.s.Parent(i); up < 0 || len(c.forms[up].open) == 0 {
		return 1
	}
	ends := []jsonl.Kind{jsonl.Assistant, jsonl.Transform, jsonl.Compaction, jsonl.Reset}
	for k := i; k < c.s.Len(); k++ {
		if slices.Contains(ends, c.s.Kind(k)) || k > i && c.s.Parent(k) != k-1 {
			break
		}
		if n++; c.children[k] != 1 || k == c.s.Leaf() {
			break
		}
	}
	return max(n, 1)
}

// records writes n records from i on, which are a turn.
func (c *converter) records(i, n int) error {
	up := c.s.Parent(i)
	lines, messages := make([]jsonl.Value, n), make([]jsonl.Value, n)
	for k := range lines {
		line, err := c.r.Line(i + k)
		if err != nil {
			return err
		}
		lines[k] = line
		if n > 1 {
			lines[k] = bytes.Clone(line)
			messages[k] = lines[k].Get("message")
		}
	}
	order := []int{0}
	if n > 1 {
		order = resultsFirst(c.forms[up].open, messages)
	}
	for _, k := range order {
		if err := c.record(i+k, up, lines[k]); err != nil {
			return err
		}
		up = i + k
	}
	last := i + n - 1
	c.ids[last], c.forms[last] = c.ids[up], c.forms[up]
	return nil
}

// record writes record i after another.
func (c *converter) record(i, up int, line jsonl.Value) (err error) {
	parent := ""
	if up >= 0 {
		parent, c.forms[i] = c.ids[up], c.forms[up]
	}
	f := &c.forms[i]
	switch kind := c.s.Kind(i); kind {
	case jsonl.Header:
		at, err := c.stamp(line, f)
		if err != nil {
			return err
		}
		return c.write(line.AppendEdited(nil, jsonl.Field{Name: "timestamp", Value: at}))
	case jsonl.Unknown, jsonl.Scalar:
		c.ids[i] = parent
		return nil
	case jsonl.Transform:
		*f = form{time: f.time}
		c.ids[i], err = c.replaced(i, line, f)
		return err
	case jsonl.Reset:
		c.ids[i], err = c.reset(c.s.ID(i), parent, line, f)
		return err
	case jsonl.System:
		c.system = bytes.Clone(line)
	case jsonl.ModelChange:
		c.model = bytes.Clone(line)
	}
	c.ids[i] = c.s.ID(i)
	return c.entry(line, c.ids[i], parent, f, false)
}

// entry writes an entry with an id and a parent, and its messages in the form f.
func (c *converter) entry(line jsonl.Value, id, parent string, f *form, copied bool) error {
	up := jsonl.Value("null")
	if parent != "" {
		up = jsonl.AppendQuoted(nil, parent)
	}
	at, err := c.stamp(line, f)
	if err != nil {
		return err
	}
	fields := []jsonl.Field{
		{Name: "id", Value: jsonl.AppendQuoted(nil, id)}, {Name: "parentId", Value: up}, {Name: "timestamp", Value: at},
		{Name: dialect.SharedID},
	}
	for name, v := range line.Members {
		switch string(name) {
		case "message":
			v = f.message(v, at, copied)
		case "usage", "childUsage", "aggregateUsage":
			v = completeUsage(v)
		case "replacement":
			v = c.replacement(line.Get("targetId"), v)
		default:
			continue
		}
		fields = append(fields, jsonl.Field{Name: string(name), Value: v})
	}
	c.last, c.time = id, at
	c.buf = line.AppendEdited(c.buf[:0], fields...)
	return c.write(c.buf)
}

// stamp returns the time for an entry in a form. An entry without a time, such as a title, gets the previous
// one; if there is none, the first time in the session; if no line has a time, that of the file.
func (c *converter) stamp(line jsonl.Value, f *form) (jsonl.Value, error) {
	at := line.Get("timestamp")
	ms, ok := at.Millis()
	switch {
	case ok:
		f.time = max(f.time, ms)
		return bytes.Clone(at), nil
	case f.time > 0:
		return isoTime(time.UnixMilli(f.time)), nil
	case c.began != nil:
		return c.began, nil
	}
	first := c.s.NewReader()
	for i := range c.s.Len() {
		one, err := first.Line(i)
		if err != nil {
			return nil, err
		}
		at = one.Get("timestamp")
		if _, ok := at.Millis(); ok && (c.s.Kind(i).IsEntry() || c.s.Kind(i) == jsonl.Header) {
			c.began = bytes.Clone(at)
			return c.began, nil
		}
	}
	c.began = isoTime(c.s.ModTime())
	return c.began, nil
}

// isoTime returns a time as entries have it.
func isoTime(t time.Time) jsonl.Value {
	return jsonl.AppendQuoted(nil, t.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// reset writes a reset, which pi does not have, as a compaction whose summary is edited out, and returns the id
// of the edit.
func (c *converter) reset(id, parent string, line jsonl.Value, f *form) (string, error) {
	own, at := jsonl.AppendQuoted(nil, id), line.Get("timestamp")
	cut := jsonl.Value(`{"type":"compaction","id":"","parentId":null,"summary":"","tokensBefore":0}`).
		With("timestamp", at).With("firstKeptEntryId", text(line.Get("firstKeptEntryId"), own))
	if err := c.entry(cut, id, parent, f, false); err != nil {
		return "", err
	}
	edit := jsonl.Value(`{"type":"context_edit","id":"","parentId":null,"replacement":null}`).
		With("timestamp", at).With("targetId", own)
	by := c.names.Name(id, edit)
	return by, c.entry(edit, by, id, f, false)
}

// replacement returns the content that an edit sets for another entry.
func (c *converter) replacement(target, by jsonl.Value) jsonl.Value {
	of := c.s.Find(target.Text())
	if of < 0 || !by.IsObject() {
		return by
	}
	m := jsonl.Message{Kind: c.s.Kind(of)}
	m.ReadContent(new(jsonl.Cursor).Reset(by.Get("content")), m.Kind)
	return by.AppendEdited(nil, jsonl.Field{Name: "content", Value: new(form).content(&m)})
}

func (c *converter) write(line jsonl.Value) error {
	_, err := c.out.Write(append(line, '\n'))
	return err
}

// replaced writes the messages of the patch in record i, which replaces all, below a new root, and returns the
// id of the last one. Prompts that it keeps are written again.
func (c *converter) replaced(i int, line jsonl.Value, f *form) (id string, err error) {
	line = bytes.Clone(line)
	add := func(entry jsonl.Value, copied bool) {
		if err == nil {
			parent := id
			id = c.names.Name(parent, append(bytes.Clone(line.Get("id")), entry...))
			err = c.entry(entry, id, parent, f, copied)
		}
	}
	for _, v := range []jsonl.Value{c.system, c.model} {
		if v.Exists() {
			add(v, false)
		}
	}
	stamp := line.Get("timestamp")
	for op := range line.Get("patch").Elements {
		if !op.Get("op").Is(ops.Replace) {
			return "", fmt.Errorf("pi has no equivalent of its operation %s", sessionfmt.Quote(op.Get("op").Text()))
		}
		messages, err := c.withPrompts(i, slices.Collect(op.Get("messages").Elements))
		if err != nil {
			return "", err
		}
		for _, msg := range turnsInOrder(messages) {
			add(jsonl.Value(`{"type":"message","id":"","parentId":null}`).With("timestamp", stamp).With("message", msg),
				true)
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

// sameContext returns an error if the messages of two sessions differ at their leaves.
func sameContext(was, is *sessionfmt.Session) error {
	wasSaid, err := saidAt(was)
	isSaid, failed := saidAt(is)
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	for k := range max(len(wasSaid), len(isSaid)) {
		if k >= len(wasSaid) || k >= len(isSaid) || wasSaid[k] != isSaid[k] {
			err := fmt.Errorf("after the conversion, its context would differ from message %d on", k)
			return &sessionfmt.Error{Pos: sessionfmt.Pos{File: was.Name}, Err: err}
		}
	}
	return nil
}

// saidAt returns the content of the context at a session's leaf, in the form in which pi sends it.
func saidAt(s *sessionfmt.Session) ([]sum, error) {
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return nil, err
	}
	var f form
	var all said
	for m, err := range e.CachedMessages() {
		if err != nil {
			return nil, err
		}
		all.add(f.message(m.Raw, nil, false))
	}
	return all.done(), nil
}

type sum [sha256.Size]byte

// A said is the content of messages as hashes: answers without time and usage, and the messages between two
// answers in any order, since pi puts results first.
type said struct {
	sums []sum
	from int // hash since the last answer
}

func (w *said) add(m jsonl.Value) {
	if !m.Get("role").Is("assistant") {
		w.sums = append(w.sums, sha256.Sum256(m.Get("content").AppendMinified(nil)))
		return
	}
	m = m.AppendEdited(nil, jsonl.Field{Name: "timestamp"}, jsonl.Field{Name: "usage"})
	w.sums = append(w.done(), sha256.Sum256(m.AppendMinified(nil)))
	w.from = len(w.sums)
}

// done returns the hashes of the messages so far.
func (w *said) done() []sum {
	sorting.By(w.sums[w.from:], func(a, b sum) int { return bytes.Compare(a[:], b[:]) })
	return w.sums
}
