// Package check finds and mends damage in session files.
//
// What may be wrong is a table, Checks, one file each. Some of it shows while a
// file is read or replayed, and is found there; for the rest a check has a
// function of its own. Each finding says what the damage does: what pi does with
// the file, and how much of the context it hides. Repair makes a sound file of a
// damaged one, and nothing of what was there is lost.
package check

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A Severity is how bad a finding is.
type Severity uint8

// The severities, the mildest first. What changes nothing in any reader is Info;
// what loses something, or makes an agent fail, is Error.
const (
	Info Severity = iota
	Warning
	Error
)

var severityNames = []string{"info", "warning", "error"}

// String is the severity's name.
func (s Severity) String() string { return severityNames[s] }

// MarshalText is String, for JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseSeverity reads the name of a severity.
func ParseSeverity(name string) (Severity, error) {
	if k := slices.Index(severityNames, name); k >= 0 {
		return Severity(k), nil
	}
	return 0, fmt.Errorf("unknown severity %q", sessionfmt.Quote(name))
}

// A Check is one thing that may be wrong with a session.
type Check struct {
	Code     string
	Group    string // what it looks at; see Groups
	Severity Severity
	Title    string // what is wrong
	About    string // what that is and how it comes about, as Markdown
	Pi       string // what pi does with it
	Help     string // what helps

	// How it is found; none where reading the file or replaying it finds it.
	file  func(*subject)                      // from the index of the file
	facts func(*subject)                      // from what Visit has seen in the lines
	step  func(*walk, replay.Step) error      // at each step of a replay
	leaf  func(*walk, *replay.Envelope) error // at the end of the active path
}

// checks are the checks, in the order of the documentation. A new one is a file
// and a line here.
var checks = []*Check{
	&unreadable, &brokenOff,
	&malformed, &glued, &torn, &unterminated, &falsyLine, &scalarLine, &scalarLeaf, &invalidUTF8, &byteOrderMark, &crlf, &blankLine,
	&noHeader, &lateHeader, &secondHeader, &headerID, &version, &v1IDs, &tooNew, &parentSession,
	&missingID, &idType, &duplicateID, &orphan, &selfParent, &cycle, &forwardParent, &severalRoots, &leafMoved, &unknownType, &noMessage,
	&badTime, &timeBackward,
	&keptUnknown, &keptNoMessage, &noCheckpoint, &checkpointRole, &shadowBroken, &shadowEmpty, &shadowDiffers,
	&editNoReplacement, &editNoContent, &editUnknown, &editOffPath, &editSummarised, &editNoEffect,
	&patchSchema, &patchOp, &patchReason, &patchShape, &patchScope, &patchIndex,
	&callWithoutResult, &resultWithoutCall, &resultBeforeCall, &callLostResult, &resultLostCall, &failedAnswer,
	&toolUnknown, &toolArguments,
	&lineSize, &imageSize, &requestSize, &usageSize,
	&moreFindings,
}

// Groups are the groups of checks, with what they look at, in order.
var Groups = []struct{ Name, About string }{
	{"file", "whether it can be read at all"},
	{"lines", "bytes and lines"},
	{"header", "the header and what it names"},
	{"tree", "ids, parents and the leaf"},
	{"times", "timestamps"},
	{"compactions", "what compactions keep, and their shadows"},
	{"edits", "context edits"},
	{"patches", "context transforms"},
	{"calls", "tool calls and their results"},
	{"tools", "calls against the tools that were in force"},
	{"limits", "providers' limits in bytes"},
}

// All are the checks in the order of the documentation.
func All() []*Check { return checks }

// Find is the check with that code, nil if there is none.
func Find(code string) *Check {
	if k := slices.IndexFunc(checks, func(c *Check) bool { return c.Code == code }); k >= 0 {
		return checks[k]
	}
	return nil
}

// A Choice is a set of checks.
type Choice map[string]bool

// Choose reads which checks to run: only those named, or all, less those to skip.
// A name is a code or a group.
func Choose(only, skip []string) (Choice, error) {
	choice := Choice{}
	for _, name := range slices.Concat(only, skip) {
		if !slices.ContainsFunc(checks, func(c *Check) bool { return c.named(name) }) {
			return nil, fmt.Errorf("unknown check %q: a code, or one of the groups %s", sessionfmt.Quote(name), groupNames())
		}
	}
	for _, c := range checks {
		wanted := len(only) == 0 || slices.ContainsFunc(only, c.named)
		choice[c.Code] = wanted && !slices.ContainsFunc(skip, c.named)
	}
	return choice, nil
}

func (c *Check) named(name string) bool { return name == c.Code || name == c.Group }

// any says that a check of the choice has a use.
func (ch Choice) any(use func(*Check) bool) bool {
	return slices.ContainsFunc(checks, func(c *Check) bool { return ch[c.Code] && use(c) })
}

func groupNames() string {
	var names []string
	for _, g := range Groups {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}

// Page is the check's page in docs/checks.
func (c *Check) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\nSeverity: %s. Group: %s.\n\n%s\n", c.Code, capital(c.Title), c.Severity, c.Group, c.About)
	if c.Pi != "" {
		fmt.Fprintf(&b, "\n## What pi does\n\n%s\n", c.Pi)
	}
	fmt.Fprintf(&b, "\n## What helps\n\n%s\n", c.Help)
	return b.String()
}

// capital is a sentence with a capital first letter.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
