// Package check finds and repairs damage in session files.
//
// File returns the Report of a file. All returns the table of checks; Check.Page is the page
// of one. Reading and replaying a file find some of the damage, and functions of the checks
// find the rest. A finding has the damage, the command that fixes it, and how much of the
// context it hides.
//
// NewRepair plans the repair of an open session; sessionfmt.Rewrite writes it. Lines that
// cannot be kept are moved to the quarantine, so nothing is lost.
package check

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	pages "ctxtool/docs/checks"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A Check finds one kind of damage. Its page describes the damage, its causes and the fix;
// see Page.
type Check struct {
	Code     string
	Group    string // see Groups
	Severity Severity
	Title    string // the damage, in a few words
	fix      string // see Fix; empty if repair fixes it, or only a person can
	mend     pass   // the passes of a repair that fix it

	// How the check works; all are nil if reading or replaying the file finds the damage.
	file   func(*subject)                              // reads the index of the file
	record func(*subject, int)                         // reads the index, once for each record
	facts  func(*subject)                              // reads the facts that Visit has recorded
	leaf   func(*walk)                                 // runs at the end of the active path
	watch  func(*walk, *replay.Replay) replay.Observer // of the replay of all branches
}

// The fixes: a command, with FILE and ENTRY for those of the finding, or nothing.
const (
	repairs  = "ctxtool repair FILE"
	answers  = "ctxtool repair --answer-calls FILE"
	omits    = "ctxtool edit FILE ENTRY --omit"
	compacts = "ctxtool compact FILE"
	migrates = "ctxtool migrate FILE"
	converts = "ctxtool import FILE -o NEW.jsonl"
	nothing  = "nothing to do"
	explains = "by hand: ctxtool check --explain " // followed by the code
)

// A pass is one of a repair, of which several may fix the same.
type pass uint8

const (
	splits  pass = 1 << iota // the first over lines: the records of a line are known only after it
	records                  // the second, of pi's sessions
	foreign                  // the second, of those of other agents
	links                    // over ids and parents, of pi's
)

// Fix returns the command that fixes what the check finds, with FILE and ENTRY for the file
// and the entry of a finding. If no command fixes it, Fix returns "nothing to do", or "by
// hand" with the command that explains it.
func (c *Check) Fix() string {
	switch {
	case c.fix != "":
		return c.fix
	case c.mend != 0:
		return repairs
	}
	return explains + c.Code
}

// A Group is a group of checks, with the part of a session that they check.
type Group struct{ Name, About string }

// checks are the rows of the table, by reference.
var checks = sync.OnceValue(func() (all []*Check) {
	for s := range table {
		for c := range table[s].checks {
			check := &table[s].checks[c]
			check.Group = table[s].Name
			all = append(all, check)
		}
	}
	return all
})

// steps are what checks each step of a replay, by groups.
var steps = map[string]func(*walk){
	"compactions": (*walk).shadow, "edits": (*walk).edit, "tools": (*walk).called,
}

// All returns the checks in the order of the documentation.
func All() []*Check { return checks() }

// Groups returns the groups of checks in order.
func Groups() (all []Group) {
	for _, s := range table {
		if !slices.Contains(all, s.Group) {
			all = append(all, s.Group)
		}
	}
	return all
}

// Find returns the check with that code, or nil.
func Find(code string) *Check {
	if k := slices.IndexFunc(All(), func(c *Check) bool { return c.Code == code }); k >= 0 {
		return All()[k]
	}
	return nil
}

// Page returns the check's page in docs/checks, as Markdown.
func (c *Check) Page() string {
	page, _ := pages.Pages.ReadFile(c.Code + ".md")
	return string(page)
}

// About returns the part of the page that describes the damage, as Markdown.
func (c *Check) About() string { return c.section(c.head() + "\n\n") }

// head returns the line of the page with the severity, the group and the fix.
func (c *Check) head() string {
	return fmt.Sprintf("Severity: %s. Group: %s. Fix: %s.", c.Severity, c.Group, c.shortFix())
}

// shortFix returns the fix in a few words, for pages.
func (c *Check) shortFix() string {
	switch fix := c.Fix(); {
	case fix == nothing:
		return fix
	case strings.HasPrefix(fix, explains):
		return "by hand"
	default:
		return "`" + fix + "`"
	}
}

// Help returns the part of the page that describes the fix, as Markdown.
func (c *Check) Help() string { return c.section("\n**What helps:** ") }

func (c *Check) section(head string) string {
	_, text, _ := strings.Cut(c.Page(), head)
	text, _, _ = strings.Cut(text, "\n\n**")
	return strings.TrimSuffix(text, "\n")
}

// A Choice is a set of checks; nil is all of them.
type Choice map[string]bool

// Choose returns the checks named in only, or all if it is empty, without those in skip.
// A name is a code or a group. An unknown name is an error.
func Choose(only, skip []string) (Choice, error) {
	choice := Choice{}
	for _, name := range slices.Concat(only, skip) {
		if !slices.ContainsFunc(All(), func(c *Check) bool { return c.named(name) }) {
			return nil, fmt.Errorf("unknown check %q: a code, or one of the groups %s", sessionfmt.Quote(name),
				groupNames())
		}
	}
	for _, c := range All() {
		wanted := len(only) == 0 || slices.ContainsFunc(only, c.named)
		choice[c.Code] = wanted && !slices.ContainsFunc(skip, c.named)
	}
	return choice, nil
}

// weighed are the checks of damage that hides something and that no repair fixes.
var weighed = []string{"leaf-moved", "kept-unknown", "no-checkpoint", "bridged"}

// Harms returns the checks of damage that a command fixes, or that hides something, and of what the provider
// refuses.
func Harms() Choice {
	choice := Choice{}
	for _, c := range All() {
		choice[c.Code] = c.mend != 0 || slices.Contains(weighed, c.Code) ||
			c.Severity == Error && c.fix != nothing
	}
	return choice
}

func (c *Check) named(name string) bool { return name == c.Code || name == c.Group }

func (ch Choice) has(code string) bool { return ch == nil || ch[code] }

// any reports whether the function is true for a check of the choice.
func (ch Choice) any(use func(*Check) bool) bool {
	return slices.ContainsFunc(All(), func(c *Check) bool { return ch.has(c.Code) && use(c) })
}

func groupNames() string {
	var names []string
	for _, g := range Groups() {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}
