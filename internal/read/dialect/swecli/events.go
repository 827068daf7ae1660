package swecli

import (
	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// What a line of OpenDev's events is besides a message.
const (
	edited dialect.Code = 0x80 + iota // a message gets another text
	forked                            // the messages from one on are taken back
	retold                            // the session gets another title
)

// isEvent reports whether a line is an event.
func isEvent(line jsonl.Value) bool {
	f := line.All("aggregate_id", "seq", "event_type", "data")
	return f[0].IsString() && f[1].IsNumber() && f[2].IsString() && f[3].IsObject()
}

// aboutEvent is about for an event that makes a session, or renames it, which is not ok.
func aboutEvent(line jsonl.Value) (a chat.About, ok bool) {
	f := line.Get("data").All("type", "id", "working_directory", "title", "parent_id")
	a = chat.About{ID: f[1], CWD: f[2], Title: f[3], Parent: f[4], Time: line.Get("timestamp")}
	return a, f[0].Is("SessionCreated")
}

// eventCode returns what an event is that is not a message. Other ones change no context.
func eventCode(typ jsonl.Value) dialect.Code {
	switch {
	case typ.Is("MessageEdited"):
		return edited
	case typ.Is("SessionForked"):
		return forked
	case typ.Is("TitleChanged"):
		return retold
	case typ.Is("SessionArchived"), typ.Is("SessionUnarchived"), typ.Is("FileChangeRecorded"),
		typ.Is("MetadataUpdated"):
		return dialect.Skip
	}
	return dialect.Unknown
}

// other returns what a line is that is neither a message nor about the session: an event.
func other(p *jsonl.Picked) (h dialect.Head, known bool) {
	if !isEvent(p.Line) {
		return h, false
	}
	p.Type = p.Line.Get("event_type")
	h = dialect.Head{Code: eventCode(p.Type), ID: p.ID}
	return h, h.Code != dialect.Unknown
}

// An arranger makes the entries of messages in order, and of events, which name a message by its
// number.
type arranger struct {
	messages *chat.Arranger
	sent     []place
}

// A place is where a message is.
type place struct {
	before int // the leaf before it
	at     dialect.Span
}

// Next implements [dialect.Arranger], like End.
func (a *arranger) Next(t dialect.Tree, l *dialect.Line) {
	a.messages.Begin(t, l)
	switch l.Code {
	case edited:
		a.edit(t, l)
	case forked:
		a.fork(t, l)
	case retold:
		t.Add(rule.Aside, jsonl.SessionInfo, l)
	default:
		if chat.IsMessage(l.Code) {
			a.sent = append(a.sent, place{t.Leaf(), l.At})
		}
		a.messages.Next(t, l)
	}
}

func (a *arranger) End(dialect.Tree) {}

// edit adds an edit of a message, or one without a target.
func (a *arranger) edit(t dialect.Tree, l *dialect.Line) {
	var target []dialect.Span
	if n := t.Read(l.At).Get("data").Get("seq").Int(); n >= 0 && n < int64(len(a.sent)) {
		target = append(target, a.sent[n].at)
	}
	t.Add(rule.Edit, jsonl.ContextEdit, l, target...)
}

// fork takes back the messages after those that a fork begins with.
func (a *arranger) fork(t dialect.Tree, l *dialect.Line) {
	from := t.Read(l.At).Get("data").Get("fork_point")
	if n := from.Int(); from.IsNumber() && n >= 0 && n < int64(len(a.sent)) {
		t.Move(rule.Branch, a.sent[n].before)
		a.sent = a.sent[:n]
	}
}

// makeEdit makes an edit: the message with the text that it gets.
func makeEdit(f *chat.Format, s *dialect.Source) {
	e, event := s.Add(), s.Lines[0]
	e.Time = event.Get("timestamp")
	if len(s.Lines) < 2 {
		e.SetText("targetId", "message "+string(event.Get("data").Get("seq")))
		e.Set("replacement", jsonl.Value("null"))
		return
	}
	target := s.Lines[1]
	e.SetText("targetId", target.Get("id").Text())
	data := target.Get("data").AppendEdited(nil, jsonl.Field{Name: "content", Value: event.Get("data").Get("content")})
	f.Each(s, data, func(m *chat.Said) *dialect.Entry {
		if len(e.Messages) > 0 {
			return nil // a result of its calls, which stays
		}
		return e
	})
}
