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

// checks are the checks, in the order of the documentation. A new one is a row here
// and a page in docs/checks.
var checks = []*Check{
	{Code: "unreadable", Group: "file", Severity: Error, Title: "the file cannot be read as a session"},

	{Code: "broken-off", Group: "lines", Severity: Error, mend: splits,
		Title: "compressed data or a document breaks off"},
	{Code: "malformed", Group: "lines", Severity: Error, mend: splits, Title: "a line is not JSON"},
	{Code: "glued", Group: "lines", Severity: Error, mend: splits, Title: "a second record follows on the same line"},
	{Code: "torn", Group: "lines", Severity: Error, mend: splits, Title: "the last line breaks off"},
	{Code: "unterminated", Group: "lines", Severity: Warning, mend: records | foreign,
		Title: "the last newline is missing"},
	{Code: "falsy-line", Group: "lines", Severity: Warning, mend: splits,
		Title: "a line is null, 0, false or an empty string"},
	{Code: "scalar-line", Group: "lines", Severity: Warning, mend: records | foreign,
		Title: "a line is JSON, but not an object"},
	{Code: "scalar-leaf", Group: "lines", Severity: Error, mend: records, Title: "the last record is not an object"},
	{Code: "invalid-utf8", Group: "lines", Severity: Warning, mend: records | foreign,
		Title: "bytes that are not UTF-8"},
	{Code: "bom", Group: "lines", Severity: Error, mend: splits, Title: "the file starts with a byte order mark"},
	{Code: "padded", Group: "lines", Severity: Warning, mend: foreign, Title: "NUL bytes around a record"},
	{Code: "second-list", Group: "lines", Severity: Warning, fix: nothing,
		Title: "a document has several lists of messages"},
	{Code: "crlf", Group: "lines", Severity: Info, fix: nothing, Title: "lines end in CR LF",
		file: (*subject).findCRLF},
	{Code: "blank-line", Group: "lines", Severity: Info, fix: nothing, Title: "blank lines",
		file: (*subject).findBlank},

	{Code: "no-header", Group: "header", Severity: Error, mend: records, Title: "the session header is missing"},
	{Code: "late-header", Group: "header", Severity: Error, mend: records,
		Title: "the session header is not the first record"},
	{Code: "second-header", Group: "header", Severity: Warning, mend: records, Title: "a second session header"},
	{Code: "header-id", Group: "header", Severity: Error, mend: records, Title: "the header's id is not a string"},
	{Code: "version", Group: "header", Severity: Warning, mend: records, Title: "the header's version is not a number"},
	{Code: "v1-ids", Group: "header", Severity: Error, fix: migrates,
		Title: "entries have ids, but the header has no version"},
	{Code: "display-history", Group: "header", Severity: Warning, fix: nothing,
		Title: "the history that an agent shows, and not the one that it sends"},
	{Code: "too-new", Group: "header", Severity: Warning, Title: "the version is newer than the newest known"},
	{Code: "parent-session", Group: "header", Severity: Warning, fix: nothing,
		Title: "the parent session does not exist", file: (*subject).findParentSession},

	{Code: "missing-id", Group: "tree", Severity: Error, mend: links, Title: "an entry has no id"},
	{Code: "id-type", Group: "tree", Severity: Warning, mend: links, Title: "an id is not a string"},
	{Code: "duplicate-id", Group: "tree", Severity: Error, mend: links, Title: "two entries have the same id"},
	{Code: "orphan", Group: "tree", Severity: Error, mend: links, Title: "an entry's parent is not in the file"},
	{Code: "bridged", Group: "tree", Severity: Warning,
		Title: "a record's parent is not in the file, and the line before stands in for it"},
	{Code: "incomplete", Group: "tree", Severity: Warning, Title: "the beginning of the session is missing"},
	{Code: "rewritten", Group: "tree", Severity: Warning, fix: nothing,
		Title: "the agent rewrote the file, and earlier contexts are gone"},
	{Code: "repeated", Group: "tree", Severity: Info, Title: "a record is in the file twice"},
	{Code: "self-parent", Group: "tree", Severity: Error, mend: links, Title: "an entry is its own parent"},
	{Code: "cycle", Group: "tree", Severity: Error, mend: links, Title: "parents form a cycle",
		file: (*subject).findCycles},
	{Code: "forward-parent", Group: "tree", Severity: Warning, Title: "an entry's parent follows it in the file",
		record: (*subject).forwardParent},
	{Code: "several-roots", Group: "tree", Severity: Warning, fix: nothing, Title: "several roots",
		file: (*subject).findRoots},
	{Code: "leaf-moved", Group: "tree", Severity: Warning, Title: "a label or a usage entry has moved the leaf",
		file: (*subject).findMovedLeaf},
	{Code: "unknown-type", Group: "tree", Severity: Warning, Title: "an entry of an unknown type",
		record: (*subject).unknownType},
	{Code: "no-message", Group: "tree", Severity: Error, mend: links, Title: "a message entry without a message",
		record: (*subject).noMessage},

	{Code: "bad-time", Group: "times", Severity: Warning, Title: "a timestamp that is not a time",
		record: (*subject).badTime},
	{Code: "time-backward", Group: "times", Severity: Warning, fix: nothing, Title: "an entry is older than its parent",
		record: (*subject).timeBackward},

	{Code: "kept-unknown", Group: "compactions", Severity: Error, fix: compacts,
		Title: "a compaction's first kept entry is not on the path before it"},
	{Code: "kept-no-message", Group: "compactions", Severity: Warning, fix: nothing,
		Title: "a compaction's first kept entry gives no message"},
	{Code: "no-checkpoint", Group: "compactions", Severity: Warning, fix: nothing,
		Title: "a compaction without checkpoint where system messages exist"},
	{Code: "checkpoint-role", Group: "compactions", Severity: Warning, fix: compacts,
		Title: "a compaction's checkpoint is not a system message"},
	{Code: "shadow-broken", Group: "compactions", Severity: Warning, fix: compacts,
		Title: "a compaction repeats a patch, but not as its child"},
	{Code: "shadow-empty", Group: "compactions", Severity: Warning, fix: compacts,
		Title: "a compaction is the shadow of a patch that compacts nothing"},
	{Code: "shadow-differs", Group: "compactions", Severity: Warning, fix: compacts,
		Title: "a compaction differs from the patch that it shadows"},
	{Code: "kept-unresolved", Group: "compactions", Severity: Warning, fix: nothing,
		Title: "a message that a compaction kept is not in the file"},
	{Code: "hidden-attachments", Group: "compactions", Severity: Info, fix: nothing,
		Title: "what was attached after a compaction is not in the file"},

	{Code: "edit-no-replacement", Group: "edits", Severity: Error, mend: links,
		Title: "a context edit without replacement"},
	{Code: "edit-no-content", Group: "edits", Severity: Error, mend: links,
		Title: "a context edit whose replacement cannot be used"},
	{Code: "part-kept", Group: "edits", Severity: Warning, fix: nothing,
		Title: "the deletion of a part of a message, which is not applied"},
	{Code: "edit-unknown", Group: "edits", Severity: Warning, fix: nothing,
		Title: "a context edit of an entry that is not in the file"},
	{Code: "edit-off-path", Group: "edits", Severity: Warning, Title: "a context edit of an entry on another branch"},
	{Code: "edit-summarised", Group: "edits", Severity: Warning, fix: nothing,
		Title: "a context edit of a message that was already summarised"},
	{Code: "edit-no-effect", Group: "edits", Severity: Warning, Title: "a context edit gives content to what has none"},

	{Code: "patch-schema", Group: "patches", Severity: Error, Title: "a transform with another schemaVersion than 1"},
	{Code: "patch-op", Group: "patches", Severity: Error, Title: "an unknown patch operation"},
	{Code: "patch-reason", Group: "patches", Severity: Error, Title: "an operation on cached content without a reason"},
	{Code: "patch-shape", Group: "patches", Severity: Error, Title: "a patch of the wrong shape"},
	{Code: "patch-scope", Group: "patches", Severity: Warning, Title: "a scope that does not fit its operation"},
	{Code: "patch-index", Group: "patches", Severity: Warning, Title: "an index beyond the list"},

	{Code: "call-without-result", Group: "calls", Severity: Warning, fix: answers,
		Title: "a tool call without a result", facts: (*subject).callWithoutResult},
	{Code: "result-without-call", Group: "calls", Severity: Error, fix: answers,
		Title: "a tool result without its call", facts: (*subject).resultWithoutCall},
	{Code: "result-before-call", Group: "calls", Severity: Error, fix: answers, Title: "a tool result before its call",
		facts: (*subject).resultBeforeCall},
	{Code: "call-lost-result", Group: "calls", Severity: Warning, fix: omits,
		Title: "a call that has lost its result in the context", leaf: (*walk).callLostResult},
	{Code: "result-lost-call", Group: "calls", Severity: Error, fix: omits,
		Title: "a result that has lost its call in the context", leaf: (*walk).resultLostCall},
	{Code: "resumed", Group: "calls", Severity: Warning, fix: nothing,
		Title: "a resume lost the results of parallel calls"},
	{Code: "maybe-cleared", Group: "calls", Severity: Warning, fix: nothing,
		Title: "messages may have been cleared without a record", watch: (*walk).clearedWatch},
	{Code: "request-unproved", Group: "calls", Severity: Warning, fix: nothing,
		Title: "the record of a request does not prove what was sent", file: (*subject).unprovedRequest},
	{Code: "request-differs", Group: "calls", Severity: Warning, fix: nothing,
		Title: "a request that the agent recorded is not what its conversation gives", watch: (*walk).recordedWatch},
	{Code: "failed-answer", Group: "calls", Severity: Warning, fix: omits,
		Title: "a failed or aborted answer that stays in the context", leaf: (*walk).failedAnswer},

	{Code: "tool-unknown", Group: "tools", Severity: Warning, fix: nothing,
		Title: "a call of a tool that the request did not have"},
	{Code: "tool-gone", Group: "tools", Severity: Warning, fix: nothing,
		Title: "a call of a tool that no longer exists"},
	{Code: "tool-arguments", Group: "tools", Severity: Warning, fix: nothing,
		Title: "a call whose arguments do not fit the tool's schema"},

	{Code: "line-size", Group: "limits", Severity: Warning, fix: omits, Title: "a line larger than any request may be",
		leaf: (*walk).lineSize},
	{Code: "image-size", Group: "limits", Severity: Error, fix: omits, Title: "an image larger than the provider takes",
		leaf: (*walk).imageSize},
	{Code: "request-size", Group: "limits", Severity: Error, fix: compacts,
		Title: "the next request is larger than the provider takes", leaf: (*walk).requestSize},
	{Code: "unfinished-usage", Group: "limits", Severity: Info, fix: nothing,
		Title: "answers were written before they ended"},
	{Code: "usage-size", Group: "limits", Severity: Warning, fix: nothing, Title: "a usage with an impossible number",
		facts: (*subject).findWildUsage},

	{Code: "refused-pairs", Group: "provider", Severity: Error, fix: accepts,
		Title: "calls and results that a provider does not take as pairs", leaf: refused("refused-pairs")},
	{Code: "refused-empty", Group: "provider", Severity: Error, fix: accepts, Title: "an empty text or message",
		leaf: refused("refused-empty")},
	{Code: "refused-turn", Group: "provider", Severity: Error, fix: accepts,
		Title: "a request that begins with an answer", leaf: refused("refused-turn")},
	{Code: "refused-thinking", Group: "provider", Severity: Error, fix: accepts,
		Title: "thinking without its signature, or in another place", leaf: refused("refused-thinking")},
	{Code: "refused-image", Group: "provider", Severity: Error, fix: accepts,
		Title: "images that a provider does not take", leaf: refused("refused-image")},
	{Code: "refused-name", Group: "provider", Severity: Error, fix: accepts,
		Title: "a call whose name, id or arguments have a wrong form", leaf: refused("refused-name")},
	{Code: "refused-size", Group: "provider", Severity: Error, fix: compacts,
		Title: "a request over the model's window", leaf: refused("refused-size")},
	{Code: "refused-text", Group: "provider", Severity: Error, fix: accepts, Title: "half of a surrogate pair",
		leaf: refused("refused-text")},

	{Code: "more", Group: "file", Severity: Info, Title: "more findings than are listed"},
}

