package claude

import (
	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
	"slices"
	"strings"
)

// neverSent are the attachments that no version sends (docs/session-format.md 16.8).
var neverSent = []string{
	"command_permissions", "credential_org", "deferred_tools_record", "goal_status", "hook_non_blocking_error",
	"prompt_render_point",
	"thinking_drop",
}

// attachmentCode is what an attachment record is. Since 2.1.268 what is sent has its text in rendered.
func attachmentCode(p *jsonl.Picked) dialect.Code {
	of := p.Record[atAttachment]
	kind := of.Get("type").Inside()
	switch {
	case string(kind) == "prompt_snapshot":
		return snapshot
	case p.Record[atRendered].Exists():
		if string(kind) == "queued_command" && of.Get("origin").Get("kind").Is("human") {
			return user // typed while the turn before was running
		}
		return attachment
	case slices.Contains(neverSent, string(kind)),
		string(kind) == "hook_success" && !of.Get("hookEvent").Is("SessionStart"):
		return unsent
	case !dialect.Older(p.Record[atVersion].Text(), "2.1.268"):
		return unsent
	}
	return attachment
}

// beside adds an attachment to an answer or to a result of it: it takes its place among the results, so
// that those that follow it do not stand on another branch.
func (a *arranger) beside(t dialect.Tree, kind jsonl.Kind, l *dialect.Line, above link, side int) {
	up := above.entry
	var by []dialect.Span // what makes it a message of the system, see attached
	if a.sent[side].turns && kind == jsonl.Custom {
		by = append(by, a.sent[side].at)
	}
	e := a.add(t, kind, l, a.end(up), side, by...)
	if by == nil && kind == jsonl.Custom {
		a.sent[side].early = append(a.sent[side].early, e)
	}
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
	if !m.rendered.IsArray() {
		msg.Said(stringsOf(m.attachment))
		return
	}
	as := jsonl.FirstText(m.renderedRole, jsonl.Value(`"user"`))
	plain := as.Is("system") && len(m.Lines) > 1
	var sent []jsonl.Value
	for one := range m.rendered.Elements {
		content := one.Get("content")
		addContent(msg, content)
		if plain && content.IsString() {
			content = jsonl.AppendQuoted(nil, unwrapped(content.Text()))
		}
		sent = append(sent, jsonl.Value("{}").With("role", as).With("content", content))
	}
	if m.Native {
		msg.Native = dialect.List(sent...)
	}
	if m.renderedRole.Exists() && msg.Kind == jsonl.Custom {
		msg.Set("details", jsonl.Value("{}").With("role", m.renderedRole))
	}
}

// unwrapped is a reminder without the marks that set it apart in a message of the user.
func unwrapped(text string) string {
	inner, opened := strings.CutPrefix(text, "<system-reminder>")
	inner, closed := strings.CutSuffix(inner, "</system-reminder>")
	if !opened || !closed {
		return text
	}
	return strings.Trim(inner, "\n")
}
