package dialect

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"time"

	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A Source is the material for an entry: its lines, and what the index knows about it.
type Source struct {
	Kind       jsonl.Kind
	ID, Parent []byte // content of the lines
	Part       int    // index among the entries of its first line, from 0
	Unanswered bool
	Kept       Kept          // of a Transform
	Lines      []jsonl.Value // lines of the entry, in the order in which they were added
	Spans      []Span        // ranges of the lines
	// Native requests messages as the agent sends them; see Message.
	Native bool
	// To is the model that the messages are for, if known.
	To rule.Asked

	// Entries are made from the lines: the one for Part, or all of them.
	Entries []Entry
	// Again makes the entry of another part of the same lines; without it, the lines are read again.
	Again func()

	made   []byte
	calls  []byte // ids and tools of the calls of a line
	caller Span   // range of that line
}

// An Entry is an entry in pi's shape. Its values are valid as long as the lines of its source.
type Entry struct {
	Type jsonl.Value // type of an unknown kind, a string
	Time jsonl.Value
	// Members are the fields of the entry besides its head and its messages.
	Members []jsonl.Field
	// Messages holds the message of a message entry, the replacement of an edited one, or the messages of a
	// Transform.
	Messages []Message
	// Transformer names the program that replaced the messages of a Transform.
	Transformer, Reason string

	of *Source
}

// A Message is a message with all of its fields; none if its role is unknown.
type Message struct {
	jsonl.Message
	members []jsonl.Field // in order, besides the role; content has no value
	// Native is an array of what the agent's request has in place of the message, if requested.
	Native jsonl.Value

	of *Source
}

// Reset prepares the source for other lines.
func (s *Source) Reset() {
	s.Lines, s.Again = s.Lines[:0], nil
	s.Next()
}

// Next prepares the source for another entry of the same lines.
func (s *Source) Next() { s.Entries, s.made = s.Entries[:0], s.made[:0] }

// Add adds an entry.
func (s *Source) Add() *Entry {
	if len(s.Entries) < cap(s.Entries) {
		s.Entries = s.Entries[:len(s.Entries)+1]
	} else {
		s.Entries = append(s.Entries, Entry{})
	}
	e := &s.Entries[len(s.Entries)-1]
	*e = Entry{Members: e.Members[:0], Messages: e.Messages[:0], of: s}
	return e
}

// Keep remembers the tools that a line calls for its results, which mostly follow.
func (s *Source) Keep(line int, said []jsonl.Block) {
	s.caller, s.calls = s.Spans[line], append(s.calls[:0], '\n')
	for k := range said {
		if b := &said[k]; b.Kind == jsonl.CallBlock && b.Name.Exists() {
			s.calls = append(append(append(append(s.calls, b.ID...), '\t'), b.Name...), '\n')
		}
	}
}

// Tool returns the tool of a call on line 2 of the source, if Keep has seen that line. If calls share an id,
// the first one counts.
func (s *Source) Tool(call jsonl.Value) (name jsonl.Value, ok bool) {
	if len(s.Spans) < 2 || s.Spans[1] != s.caller {
		return nil, false
	}
	_, rest, _ := bytes.Cut(s.calls, slices.Concat([]byte{'\n'}, call, []byte{'\t'}))
	name, _, _ = bytes.Cut(rest, []byte{'\n'})
	return name, true
}

// Entry returns the only entry of the source.
func (s *Source) Entry() *Entry { return &s.Entries[min(s.Part, len(s.Entries)-1)] }

// Quoted returns a text as a JSON string.
func (s *Source) Quoted(text string) jsonl.Value { return Quote(s, text) }

// Quote is [Source.Quoted] for strings and bytes.
func Quote[T string | []byte](s *Source, text T) jsonl.Value {
	from := len(s.made)
	s.made = jsonl.AppendQuoted(s.made, text)
	return s.made[from:len(s.made):len(s.made)]
}

// Stringify returns the JSON of a value as a string, valid as long as the lines. It reads it with c.
func (s *Source) Stringify(c *jsonl.Cursor, v jsonl.Value) (text jsonl.String) {
	s.made, text = c.AppendStringified(s.made, v)
	return text
}

// Text returns the text of a string, valid as long as the lines.
func (s *Source) Text(v jsonl.Value) jsonl.Value {
	from := len(s.made)
	s.made = v.AppendText(s.made)
	return s.made[from:len(s.made):len(s.made)]
}

// Make joins parts to a text that is valid as long as the lines.
func (s *Source) Make(parts ...[]byte) jsonl.Value {
	from := len(s.made)
	for _, part := range parts {
		s.made = append(s.made, part...)
	}
	return s.made[from:len(s.made):len(s.made)]
}

// Set adds a field to the entry, if the value exists.
func (e *Entry) Set(name string, v jsonl.Value) {
	if v.Exists() {
		e.Members = append(e.Members, jsonl.Field{Name: name, Value: v})
	}
}

// Message adds a message of a kind to the entry.
func (e *Entry) Message(kind jsonl.Kind) *Message {
	if len(e.Messages) < cap(e.Messages) {
		e.Messages = e.Messages[:len(e.Messages)+1]
	} else {
		e.Messages = append(e.Messages, Message{})
	}
	m := &e.Messages[len(e.Messages)-1]
	*m = Message{Message: jsonl.Message{Kind: kind, Blocks: m.Blocks[:0]}, members: m.members[:0], of: e.of}
	return m
}

