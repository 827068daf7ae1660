// Package chat is shared by dialects whose lines are messages in the order in which they were sent, after a
// line about the session. Such a dialect is a Format and a function that reads a line.
//
// # Reading
//
// One function reads the line about the session, one turns a line into messages, in one pass of a cursor into
// reused lists. Entries made from the same lines, such as an answer and its results, are made together
// (dialect.Source.Entries), and a reader keeps them for the next one; for a line with many results, they are
// made one by one from the blocks read (dialect.Source.Again). The pass that validates a line also finds its
// kind (dialect.Dialect.Scan), so only other lines are read twice. The tools that a line calls are kept for the
// results that follow (dialect.Source.Keep).
//
// The package marks records without usage, gives a result the line of its call, and writes entries. Two
// functions of the Format handle other content of a line, and entries without a message (Format.Other,
// Format.Make). A line without an id gets its CRC-32C, which stays the same when the agent rewrites its file
// with fewer lines. A list of messages beside a document is a base that may be missing.
package chat

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"slices"
	"sync"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A Format describes the lines of such a dialect.
type Format struct {
	// About returns what a line tells about the session; ok is false for all other lines.
	About func(line jsonl.Value) (a About, ok bool)
	// Read appends the messages of a line to r.Said, in order, for example an answer and the results of its
	// calls. A line without messages is of unknown type. It also sets the other fields of r for the line.
	Read func(r *Reader, line jsonl.Value)
	// Signed are the rules for the signatures of answers with thinking or calls.
	Signed rule.Set
	Sums   bool // a line without an id gets its checksum as one
	// Other returns the code of a line that is neither; nil if there are none.
	Other func(p *jsonl.Picked) (h dialect.Head, known bool)
	// Make makes the entries of a kind without a message.
	Make map[jsonl.Kind]func(f *Format, s *dialect.Source)
}

// A Reader holds what was read from a line. It is reused for each line.
type Reader struct {
	Said   []Said
	Calls  []Call // the answer to which results belong, while it is read
	Native bool   // the native form is requested

	ID, Stamp jsonl.Value // id of the line
	Ref       jsonl.Value // id of the line that it follows, if lines name it
	Group     jsonl.Value // value for the arranger, see [dialect.Head]
	Rules     rule.Set    // rules of the content, besides those of its blocks
	Else      bool        // the line may be more than its messages

	jsonl.Cursor
	own  []jsonl.Block // blocks of the message that is being read
	kept []jsonl.Block // blocks of the others
	used jsonl.Usage
	to   *dialect.Source // texts that are not in the line
	none dialect.Source  // receives the code if the line is only classified
}

// Looks reports whether the line is only classified, and nothing is made of it.
func (r *Reader) Looks() bool { return r.to == &r.none }

// To returns the model for which the native form is requested.
func (r *Reader) To() rule.Asked { return r.to.To }

// Own appends a block to the message that is being read.
func (r *Reader) Own(b jsonl.Block) { r.own = append(r.own, b) }

// Take returns the blocks of the message that was read, after those in first.
func (r *Reader) Take(first ...jsonl.Block) []jsonl.Block {
	r.own = slices.Insert(r.own, 0, first...)
	return r.own[:len(r.own):len(r.own)]
}

// Spoken returns the blocks of an answer: thinking, text and calls, of the message that was read. It omits
// empty texts.
func (r *Reader) Spoken(text jsonl.String, thoughts ...jsonl.String) []jsonl.Block {
	var first [3]jsonl.Block
	n := 0
	for _, thought := range thoughts {
		if HasText(thought.Value) {
			first[n] = Thinking(thought)
			n++
		}
	}
	if HasText(text.Value) {
		first[n] = Text(text)
		n++
	}
	return r.Take(first[:n]...)
}

// Keep returns a content of one block, separate from the message that is being read.
func (r *Reader) Keep(b jsonl.Block) []jsonl.Block {
	r.kept = append(r.kept, b)
	n := len(r.kept)
	return r.kept[n-1 : n : n]
}

// Join joins strings as spelled to one string.
func (r *Reader) Join(parts ...[]byte) jsonl.String { return r.to.Make(parts...).Spelled() }

// Stringify returns the JSON of a value as a string that is valid as long as what is made of the line.
func (r *Reader) Stringify(v jsonl.Value) jsonl.String { return r.to.Stringify(&r.Cursor, v) }

// Used returns the usage of the answer; a line has at most one.
func (r *Reader) Used(u jsonl.Usage) *jsonl.Usage {
	r.used = u
	return &r.used
}

var readers = sync.Pool{New: func() any { return new(Reader) }}

// read reads a line, for a source or to classify it. The caller must call done afterwards.
func (f *Format) read(line jsonl.Value, to *dialect.Source) *Reader {
	r := readers.Get().(*Reader)
	if r.to = to; to == nil {
		r.to = &r.none
	}
	r.Native = r.to.Native
	f.Read(r, line)
	return r
}

