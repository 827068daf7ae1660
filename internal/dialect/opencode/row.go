package opencode

import (
	"bytes"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A row is a line, read once: its columns, with the message or the part that is in its data.
type row struct {
	table, id, timestamp jsonl.Value

	typ  jsonl.Value `member:"type"`
	of   jsonl.Value `member:"message_id"`
	data struct {
		raw, messageID, partID jsonl.Value // the ids of an event that removes something
		info                   infoData
		part                   partData
	}
}

// An infoData is what is read of a message.
type infoData struct {
	raw, id, role, error, finish, summary, providerID, modelID, tokens, cost, time jsonl.Value
}

// A partData is what is read of a part.
type partData struct {
	raw, id, messageID, synthetic, ignored, callID, tool, url, mime jsonl.Value

	typ   jsonl.Value `member:"type"`
	text  jsonl.String
	tail  jsonl.Value `member:"tail_start_id"`
	state struct {
		raw, status, input, metadata, time, attachments jsonl.Value
		output, error                                   jsonl.String
	}
}

// A row of an event has a message or a part in its data. In the row of either it is all of that.
var (
	rowShape  = jsonl.ShapeOf[row]()
	infoShape = jsonl.ShapeOf[infoData]()
	partShape = jsonl.ShapeOf[partData]()
)

// read reads the row that a text begins with, into an empty one, and returns its size: 0 if it is not JSON.
func (r *row) read(text jsonl.Value) (size int) {
	var c jsonl.Cursor
	rowShape.Read(c.Reset(text), r)
	size = len(c.Since(0))
	switch d := &r.data; {
	case r.table.Is("message"):
		d.info = infoData{} // which an event's data has
		infoShape.Read(c.Reset(d.raw), &d.info)
		d.info.raw, d.info.id = d.raw, r.id
	case r.table.Is("part"):
		d.part, d.info = partData{}, infoData{}
		partShape.Read(c.Reset(d.raw), &d.part)
		d.part.raw, d.part.id, d.part.messageID = d.raw, r.id, r.of
	}
	return size
}

// head is what the row is.
func (r *row) head() (h dialect.Head) {
	switch of := r.table; {
	case of.Is("session"):
		h = dialect.Head{Code: session, ID: r.id}
	case of.Is("message"):
		h = r.messageHead()
	case of.Is("part"):
		h = r.partHead()
	case of.Is("session_message"):
		h = r.turnHead()
	case of.Is("event"):
		h = r.eventHead()
	default:
		h.Code = dialect.Unknown
	}
	h.Time = r.timestamp
	return h
}

// eventHead is head for an event.
func (r *row) eventHead() (h dialect.Head) {
	typ := r.typ.Inside()
	end := max(0, bytes.LastIndexByte(typ, '.'))
	event, version := typ[:end], typ[end:]
	known := true
	switch string(event) {
	case "session.created", "session.updated", "session.deleted":
		// Of the versions of the session's own row only a revert matters.
		to := r.data.info.raw.Get("revert")
		h.Code, h.Ref = restored, to.Get("messageID")
		if to.IsObject() && !to.Get("partID").Exists() {
			h.Code = reverted
		}
	case "message.updated":
		h = r.messageHead()
	case "message.part.updated":
		h = r.partHead()
	case "message.removed":
		h.Code, h.ID = removed, r.data.messageID
	case "message.part.removed":
		h.Code, h.ID, h.Ref = partRemoved, r.data.partID, r.data.messageID
	default:
		known = false
	}
	switch {
	case known && string(version) != ".1":
		h.Code = newer
	case !known && (bytes.HasPrefix(event, []byte("message.")) || bytes.HasPrefix(event, []byte("session."))):
		h.Code = dialect.Unknown
	}
	return h
}

// messageHead is head for a message.
func (r *row) messageHead() dialect.Head {
	m := &r.data.info
	h, wrong := dialect.Head{Code: answer, ID: m.id}, m.error.IsObject()
	switch sums := m.summary.Truthy(); {
	case m.role.Is("user"):
		h.Code = user
	case sums && m.finish.Truthy() && !wrong:
		h.Code = summarized
	case sums:
		h.Code = summary
	case m.error.Get("name").Is("MessageAbortedError"):
		h.Code = aborted
	case wrong:
		h.Code = failed
	}
	return h
}

// partHead is head for a part.
func (r *row) partHead() dialect.Head {
	p := &r.data.part
	h := dialect.Head{Code: other, ID: p.id, Ref: p.messageID}
	switch of := p.typ; {
	case of.Is("text") && p.synthetic.Truthy():
		h.Code = synthetic
	case of.Is("text"):
		h.Code = text
	case of.Is("compaction"):
		h.Code, h.Group = compaction, p.tail
	case of.Is("step-start"):
		h.Code = step
	case of.Is("tool") && p.cleared():
		h.Code = cleared
	case of.Is("tool") && (p.state.status.Is("completed") || p.state.status.Is("error")):
		h.Code = returned
	case of.Is("tool"):
		h.Code = tool
	}
	return h
}

// cleared reports whether the result of a call is no longer sent.
func (p *partData) cleared() bool { return p.state.time.Get("compacted").Exists() }

// isMessage reports whether the row has a message, and not a part.
func (r *row) isMessage() bool { return r.data.info.raw.Exists() }

// name is the id of the message or the part.
func (r *row) name() jsonl.Value {
	if r.isMessage() {
		return r.data.info.id
	}
	return jsonl.FirstText(r.data.part.id, r.data.partID)
}
