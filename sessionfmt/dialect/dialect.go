// Package dialect describes another agent's session files to package sessionfmt: how to recognize a file, what
// a line is, how lines make a tree of entries, and how an entry looks in pi's shape (docs/session-format.md 3).
// Each dialect is a value of type [Dialect] in its own package, listed in a table of package sessionfmt.
//
// A dialect expresses what its agent does with entries and patch operations (docs/session-format.md 6.1); it
// replays nothing itself.
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
	Name string // the agent's name in reports
	// Sniff reports whether a file with this first line is a session of the agent.
	Sniff func(first jsonl.Value) bool
	// Document returns an arranger for a session that is one JSON document with a list of messages; see
	// [Document]. Sniff receives all other fields. It is nil if the agent writes no documents.
	Document func() Arranger
	Files    Files // names of the documents that make a session, if there are several
	Store    Store // where the agent keeps its sessions
	// Display is the suffix of files with the history that the agent shows rather than sends; empty if there
	// are none.
	Display string
	Policy  string // name of the agent's policy in package compact, and of its counter
	// File returns the id of a session from the name of its file, empty if the name has none. part reports
	// whether the file is part of another session, such as a sub-agent's.
	File func(name string) (id string, part bool)
	// SubAgent reports, by its name, whether a sub-agent wrote a file. It is nil if names do not tell.
	SubAgent func(name string) bool
	// Owner returns the id of the session whose sub-agent wrote a file, by the file's name and first line;
	// empty for an ordinary session. It is nil for a dialect without sub-agents.
	Owner func(name string, first jsonl.Value) string
	// Nests returns the folders in which the agent keeps a session's sub-agents, by the name of the session's
	// file and its id. Sessions in a database need none.
	Nests func(name, id string) []Nest
	// Session returns the session's id if the line is part of its header.
	Session func(line jsonl.Value) (id jsonl.Value)
	// Pick names the fields of a line that Read uses.
	Pick jsonl.Pick
	// Read classifies a line by its head.
	Read func(p *jsonl.Picked) Head
	// Scan is Read for text that begins with a line and is not validated yet, so that both take one pass. size
	// is the length of the line; 0 if it is not JSON, or if only Read can classify it. Scan is nil if Read is
	// always needed.
	Scan func(text jsonl.Value) (h Head, size int)
	// Skim appends the values of a line that Call needs; none if the line records no model call. Both are nil
	// for an agent whose usages are read with the rest of the line.
	Skim func(dst []jsonl.Value, p *jsonl.Picked) []jsonl.Value
	// Call returns the model call of an answer, given the result of Skim for each of its lines, or of a line
	// with a sub-agent's call.
	Call func(s *Source, lines [][]jsonl.Value) jsonl.Call
	// New returns an arranger for the lines of one file.
	New func() Arranger
	// Make adds the entries made from the lines of a source: the one for its part, or all of them.
	Make func(s *Source)
	// Compose returns a composer that makes the messages of a request from the items of a context. It is nil if
	// each item is a message.
	Compose func(to Request) Composer
	// Base returns what a file continues: the name of another one, and how much of that. It is nil if every
	// file stands alone.
	Base func(first jsonl.Value) (b Base, ok bool)
	// CopyOf identifies, by the first two lines of a file, the session whose lines it begins with copies of,
	// under new times. Upto is the ordinal of the first line that is not a copy, if recorded. Same returns what
	// a line shares with its copy, absent for a line that does not count; asks reports whether it is a prompt,
	// with which no fork ends. Both are nil if copies keep their times.
	CopyOf func(first, second jsonl.Value) (b Base, ok bool)
	Same   func(line jsonl.Value) (what jsonl.Value, asks bool)
	// LocalIDs reports that ids of entries are only unique within a session.
	LocalIDs bool
	// OlderCopies reports that copied entries keep their times, and so are older than their session, whose
	// header does not name the other session.
	OlderCopies bool
	// Unrecorded describes calls that the agent pays for and does not record.
	Unrecorded string
	// Uncached reports that usages lack the tokens that were read from a cache.
	Uncached bool
	// Record reports whether an object is a complete line rather than a fragment of one. It is nil if Read can
	// tell.
	Record func(v jsonl.Value) bool
	// Late reports that lines may be written long after their time: prompts that waited for their turn, and
	// what a compaction carries over.
	Late bool
	// Clears reports that the agent may clear tool results without recording it.
	Clears bool
	// Neutral reports that the form in which messages are sent is unknown: pi's messages for a provider are
	// shown instead.
	Neutral bool
	// Interface is the provider interface to which the agent sends messages in its own form, by its name in
	// package body; empty for none.
	Interface string
	// InterfaceOf is Interface for an agent with one per provider; nil for others.
	InterfaceOf func(to rule.Asked) string
	// Database describes where the agent keeps its sessions, nil for an agent that writes files.
	Database *Database
	// Days returns for how many days the agent keeps a session after the last write, according to its settings,
	// an absent value if it has none; negative means forever. It is nil for an agent that deletes no sessions.
	Days func(settings jsonl.Value) float64
	// Bulk lists the fields of lines that take space without being sent.
	Bulk []Bulk
	// Fields is the type of a struct that declares the fields of lines, by its field names or their tags jsonl,
	// like a [jsonl.Shape]. If it is nil, `check --coverage` reports all fields as new.
	Fields reflect.Type
	// Version returns the version of the agent that wrote a line, absent if it is not recorded; Newest is the
	// newest version whose files were read.
	Version func(line jsonl.Value) jsonl.Value
	Newest  string
	// Rules has the agent's rules, and the results of comparing them with the program. Messages are exact only
	// if each rule that they used was compared. It is nil for none.
	Rules *rule.Table
	// Question is the rule that makes the request for a summary from the conversation; 0 if that request has
	// the same messages as others.
	Question rule.Rule
	// Certainty applies to the parts of a context that use rules which were not compared. Prompted replaces it
	// for a session with system messages; nil if these change nothing.
	Certainty Certainty
	Prompted  *Certainty
	// SummaryLast reports that a compaction puts its summary after the messages that it keeps, not before.
	SummaryLast bool
	// Recorded yields the requests that are recorded among the lines. It is nil if the agent records none;
	// otherwise Compose is set. See [Tree], Recorded.
	Recorded func(lines Lines) iter.Seq[*Recorded]
	// Sketch returns a reader of the lines that an arranger kept; see [Tree], About.
	Sketch func(lines iter.Seq2[Span, jsonl.Value]) map[Span]*Sketch
}

