package compact

import (
	"fmt"
	"strings"

	"ctxtool/internal/read/activity"
	"ctxtool/sessionfmt/jsonl"
)

// An extractor reads messages once and takes notes.
type extractor struct {
	notes
	v       *View
	now     int // number of the current message, from 1; 0 for an earlier summary
	files   fileBook
	uses    map[string]*FileFact
	defined map[string]string // file by name, for names that calls have defined
	needs   map[string]bool   // dependencies of the project, from manifests
	records []int32           // time of each message, by its number from 1
	reply   string            // the last answer since the last prompt
	words   string            // the last text with calls since the last prompt
	calls   map[string]deed
	runs    map[string]*CommandFact
	failed  map[string]note // failures by what failed, without a later success
	commits int
	prompts int
	plan    []string // the last commit
	planned int      // number of prompts up to the plan
	asked   string   // the last request
	task    string   // the last prompt that does not merely agree
	thread  []string // the last request with enough words, and the prompts after it
	last    string   // the last answer with text
	goal    string
	open    bool // the last request has no final answer: one without calls
	small   bool // the goal is a very short prompt
}

func newExtractor(v *View) *extractor {
	return &extractor{
		v: v, notes: notes{by: map[noteKey]int{}}, files: fileBook{}, uses: map[string]*FileFact{},
		calls:   map[string]deed{},
		defined: map[string]string{}, needs: map[string]bool{}, runs: map[string]*CommandFact{},
		failed: map[string]note{},
	}
}

// A deed is a call, the text of the answer with it, and whether it is the first to name its file.
type deed struct {
	activity.Deed
	path  string // the last call
	first bool   // no call named it before
	why   string
}

// file returns what calls did with a file.
func (x *extractor) file(path string) *FileFact {
	f := x.uses[path]
	if f == nil {
		f = &FileFact{Path: path}
		x.uses[path] = f
	}
	return f
}

// sees records that a call or an earlier summary names a file, and reports whether it is the first.
func (x *extractor) sees(path string) (first bool) {
	f := x.file(path)
	first, f.named, f.called = !f.named, true, x.now
	return first
}

// longestSaid is the length up to which a text is read, bytes: more is pasted text, or output of a program.
const longestSaid = 1 << 20

// message takes notes of one message.
func (x *extractor) message(i int) {
	m := &x.v.Messages[i]
	x.now++
	x.records = append(x.records, int32(m.Origin.Record))
	switch {
	case !m.Sent: // it was never part of a request
		return
	case m.isSummary() || m.Kind == jsonl.BranchMessage:
		x.fold(x.v.earlier(i))
		return
	case m.Kind == jsonl.Bash && !m.Edited:
		x.shell(i)
		return
	}
	nested, all := x.v.pieces(i, longestSaid)
	for call := range nested.Get("calls").Elements {
		x.files.use(activity.Nested(call))
	}
	var said strings.Builder
	for k := range all {
		p := &all[k]
		switch p.Says = jsonl.UTF8(p.Says); p.Kind {
		case jsonl.TextBlock:
			said.WriteString(p.Says + "\n")
		case jsonl.CallBlock:
			if said.Len() > 0 {
				x.words = said.String()
			}
			c := activity.New(p.tool(), p.ID, p.Args)
			x.files.use(c)
			x.call(c)
		case ResultBlock:
			x.result(p)
		}
	}
	switch {
	case m.Kind == jsonl.User:
		x.open, x.words, x.reply = true, "", ""
		if is := activity.ReadPrompt(said.String()); is.String() != "" && (is.Command == "" || is.Note != "") {
			x.prompt(said.String()) // otherwise a command, or nothing that a person typed
		}
	case m.isAssistant():
		x.open = m.makesCalls()
		x.answer(said.String())
	}
}

// shell records a command that the user ran.
func (x *extractor) shell(i int) {
	raw, err := x.v.texts.from.Agent(x.v.texts.piece(&x.v.Messages[i]))
	raw = took(x.v.texts, raw, err)
	ran := activity.Typed(raw.Get("command"))
	ran.Tool = "bash"
	code, known := raw.Get("exitCode").Float()
	if known && !raw.Get("cancelled").Truthy() {
		x.outcome(deed{Deed: ran.Deed(cleanPath)}, raw.Get("output").Text(), code != 0, fmt.Sprint("exit ", code))
	}
}

