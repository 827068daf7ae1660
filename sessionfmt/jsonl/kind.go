package jsonl

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Kind is the kind of an entry: its type and, for a message, its role.
type Kind uint8

// Kinds of entries. Messages by role come first.
const (
	System Kind = iota
	User
	Assistant
	ToolResult
	Bash              // message with role bashExecution
	Custom            // message with role custom
	HookMessage       // message with role hookMessage; reads as Custom below version 3
	BranchMessage     // message with the stored role branchSummary
	CompactionMessage // message with the stored role compactionSummary
	TransformMessage  // message with role contextTransform, transcript only
	OtherMessage      // message of unknown role
	NoMessage         // message entry without a message object

	Compaction
	BranchSummary
	CustomMessage
	CustomEntry
	ContextEdit
	Transform // context_transform
	Ephemeral
	ModelChange
	ThinkingChange
	Label
	SessionInfo
	UsageEntry
	ChildUsage // child_usage_attributed of a variant of pi: the usage of an answer plus that of a sub-agent
	Deletion   // context_compaction of a variant: leaves out entries
	Reset      // reset or reset_boundary of a variant: leaves out all entries before the kept ones
	Tier       // service_tier_change of a variant; this and the next four have no effect
	Status     // agent_status
	State      // session_state
	Git        // git_state
	Retitled   // title_change: sets the session's name
	Header     // a session record; only the first is the header
	Slot       // title of a variant of pi: the session's name, on a line before the header
	Unknown    // an object of unknown type
	Scalar     // a JSON value that is not an object
)

// kinds lists the entry type and role of every kind, in the order of the constants.
var kinds = [256]struct{ typ, role string }{
	System:            {"message", "system"},
	User:              {"message", "user"},
	Assistant:         {"message", "assistant"},
	ToolResult:        {"message", "toolResult"},
	Bash:              {"message", "bashExecution"},
	Custom:            {"message", "custom"},
	HookMessage:       {"message", "hookMessage"},
	BranchMessage:     {"message", "branchSummary"},
	CompactionMessage: {"message", "compactionSummary"},
	TransformMessage:  {"message", "contextTransform"},
	OtherMessage:      {"message", ""},
	NoMessage:         {"message", ""},
	Compaction:        {"compaction", ""},
	BranchSummary:     {"branch_summary", ""},
	CustomMessage:     {"custom_message", ""},
	CustomEntry:       {"custom", ""},
	ContextEdit:       {"context_edit", ""},
	Transform:         {"context_transform", ""},
	Ephemeral:         {"ephemeral", ""},
	ModelChange:       {"model_change", ""},
	ThinkingChange:    {"thinking_level_change", ""},
	Label:             {"label", ""},
	SessionInfo:       {"session_info", ""},
	UsageEntry:        {"usage", ""},
	ChildUsage:        {"child_usage_attributed", ""},
	Deletion:          {"context_compaction", ""},
	Reset:             {"reset", ""},
	Tier:              {"service_tier_change", ""},
	Status:            {"agent_status", ""},
	State:             {"session_state", ""},
	Git:               {"git_state", ""},
	Retitled:          {"title_change", ""},
	Header:            {"session", ""},
	Slot:              {"title", ""},
}

// Type returns the entry type as pi writes it, empty for Unknown and Scalar.
func (k Kind) Type() string { return kinds[k].typ }

// Role returns a message's role as pi writes it, empty if it is not a known one.
func (k Kind) Role() string { return kinds[k].role }

// IsMessage reports whether the entry is of type message, with or without a message
// in it.
func (k Kind) IsMessage() bool { return k <= NoMessage }

// IsEntry reports whether the record is part of the tree.
func (k Kind) IsEntry() bool { return k != Header && k != Slot && k != Scalar }

// Replaceable reports whether a context_edit can replace the content of a message of that kind
// (docs/session-format.md 5.6).
func (k Kind) Replaceable() bool {
	switch k {
	case User, Assistant, ToolResult, Custom, CustomMessage:
		return true
	}
	return false
}