// Agent returns the name of the agent, which is pi for a nil Dialect.
func (d *Dialect) Agent() string {
	if d == nil {
		return "pi"
	}
	return d.Name
}

// Speaks returns the interface through which the agent calls a model; see Interface.
func (d *Dialect) Speaks(to rule.Asked) string {
	if d.InterfaceOf != nil {
		return d.InterfaceOf(to)
	}
	return d.Interface
}

// OwnerOf is Owner for any dialect, also one without.
func (d *Dialect) OwnerOf(name string, first jsonl.Value) string {
	if d == nil || d.Owner == nil {
		return ""
	}
	return d.Owner(name, first)
}

// Begins reports whether a text begins with one of these marks.
func Begins(text string, marks ...string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(text, mark) })
}

// Files lists the name suffixes of a session's documents, after a common beginning. Existing documents beside
// the session's own are read as lines after its own fields, in this order.
type Files struct {
	Own    string
	Beside []string
}

// Around returns the names of the documents beside a session's own; none for any other name.
func (f Files) Around(name string) (names []string) {
	if stem, ok := strings.CutSuffix(name, f.Own); ok && f.Own != "" {
		for _, end := range f.Beside {
			names = append(names, stem+end)
		}
	}
	return names
}

// OwnOf returns the possible names of the session's own document to which another one belongs.
func (f Files) OwnOf(name string) (names []string) {
	for _, end := range f.Beside {
		if stem, ok := strings.CutSuffix(name, end); ok && !strings.HasSuffix(name, f.Own) {
			names = append(names, stem+f.Own)
		}
	}
	return names
}