// prompt records a message of the user's.
func (x *extractor) prompt(text string) {
	var lines strings.Builder
	demands := 0
	const most = 8 // demands in one prompt; a longer list is pasted text
	for line := range paragraphs(text) {
		lines.WriteString(line + "\n")
		for s := range activity.Sentences(listText(line)) {
			switch activity.DemandOf(s) {
			case activity.Insists:
				if demands++; demands <= most {
					x.put(&theDemand, wordsOf(s), oneLine(s, 420), x.now)
				}
			case activity.Wants:
				x.put(&theWish, wordsOf(s), oneLine(s, 420), x.now)
			}
		}
	}
	own := lines.String()
	if own == "" {
		own = text
	}
	for _, url := range addresses(own) {
		x.put(&theAddress, "", url, x.now)
	}
	if own = strings.TrimSpace(own); own == "" {
		return
	}
	x.prompts++
	const fewest = 4 // words; a shorter prompt only asks to continue
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
	x.follow(own, says)
}

// answer records the text of an answer.
func (x *extractor) answer(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	x.reply = text
	const fewest = 40 // bytes; a shorter answer only agrees
	if len(text) >= fewest || x.last == "" && len(x.of(&theAnswer)) == 0 {
		x.last = text
	}
	var plan []string
	planning, points := false, "" // mark of the plan's list items
	for line := range activity.Prose(text) {
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
		for s := range activity.Sentences(listText(line)) {
			if decides(s) {
				x.put(&theDecision, wordsOf(s), oneLine(s, 300), x.now)
			}
		}
	}
	x.references(text)
	for _, url := range addresses(text) {
		x.put(&theAddress, "", url, x.now)
	}
	const longest = 12 // items; a longer list is a document
	if len(plan) > 0 && len(plan) <= longest {
		x.replan(plan)
	}
}

// replan replaces the next steps.
func (x *extractor) replan(plan []string) {
	for _, item := range x.plan {
		x.remove(&theStep, wordsOf(item))
	}
	x.plan, x.planned = plan, x.prompts
	for _, item := range plan {
		x.put(&theStep, wordsOf(item), item, x.now)
	}
}

// finished records that an item is done, and removes it from the open ones.
func (x *extractor) finished(item string) {
	key := wordsOf(item)
	x.put(&theDone, key, item, x.now)
	x.remove(&theTodo, key)
	x.remove(&theStep, key)
}

// wordsOf returns the words of a text without punctuation, as a key to compare texts.
func wordsOf(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r < 0x80 && !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	}), " ")
}

// A note is a line that an extract may contain.
type note struct {
	kind *kind
	key  string // a later note of the kind with the same key replaces an earlier one
	text string // one line; further lines are indented
	at   int    // the number of its message; later notes are more important
}

// A kind is what a note is about.
type kind struct {
	what   string // plural, for the line of what was left out
	mark   string // text before each note
	list   string // beginning of the line, if notes share one
	share  int    // percentage of the space that is reserved for notes of the kind
	oldest bool   // earlier notes are more important
	tagged int    // length of the tags around the notes, if they are not under a heading
}

