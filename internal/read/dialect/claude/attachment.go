package claude

import (
	"bytes"
	"slices"
	"strconv"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// neverSent are the attachments that no version sends (docs/session-format.md 16.8).
var neverSent = []string{
	"command_permissions", "credential_org", "deferred_tools_record", "goal_status", "hook_non_blocking_error",
	"prompt_render_point",
	"thinking_drop",
}

// attachmentCode returns what an attachment record is. Since 2.1.268 what is sent has its text in rendered.
func attachmentCode(p *jsonl.Picked, of *attached) dialect.Code {
	kind := of.typ.Inside()
	switch {
	case string(kind) == "prompt_snapshot":
		return snapshot
	case p.Record[atRendered].Exists():
		if string(kind) == "queued_command" && of.origin.Get("kind").Is("human") {
			return user // typed while the turn before was running
		}
		return attachment
	case of.isPicture():
		return attachment
	case slices.Contains(neverSent, string(kind)),
		string(kind) == "hook_success" && !of.hookEvent.Is("SessionStart"):
		return unsent
	case !dialect.Older(p.Record[atVersion].Text(), "2.1.268"):
		return unsent
	}
	return attachment
}

// An attached is what tells an attachment apart from others.
type attached struct {
	typ jsonl.Value `jsonl:"type"`

	content, origin, hookEvent, commandMode jsonl.Value
}

var attachedShape = jsonl.ShapeOf[attached]()

// attachedOf reads an attachment.
func attachedOf(attachment jsonl.Value) (of attached) {
	var c jsonl.Cursor
	attachedShape.Read(c.Reset(attachment), &of)
	return of
}

// isPicture reports whether an attachment is a picture that the user named: what is sent of it is not in rendered.
func (of *attached) isPicture() bool { return of.typ.Is("file") && of.content.Get("type").Is("image") }

// pictureOf returns the contents that a picture is sent as: the call that would have read it, and the picture.
func pictureOf(attachment jsonl.Value) jsonl.Value {
	file := attachment.Get("content").Get("file")
	input := jsonl.Value("{}").With("file_path", attachment.Get("filename"))
	call := reminder("Called the Read tool with the following input: " + string(input))
	source := jsonl.Value(`{"type":"base64"}`).With("data", file.Get("base64")).With("media_type", file.Get("type"))
	picture := jsonl.Value(`{"type":"image"}`).With("source", source)
	return dialect.List(jsonl.Value("{}").With("content", jsonl.AppendQuoted(nil, call)),
		jsonl.Value("{}").With("content", dialect.List(picture)))
}

// beside adds an attachment to an answer or to a result of it: it takes its place among the results, so
// that those that follow it do not stand on another branch.
func (a *arranger) beside(t dialect.Tree, kind jsonl.Kind, l *dialect.Line, above link, side int) {
	up := above.entry
	e := a.add(t, kind, l, a.end(up), side)
	if up < 0 || a.entries.At(up).of < 0 {
		return
	}
	of := a.entries.At(up).of
	a.entries.At(e).of, a.entries.At(of).end = of, e
	a.entries.At(e).upto = a.entries.At(up).upto
	if up == of {
		a.entries.At(e).upto = above.at.Off
	}
}

// attached makes the text of an attachment: as it was sent, where the record has that, else its
// strings, one a line, whose wording is not in the file.
func (m *maker) attached(msg *dialect.Message) {
	if of := attachedOf(m.attachment); of.isPicture() && !m.rendered.Exists() {
		m.rendered, m.renderedRole = pictureOf(m.attachment), jsonl.Value(`"user"`)
	}
	if !m.rendered.IsArray() {
		msg.Said(stringsOf(m.attachment))
		return
	}
	as, roleless := jsonl.FirstText(m.renderedRole, jsonl.Value(`"user"`)), false
	if !m.renderedRole.Exists() && dialect.Older(m.raw.Get("version").Text(), "2.1.285") {
		roleless = true
		if !slices.Contains(ofUser, m.attachment.Get("type").Text()) {
			as = jsonl.Value(`"system"`)
		}
	}
	words := jsonl.Value(nil) // of the user, typed while a turn was running
	if m.attachment.Get("type").Is("queued_command") && m.attachment.Get("commandMode").Is("prompt") {
		words = flag(true)
	}
	var sent []jsonl.Value
	for one := range m.rendered.Elements {
		content := one.Get("content")
		addContent(msg, content)
		kind := jsonl.FirstText(m.attachment.Get("type"), jsonl.Value(`""`))
		from := jsonl.Value("{}").With("attachment", kind).
			With("part", strconv.AppendInt(nil, int64(len(sent)), 10)).
			With("words", words).With("beside", m.raw.Get("renderedBesideToolResult")).
			With("roleless", flag(roleless))
		sent = append(sent, jsonl.Value("{}").With("role", as).With("content", content).With(madeFrom, from))
	}
	if m.Native {
		msg.Native = dialect.List(sent...)
	}
	if m.renderedRole.Exists() && msg.Kind == jsonl.Custom {
		msg.Set("details", jsonl.Value("{}").With("role", m.renderedRole))
	}
}

// ofUser are the attachments that are never of the role system: up to 2.1.284 no record has the role.
var ofUser = []string{
	"account_memory_recall", "artifact_opening_prefetch", "context_sections", "coordinator_context",
	"cowork_memory_context", "dir_sync_notice", "fork_briefing", "instructions", "poll_events", "queued_command",
	"remote_session_change", "session_context", "unknown_command_fallback",
}

// Next implements [dialect.Arranger], like End. Version 2.1.310 writes an attachment of a sub-agent before the
// one that is its parent: it waits for that, up to the next record that is no attachment.
func (a *arranger) Next(t dialect.Tree, l *dialect.Line) {
	switch l.Code & codeMask {
	case attachment, unsent, snapshot:
		if _, known := a.lead(l.Ref); !known && len(l.Ref) > 0 && a.entries.Len() > 0 && a.held == nil {
			a.early = append(a.early, l.Clone())
			return
		}
	default:
		a.release(t)
	}
	a.take(t, l)
	for k := 0; k < len(a.early); {
		one := a.early[k]
		if !bytes.Equal(one.Ref, l.ID) {
			k++
			continue
		}
		a.early = slices.Delete(a.early, k, k+1)
		a.Next(t, one)
		k = 0
	}
}

// release takes the attachments whose parent did not come, as they stand in the file.
func (a *arranger) release(t dialect.Tree) {
	early := a.early
	a.early = nil
	for _, l := range early {
		a.take(t, l)
	}
}
