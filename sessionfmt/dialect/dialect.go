// Package dialect is what sessionfmt needs to know of another agent's session files to show
// them as entries: how to recognize a file, what a line is, how lines make a tree of entries,
// and how an entry reads in the shape of docs/session-format.md 3. A dialect is a value of
// [Dialect] in a package of its own, and a line in the table of package sessionfmt.
//
// A dialect says what its agent does in entries and in the operations of patches
// (docs/session-format.md 6.1): it replays nothing itself.
package dialect

import (
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A Dialect is the format of one agent's sessions.
type Dialect struct {
	Name string // as reports name it
	// Sniff reports whether a file with that first line is such a session.
	Sniff func(first jsonl.Value) bool
	// Document returns an arranger of a session that is one JSON document, with its messages in a
	// list; see [Document]. Sniff gets all else. It is nil if no session is.
	Document func() Arranger
	Files    Files // the documents that make a session, where it is more than one
	Store    Store // where the agent keeps its sessions
	// Display ends the names of files with the history that the agent shows, and not the one
	// that it sends. Empty for none.
	Display string
	Policy  string // the name of the agent's policy in package compact, with its counter
	// File returns the id of a session from the name of its file, empty where that has none.
	// part reports whether the file belongs to another session: it is that of a sub-agent.
	File func(name string) (id string, part bool)
	// SubAgent reports whether a file is that of a sub-agent, by its name. It is nil where names do not tell.
	SubAgent func(name string) bool
	// Owner returns the id of the session whose sub-agent wrote a file, by the file's name and its first
	// line; empty for a session of its own. A dialect without sub-agents has no Owner.
	Owner func(name string, first jsonl.Value) string
	// Nests are the folders in which the agent keeps the sub-agents of a session, by the name of the
	// session's file and its id. Sessions in a database need none.
	Nests func(name, id string) []Nest
	// Session returns the id of the session, if the line is one that makes its header.
	Session func(line jsonl.Value) (id jsonl.Value)
	// Pick names the members of a line that Read looks at.
	Pick jsonl.Pick
	// Read is what a line is, by its head.
	Read func(p *jsonl.Picked) Head
	// Scan is Read for a text that begins with a line and was not validated, so that one pass does
	// both. size is that of the line, and 0 if it is not JSON, or if it takes Read to classify it.
	// Scan is nil if it always does.
	Scan func(text jsonl.Value) (h Head, size int)
	// Skim appends the values of a line that Call needs; none if the line says nothing of a call of a model. Both are
	// nil for an agent whose usages are read with all else of a line.
	Skim func(dst []jsonl.Value, p *jsonl.Picked) []jsonl.Value
	// Call returns the call that the lines of an answer are of, by what Skim returned for each, or of a line with the
	// call of a sub-agent.
	Call func(s *Source, lines [][]jsonl.Value) jsonl.Call
	// New returns an arranger of one file's lines.
	New func() Arranger
	// Make adds what the lines of a source make to its entries: one for its part, or those of all parts.
	Make func(s *Source)
	// Compose returns what makes the messages of a request from the items of a context. It is nil where each item
	// is a message.
	Compose func(to Request) Composer
	// Base is what a file continues: the name of another, and how much of that. It is nil
	// where files stand for themselves.
	Base func(first jsonl.Value) (b Base, ok bool)
	// CopyOf is the session of whose lines a file begins with copies, where these have new times: by the first two
	// lines of the file. Upto is the ordinal of the first line that is no copy, where the file tells. Same is what a
	// line shares with its copy, absent for one that does not count; asks reports whether it is a prompt, which no
	// fork ends with. Both are nil where copies keep their times.
	CopyOf func(first, second jsonl.Value) (b Base, ok bool)
	Same   func(line jsonl.Value) (what jsonl.Value, asks bool)
	// LocalIDs reports that the id of an entry says nothing of entries of other sessions.
	LocalIDs bool
	// OlderCopies reports that a copied entry keeps its time, so that it is older than its session, whose header does
	// not name another one.
	OlderCopies bool
	// Unrecorded are calls that the agent pays for and does not record.
	Unrecorded string
	// Uncached reports that a usage does not tell what was read from a cache.
	Uncached bool
	// Record reports whether an object is a line, and not a part of a broken one. It is nil where
	// Read can tell.
	Record func(v jsonl.Value) bool
	// Late reports that lines may be written long after their time: prompts that waited for their turn,
	// and what a compaction brings along.
	Late bool
	// Clears reports that the agent may clear results of tools without a record of it.
	Clears bool
	// Neutral reports that the form in which messages are sent is not known: what is shown as sent
	// are pi's messages for a provider.
	Neutral bool
	// Interface is that of the provider to which the agent sends messages in its own form, as package
	// body names it; empty for none.
	Interface string
	// InterfaceOf is Interface of an agent that has one for each provider; nil for others.
	InterfaceOf func(to rule.Asked) string
	// Database is where the agent keeps its sessions, nil for an agent that writes files.
	Database *Database
	// Days returns for how many days the agent keeps a session that is not written to, by its settings, a
	// value that is absent where it has none; below 0 for ever. It is nil for an agent that deletes none.
	Days func(settings jsonl.Value) float64
	// Bulk are the members of lines that take room besides what is sent.
	Bulk []Bulk
	// Fields is the type of a struct that declares the fields of lines, by the names of its own fields or by their
	// tags jsonl, as those of a [jsonl.Shape]. If it is nil, `check --coverage` lists all fields as new.
	Fields reflect.Type
	// Version returns the version of the agent that wrote a line, absent if the line has none;
	// Newest is the newest one whose files were read.
	Version func(line jsonl.Value) jsonl.Value
	Newest  string
	// Rules are the agent's rules, and which of them were compared with the program. Messages are exact
	// only where each rule that they used was; nil for none.
	Rules *rule.Table
	// Question is the rule by which a request for a summary is made of the conversation; 0 where it is the conversation
	// as other requests have it.
	Question rule.Rule
	// Certainty is how sure we are of the parts of a context where a rule was not compared; Prompted is
	// the same of a session that has system messages, nil where these say nothing more.
	Certainty Certainty
	Prompted  *Certainty
	// SummaryLast reports that the summary of a compaction is the last of its messages, and not the
	// first.
	SummaryLast bool
	// Recorded yields the requests that are recorded among lines. It is nil where the agent records none;
	// one that does has Compose. See [Tree], Recorded.
	Recorded func(lines Lines) iter.Seq[*Recorded]
	// Sketch reads the lines that an arranger has kept; see [Tree], About.
	Sketch func(lines iter.Seq2[Span, jsonl.Value]) map[Span]*Sketch
}

// Agent is the name of the agent; no dialect is pi's.
func (d *Dialect) Agent() string {
	if d == nil {
		return "pi"
	}
	return d.Name
}

// Speaks returns the interface by which the agent asks a model; see Interface.
func (d *Dialect) Speaks(to rule.Asked) string {
	if d.InterfaceOf != nil {
		return d.InterfaceOf(to)
	}
	return d.Interface
}

// OwnerOf is Owner of a dialect that may have none.
func (d *Dialect) OwnerOf(name string, first jsonl.Value) string {
	if d == nil || d.Owner == nil {
		return ""
	}
	return d.Owner(name, first)
}

// Begins reports whether a text begins with one of several marks.
func Begins(text string, marks ...string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(text, mark) })
}