// MayPay reports whether a record of that kind can record a model call or a usage.
func (k Kind) MayPay() bool {
	switch k {
	case Assistant, ToolResult, Compaction, BranchSummary, UsageEntry, ChildUsage:
		return true
	}
	return false
}

// IsTurn reports whether the kind is part of a turn: a prompt, answer or result.
func (k Kind) IsTurn() bool { return k == User || k == Assistant || k == ToolResult }

// String returns the name of the kind: a message's role, else the type.
func (k Kind) String() string {
	switch {
	case k == Unknown:
		return "unknown"
	case k == Scalar:
		return "scalar"
	case k == NoMessage:
		return "message without message"
	case k == OtherMessage:
		return "message of unknown role"
	case k.Role() != "":
		return k.Role()
	}
	return k.Type()
}

// KindNames returns the names of the kinds of entries, as String does, in order.
func KindNames() []string {
	var names []string
	for k := System; k <= Unknown; k++ {
		if k.IsEntry() && k.Type() != "" && (k.Role() != "" || k > NoMessage) || k == Unknown {
			names = append(names, k.String())
		}
	}
	return names
}

// RoleKind returns the kind of a message with v as its role.
func (v Value) RoleKind() Kind {
	for k := System; k < OtherMessage; k++ {
		if v.Is(kinds[k].role) {
			return k
		}
	}
	return OtherMessage
}

// typeKind returns the kind of an entry of that type, other than a message.
func typeKind(typ Value) Kind {
	for k := Compaction; k <= Slot; k++ {
		if typ.Is(kinds[k].typ) {
			return k
		}
	}
	for _, other := range otherTypes {
		if typ.Is(other.typ) {
			return other.kind
		}
	}
	return Unknown
}

// IsSlot reports whether a line is of kind Slot.
func IsSlot(line Value) bool { return line.Get("type").Is(kinds[Slot].typ) }

// otherTypes are the names of these kinds in variants of pi.
var otherTypes = [...]struct {
	typ  string
	kind Kind
}{{"reset_boundary", Reset}, {"model_usage", UsageEntry}}

// Model returns the model that a model_change sets, as raw JSON strings. A variant of pi has both in one field,
// as provider/id.
func (v Value) Model() (provider, id Value) {
	var f [3]Value
	v.Fields(f[:], "provider", "modelId", "model")
	if both, after, ok := strings.Cut(f[2].Text(), "/"); ok && !f[1].Exists() {
		return AppendQuoted(nil, both), AppendQuoted(nil, after)
	}
	return f[0], f[1]
}

// A Pick names fields that a reader wants, of records and of their messages. It cannot name the fields that
// every Picked has, nor the type, message and role that determine its Kind.
type Pick struct {
	Record, Message []string
	// fields of the parts of a message's content if that is an array; Message must then have content
	Part []string
	As   Names
	// Known are fields of messages that need no picking: any other field makes a record Strange. Nil for any.
	Known []string
}

// Names are a format's names for the fields that every record has. The zero value is pi's: id, parentId and
// message. Time is timestamp unless it is set.
type Names struct{ ID, Parent, Message, Time string }

// A Picked is a record: its head, which determines its place in the session, and the picked fields, nil if
// absent.
type Picked struct {
	// offset of the line in the file, bytes; see Session.Offset in package sessionfmt
	Off                           int64
	Line                          Value
	Kind                          Kind
	Type, ID, ParentID, Timestamp Value
	Role                          Value   // picked fields of its message
	Record, Message               []Value // in the order of their names
	Parts                         []Value // picked fields of each part, one after the other
	BadUTF8                       bool    // the line has bytes that are not UTF-8; Prefix cannot tell
	Unanswered                    bool    // an answer to no request; see Session.Answers in package sessionfmt
	Strange                       bool    // its message has a field that is neither picked nor known
	Delegated                     bool    // written by a sub-agent; see Session.Delegated there
	Call                          *Call   // in place of the fields; see Options.Usages there

	by   *HeadReader
	said *Message // set after it is read
}

