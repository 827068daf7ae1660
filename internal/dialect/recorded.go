package dialect

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"ctxtool/internal/rule"
	"ctxtool/sessionfmt/jsonl"
)

// A Recorded is a request as its agent recorded it beside the conversation
// (docs/session-format.md 16.9).
type Recorded struct {
	Line     int    // of its record, from 1
	ID       string // of the record
	Source   string // what asked: the conversation, a summary, a title
	Answer   string // the id of the line that begins its answer, empty for none
	Proof    Proof
	Options  Options
	Messages *Sent // as they were sent, but for marks for the cache; nil where the proof is Gone
}

// Options are what a request asks for besides its prompt and messages; what it does not name is absent.
type Options struct{ Reasoning, Temperature, MaxTokens jsonl.Value }

// Sent are the messages of a request: the first ones of another, and more.
type Sent struct {
	base *Sent
	keep int // of the base's
	tail []Turn
}

// NewSent returns the messages of a request that begins with those of another; nil for none.
func NewSent(base *Sent, keep int, tail []Turn) *Sent { return &Sent{base, keep, tail} }

// Len is the number of messages.
func (s *Sent) Len() int { return s.keep + len(s.tail) }

// From returns the messages from an index on.
func (s *Sent) From(k int) (turns []Turn) {
	var parts [][]Turn
	for end := s.Len(); s != nil && end > k; s = s.base {
		if end > s.keep {
			parts = append(parts, s.tail[max(0, k-s.keep):end-s.keep])
			end = s.keep
		}
	}
	for _, part := range slices.Backward(parts) {
		turns = append(turns, part...)
	}
	return turns
}

// Shared is how many leading messages are known to be the same as those of another request, which it
// builds on.
func (s *Sent) Shared(other *Sent) int {
	if s.base == nil || s.base != other {
		return 0
	}
	return s.keep
}

// A Turn is a message of a request, in canonical spelling.
type Turn struct {
	Role   jsonl.Value
	Parts  []jsonl.Value // of its content, without marks for the cache
	Fields []jsonl.Field // others, sorted by name
}

// A Proof is what a recorded request says of what was sent.
type Proof string

// The proofs.
const (
	Proved   Proof = "proved"   // its digest holds: this was sent
	Cut      Proof = "cut"      // the digest of what the agent shortened holds: more was sent
	Withheld Proof = "withheld" // the digest does not hold, and options were not recorded
	Unproved Proof = "unproved" // the digest does not hold
	Gone     Proof = "gone"     // a message, or the request that it builds on, is not in the file
)

// Exact reports whether its messages are what was sent, and all that the agent sent of itself.
func (r *Recorded) Exact() bool { return r.Proof == Proved || r.Proof == Cut }

// Items yields the messages of the request, in the provider's form.
func (r *Recorded) Items(yield func(jsonl.Value, error) bool) {
	for _, t := range r.Messages.From(0) {
		if !yield(t.AppendJSON(nil), nil) {
			return
		}
	}
}

// Unlike compares messages from an index on with those of the request. It returns the index of the
// first that differs, and -1 if none does.
func (r *Recorded) Unlike(turns []Turn, from int) int {
	sent := r.Messages.From(from)
	for k, t := range turns[min(from, len(turns)):] {
		if k >= len(sent) || !t.equal(sent[k]) {
			return from + k
		}
	}
	if len(turns) < r.Messages.Len() {
		return len(turns)
	}
	return -1
}

func (t Turn) equal(other Turn) bool {
	same := func(a, b jsonl.Value) bool { return bytes.Equal(a, b) }
	field := func(a, b jsonl.Field) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) }
	return bytes.Equal(t.Role, other.Role) && slices.EqualFunc(t.Parts, other.Parts, same) &&
		slices.EqualFunc(t.Fields, other.Fields, field)
}

// TurnOf returns a message in the provider's form.
func TurnOf(m jsonl.Value) (t Turn) {
	for name, v := range m.Ordered {
		switch name {
		case "role":
			t.Role = slices.Clone(v)
		case "content":
			t.Parts = CanonicalParts(v)
		case CacheMark:
		default:
			t.Fields = append(t.Fields, jsonl.Field{Name: name, Value: AppendCanonical(nil, v, false)})
		}
	}
	slices.SortFunc(t.Fields, func(a, b jsonl.Field) int { return compareNames(a.Name, b.Name) })
	return t
}