// Files are how the names of a session's documents end, after the same beginning. Those beside the session's own that
// exist are lines after its own members, in this order.
type Files struct {
	Own    string
	Beside []string
}

// Around returns the names of the documents beside one that is a session's own, none for any other.
func (f Files) Around(name string) (names []string) {
	if stem, ok := strings.CutSuffix(name, f.Own); ok && f.Own != "" {
		for _, end := range f.Beside {
			names = append(names, stem+end)
		}
	}
	return names
}

// OwnOf returns the names that the session's own document may have to which one belongs.
func (f Files) OwnOf(name string) (names []string) {
	for _, end := range f.Beside {
		if stem, ok := strings.CutSuffix(name, end); ok && !strings.HasSuffix(name, f.Own) {
			names = append(names, stem+f.Own)
		}
	}
	return names
}

// A Store is where an agent keeps its sessions.
type Store struct {
	Variable string   // of the environment, that names the agent's folder
	Home     string   // the name of that in the user's folder, where the variable is not set
	Folders  []string // in it, with sessions in them and below
	Settings string   // the name of its settings in it; empty where nothing reads them
}

// A Nest is a folder with sub-agents of a session, besides other files.
type Nest struct {
	Dir  string
	Deep bool // folders in it have some too
	Own  bool // it has none of other sessions, so that one that cannot be read is missing
	// May reports whether a file can be a sub-agent of the session, by its name; written is when the
	// session, or a sub-agent found before, was written to last.
	May func(name string, written time.Time) bool
}