// A Group is a group of checks, with the part of a session that they check.
type Group struct {
	Name, About string
	step        func(*walk) // checks each step of a replay; may be nil
}

// Groups are the groups of checks in order, each with the part of a session that it checks.
var Groups = []Group{
	{"file", "whether it can be read at all", nil},
	{"lines", "bytes and lines", nil},
	{"header", "the header and what it names", nil},
	{"tree", "ids, parents and the leaf", nil},
	{"times", "timestamps", nil},
	{"compactions", "what compactions keep, and their shadows", (*walk).shadow},
	{"edits", "context edits", (*walk).edit},
	{"patches", "context transforms", nil},
	{"calls", "tool calls and their results", nil},
	{"tools", "calls against the tools that were in force", (*walk).called},
	{"limits", "providers' limits in bytes, and what usages say", nil},
	{"provider", "with `--provider`, what that provider refuses of the request that a resume sends", nil},
}

// All returns the checks in the order of the documentation.
func All() []*Check { return checks }

// Find returns the check with that code, or nil.
func Find(code string) *Check {
	if k := slices.IndexFunc(checks, func(c *Check) bool { return c.Code == code }); k >= 0 {
		return checks[k]
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
		if !slices.ContainsFunc(checks, func(c *Check) bool { return c.named(name) }) {
			return nil, fmt.Errorf("unknown check %q: a code, or one of the groups %s", sessionfmt.Quote(name),
				groupNames())
		}
	}
	for _, c := range checks {
		wanted := len(only) == 0 || slices.ContainsFunc(only, c.named)
		choice[c.Code] = wanted && !slices.ContainsFunc(skip, c.named)
	}
	return choice, nil
}

// weighed are the checks of damage that hides something and that no repair fixes.
var weighed = []string{"leaf-moved", "kept-unknown", "no-checkpoint", "bridged"}

// Harms are the checks of damage that a command fixes, or that hides something.
func Harms() Choice {
	choice := Choice{}
	for _, c := range checks {
		choice[c.Code] = c.mend != 0 || slices.Contains(weighed, c.Code) ||
			c.Severity == Error && c.fix != nothing && c.Group != "provider"
	}
	return choice
}

func (c *Check) named(name string) bool { return name == c.Code || name == c.Group }

func (ch Choice) has(code string) bool { return ch == nil || ch[code] }

// any reports whether the function is true for a check of the choice.
func (ch Choice) any(use func(*Check) bool) bool {
	return slices.ContainsFunc(checks, func(c *Check) bool { return ch.has(c.Code) && use(c) })
}

func groupNames() string {
	var names []string
	for _, g := range Groups {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}
