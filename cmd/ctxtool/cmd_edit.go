package main

import (
	"ctxtool/compact"
	"ctxtool/internal/out/plan"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

type editOptions struct {
	writeFlags
	omit, restore bool
	replace       string
}

func (o *editOptions) define(f *flagSet) {
	o.name, o.guarded = "edit", true
	o.appendFlags(f)
	o.forceFlag(f)
	f.BoolVar(&o.omit, "omit", false, "omit the message")
	f.BoolVar(&o.restore, "restore", false, "restore the message as it was before all edits")
	f.StringVar(&o.replace, "replace", "", "replace it with the text of `FILE` (- for standard input)")
}

func runEdit(e *env, o *editOptions, args []string) error {
	actions := 0
	for _, given := range []bool{o.omit, o.restore, o.replace != ""} {
		if given {
			actions++
		}
	}
	if actions != 1 {
		return usagef("exactly one of --omit, --restore and --replace is required")
	}
	if o.replace == "-" && args[0] == "-" {
		return usagef("standard input cannot be both the session and the text")
	}
	return o.runOne(e, args[0], func(s *sessionfmt.Session, b *sessionfmt.Batch) (plan.Promise, error) {
		target, err := e.entry(s, args[1])
		if err != nil {
			return nil, err
		}
		text := ""
		if o.replace != "" {
			if text, err = e.text(o.replace); err != nil {
				return nil, err
			}
		}
		context, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
		if err != nil {
			return nil, otherHint(err, "run ctxtool check")
		}
		d, err := compact.NewEditor(context, b)
		switch {
		case err != nil:
			return nil, err
		case o.omit:
			err = d.Omit(target)
		case o.restore:
			err = d.Restore(target)
		default:
			err = d.Replace(target, text)
		}
		return d.Promise, err
	})
}

// text returns the text of a file, or of standard input for "-", without a final newline.
func (e *env) text(name string) (string, error) {
	data, err := e.inputText(name)
	if err == nil && !utf8.Valid(data) {
		err = unreadable(name, errors.New("must be UTF-8 text"))
	}
	return strings.TrimSuffix(string(data), "\n"), err
}

type labelOptions struct {
	writeFlags
	session bool
}

func (o *labelOptions) define(f *flagSet) {
	o.name = "label"
	f.cmd.Args = func(cmd *cobra.Command, args []string) error {
		if o.session {
			return cobra.RangeArgs(1, 2)(cmd, args)
		}
		return cobra.RangeArgs(2, 3)(cmd, args)
	}
	o.appendFlags(f)
	f.BoolVar(&o.session, "session", false, "name the session: SESSION [TEXT], without POINT")
}

func runLabel(e *env, o *labelOptions, args []string) error {
	what, texts := "label", args[1:]
	if o.session {
		what = "name"
	} else {
		texts = args[2:]
	}
	text := strings.Join(texts, "")
	if o.session {
		text = oneLine(text)
	}
	if len(texts) == 1 && strings.TrimSpace(text) == "" {
		return usagef("TEXT is empty: omit it to remove the %s", what) // an unset variable of a shell
	}
	return o.runOne(e, args[0], func(s *sessionfmt.Session, b *sessionfmt.Batch) (plan.Promise, error) {
		if o.session {
			b.Add(jsonl.SessionInfo, jsonl.Field{Name: "name", Value: jsonl.AppendQuoted(nil, text)})
			return nil, nil
		}
		target, err := e.entry(s, args[1])
		if err != nil {
			return nil, err
		}
		fields := []jsonl.Field{{Name: "targetId", Value: jsonl.AppendQuoted(nil, s.ID(target))}}
		if text != "" {
			fields = append(fields, jsonl.Field{Name: "label", Value: jsonl.AppendQuoted(nil, text)})
		}
		b.Add(jsonl.Label, fields...)
		return nil, nil
	})
}

// entry returns the record of the entry that a point names. The entry must have an id.
func (e *env) entry(s *sessionfmt.Session, point string) (int, error) {
	at, err := findPoint(s, point, s.Leaf())
	if err != nil {
		return 0, err
	}
	return at.Record, requireID(s, at.Record)
}

// requireID returns an error for a record that is not an entry with a unique id.
func requireID(s *sessionfmt.Session, i int) error {
	switch {
	case i < 0:
		return usage(sessionfmt.Errorf("the root is not an entry").In(s.Name))
	case s.ID(i) == "" || s.Shadowed(i) || s.WrongID(i):
		return &sessionfmt.Error{Pos: s.Pos(i), Err: errors.New("no unique id"), Hint: "run ctxtool repair"}
	}
	return nil
}

// oneLine returns a text on one line, as pi stores names: line ends become spaces.
func oneLine(text string) string {
	lines := strings.FieldsFunc(string([]rune(text)), func(r rune) bool { return r == '\r' || r == '\n' })
	return jsonl.TrimJS(strings.Join(lines, " "))
}