// A Call is what a record tells about a model call, under pi's names.
type Call struct {
	ID, Time                    Value // id of the record, if it makes no entry
	Provider, Model, ResponseID Value
	Shared                      Value // id that its copies share although their entry ids differ
	Usage                       Usage
	Used                        bool // a usage is recorded
}

// Said returns the message of a message entry, valid as long as the record.
func (p *Picked) Said() *Message {
	if p.said == nil {
		p.said = &p.by.said
		p.said.ReadEntry(p.by.at.Reset(p.Line), p.Kind)
	}
	return p.said
}

// A HeadReader reads heads of lines. The result is valid until the next line.
type HeadReader struct {
	scan Scanner
	top  fields
	msg  fields
	read Picked
	said Message // result of Picked.Said
	at   Cursor
}

// NewHeadReader returns a HeadReader that also reads the fields that pick names.
func NewHeadReader(pick Pick) *HeadReader {
	r := &HeadReader{}
	as := pick.As
	if as == (Names{}) {
		as = Names{ID: "id", Parent: "parentId", Message: "message"}
	}
	topNames := []string{"type", as.ID, as.Parent, cmp.Or(as.Time, "timestamp"), as.Message}
	r.msg = newFields(msgNames, pick.Message)
	r.msg.known = pick.Known
	if len(pick.Part) > 0 {
		parts := newFields(pick.Part, nil)
		r.msg.listed, r.msg.parts = slices.Index(r.msg.names, "content"), &parts
	}
	r.top = newFields(topNames, pick.Record)
	r.top.nested, r.top.inner = 4, &r.msg
	r.read.Record, r.read.Message = r.top.vals[len(topNames):], r.msg.vals[len(msgNames):]
	return r
}

var msgNames = []string{"role"}

func newFields(names, more []string) fields {
	names = slices.Concat(names, more)
	return fields{names: names, vals: make([]Value, len(names)), nested: -1, places: placesOf(names)}
}

// Read validates the whole line. JSON that is not an object has the kind Scalar.
func (r *HeadReader) Read(line []byte) (*Picked, *SyntaxError) {
	r.top.reset()
	r.scan.wide, r.scan.parts = false, r.scan.parts[:0]
	i, end := SkipSpace(line, 0), 0
	scalar := i < len(line) && line[i] != '{'
	switch {
	case i == len(line):
		end = fail(i, failEnd)
	case scalar:
		end = r.scan.value(line, i)
	default:
		end = r.scan.object(line, i, &r.top)
	}
	if end = r.scan.whole(line, end); end < 0 {
		return nil, failed(end)
	}
	h, v := r.fresh(), r.top.vals
	h.BadUTF8 = r.scan.wide && !utf8.Valid(line)
	h.Role, h.Strange, h.Parts = r.msg.vals[0], r.msg.strange, h.Parts[:0]
	for _, at := range r.scan.parts {
		var v Value
		if at.to > 0 {
			v = Value(line[at.from:at.to])
		}
		h.Parts = append(h.Parts, v)
	}
	h.Line, h.Type, h.ID, h.ParentID, h.Timestamp = Trim(line), v[0], v[1], v[2], v[3]
	switch {
	case scalar:
		h.Kind = Scalar
	case !h.Type.Is("message"):
		h.Kind = typeKind(h.Type)
	case !v[4].IsObject():
		h.Kind = NoMessage
	default:
		h.Kind = r.msg.vals[0].RoleKind()
	}
	return h, nil
}

// Typed returns a record that is known without its JSON: its head, its fields, those of its message, and the
// message.
func (r *HeadReader) Typed(p Picked, record, message []Field, said *Message) *Picked {
	r.top.reset()
	r.top.take(record)
	r.msg.take(message)
	p.Record, p.Message, p.by, p.said = r.read.Record, r.read.Message, r, said
	if p.Type == nil {
		p.Type = spelled[p.Kind].typ
	}
	if said != nil {
		p.Role = spelled[p.Kind].role
	}
	r.read = p
	return &r.read
}