// AddTurn adds a message in the provider's form, as JoinTurn does.
func AddTurn(turns []Turn, m jsonl.Value) []Turn {
	return JoinTurn(turns, TurnOf(m))
}

// JoinTurn adds a message: to the last one, if both are the user's and have nothing but a content.
func JoinTurn(turns []Turn, t Turn) []Turn {
	plain := func(t *Turn) bool { return t.Role.Is("user") && t.Fields == nil }
	if last := len(turns) - 1; last >= 0 && plain(&t) && plain(&turns[last]) {
		turns[last].Parts = slices.Concat(turns[last].Parts, t.Parts)
		return turns
	}
	return append(turns, t)
}

// AppendJSON appends the message, its role first.
func (t Turn) AppendJSON(dst []byte) []byte {
	dst = append(append(append(dst, `{"role":`...), t.Role...), `,"content":`...)
	dst = append(dst, List(t.Parts...)...)
	for _, f := range t.Fields {
		dst = append(append(jsonl.AppendQuoted(append(dst, ','), f.Name), ':'), f.Value...)
	}
	return append(dst, '}')
}

// AppendCanonical appends the message in canonical spelling.
func (t Turn) AppendCanonical(dst []byte) []byte {
	members := map[string][]byte{"content": List(t.Parts...), "role": t.Role}
	for _, f := range t.Fields {
		members[f.Name] = f.Value
	}
	return CanonicalObject(dst, members)
}

// List is an array of values.
func List(of ...jsonl.Value) jsonl.Value {
	all := jsonl.Value{'['}
	for k, v := range of {
		if k > 0 {
			all = append(all, ',')
		}
		all = append(all, v...)
	}
	return append(all, ']')
}

// CanonicalParts are the parts of a content in canonical spelling, without marks for the cache. A
// text is one part.
func CanonicalParts(content jsonl.Value) (parts []jsonl.Value) {
	if content.IsString() {
		text := jsonl.AppendQuoted([]byte(`{"text":`), content.Exact())
		return []jsonl.Value{append(text, `,"type":"text"}`...)}
	}
	for p := range content.Elements {
		parts = append(parts, AppendCanonical(nil, p, false))
	}
	return parts
}

// CacheMark is the member by which a client asks the provider to cache what comes before.
const CacheMark = "cache_control"

// AppendCanonical appends a value without white space, with the members of objects sorted by the
// UTF-16 units of their names, texts as JSON.stringify spells them, and numbers as they stand.
// Without marks it leaves out those for the cache, at any depth.
func AppendCanonical(dst []byte, v jsonl.Value, marks bool) []byte {
	switch {
	case v.IsString():
		return jsonl.AppendQuoted(dst, v.Exact())
	case v.IsArray():
		dst = append(dst, '[')
		open := len(dst)
		for e := range v.Elements {
			if len(dst) > open {
				dst = append(dst, ',')
			}
			dst = AppendCanonical(dst, e, marks)
		}
		return append(dst, ']')
	case v.IsObject():
		members := map[string][]byte{}
		for name, val := range v.Ordered {
			if marks || name != CacheMark {
				members[name] = AppendCanonical(nil, val, marks)
			}
		}
		return CanonicalObject(dst, members)
	}
	return append(dst, v...)
}

// CanonicalObject appends an object of members that are in canonical spelling.
func CanonicalObject(dst []byte, members map[string][]byte) []byte {
	names := slices.SortedFunc(maps.Keys(members), compareNames)
	dst = append(dst, '{')
	for k, name := range names {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(jsonl.AppendQuoted(dst, name), ':'), members[name]...)
	}
	return append(dst, '}')
}

// A Reading tells how a session is read. All reports on sessions have it.
type Reading struct {
	// that wrote the session: `pi`, `oh-my-pi`, `codex`, `claude`, `gemini`, `gsh`, `swe-cli`, `y-agent`, `opencode`,
	// `opencode2`, `openclaw`
	Agent     string     `json:"agent,omitempty"`
	Certainty *Certainty `json:"certainty,omitempty"` // how sure the reader is of the parts of a context; of pi's, in `replay` alone
}