// A Bulk is a member of lines that takes room.
type Bulk struct {
	About string
	Path  []string // its name, and those of the objects around it
	Line  bool     // all of a line that has it counts
	Spare bool     // no replay needs it
}

// A Certainty is how sure we are of the parts of a context: exact (compared with the program),
// rule (known, not compared), absent (not in the file).
type Certainty struct {
	// `exact` (compared with the program), `rule` (by a known rule, not compared), `absent` (not in the file)
	Messages string `json:"messages"`
	System   string `json:"system"` // likewise, of the system prompt
	Tools    string `json:"tools"`  // likewise
	// rules or version that were not compared with the program
	Uncompared []string `json:"uncompared,omitempty"`
}

// A Request is what [Dialect].Compose needs to know of a request besides the items of its context. Items are as
// Message.Native has them, absent where there are none.
type Request struct {
	To     rule.Asked
	Prompt jsonl.Value // of the system message in force
	First  jsonl.Value // of the first answer after that
	Answer jsonl.Value // of the answer to the request
}

// A Composer makes the messages of a request from the items of its context.
type Composer interface {
	// Add takes the next item, which is valid during the call, and returns messages that are complete.
	Add(item jsonl.Value) []jsonl.Value
	// End returns the rest.
	End() []jsonl.Value
	// Copy returns a composer that goes on from here for another request, nil if that request has other messages
	// for the items so far.
	Copy(to Request) Composer
}

// A Code is what a line is to its dialect. Skip and Unknown mean the same to all.
type Code uint8

// The codes that all dialects share.
const (
	Skip    Code = iota // neither an entry nor a part of one
	Unknown             // of a type that the dialect does not know
	First               // the dialect's own codes begin here
)

// A Head is what the index keeps of a line until it is arranged.
type Head struct {
	Code Code
	ID   jsonl.Value // of the record itself; absent for none
	Ref  jsonl.Value // the id of another record that it refers to
	// Group is what it has in common with other lines, by which they are told apart from the
	// rest: the id of an answer, or of a call. A dialect may add to it what its arranger needs.
	Group jsonl.Value
	Time  jsonl.Value // from Scan
	// NoUsage reports that the line is known to have no usage.
	NoUsage bool
	Copied  bool     // the line names the session that it was copied from
	Rules   rule.Set // that its content needs
}

// ByKind returns the rule by which a record becomes an entry of that kind as it stands.
func ByKind(kind jsonl.Kind) rule.Rule {
	switch kind {
	case jsonl.Header:
		return rule.Aside
	case jsonl.System:
		return rule.System
	case jsonl.User:
		return rule.Prompt
	case jsonl.Assistant:
		return rule.Answer
	case jsonl.ToolResult, jsonl.Bash:
		return rule.Result
	case jsonl.Custom, jsonl.CustomMessage, jsonl.HookMessage:
		return rule.Note
	case jsonl.Transform, jsonl.Compaction, jsonl.CompactionMessage, jsonl.Reset:
		return rule.Compaction
	case jsonl.ContextEdit, jsonl.Deletion:
		return rule.Edit
	case jsonl.BranchSummary, jsonl.BranchMessage:
		return rule.Branch
	case jsonl.Unknown, jsonl.OtherMessage, jsonl.Scalar:
		return rule.Unread
	}
	return rule.Aside
}

// ByBlocks returns the rules that the blocks of a message need.
func ByBlocks(blocks []jsonl.Block) (s rule.Set) {
	for k := range blocks {
		switch blocks[k].Kind {
		case jsonl.TextBlock:
		case jsonl.ImageBlock:
			s |= rule.Of(rule.Image)
		case jsonl.ThinkingBlock:
			s |= rule.Of(rule.Thinking)
		case jsonl.CallBlock:
			s |= rule.Of(rule.Call)
		default:
			s |= rule.Of(rule.Unread)
		}
	}
	return s
}

// A Span is where a line is, bytes.
type Span struct {
	Off  int64
	Size uint32
}

// A Line is a line that is being arranged.
type Line struct {
	Code           Code
	At             Span
	Number         uint32 // of the line in its file, from 1
	Time           int64  // of the line, as the index keeps it
	ID, Ref, Group []byte
	Own            bool // it stands in the file that was opened, not in one that it continues; see Base
	Rules          rule.Set
}

