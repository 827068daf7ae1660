package claude

import (
	"bytes"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A within is the answer to which later lines after an entry may still belong.
type within struct {
	answer int32 // -1 after a prompt, which ends an answer
	apart  bool  // results of tools follow it
}

// betweenRequests separates the two parts of an answer's name.
const betweenRequests = '\n'

// answerName identifies an answer by its message and, if the line has one, its request: a gateway may give
// every message the same id. It is absent if a line has neither.
func answerName(message, request jsonl.Value) jsonl.Value {
	id, by := message.Inside(), request.Inside()
	if !request.IsString() || len(by) == 0 {
		return message
	}
	if !message.IsString() {
		id = nil
	}
	name := append(make([]byte, 0, len(id)+len(by)+4), '"')
	name = append(append(name, id...), `\n`...)
	return append(append(name, by...), '"')
}

// around returns the answer to which a new entry belongs: its line follows the named one, which may be a line
// of the answer before results that the tree has in between.
func (a *arranger) around(l *dialect.Line, code dialect.Code, up int32) within {
	switch code {
	case result, results, note, microcompact, snip:
		return within{a.before(l, up).answer, true}
	case attachment, unsent, snapshot, mark, replacement, dialect.Unknown:
		return a.before(l, up)
	}
	return within{answer: -1}
}

// before returns the answer to which a line belongs that is named as a parent; up is the entry before it.
func (a *arranger) before(l *dialect.Line, up int32) within {
	if to, ok := a.lead(l.Ref); ok {
		up = to.entry
	}
	if up < 0 {
		return within{answer: -1}
	}
	return a.entries.At(up).within
}

// begun returns the answer that a line continues, -1 for none: one of the same name, followed only by its own
// lines, results of its calls, and notes of the program.
func (a *arranger) begun(t dialect.Tree, l *dialect.Line, side int) int32 {
	in := a.before(l, a.tail[side])
	if in.answer < 0 || a.entries.At(in.answer).name != dialect.Key(l.Group) {
		return -1
	}
	if len(l.Group) == 0 && in.apart || (len(l.Group) == 0 || in.apart) && !a.mayContinue(t, in, l) {
		return -1
	}
	return in.answer
}

// mayContinue reports whether the usage and the end of a line can belong to the answer that it may continue. An
// answer has one stop reason, and has results only if it calls tools. If no request distinguishes them, the
// next answer has a longer prompt than a call that was written while tools already ran.
func (a *arranger) mayContinue(t dialect.Tree, in within, l *dialect.Line) bool {
	last := a.entries.At(in.answer).last
	var was ending
	for _, at := range t.Spans(int(in.answer)) {
		if at.Off == last {
			was = endingOf(t.Skim(at))
		}
	}
	is := endingOf(t.Skim(l.At))
	_, request, _ := bytes.Cut(l.Group, []byte{betweenRequests})
	switch {
	case len(request) == 0 && was.prompt > 0 && is.prompt > 0 && was.prompt != is.prompt,
		was.stop != "" && is.stop != "" && was.stop != is.stop:
		return false
	}
	return !in.apart || was.stop == "" || was.stop == "tool_use"
}

// An ending is what one line tells about a whole answer.
type ending struct {
	prompt int64  // prompt tokens
	stop   string // stop reason; empty if unknown
}

// endingOf returns the ending on a line, from its skimmed values.
func endingOf(line []jsonl.Value) ending {
	if len(line) == 0 {
		return ending{}
	}
	u := readUsage(line[skimUsage])
	return ending{u.Prompt(), line[skimStop].Text()}
}

// finished takes another line of an answer, and counts lines that were written before the answer ended: only
// the last line is final.
func (a *arranger) finished(e int32, l *dialect.Line) {
	loose := l.Code&unfinished != 0
	switch was := a.entries.At(e).loose; {
	case loose && !was:
		a.loose++
	case !loose && was:
		a.loose--
	}
	a.entries.At(e).loose, a.entries.At(e).last = loose, l.At.Off
}