// A Store is the place where an agent keeps its sessions.
type Store struct {
	Variable string   // environment variable that names the agent's folder
	Home     string   // name of that folder in the home folder, if the variable is not set
	Folders  []string // folder in it, with sessions at any depth
	Settings string   // file with its settings in it; empty if no setting matters
}

// A Nest is a folder that holds sub-agents of a session, among other files.
type Nest struct {
	Dir  string
	Deep bool // its subfolders hold some too
	Own  bool // it holds no other session's, so one that cannot be read is missing from the costs
	// May reports, by its name, whether a file can be a sub-agent of the session. written is the time of the
	// last write to the session, or to a sub-agent found before.
	May func(name string, written time.Time) bool
}

// A Bulk is a field of lines that takes space.
type Bulk struct {
	About string
	Path  []string // its name, after those of the objects around it
	Line  bool     // the whole line counts if it has the field
	Spare bool     // no replay needs it
}

// A Certainty gives the certainty of each part of a context: exact (compared with the program), rule (known,
// not compared), absent (not in the file).
type Certainty struct {
	// `exact` (compared with the program), `rule` (by a known rule, not compared), `absent` (not in the file)
	Messages string `json:"messages"`
	System   string `json:"system"` // likewise, of the system prompt
	Tools    string `json:"tools"`  // likewise
	// rules or version that were not compared with the program
	Uncompared []string `json:"uncompared,omitempty"`
}

// A Request is what [Dialect].Compose needs besides the items of the context. Items are in the form of
// Message.Native, absent if there are none.
type Request struct {
	To     rule.Asked
	Prompt jsonl.Value // item of the system message in force
	First  jsonl.Value // item of the first answer after that
	Answer jsonl.Value // item of the answer to the request
}

// A Composer makes the messages of a request from the items of its context.
type Composer interface {
	// Add takes the next item, which is valid during the call, and returns the messages that are now complete.
	Add(item jsonl.Value) []jsonl.Value
	// End returns the remaining messages.
	End() []jsonl.Value
	// Copy returns a composer that continues from here for another request; nil if the messages so far would
	// differ in that request.
	Copy(to Request) Composer
}

// A Code classifies a line within its dialect. Skip and Unknown mean the same for all.
type Code uint8

// Codes that all dialects share.
const (
	Skip    Code = iota // neither an entry nor part of one
	Unknown             // a type that the dialect does not know
	First               // first code of the dialect's own
)

// A Head is what the index keeps about a line until it is arranged.
type Head struct {
	Code Code
	ID   jsonl.Value // id of the record itself; absent for none
	Ref  jsonl.Value // id of another record that it refers to
	// Group is a value that lines of one group share: the id of an answer, or of a call. A dialect may append
	// what its arranger needs.
	Group jsonl.Value
	Time  jsonl.Value // set by Scan
	// NoUsage reports that the line certainly has no usage.
	NoUsage bool
	Copied  bool     // the line names the session from which it was copied
	Rules   rule.Set // rules for its content
}

// ByKind returns the rule by which a record becomes an entry of that kind unchanged.
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

// ByBlocks returns the rules that the blocks of a message depend on.
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

// A Span is the range of a line, bytes.
type Span struct {
	Off  int64
	Size uint32
}

// A Line is a line while it is arranged.
type Line struct {
	Code           Code
	At             Span
	Number         uint32 // line number in its file, from 1
	Time           int64  // head of the line, from the index
	ID, Ref, Group []byte
	Own            bool // in the file that was opened, not in one that it continues; see Base
	Rules          rule.Set
}

// Untimed is the time of a line without one.
const Untimed = math.MinInt64 + 1

// Clone returns a copy of the line that stays valid.
func (l *Line) Clone() *Line {
	kept, texts := *l, slices.Concat(l.ID, l.Ref, l.Group)
	for _, text := range []*[]byte{&kept.ID, &kept.Ref, &kept.Group} {
		n := len(*text)
		*text, texts = texts[:n:n], texts[n:]
	}
	return &kept
}