// Reading returns how a session of a dialect is read, by the rules that it used, the version of the program
// that wrote it, and who was asked; no dialect is pi's.
func (d *Dialect) Reading(used rule.Set, version string, asked ...rule.Asked) Reading {
	r := Reading{Agent: d.Agent()}
	if d != nil {
		r.Certainty = d.Certainty.Earned(d.Rules, used, version, asked...)
	}
	return r
}

// Earned returns the certainty with messages that are exact if all rules used were compared with a version
// of the program, and else with the names of those that were not. Of a version of which no request was compared,
// that is all it says.
func (c Certainty) Earned(t *rule.Table, used rule.Set, version string, asked ...rule.Asked) *Certainty {
	if t == nil {
		return &c
	}
	left := t.Uncompared(used, version, asked...)
	if len(left) == 0 {
		c.Messages = "exact"
	}
	switch known := slices.Contains(t.Versions(), version); {
	case len(left) > 0 && !known && version == "":
		c.Uncompared = []string{unnamed}
	case len(left) > 0 && !known:
		c.Uncompared = []string{"version " + version}
	default:
		for _, r := range left {
			c.Uncompared = append(c.Uncompared, t.Info(r).Name)
		}
	}
	return &c
}

// unnamed stands for the version of a program that is not in its files.
const unnamed = "a version that the file does not name"

// OhMyPi is the name of oh-my-pi, which writes sessions in pi's format.
const OhMyPi = "oh-my-pi"

// Variant returns how a session of a variant of pi is read: by pi's rules, which were compared with pi alone.
// The system prompt and the tools are not in its files.
func Variant(agent string) Reading {
	return Reading{Agent: agent, Certainty: &Certainty{Messages: "rule", System: "absent", Tools: "absent",
		Uncompared: []string{unnamed}}}
}

// String names the agent, and describes the certainty in words.
func (r Reading) String() string {
	s, c := "a session of "+r.Agent, r.Certainty
	if c == nil {
		return s
	}
	left := ""
	switch n := len(c.Uncompared); {
	case n > mostNamed:
		left = fmt.Sprintf(" (not compared: %s and %d more)", strings.Join(c.Uncompared[:mostNamed], ", "), n-mostNamed)
	case n > 0:
		left = " (not compared: " + strings.Join(c.Uncompared, ", ") + ")"
	}
	s += ": messages " + inWords[c.Messages] + left
	if c.System == c.Tools {
		return s + ", system prompt and tools " + inWords[c.System]
	}
	return s + ", system prompt " + inWords[c.System] + ", tools " + inWords[c.Tools]
}

// mostNamed is how many rules a sentence names.
const mostNamed = 4

// inWords are the certainties in a sentence.
var inWords = map[string]string{"exact": "exact", "rule": "by rule", "absent": "not in the file"}

// A Database is an SQLite database with the sessions of an agent. A session is read as lines:
// its row in the table of sessions, and its rows in other tables. A line is an object of the
// columns, after the name of the table as table, and before the time of the row as timestamp.
type Database struct {
	Files    string // the names of databases, a pattern of [path/filepath.Match]
	Sessions string // the table with a row for each session
	ID       string // the column of that table with the id of the session
	Parent   string // the column of that table with the session that a sub-agent works for
	// Rows are tables with what a session has. Those of the first one count that has rows of the
	// session, and begins as it should.
	Rows []Table
	// Time is when a row was written, milliseconds since 1970, 0 if that is not known.
	Time func(line jsonl.Value) int64
}

// A Table is one with rows of sessions.
type Table struct {
	Name    string
	Session string   // the column with the id of what its rows belong to
	Order   []string // the columns by which they are ordered
	Begins  string   // how the type of the first row begins, empty for anything
	// Packed is a column with what the column Unpacked has in other rows, packed by zstd. Empty for
	// none.
	Packed, Unpacked string
	Parts            *Table // has more rows, which belong to a row of this one, and follow it
}

// compareNames orders names by their UTF-16 units, as JavaScript sorts.
func compareNames(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}