// The kinds. A unique mark identifies the kind of a note in an earlier extract.
var (
	theGoal      = kind{what: "goals", share: 15, oldest: true}
	theRequest   = kind{what: "earlier requests", mark: "- Asked: ", share: 12}
	theDirection = kind{what: "last requests", mark: "- Last asked: ", share: 12}
	theDemand    = kind{what: "constraints", mark: "- ", share: 25}
	theWish      = kind{what: "wishes", mark: "- ", share: 8}
	theDone      = kind{what: "finished items", mark: "- [x] ", share: 10}
	theWork      = kind{what: "counts of edits", mark: "- [x] Changed ", share: 8}
	theTest      = kind{what: "outcomes of tests", mark: "- [x] Ran ", share: 10}
	theCommit    = kind{what: "commits", mark: "- [x] Commit ", share: 10}
	theTodo      = kind{what: "open items", mark: "- [ ] ", share: 8}
	theUnsaved   = kind{what: "files that are in no commit", list: "- [ ] Not in a commit yet: ", share: 6}
	theOpen      = kind{what: "open errors", mark: "- ", share: 15}
	theDecision  = kind{what: "decisions", mark: "- ", share: 10}
	theStep      = kind{what: "next steps", mark: "1. ", share: 8, oldest: true}
	theContext   = kind{what: "other notes", mark: "- ", share: 12}
	theAnswer    = kind{what: "last answers", mark: "- Last answer: ", share: 8}
	theCommand   = kind{what: "commands", list: "- Also ran: ", share: 10}
	thePlace     = kind{what: "other paths", list: "- Also looked at: ", share: 6}
	theAddress   = kind{what: "addresses", list: "- Addresses: ", share: 6}
	theModified  = kind{what: "modified files", share: 18, tagged: len("\n\n<modified-files>\n</modified-files>")}
	theReference = kind{what: "places in code"} // kinds for session notes alone
	theRead      = kind{what: "read files", share: 15, tagged: len("\n\n<read-files>\n</read-files>")}
)

// kinds are all kinds, the most important first.
var kinds = []*kind{
	&theGoal, &theDirection, &theOpen, &theDemand, &theTodo, &theStep, &theModified, &theTest, &theCommand,
	&theUnsaved, &theRead,
	&theAnswer, &theRequest, &theWish, &theCommit, &theDone, &theDecision, &theContext, &thePlace,
	&theAddress, &theWork,
}

// A section is a heading and the kinds of notes under it, in order. A heading of another
// summarizer with one of the words means the first of the kinds.
type section struct {
	heading string
	kinds   []*kind
	words   []string
}

// history are the sections of pi's summaries, turnPrefix those for the beginning of a
// turn (docs/session-format.md 9.5, 9.6).
var (
	history = []section{
		{"## Goal", []*kind{&theGoal, &theRequest, &theDirection}, []string{"goal", "original request", "objective"}},
		{"## Constraints & Preferences", []*kind{&theDemand, &theWish}, []string{"constraint", "preference"}},
		{"## Progress", nil, nil},
		{"### Done", []*kind{&theDone, &theWork, &theTest, &theCommit}, []string{"done", "completed", "progress so far",
			"early progress"}},
		{"### In Progress", []*kind{&theTodo, &theUnsaved}, []string{"in progress", "pending"}},
		{"### Blocked", []*kind{&theOpen}, []string{"blocked", "open error", "open issue"}},
		{"## Key Decisions", []*kind{&theDecision}, []string{"decision"}},
		{"## Next Steps", []*kind{&theStep}, []string{"next", "remaining"}},
		{"## Critical Context", []*kind{&theContext, &theAnswer, &theCommand, &thePlace, &theAddress},
			[]string{"context"}},
	}
	turnPrefix = []section{
		{"## Original Request", history[0].kinds, nil},
		{"## Progress So Far", []*kind{&theDone, &theWork, &theTest, &theCommit, &theTodo, &theUnsaved, &theOpen,
			&theDecision}, nil},
		{"## Context Needed to Continue", []*kind{&theDemand, &theWish, &theStep, &theContext, &theAnswer, &theCommand,
			&thePlace, &theAddress}, nil},
	}
)

// notes are the notes for a summary.
type notes struct {
	list []note
	by   map[noteKey]int
}

type noteKey struct {
	kind *kind
	key  string
}

// put adds a note, or replaces the one with its key. An empty key stands for the text.
func (n *notes) put(k *kind, key, text string, at int) {
	if text == "" {
		return
	}
	if key == "" {
		key = text
	}
	if i, ok := n.by[noteKey{k, key}]; ok {
		n.list[i].text, n.list[i].at = text, at
		return
	}
	n.by[noteKey{k, key}] = len(n.list)
	n.list = append(n.list, note{k, key, text, at})
}

func (n *notes) remove(k *kind, key string) {
	if i, ok := n.by[noteKey{k, key}]; ok {
		n.list[i] = note{}
		delete(n.by, noteKey{k, key})
	}
}

// of returns the notes of a kind, in the order in which they were first put.
func (n *notes) of(k *kind) (all []note) {
	for _, one := range n.list {
		if one.kind == k {
			all = append(all, one)
		}
	}
	return all
}