// Kept describes prompts that a Transform keeps unchanged, so that the entry holds only new messages. Prompts
// are numbered on their path, from 0.
type Kept struct {
	From, To int // exclusive; also the number of the next prompt
	// Short is the space for the prompt before From, which was shortened, in tokens of the dialect; 0 if none
	// was. That prompt is the Transform's first message.
	Short   int
	Notes   int  // number of messages of the Transform before both
	Dropped int  // number of prompts taken back since
	Turn    bool // the summary counts as a prompt
}

// Before returns the number of messages of the Transform that precede the prompts it keeps.
func (k Kept) Before() int { return k.Notes + min(k.Short, 1) }

// Count returns the number of kept prompts.
func (k Kept) Count() int { return k.To - k.From }

// An Arranger turns lines into entries.
type Arranger interface {
	// Next takes the next line, which is valid during the call.
	Next(t Tree, l *Line)
	// End is called after the last line.
	End(t Tree)
}

// A Tree receives the entries that an arranger makes, which are identified by number. The first error, also one
// of reading, ends the session after the current line.
type Tree interface {
	// Add adds an entry of a kind, made by a rule from a line and others, as a child of the leaf, and makes it
	// the leaf. The entry also uses the rules of the line. If a line makes several entries, one after the
	// other, the second id is the first with ".1", and so on.
	Add(by rule.Rule, kind jsonl.Kind, l *Line, more ...Span) (entry int)
	// Join adds a line to an entry, which then uses these rules too.
	Join(by rule.Set, entry int, at Span)
	// Keep sets the prompts that a Transform keeps.
	Keep(entry int, k Kept)
	// Replace replaces one line of an entry, which then uses these rules too.
	Replace(by rule.Set, entry int, old, new Span)
	// Spans returns the ranges of the entry's lines.
	Spans(entry int) []Span
	// Unanswered marks, by a rule, an answer that ended badly and answers no request.
	Unanswered(by rule.Rule, entry int)
	// Counted sets the cost that the agent counted for one of its runs, in US dollars, replacing an earlier
	// one.
	Counted(run string, dollars float64)
	// Copied marks an entry that was copied from another session.
	Copied(entry int)
	// Delegated marks an entry that a sub-agent wrote into the session's file.
	Delegated(entry int)
	// Aside records a line without an entry that has a sub-agent's call: Make makes a usage entry of it.
	Aside(at Span)
	// Recorded marks an answer whose request a line records. About keeps a line that such records need.
	Recorded(entry int, at Span)
	About(at Span)
	// Leaf returns the entry that the next one follows, -1 for none. Move sets it by a rule, which the next
	// entry uses too. After the last line, it is where the agent would resume the session.
	Leaf() int
	Move(by rule.Rule, entry int)
	// Asked records the provider and model that answer requests, as texts.
	Asked(provider, model []byte)
	// Find returns the entry with an id, -1 for none.
	Find(id []byte) int
	// Read returns a line, valid until the next call; absent after an error.
	Read(at Span) jsonl.Value
	// Skim returns the result of the dialect's Skim for a line, valid until the next call.
	Skim(at Span) []jsonl.Value
	// Fail makes reading the session fail.
	Fail(err error)
	// Report adds a finding at a line, and at the entry with the line's id.
	Report(code string, l *Line, text string)
}

// A Base names what a forked session continues.
type Base struct {
	ID   string
	Keep int64 // bytes of the file that count; 0 if unknown
	Upto int64 // ordinal of the first line that does not count, if Keep is unknown
	// All reports that the whole file counts, and precedes the first line of the fork.
	All bool
	// Optional reports that the session can be read without the file; Beside, that it is only searched for in
	// the same folder.
	Optional, Beside bool
}

// Older reports whether a version precedes another one, see [rule.Versions].
func Older(version, than string) bool { return rule.Versions(version, than) < 0 }
