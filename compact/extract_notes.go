package compact

// A note is one thing that an extract may say.
type note struct {
	kind *kind
	key  string // of two notes of a kind with one key the later one stands
	text string // on one line, or with the lines below it indented
	at   int    // when it came up; the later, the more it matters
}

// A kind is what a note is about.
type kind struct {
	what   string // in the line that says what was left out, for several
	mark   string // before each note
	list   string // where notes share one line, what that begins with
	share  int    // percent of the room that notes of the kind get before others have theirs
	oldest bool   // what came up first matters most
}

// The kinds. A mark that no other has is how a note is known again in an earlier extract.
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
	theModified  = kind{what: "modified files", share: 18}
	theRead      = kind{what: "read files", share: 15}
)

// kinds are all kinds, by how much they matter.
var kinds = []*kind{
	&theGoal, &theDirection, &theOpen, &theDemand, &theTodo, &theStep, &theModified, &theTest, &theCommand, &theUnsaved, &theRead,
	&theAnswer, &theRequest, &theWish, &theCommit, &theDone, &theDecision, &theContext, &thePlace, &theAddress, &theWork,
}

// A section is a heading and what stands under it, in that order. Words are those of
// headings under which others write the same, which the first of the kinds takes.
type section struct {
	heading string
	kinds   []*kind
	words   []string
}

// history are the sections of pi's summaries, turnPrefix those for the beginning of a
// turn (spec/pi-format.md 7.7, spec/pi-1.5.md 7.5).
var (
	history = []section{
		{"## Goal", []*kind{&theGoal, &theRequest, &theDirection}, []string{"goal", "original request", "objective"}},
		{"## Constraints & Preferences", []*kind{&theDemand, &theWish}, []string{"constraint", "preference"}},
		{"## Progress", nil, nil},
		{"### Done", []*kind{&theDone, &theWork, &theTest, &theCommit}, []string{"done", "completed", "progress so far", "early progress"}},
		{"### In Progress", []*kind{&theTodo, &theUnsaved}, []string{"in progress", "pending"}},
		{"### Blocked", []*kind{&theOpen}, []string{"blocked", "open error", "open issue"}},
		{"## Key Decisions", []*kind{&theDecision}, []string{"decision"}},
		{"## Next Steps", []*kind{&theStep}, []string{"next", "remaining"}},
		{"## Critical Context", []*kind{&theContext, &theAnswer, &theCommand, &thePlace, &theAddress}, []string{"context"}},
	}
	turnPrefix = []section{
		{"## Original Request", history[0].kinds, nil},
		{"## Progress So Far", []*kind{&theDone, &theWork, &theTest, &theCommit, &theTodo, &theUnsaved, &theOpen, &theDecision}, nil},
		{"## Context Needed to Continue", []*kind{&theDemand, &theWish, &theStep, &theContext, &theAnswer, &theCommand, &thePlace, &theAddress}, nil},
	}
)

// notes are those of a summary in the making.
type notes struct {
	list []note
	by   map[noteKey]int
}

type noteKey struct {
	kind *kind
	key  string
}

// put adds a note. One without a key is its text.
func (n *notes) put(k *kind, key, text string, at int) {
	if text == "" {
		return
	}
	if key == "" {
		key = text
	}
	if n.by == nil {
		n.by = map[noteKey]int{}
	}
	if i, ok := n.by[noteKey{k, key}]; ok {
		n.list[i].text, n.list[i].at = text, at
		return
	}
	n.by[noteKey{k, key}] = len(n.list)
	n.list = append(n.list, note{k, key, text, at})
}

// has says that there is a note of a kind.
func (n *notes) has(k *kind, key string) bool {
	_, ok := n.by[noteKey{k, key}]
	return ok
}

// remove takes a note out.
func (n *notes) remove(k *kind, key string) {
	if i, ok := n.by[noteKey{k, key}]; ok {
		n.list[i] = note{}
		delete(n.by, noteKey{k, key})
	}
}

// drop takes notes out. It looks at all of them.
func (n *notes) drop(gone func(note) bool) {
	kept := n.list[:0]
	clear(n.by)
	for _, one := range n.list {
		if one.kind != nil && !gone(one) {
			n.by[noteKey{one.kind, one.key}] = len(kept)
			kept = append(kept, one)
		}
	}
	n.list = kept
}

// of are the notes of a kind, in the order in which they were first put.
func (n *notes) of(k *kind) (all []note) {
	for _, one := range n.list {
		if one.kind == k {
			all = append(all, one)
		}
	}
	return all
}