// Set adds a field to the message, if the value exists.
func (m *Message) Set(name string, v jsonl.Value) {
	if !v.Exists() {
		return
	}
	m.members = append(m.members, jsonl.Field{Name: name, Value: v})
	if field := m.Field([]byte(name)); field != nil {
		*field = v
	}
}

// Fields returns the fields of a message that was written, besides the role.
func (m *Message) Fields(said *jsonl.Message) []jsonl.Field {
	for k := range m.members {
		if f := &m.members[k]; f.Name == "content" {
			f.Value = said.Content
		}
	}
	return m.members
}

// Body makes the content the next field of the message.
func (m *Message) Body() { m.members = append(m.members, jsonl.Field{Name: "content"}) }

// Add adds a block to the content.
func (m *Message) Add(b jsonl.Block) { m.Blocks = append(m.Blocks, b) }

// Said adds a text block; text is a string or null.
func (m *Message) Said(text jsonl.String) { m.Add(jsonl.Block{Kind: jsonl.TextBlock, Text: text}) }

// SetText adds a field with a text.
func (m *Message) SetText(name, text string) { m.Set(name, m.of.Quoted(text)) }

// SetText adds a field with a text.
func (e *Entry) SetText(name, text string) { e.Set(name, e.of.Quoted(text)) }

// Stop adds the reason why an answer ended; if the agent does not record it, it follows from the calls.
func (m *Message) Stop(why string) {
	for range m.Calls {
		why = cmp.Or(why, "toolUse")
	}
	m.SetText("stopReason", cmp.Or(why, "stop"))
}

// SetTruth adds a field that is true or false.
func (m *Message) SetTruth(name string, is bool) { m.Set(name, truth[is]) }

var truth = map[bool]jsonl.Value{true: jsonl.Value("true"), false: jsonl.Value("false")}

// SharedID is the field that an answer and its copies share if the copies get ids of their own.
const SharedID = "sharedId"

// Share sets [SharedID] of the entry, a hash of values that copies of an answer keep.
func (e *Entry) Share(kept ...jsonl.Value) { e.Set(SharedID, e.of.Shared(kept...)) }

// Shared returns that hash.
func (s *Source) Shared(kept ...jsonl.Value) jsonl.Value {
	hash := uint64(14695981039346656037) // FNV-1a
	for _, v := range kept {
		for _, c := range v {
			hash = (hash ^ uint64(c)) * 1099511628211
		}
	}
	from := len(s.made)
	s.made = append(strconv.AppendUint(append(s.made, '"'), hash, 16), '"')
	return s.made[from:len(s.made):len(s.made)]
}

// Stamp returns a time, given in milliseconds since 1970, as entries spell it.
func Stamp(ms int64) jsonl.Value {
	const form = `"2006-01-02T15:04:05.000Z"`
	at := time.UnixMilli(ms).UTC()
	// a layout with a fast path in package time
	b := at.AppendFormat(append(make([]byte, 0, len(form)), '"'), time.RFC3339)
	n := at.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-1], '.', byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10), 'Z', '"')
}

// DataURL returns the image that a data URL holds.
func DataURL(url jsonl.Value) (b jsonl.Block, ok bool) {
	rest, ok := bytes.CutPrefix(url.Inside(), []byte("data:"))
	mime, data, whole := bytes.Cut(rest, []byte(";base64,"))
	if !ok || !whole {
		return b, false
	}
	quote := []byte{'"'}
	return jsonl.Block{Kind: jsonl.ImageBlock, Data: slices.Concat(quote, data, quote),
		Mime: slices.Concat(quote, mime, quote)}, true
}

// SentCall returns a call in the form of Chat Completions.
func SentCall(id, name, args jsonl.Value) jsonl.Value {
	function := jsonl.Value("{}").With("name", name).With("arguments", jsonl.AppendQuoted(nil, []byte(args)))
	return jsonl.Value("{}").With("id", id).With("type", jsonl.Value(`"function"`)).With("function", function)
}

// Usage returns a usage in pi's shape.
func (s *Source) Usage(u jsonl.Usage, cost jsonl.Value) jsonl.Value {
	from := len(s.made)
	for _, n := range []struct {
		name  string
		count int64
		free  bool // omitted if 0
	}{
		{`{"input":`, u.Input, false}, {`,"output":`, u.Output, false}, {`,"cacheRead":`, u.CacheRead, false},
		{`,"cacheWrite":`, u.CacheWrite, false}, {`,"cacheWrite1h":`, u.CacheWrite1h, true},
		{`,"totalTokens":`, u.Total, false}, {`,"webSearches":`, u.Searches, true},
	} {
		if n.count > 0 || !n.free {
			s.made = strconv.AppendInt(append(s.made, n.name...), n.count, 10)
		}
	}
	for _, term := range []struct{ name, text string }{
		{`,"serviceTier":`, u.Terms.Tier}, {`,"speed":`, u.Terms.Speed}, {`,"inferenceGeo":`, u.Terms.Geo},
	} {
		if term.text != "" {
			s.made = jsonl.AppendQuoted(append(s.made, term.name...), term.text)
		}
	}
	if cost.Exists() {
		s.made = append(append(append(s.made, `,"cost":{"total":`...), cost...), '}')
	}
	s.made = append(s.made, '}')
	return s.made[from:len(s.made):len(s.made)]
}