// Untimed is the time of a line that has none.
const Untimed = math.MinInt64 + 1

// Clone returns a line that is kept.
func (l *Line) Clone() *Line {
	kept, texts := *l, slices.Concat(l.ID, l.Ref, l.Group)
	for _, text := range []*[]byte{&kept.ID, &kept.Ref, &kept.Group} {
		n := len(*text)
		*text, texts = texts[:n:n], texts[n:]
	}
	return &kept
}

// Kept are prompts that a Transform keeps as they are, so that it holds only what is new. Prompts
// have numbers on their path, from 0.
type Kept struct {
	From, To int // To is also the number of the next prompt
	// Short is the room of the prompt before From, which was shortened, in tokens of the dialect; 0
	// if there is none. It is the Transform's first message, before those kept.
	Short   int
	Notes   int  // messages of the Transform that stand before both
	Dropped int  // prompts that were taken back since
	Turn    bool // the summary is one of them
}

// Before is the number of messages of the Transform before the prompts that it keeps.
func (k Kept) Before() int { return k.Notes + min(k.Short, 1) }

// Count is the number of prompts kept.
func (k Kept) Count() int { return k.To - k.From }

// An Arranger makes entries of lines.
type Arranger interface {
	// Next takes the next line, which is valid during the call.
	Next(t Tree, l *Line)
	// End comes after the last one.
	End(t Tree)
}

// A Tree is what an arranger makes. Entries are known by their number. The first error, of reading
// too, ends the session after the line at hand.
type Tree interface {
	// Add adds an entry of a kind by a rule, made from a line and others, as the child of the leaf, and
	// makes it the leaf. The entry also uses the rules of the line. A line may make several entries, one
	// after the other: the id of the second is that of the first and ".1", and so on.
	Add(by rule.Rule, kind jsonl.Kind, l *Line, more ...Span) (entry int)
	// Join adds a line to an entry, which then uses these rules too.
	Join(by rule.Set, entry int, at Span)
	// Keep says which prompts a Transform keeps.
	Keep(entry int, k Kept)
	// Replace replaces one line of an entry, which then uses these rules too.
	Replace(by rule.Set, entry int, old, new Span)
	// Spans are the lines of an entry.
	Spans(entry int) []Span
	// Unanswered marks, by a rule, an answer that ended badly, and was no answer to a request.
	Unanswered(by rule.Rule, entry int)
	// Counted is what the agent counted for one of its runs, in US dollars, in place of an earlier count.
	Counted(run string, dollars float64)
	// Copied marks an entry that was copied from another session.
	Copied(entry int)
	// Delegated marks an entry that a sub-agent wrote into the session's file.
	Delegated(entry int)
	// Aside records a line that makes no entry, and has a call of a sub-agent: Make makes a usage entry of it.
	Aside(at Span)
	// Recorded marks an answer whose request is recorded in a line. About keeps a line that such records need.
	Recorded(entry int, at Span)
	About(at Span)
	// Leaf is the entry that the next one follows, -1 for none; Move makes it another one by a rule, which
	// the next entry uses too. After the last line it is where the agent would resume the session.
	Leaf() int
	Move(by rule.Rule, entry int)
	// Asked names who answers requests, texts.
	Asked(provider, model []byte)
	// Find is the entry with an id, -1 for none.
	Find(id []byte) int
	// Read is a line, absent after an error. It is valid until the next one.
	Read(at Span) jsonl.Value
	// Skim is what the dialect's Skim returns for a line. It is valid until the next one.
	Skim(at Span) []jsonl.Value
	// Fail reports that the session cannot be read.
	Fail(err error)
	// Report adds a finding at a line, and at the entry that has the line's id.
	Report(code string, l *Line, text string)
}

// A Base is what a forked session continues.
type Base struct {
	ID   string
	Keep int64 // bytes of the file, 0 where they are not known
	Upto int64 // the ordinal of the first line that does not count, where Keep does not tell
	// All reports that the whole of it counts, and comes before the first line of the fork.
	All bool
	// Optional reports that the session can be read without it, and Beside that it is looked for only
	// beside it.
	Optional, Beside bool
}

// Older reports whether a version is below another one, see [rule.Versions].
func Older(version, than string) bool { return rule.Versions(version, than) < 0 }