// done releases a line.
func (r *Reader) done() {
	clear(r.Said)
	clear(r.Calls)
	clear(r.own)
	clear(r.kept)
	r.none.Reset()
	r.Reset(nil)
	r.Said, r.Calls, r.own, r.kept, r.to = r.Said[:0], r.Calls[:0], r.own[:0], r.kept[:0], nil
	r.ID, r.Stamp, r.Ref, r.Group, r.Rules, r.Else = nil, nil, nil, nil, 0, false
	readers.Put(r)
}

// A Call is a call of an answer, with what it returned. Absent values are nil.
type Call struct {
	ID, Name, Args, Failure, Status, Time jsonl.Value
	Result                                jsonl.String
	Blocks                                []jsonl.Block // id of the result
	Failed                                bool          // a part of the result marks it as an error
}

// An About is the content of a header. Absent values are nil.
type About struct{ ID, CWD, Time, Parent, Title jsonl.Value }

// A Said is a message of a line.
type Said struct {
	// Kind is System, User, Assistant, ToolResult or Custom; CustomEntry for a message that is not
	// sent, and ChildUsage for the usage of a whole turn, which the answer before it ends.
	Kind   jsonl.Kind
	Type   string // type of a Custom or CustomEntry
	Time   jsonl.Value
	Blocks []jsonl.Block

	Call, Tool jsonl.Value // for a result: the id of its call and the tool, nil if another line has it
	Failed     bool        // for a result
	Untold     bool        // for a result: the agent does not record whether it failed

	Provider, Model jsonl.Value // for an answer
	Usage           *jsonl.Usage

	Native []byte // its native form, an array without its brackets
}

// Text returns a block with a text, which is a string or null.
func Text(text jsonl.String) jsonl.Block {
	return jsonl.Block{Kind: jsonl.TextBlock, Text: text}
}

// HasText reports whether a value is a text that is not empty.
func HasText(v jsonl.Value) bool { return len(v) > len(`""`) && v.IsString() }

// Thinking is Text for thinking.
func Thinking(text jsonl.String) jsonl.Block {
	return jsonl.Block{Kind: jsonl.ThinkingBlock, Text: text}
}

// Result returns the content of a result: a text as it stands, any other value as JSON.
func Result(v jsonl.String) jsonl.Block {
	if v.IsString() {
		return Text(v)
	}
	return Text(Quoted(v.AppendMinified(nil)))
}

// Quoted returns a text as a JSON string.
func Quoted(text []byte) jsonl.String { return jsonl.Value(jsonl.AppendQuoted(nil, text)).Spelled() }

// Dialect completes a dialect whose lines have a format.
func Dialect(d dialect.Dialect, f Format) dialect.Dialect {
	d.Session = func(line jsonl.Value) jsonl.Value {
		a, _ := f.About(line)
		return a.ID
	}
	d.Read, d.Scan = f.head, f.scan
	if d.Make = f.make; d.New == nil {
		d.New = func() dialect.Arranger { return NewArranger(f) }
	}
	return d
}

// Codes of lines: one for each kind of message, for lines with a single message, and for each number of
// results, up to mostResults, after an answer with calls or alone. Dialects have their own codes from theirs
// on.
const (
	about   dialect.Code = dialect.First + iota
	titled               // about the session, with a title
	several              // other messages
	single               // plus the kind of the message
	calling dialect.Code = 0x40
	results dialect.Code = 0x60

	mostResults = 0x1f

	theirs dialect.Code = 0x80 // and above: a dialect's own, which a list of messages does not have
)

// WithoutResults returns the code of an answer whose results another line repeats; any other code is returned
// unchanged.
func WithoutResults(code, next dialect.Code) dialect.Code {
	if n := code - calling; IsMessage(code) && code > calling && code < results && next == results+n {
		return calling
	}
	return code
}

// IsMessage reports whether a line has messages.
func IsMessage(code dialect.Code) bool { return code >= several && code < theirs }

// Answers reports whether a line has an answer and nothing else.
func Answers(code dialect.Code) bool {
	return code == calling || code == single+dialect.Code(jsonl.Assistant)
}

// KindOf returns the kind of the message with which a line begins, Unknown if it has several besides results.
func KindOf(code dialect.Code) jsonl.Kind {
	switch {
	case !IsMessage(code) || code == several:
		return jsonl.Unknown
	case code >= results:
		return jsonl.ToolResult
	case code >= calling:
		return jsonl.Assistant
	}
	return jsonl.Kind(code - single)
}

// Results returns the number of results in a line that has nothing else.
func Results(code dialect.Code) int { return max(0, int(code)-int(results)) }

// scan implements Scan of the dialect.
func (f *Format) scan(text jsonl.Value) (h dialect.Head, size int) {
	r := f.read(text, nil)
	defer r.done()
	line := r.Since(0)
	if len(r.Said) == 0 || r.Else {
		return h, 0
	}
	h = dialect.Head{ID: r.ID, Ref: r.Ref, Group: r.Group, Code: codeOf(r.Said), Time: r.Stamp, Rules: r.Rules,
		NoUsage: !slices.ContainsFunc(r.Said, hasUsage)}
	for k := range r.Said {
		h.Rules |= dialect.ByBlocks(r.Said[k].Blocks)
	}
	if h.Rules.Has(rule.Thinking) || h.Rules.Has(rule.Call) {
		h.Rules |= f.Signed
	}
	if f.Sums && !h.ID.Exists() {
		h.ID = sum(line)
	}
	return h, len(line)
}

