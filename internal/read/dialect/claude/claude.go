// Package claude shows the sessions of Claude Code, its transcripts, as entries
// (docs/session-format.md 16).
package claude

import (
	"bytes"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// Dialect is the format of Claude Code.
var Dialect = dialect.Dialect{
	Name: "claude", Fields: reflect.TypeFor[lineFields](), Interface: "anthropic",
	Sniff: sniff,
	Store: dialect.Store{Variable: "CLAUDE_CONFIG_DIR", Home: ".claude", Folders: []string{"projects"},
		Settings: "settings.json"},
	Days: days,
	File: fileID, SubAgent: isSubAgent, Owner: owner, Nests: nests, Session: sessionID, Policy: "claude-code",
	Pick: jsonl.Pick{
		Record: []string{"isSidechain", "subtype", "isMeta", "isCompactSummary", "logicalParentUuid", "leafUuid",
			"explicit", "summarizeMetadata", "attachment", "rendered", "version", "parentLastUuid",
			"requestId", "forkedFrom", "data", "hookTextLead", "ownNote", "origin",
			"perTurnEffort"},
		Message: []string{"id", "model", "stop_reason", "content", "usage"},
		Part:    []string{"type", "tool_use_id", "content"},
		As:      jsonl.Names{ID: "uuid", Parent: "parentUuid", Message: "message"},
	},
	Read:       read,
	Skim:       skim,
	Call:       callOf,
	New:        newArranger,
	Make:       makeEntry,
	Compose:    compose,
	Base:       base,
	Unrecorded: "titles, hooks and most summaries",
	Record:     isRecord,
	Late:       true,
	Clears:     true,
	Bulk: []dialect.Bulk{
		{About: "lines copied by a fork", Path: []string{"forkedFrom"}, Line: true},
		{About: "results stored twice", Path: []string{"toolUseResult"}, Spare: true},
	},
	Version:   func(line jsonl.Value) jsonl.Value { return line.Get("version") },
	Newest:    "2.1.332",
	Rules:     Rules,
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
	Recorded:  recorded,
	Sketch:    sketches,
	Prompted:  &dialect.Certainty{Messages: "rule", System: "rule", Tools: "rule"},
}

// sniff reports whether a file begins as a transcript does. Any type of record may be the
// first one.
func sniff(first jsonl.Value) bool {
	f := first.All("type", "parentUuid", "sessionId", "messageId", "leafUuid", "message", "parentSessionId")
	typ := string(f[0].Inside())
	code, known := types[typ]
	switch {
	case !f[0].IsString(), f[5].Get("parts").IsArray(): // the second of Qwen Code
		return false
	case f[1].Exists():
		return true
	case typ == "user" || typ == "assistant":
		return f[5].IsObject()
	case typ == "summary":
		return f[4].IsString()
	case typ == "file-history-snapshot":
		return f[3].IsString()
	case typ == "fork-context-ref":
		return f[6].IsString()
	}
	return known && code != user && f[2].IsString()
}

// isRecord reports whether an object is a line. What a line has of others names no session.
func isRecord(v jsonl.Value) bool {
	f := v.All("type", "sessionId")
	return f[0].IsString() && f[1].IsString()
}

// days is for how long transcripts are kept: up to 0 they go at the next start.
func days(settings jsonl.Value) float64 {
	if n, ok := settings.Get("cleanupPeriodDays").Float(); ok {
		return max(0, n)
	}
	return 30
}

// fileID returns the id of a session by the name of its transcript. Sub-agents are in a folder of the session,
// in older versions beside it.
func fileID(name string) (id string, part bool) {
	id, _, _ = strings.Cut(filepath.Base(name), ".")
	return id, strings.HasPrefix(id, "agent-") ||
		slices.Contains(strings.Split(filepath.ToSlash(name), "/"), subagents)
}

// subagents is the folder with the sub-agents of a session, in one of its id.
const subagents = "subagents"

func isSubAgent(name string) bool { _, part := fileID(name); return part }

// owner returns the session that a sub-agent works for. Sessions of their own have agents' names in other
// members.
func owner(name string, first jsonl.Value) string {
	f := first.All("agentId", "isSidechain", "sessionId", "parentSessionId", "type")
	switch {
	case f[4].Is("fork-context-ref"):
		return f[3].Text()
	case f[0].IsString() && f[1].Truthy():
		return f[2].Text()
	}
	if isSubAgent(name) {
		return f[2].Text()
	}
	return ""
}

// nests returns the folders with sub-agents: one of the session's own, and in older versions the session's
// folder.
func nests(name, id string) []dialect.Nest {
	dir := filepath.Dir(name)
	file, _ := fileID(name)
	part := func(name string, _ time.Time) bool { return strings.HasPrefix(filepath.Base(name), "agent-") }
	all := []dialect.Nest{{Dir: dir, May: part},
		{Dir: filepath.Join(dir, file, subagents), Deep: true, Own: true, May: part}}
	if file != id { // it was renamed
		all = append(all, dialect.Nest{Dir: filepath.Join(dir, id, subagents), Deep: true, Own: true, May: part})
	}
	return all
}

// sessionID returns the session of a record: other lines do not give the folder. A stream names it differently.
func sessionID(line jsonl.Value) jsonl.Value {
	var f [3]jsonl.Value
	if line.Fields(f[:], "uuid", "sessionId", "session_id"); !f[0].IsString() {
		return nil
	}
	if f[1].IsString() {
		return f[1]
	}
	return f[2]
}

// base returns the session whose compaction a file holds, or that a sub-agent forks: its parents stand there.
func base(first jsonl.Value) (b dialect.Base, ok bool) {
	f := first.All("agentId", "sessionId", "parentSessionId", "parentLastUuid")
	if f[2].IsString() && f[3].IsString() {
		return dialect.Base{ID: f[2].Text(), Upto: math.MaxInt64, All: true, Optional: true}, true
	}
	ok = strings.HasPrefix(f[0].Beginning(20), "acompact") && f[1].IsString()
	return dialect.Base{ID: f[1].Text(), Upto: math.MaxInt64, All: true}, ok
}

// Codes of lines.
const (
	user         = dialect.First + iota // a message of the user
	note                                // a user message that the program wrote
	result                              // the result of a tool
	results                             // results of several tools, or one and a text beside it
	summary                             // the summary of a compaction
	answer                              // a part of an answer
	synthetic                           // an answer that no model gave
	mark                                // a system record
	command                             // the text of a local command
	boundary                            // a compaction
	microcompact                        // results are no longer sent unchanged
	snip                                // messages are removed
	attachment                          // an attachment of the program that was sent
	unsent                              // an attachment that was not sent
	snapshot                            // the system prompt and the tools as sent
	progress                            // progress of a tool or a hook
	delegated                           // progress with an answer of a sub-agent
	title                               // a title that the model gave
	ownTitle                            // a title that the user gave
	lastPrompt                          // the leaf
	pinned                              // the leaf that the user chose
	replacement                         // replacements for results
	about                               // where the session moved or continued, or which it copied
	bridged                             // the id by which a service knows the session
	costs                               // what a run of the program has cost so far
	forked                              // the start of a sub-agent with the context of its parent
	request                             // the record of a request
	shape                               // the prompt and tools of recorded requests
)

// Flags of a code, and the mask of the rest.
const (
	sidechain  dialect.Code = 0x80 // a record of a sub-agent
	unfinished dialect.Code = 0x40 // an answer that was written before it ended
	codeMask                = 0x3f
)

// types are the types of lines.
var types = map[string]dialect.Code{
	"user": user, "assistant": answer, "system": mark, "attachment": attachment, "progress": progress,
	"ai-title": title, "custom-title": ownTitle, "last-prompt": lastPrompt, "content-replacement": replacement,
	"summary": dialect.Skip, "agent-name": dialect.Skip, "mode": dialect.Skip, "permission-mode": dialect.Skip,
	"bridge-session": bridged, "queue-operation": dialect.Skip, "file-history-snapshot": dialect.Skip,
	"pr-link": dialect.Skip, "fork-context-ref": forked, "tag": dialect.Skip, "worktree-state": dialect.Skip,
	"attribution-snapshot": dialect.Skip,
	"file-history-delta":   dialect.Skip, "continued-in": about, "frame-link": dialect.Skip,
	"memory-mode": dialect.Skip,
	"agent-color": dialect.Skip, "agent-setting": dialect.Skip, "relocated": about, "ended-by-model": dialect.Skip,
	"isolation-latch": dialect.Skip, "atis-latch": dialect.Skip, "dev-mods": dialect.Skip, "cost-state": costs,
	"history-suppression": dialect.Skip, "artifact-comment-monitor": dialect.Skip,
	"artifact-autoreact-ledger": dialect.Skip,
	"observer-ref":              dialect.Skip, "derived-from": about, "tools-used": dialect.Skip,
	"data-flow-records":    dialect.Skip,
	"data-flow-incomplete": dialect.Skip, "hybrid-organization": dialect.Skip,
	"api-request": request, "api-request-shape": shape, "api-request-blob": dialect.Skip,
	"api-request-resumed": dialect.Skip,
	"speculation-accept":  dialect.Skip, "marble-origami-commit": dialect.Skip, "marble-origami-snapshot": dialect.Skip,
}

// marks are the system records that are more than marks.
var marks = map[string]dialect.Code{
	"local_command": command, "microcompact_boundary": microcompact, "snip_boundary": snip,
}

// Indexes of the fields that [Dialect] picks.
const (
	atSidechain = iota
	atSubtype
	atMeta
	atSummary
	atLogicalParent
	atLeaf
	atExplicit
	atSummarized
	atAttachment
	atRendered
	atVersion
	atForked
	atRequest
	atCopied
	atData
	atHookLead
	atOwnNote
	atOrigin
	atTurnEffort
)

// partFields is the number of fields that [Dialect] picks of a part.
const partFields = 3

// read implements Read of the dialect.
func read(p *jsonl.Picked) dialect.Head {
	code, known := types[string(p.Type.Inside())]
	if !known {
		return dialect.Head{Code: dialect.Unknown, ID: p.ID, Ref: p.ParentID}
	}
	head := dialect.Head{Code: code, ID: p.ID, Ref: p.ParentID, Copied: p.Record[atCopied].IsObject()}
	head.NoUsage = code != answer
	switch code {
	case user:
		head.Code, head.Group = userCode(p)
		head.Rules = userRules(p, head.Code == results || head.Code == result)
	case answer:
		head.Group, head.Rules = answerName(p.Message[0], p.Record[atRequest]), answerRules(p)
		if p.Message[1].Is("<synthetic>") {
			head.Code = synthetic
			head.Rules |= rule.Of(noAnswer)
		} else if !p.Message[2].IsString() {
			head.Code |= unfinished
		}
	case mark:
		subtype := p.Record[atSubtype]
		if code, ok := marks[string(subtype.Inside())]; ok {
			head.Code = code
			head.Rules = rule.If(code == command, localOutput) | rule.If(code == microcompact, clearedResult)
		} else if subtype.Is("compact_boundary") && !p.ParentID.IsString() {
			head.Code, head.Ref = boundary, p.Record[atLogicalParent]
		}
	case attachment:
		of := attachedOf(p.Record[atAttachment])
		if head.Code = attachmentCode(p, &of); head.Code == attachment || head.Code == user {
			head.Rules = rule.Of(attachmentRule(p, &of))
		}
	case progress:
		if by, ok := delegatedBy(p); ok {
			head.Code, head.Group = delegated, jsonl.FirstText(by.requestId, by.message.id)
		}
	case forked:
		head.Ref = p.Record[atForked]
	case lastPrompt:
		head.Ref = p.Record[atLeaf]
		if p.Record[atExplicit].Truthy() {
			head.Code = pinned
		}
	}
	if p.Record[atSidechain].Truthy() && head.Code != dialect.Skip {
		head.Code |= sidechain
	}
	return head
}

// userCode returns the code of a user record. The group of a result is the id of the call; for the prompt of a
// sub-agent that begins with its parent's context, it is a mark.
func userCode(p *jsonl.Picked) (code dialect.Code, group jsonl.Value) {
	content := p.Message[3]
	if p.Record[atSummary].Truthy() {
		return summary, nil
	}
	n, others := 0, false
	for f := range slices.Chunk(p.Parts, partFields) {
		if !f[0].Is("tool_result") {
			others = true
		} else if n++; n == 1 {
			group = f[1]
		}
	}
	switch {
	case n == 1 && !others:
		return result, group
	case n > 0:
		return results, nil
	case p.Record[atMeta].Truthy(), p.Record[atSummarized].IsObject():
		return note, nil
	case p.Record[atSidechain].Truthy() && bytes.Contains(content[:min(len(content), 256)], []byte(forkBegins)):
		return user, jsonl.Value(`"fork"`)
	}
	return user, nil
}

// forkBegins begins the first prompt of a sub-agent that has a copy of its parent's context.
const forkBegins = "<fork-boilerplate>"
