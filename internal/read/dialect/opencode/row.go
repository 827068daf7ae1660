package opencode

//lint:file-ignore U1000 a shape names fields by reflection.

import (
	"bytes"
	"slices"

	"ctxtool/internal/read/fields"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A row is a line, read once: its columns, with the message or the part that is in its data.
type row struct {
	table, id, timestamp, directory, path, version jsonl.Value

	typ  jsonl.Value `jsonl:"type"`
	of   jsonl.Value `jsonl:"message_id"`
	data struct {
		raw, messageID, partID jsonl.Value // the ids of an event that removes something
		info                   infoData
		part                   partData
	}
}

// An infoData is what is read of a message.
type infoData struct {
	raw, id, role, error, finish, summary, providerID, modelID, tokens, cost, time, agent jsonl.Value

	editor jsonl.Value `jsonl:"editorContext"` // of a prompt in Kilo

	model struct{ raw, providerID, modelID jsonl.Value } // of a prompt
}

// A partData is what is read of a part.
type partData struct {
	// known, and not read here
	agent, attempt, auto, command, cost, description, error, files, hash, metrics, model, name fields.Unread
	overflow, prompt, reason, sessionID, snapshot, source, time, tokens                        fields.Unread

	raw, id, messageID, synthetic, ignored, callID, tool, url, mime, filename, metadata jsonl.Value

	typ   jsonl.Value `jsonl:"type"`
	text  jsonl.String
	tail  jsonl.Value `jsonl:"tail_start_id"`
	state struct {
		raw, status, input, metadata, time, attachments jsonl.Value
		output, error                                   jsonl.String
	}
	// whether it has a member that nothing reads, and that may be sent
	unread bool
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

// head returns what the row is.
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
	if data := r.data.raw; data.Exists() && !data.IsObject() && h.Code != dialect.Unknown && h.Code != session {
		h.Code = damaged
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
	h, wrong := dialect.Head{Code: answer, ID: m.id, Rules: rule.If(!r.table.Is("event"), withoutLog)}, m.error.IsObject()
	switch sums := m.summary.Truthy(); {
	case m.role.Is("user"):
		h.Code = user
		h.Rules |= rule.Of(chatForm) | rule.If(m.agent.Is("plan"), reminder) | rule.If(m.editor.IsObject(), editor)
		if m.model.raw.IsObject() {
			h.Group = jsonl.AppendQuoted(nil, m.model.providerID.Text()+"\x00"+m.model.modelID.Text())
		}
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
	h.Rules = p.rules() | rule.If(!r.table.Is("event"), withoutLog)
	return h
}

// rules returns the rules that a part needs.
func (p *partData) rules() (used rule.Set) {
	used = rule.If(p.unread, rule.Unread)
	switch of := p.typ; {
	case of.Is("text"):
		return used | rule.If(p.synthetic.Truthy(), synthetics)
	case of.Is("reasoning"):
		return used | rule.Of(rule.Thinking, reasoning)
	case of.Is("file") && p.mime.Is("application/pdf"):
		return used | rule.Of(document)
	case of.Is("file") && attached(p.mime):
		return used | rule.Of(attachedFile)
	case of.Is("file"):
		return used | rule.Of(otherFile)
	case of.Is("subtask"):
		return used | rule.Of(subtask)
	case of.Is("tool"):
		failed := p.state.status.Is("error")
		return used | rule.Of(rule.Call) | rule.If(p.cleared(), clearing) | rule.If(failed, failure) |
			rule.If(failed && p.state.metadata.Get("interrupted").Truthy(), interruption) | rule.If(p.media(), media)
	}
	return used | rule.If(!slices.ContainsFunc(unsent, p.typ.Is), rule.Unread)
}

// unsent are the types of parts that no request has, or that have rules of their own.
var unsent = []string{"compaction", "step-start", "step-finish", "snapshot", "patch", "retry", "agent"}

// media reports whether a call returned files, which are sent.
func (p *partData) media() bool {
	for range p.state.attachments.Elements {
		return p.state.status.Is("completed") && !p.cleared()
	}
	return false
}

// cleared reports whether the result of a call is no longer sent.
func (p *partData) cleared() bool { return p.state.time.Get("compacted").Exists() }

// isMessage reports whether the row has a message, and not a part.
func (r *row) isMessage() bool { return r.data.info.raw.Exists() }

// name returns the id of the message or the part.
func (r *row) name() jsonl.Value {
	if r.isMessage() {
		return r.data.info.id
	}
	return jsonl.FirstText(r.data.part.id, r.data.partID)
}