func hasUsage(m Said) bool { return m.Usage != nil }

// head implements Read of the dialect.
func (f *Format) head(p *jsonl.Picked) dialect.Head {
	if f.Other != nil {
		if h, known := f.Other(p); known {
			return h
		}
	}
	if h, size := f.scan(p.Line); size > 0 {
		return h
	}
	if a, ok := f.About(p.Line); ok {
		if len(a.Title) > len(`""`) && a.Title.IsString() {
			return dialect.Head{Code: titled, ID: a.ID}
		}
		return dialect.Head{Code: about, ID: a.ID}
	}
	return dialect.Head{Code: dialect.Unknown, ID: p.ID}
}

// sum returns the id of a line without one: its CRC-32C, in hex. It stays the same when an agent rewrites its
// file with fewer lines before it. It ignores newlines of a document and the white space around them.
func sum(line jsonl.Value) jsonl.Value {
	crc := uint32(0)
	for part := range bytes.Lines(line) {
		crc = crc32.Update(crc, castagnoli, jsonl.Trim(part))
	}
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc)
	id := append(make(jsonl.Value, 0, 2*len(sum)+2), '"')
	return append(hex.AppendEncode(id, sum[:]), '"')
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// codeOf returns the code of a line with messages.
func codeOf(said []Said) dialect.Code {
	n := 0
	for n < len(said) && said[len(said)-1-n].Kind == jsonl.ToolResult {
		n++
	}
	switch lead := said[:len(said)-n]; {
	case n > mostResults || len(lead) > 1:
		return several
	case len(lead) == 0:
		return results + dialect.Code(n)
	case lead[0].calls():
		return calling + dialect.Code(n)
	case n > 0:
		return several
	}
	return single + dialect.Code(said[0].Kind)
}

// calls reports whether a message has calls.
func (s *Said) calls() bool { return slices.ContainsFunc(s.Blocks, isCall) }

func isCall(b jsonl.Block) bool { return b.Kind == jsonl.CallBlock }

// An Arranger makes the entries of messages in order.
type Arranger struct {
	f     Format
	begun bool           // the header was added
	asked bool           // an entry was added
	other bool           // messages are in another file, which takes precedence
	calls []dialect.Span // the last line with calls, if any
}

// NewArranger returns an arranger of lines of a format.
func NewArranger(f Format) *Arranger { return &Arranger{f: f} }

// Begin adds the header before the first line, which may be about the session: some files only have messages.
func (a *Arranger) Begin(t dialect.Tree, l *dialect.Line) {
	if a.begun {
		return
	}
	a.begun = true
	header := *l
	if l.Code != about && l.Code != titled {
		header.ID = nil
	}
	t.Add(rule.Aside, jsonl.Header, &header)
	header.ID = nil
	if l.Code == titled {
		t.Add(rule.Aside, jsonl.SessionInfo, &header)
	}
}

// Next implements [dialect.Arranger].
func (a *Arranger) Next(t dialect.Tree, l *dialect.Line) {
	a.Begin(t, l)
	a.other = a.other || !l.Own
	switch {
	case l.Code == about, l.Code == titled, l.Own && a.other:
	case l.Code == dialect.Unknown, l.Code >= theirs:
		t.Add(rule.Unread, jsonl.Unknown, l)
	case l.Code >= results:
		a.results(t, l, l.Code-results)
	case l.Code >= calling:
		a.calls = append(a.calls[:0], l.At)
		a.add(t, l, jsonl.Assistant)
		a.results(t, l, l.Code-calling)
	case l.Code >= single:
		a.add(t, l, jsonl.Kind(l.Code-single))
	default:
		a.several(t, l)
	}
}

// several adds the messages of a line.
func (a *Arranger) several(t dialect.Tree, l *dialect.Line) {
	r := a.f.read(t.Read(l.At), nil)
	defer r.done()
	for i := range r.Said {
		if r.Said[i].calls() {
			a.calls = append(a.calls[:0], l.At)
		}
		a.add(t, l, r.Said[i].Kind)
	}
}

// results adds n results.
func (a *Arranger) results(t dialect.Tree, l *dialect.Line, n dialect.Code) {
	for range n {
		a.add(t, l, jsonl.ToolResult)
	}
}

// add adds a message. Only the first entry can be the prompt. A result includes the line of its call, if that
// is another one.
func (a *Arranger) add(t dialect.Tree, l *dialect.Line, kind jsonl.Kind) {
	if kind == jsonl.System && a.asked {
		kind = jsonl.Custom
	}
	a.asked = true
	var more []dialect.Span
	if kind == jsonl.ToolResult && len(a.calls) > 0 && a.calls[0] != l.At {
		more = a.calls
	}
	t.Add(dialect.ByKind(kind), kind, l, more...)
}

// End implements [dialect.Arranger].
func (a *Arranger) End(dialect.Tree) {}
