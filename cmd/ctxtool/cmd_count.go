package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ctxtool/internal/out/show"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"

	"golang.org/x/term"
)

// countOptions are the flags of ctxtool count.
type countOptions struct {
	answer
	counter, by string
	counters    []*tokens.Counter
	window      int // bytes read at a time
}

func (o *countOptions) define(f *flagSet) {
	o.window = countWindow
	names := append(tokens.Names(), "all")
	o.answer.flags(f, "text", "json", "jsonl", "csv")
	f.choice(&o.counter, "counter", tokens.Names()[0], "count tokens by `COUNTERS`:", "", names)
	f.choice(&o.by, "by", "file", "print a row for each `UNIT`:", "--by", countedBy)
	f.before(o.check)
}

var countedBy = []string{"line", "file", "total"}

// check reads the flags, before any input is opened.
func (o *countOptions) check() error {
	names := strings.Split(o.counter, ",")
	if o.counter == "all" {
		names = tokens.Names()
	}
	for _, name := range names {
		c, err := tokens.Find(name)
		if err != nil {
			return err
		}
		if !slices.Contains(o.counters, c) {
			o.counters = append(o.counters, c)
		}
	}
	return nil
}

func runCount(e *env, o *countOptions, args []string) error {
	if len(args) == 0 {
		if term.IsTerminal(int(e.stdin.Fd())) {
			return usagef("missing FILE (- for standard input)")
		}
		args = []string{"-"}
	}
	c := tokens.NewTexts(o.by, o.counters)
	var broken []error
	for _, name := range args {
		rows, err := o.file(e, name)
		if err != nil {
			broken = append(broken, err)
		}
		c.Add(rows)
	}
	if len(broken) == len(args) {
		return broken[0]
	}
	if err := e.print(&o.answer, args, show.CountForms.Of(c)); err != nil || len(broken) == 0 {
		return err
	}
	for _, err := range broken[1:] {
		e.note("%s", err)
	}
	return broken[0]
}

func (o *countOptions) file(e *env, name string) ([]tokens.Text, error) {
	f, err := e.input(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	count := o.whole
	if o.by == "line" {
		count = o.lines
	}
	rows, err := count(f)
	if err != nil {
		return nil, unreadable(name, err)
	}
	for i := range rows {
		rows[i].File = filepath.ToSlash(name)
	}
	return rows, nil
}

func (o *countOptions) lines(r io.Reader) (rows []tokens.Text, err error) {
	in := bufio.NewReaderSize(r, o.window)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			rows = append(rows, tokens.Text{Line: len(rows) + 1, Bytes: int64(len(line)), Tokens: o.of(text)})
		}
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// countWindow is the number of bytes read at a time.
const countWindow = 1 << 20

// whole counts a file as one text, in windows: each ends at a place where a text may be cut, and grows if it
// has none.
func (o *countOptions) whole(r io.Reader) ([]tokens.Text, error) {
	row, lengths := tokens.Text{}, make([]int, len(o.counters))
	buf := make([]byte, 0, o.window)
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		row.Bytes += int64(n)
		buf = buf[:len(buf)+n]
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			o.add(lengths, buf)
			row.Tokens = o.counts(lengths)
			return []tokens.Text{row}, nil
		}
		if err != nil {
			return nil, err
		}
		at := tokens.Cut(buf)
		o.add(lengths, buf[:at])
		buf = buf[:copy(buf, buf[at:])]
		if at == 0 {
			buf = slices.Grow(buf, len(buf))
		}
	}
}

// add adds the length of a text, in the unit of each counter.
func (o *countOptions) add(lengths []int, text []byte) {
	if !utf8.Valid(text) {
		text = jsonl.ReplaceInvalidUTF8(text)
	}
	for i, c := range o.counters {
		lengths[i] += weigh.Length(c, text)
	}
}

func (o *countOptions) of(text []byte) tokens.Counts {
	lengths := make([]int, len(o.counters))
	o.add(lengths, text)
	return o.counts(lengths)
}

func (o *countOptions) counts(lengths []int) (all tokens.Counts) {
	for i, c := range o.counters {
		all = append(all, tokens.Count{By: c, N: int64(c.Of(lengths[i]))})
	}
	return all
}
