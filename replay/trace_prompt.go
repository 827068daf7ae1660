package replay

import (
	"strings"

	"ctxtool/sessionfmt"
)

// A promptPiece is a part of the prompt or a tool, by its name.
type promptPiece struct {
	as, name string
	content  bool // the text outside of all sections
	nth      int  // of equal names
}

// A said is what a piece says, and where it has it from.
type said struct {
	text string
	from Origin
}

// lookAtPrompt compares parts and tools with what they were at the last look.
func (t *tracer) lookAtPrompt() error {
	changed, err := t.m.prompt.follow(t.m.r, t.m.now().deltas)
	if err != nil || !changed {
		return err
	}
	f := &t.m.prompt.f
	have, _ := t.m.r.implemented(f.tools)
	nth := map[promptPiece]int{}
	for i := range f.parts {
		p := &f.parts[i]
		t.meetPiece(nth, promptPiece{as: "part", name: p.Name, content: p.content}, said{p.Text, p.Origin}, func() (string, bool) {
			if around, ok := t.find.text([]byte(p.Text)); ok {
				return around, true
			}
			return t.find.text([]byte(p.Name))
		})
	}
	for i := range have {
		tool := &have[i]
		t.meetPiece(nth, promptPiece{as: "tool", name: tool.Name}, said{string(tool.Raw), tool.Origin}, func() (string, bool) {
			return t.find.words(tool.Raw)
		})
	}
	for _, l := range t.prompt {
		switch {
		case l.looked == t.looks || !l.open:
		case t.cuts:
			t.leave(l, FateSummed, nil)
		default:
			t.leave(l, FateRemoved, nil)
		}
	}
	return nil
}

// meetPiece takes down a part or tool. A text is searched where it has changed.
func (t *tracer) meetPiece(nth map[promptPiece]int, p promptPiece, is said, find func() (string, bool)) {
	at := p
	p.nth = nth[at]
	nth[at]++
	l := t.prompt[p]
	if l == nil {
		l = &life{Life: &Life{As: p.as, Name: p.name, Origin: is.from}}
		t.prompt[p] = l
	}
	was := l.said
	l.said, l.looked = is, t.looks
	if was == is && l.met {
		if l.holds && !l.open {
			t.enter(l)
		}
		return
	}
	l.met = true
	around, ok := "", false
	if q := t.find.q; !q.follows() {
		around, ok = find()
	} else if ok = is.from.Record == q.Entry || is.from.By == q.Entry; ok {
		around = sessionfmt.FirstWords(is.text)
	} else {
		// Content adds up: what was there before still is.
		ok = l.open && p.content && strings.HasPrefix(is.text, was.text)
	}
	l.holds = ok
	if ok && len(l.Events) == 0 {
		l.Origin, l.Text = is.from, around
	}
	switch {
	case ok && !l.open:
		t.enter(l)
	case ok && was.text != is.text:
		t.event(l, FateChanged, t.mention(true))
	case !ok && l.open:
		t.leave(l, FateChanged, t.mention(false))
	}
}
