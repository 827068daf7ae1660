package compact

import (
	"fmt"
	"strings"

	"ctxtool/sessionfmt"
)

// An extractor goes over messages once and takes notes.
type extractor struct {
	notes
	v       *View
	now     int // the number of the message at hand; what was summarised before is 0
	files   fileBook
	touched map[string]int // when a file was last read or changed
	calls   map[string]deed
	runs    map[string]*tally
	edits   map[string]*effort
	failed  map[string]failure
	unsaved map[string]bool // files changed since the last commit
	commits int
	prompts int
	plan    []string // the last one
	planned int      // prompts at that time
	asked   string   // the last request
	last    string   // the last answer that says something
	goal    string
	open    bool // the last request has no answer that makes no more calls
	small   bool // the goal is a prompt that says next to nothing
}

// What a call is about.
type deed struct {
	what     string   // the command, the path, or else the tool
	commands []string // that it runs
	path     string
	tool     string
}

// A tally is what became of a command.
type tally struct {
	times   int
	ok      bool
	verdict string
	at      int
}

// An effort is what was done to a file.
type effort struct{ edits, writes, at int }

// A failure is one that nothing has undone yet.
type failure struct {
	text string
	at   int
}

// longestSaid is how many bytes of a text are gone through: what else there is somebody has
// pasted, or a program has printed.
const longestSaid = 1 << 20

// message takes notes of one message.
func (x *extractor) message(i int) error {
	x.now++
	m := &x.v.Messages[i]
	switch {
	case !m.Sent: // the model has never seen it
		return nil
	case m.isSummary() || m.Kind == sessionfmt.BranchMessage:
		return x.summary(i)
	case m.Kind == sessionfmt.Bash && !m.Edited:
		return x.shell(i)
	}
	raw, all, err := x.v.pieces(i, longestSaid)
	if err != nil {
		return err
	}
	x.files.message(raw, all)
	var said strings.Builder
	for k := range all {
		switch p := &all[k]; p.Kind {
		case textBlock:
			said.WriteString(p.Says + "\n")
		case callBlock:
			x.call(p)
		case resultBlock:
			x.result(p)
		}
	}
	switch {
	case m.Kind == sessionfmt.User:
		x.open = true
		x.prompt(said.String())
	case m.isAssistant():
		x.open = m.makesCalls()
		x.answer(said.String())
	}
	return nil
}

// summary takes in the summary of other messages.
func (x *extractor) summary(i int) error {
	text, err := x.v.earlier(i)
	if err == nil && x.v.Messages[i].Kind == sessionfmt.BranchMessage {
		var raw sessionfmt.Value
		raw, err = x.v.texts.agent(&x.v.Messages[i])
		text = raw.Get("summary").Text()
	}
	x.fold(text)
	return err
}

// shell takes down a command that the user ran himself.
func (x *extractor) shell(i int) error {
	raw, err := x.v.texts.agent(&x.v.Messages[i])
	if err != nil {
		return err
	}
	d := deed{what: "bash", tool: "bash", commands: commands(raw.Get("command").Text())}
	if n := len(d.commands); n > 0 {
		d.what = d.commands[n-1]
	}
	code, known := raw.Get("exitCode").Float()
	if known && !raw.Get("cancelled").Truthy() {
		x.outcome(d, raw.Get("output").Text(), code != 0, fmt.Sprint("exit ", code))
	}
	return nil
}

// prompt takes down what the user says.
func (x *extractor) prompt(text string) {
	var lines strings.Builder
	demands := 0
	const most = 8 // demands of one prompt: who has more has pasted something
	for line := range paragraphs(text) {
		lines.WriteString(line + "\n")
		for s := range sentences(line) {
			switch demandOf(s) {
			case insists:
				if demands++; demands <= most {
					x.put(&theDemand, wordsOf(s), oneLine(s, 420), x.now)
				}
			case wants:
				x.put(&theWish, wordsOf(s), oneLine(s, 420), x.now)
			}
		}
	}
	own := lines.String()
	if own == "" {
		own = text
	}
	for url := range addresses(own) {
		x.put(&theAddress, "", url, x.now)
	}
	if own = strings.TrimSpace(own); own == "" {
		return
	}
	x.prompts++
	const fewest = 4 // words; with fewer, one only says to go on
	says := len(strings.Fields(own)) >= fewest
	if x.goal == "" || says && x.small {
		x.remove(&theGoal, x.goal)
		x.goal, x.small = oneLine(own, 600), !says
		x.put(&theGoal, "", x.goal, x.now)
	}
	if says {
		x.put(&theRequest, "", oneLine(own, 160), x.now)
		x.asked = oneLine(own, 400)
	}
}

// answer takes down what an answer says.
func (x *extractor) answer(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	const fewest = 40 // bytes; with fewer, one only agrees
	if len(text) >= fewest || x.last == "" && !x.has(&theAnswer, "last") {
		x.last = text
	}
	var plan []string
	planning, points := false, "" // the mark of the plan's list
	for line := range prose(text) {
		mark, item := listMark(line)
		switch mark {
		case "x":
			x.finished(oneLine(item, 200))
		case "o":
			x.put(&theTodo, wordsOf(item), oneLine(item, 200), x.now)
		}
		switch {
		case plans(line):
			planning, plan, points = true, nil, ""
		case planning && mark != "" && mark != "x" && (points == "" || mark == points):
			plan, points = append(plan, oneLine(item, 200)), mark
		case len(plan) > 0:
			planning = false
		}
		for s := range sentences(line) {
			if decides(s) {
				x.put(&theDecision, wordsOf(s), oneLine(s, 300), x.now)
			}
		}
	}
	for url := range addresses(text) {
		x.put(&theAddress, "", url, x.now)
	}
	const longest = 12 // items; a longer list is a document
	if len(plan) > 0 && len(plan) <= longest {
		x.replan(plan)
	}
}

// replan puts other next steps in the place of those that there were.
func (x *extractor) replan(plan []string) {
	for _, item := range x.plan {
		x.remove(&theStep, wordsOf(item))
	}
	x.plan, x.planned = plan, x.prompts
	for _, item := range plan {
		x.put(&theStep, wordsOf(item), item, x.now)
	}
}

// finished takes down that something is done, which then is open no longer.
func (x *extractor) finished(item string) {
	key := wordsOf(item)
	x.put(&theDone, key, item, x.now)
	x.remove(&theTodo, key)
	x.remove(&theStep, key)
}

// wordsOf is a text by its letters and digits, so that marks make no difference.
func wordsOf(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r < 0x80 && !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	}), " ")
}