func (f *fields) take(from []Field) {
	for _, field := range from {
		for k, name := range f.names {
			if name == field.Name {
				f.vals[k] = field.Value
			}
		}
	}
}

// spelled has the types and roles as JSON.
var spelled = func() (all [Scalar + 1]struct{ typ, role Value }) {
	for k := range all {
		all[k].typ, all[k].role = AppendQuoted(nil, Kind(k).Type()), AppendQuoted(nil, Kind(k).Role())
	}
	return all
}()

// fresh returns the memory for the next record.
func (r *HeadReader) fresh() *Picked {
	r.read.by, r.read.said, r.read.Call = r, nil, nil
	return &r.read
}

// Prefix reads the head of a line that pi wrote from its first bytes only: type, id, parentId, timestamp in
// that order, and for a message the role if that comes first. It validates nothing, and returns false for any
// other line, which Read must then read.
func (r *HeadReader) Prefix(line []byte) (h *Picked, ok bool) {
	h = r.fresh()
	h.Line, h.Role, h.BadUTF8 = line, nil, false
	rest := line
	for _, m := range []struct {
		name string
		to   *Value
	}{{`{"type":`, &h.Type}, {`,"id":`, &h.ID}, {`,"parentId":`, &h.ParentID}, {`,"timestamp":`, &h.Timestamp}} {
		if *m.to, rest, ok = cutMember(rest, m.name); !ok {
			return nil, false
		}
	}
	if !h.Type.Is("message") {
		h.Kind = typeKind(h.Type)
		return h, h.Kind != Unknown
	}
	h.Role, _, ok = cutMember(rest, `,"message":{"role":`)
	h.Kind = h.Role.RoleKind()
	return h, ok && h.Kind != OtherMessage
}

// cutMember removes `,"name":` and a plain string or null from the front of b.
func cutMember(b []byte, name string) (v Value, rest []byte, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte(name))
	if !ok || len(b) == 0 {
		return nil, nil, false
	}
	if b[0] == 'n' {
		if rest, ok = bytes.CutPrefix(b, []byte("null")); ok {
			return Value(b[:4]), rest, true
		}
		return nil, nil, false
	}
	if b[0] != '"' {
		return nil, nil, false
	}
	end := bytes.IndexByte(b[1:], '"')
	if end < 0 || bytes.IndexByte(b[1:1+end], '\\') >= 0 {
		return nil, nil, false
	}
	return Value(b[:end+2]), b[end+2:], true
}

// BrokenHead reads id and parent from the beginning of an incomplete or invalid line, if they are in pi's
// order. A root has the parent "".
func BrokenHead(line []byte) (id, parent string, ok bool) {
	v, rest, ok := cutMember(line, `{"type":`)
	if !ok || v.IsNull() {
		return "", "", false
	}
	v, rest, ok = cutMember(rest, `,"id":`)
	if !ok || v.IsNull() {
		return "", "", false
	}
	up, _, ok := cutMember(rest, `,"parentId":`)
	return v.Text(), up.Text(), ok
}

// ValueLen returns the length of the JSON value at the beginning of b, regardless of what
// follows. If there is none, n is how far b was read to detect that.
func ValueLen(b []byte) (n int, ok bool) {
	var s Scanner
	if n = s.value(b, 0); n < 0 {
		return failed(n).Offset, false
	}
	return n, true
}

// Version reads a header's version as JavaScript's comparisons would (docs/session-format.md
// 1.4): a missing one is 1, and text that is not a number counts as 3.
func (v Value) Version() (version int, ok bool) {
	if v.IsNull() {
		return 1, true
	}
	n, err := strconv.ParseFloat(TrimJS(cmp.Or(v.Text(), string(v))), 64)
	switch {
	case err != nil:
		return 3, false
	case n > 3:
		return int(max(4, min(n, 1<<30))), true
	case n > 2:
		return 3, true
	}
	return max(1, int(n)), true
}
