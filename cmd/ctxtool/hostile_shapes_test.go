package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ctxtool/internal/test/must"
)

// A hostileShape is a shape of sessions with n lines or members of one kind, far from what an agent
// writes: whatever visits all of them for each of them takes forever.
type hostileShape struct {
	name string
	fill func(p *pile, n int)
}

// session returns a session of the shape.
func (h hostileShape) session(n int) []byte {
	var p pile
	agent, _, _ := strings.Cut(h.name, " ")
	if agent != "codex" && agent != "claude" && agent != "gemini" {
		p.line(`{"type":"session","version":3,"id":"019b0000-0000-7000-8000-000000000000","timestamp":%s,"cwd":"/w"}`, stamp)
		p.say("first")
	}
	h.fill(&p, n)
	return p.Bytes()
}

// files writes sessions of n and 4n into a folder.
func (h hostileShape) files(dir string, n int) (files [2]string) {
	for k, size := range []int{n, 4 * n} {
		in := filepath.Join(dir, fmt.Sprint(size)) // alone, since some commands look around
		must.Do(os.MkdirAll(in, 0o755))
		files[k] = filepath.Join(in, strings.ReplaceAll(h.name, " ", "-")+".jsonl")
		must.Do(os.WriteFile(files[k], h.session(size), 0o644))
	}
	return files
}

const (
	stamp  = `"2026-01-01T00:00:00.000Z"`
	billed = `{"input":900,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":905,"cost":{"total":0.01}}`
)

// A pile is a session in the making.
type pile struct {
	bytes.Buffer
	entries int
}

func (p *pile) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// under writes an entry with an id below a parent, 0 for none.
func (p *pile) under(parent, id int, kind, format string, args ...any) {
	up := "null"
	if parent > 0 {
		up = fmt.Sprintf(`"%08x"`, parent)
	}
	p.line(`{"type":"%s","id":"%08x","parentId":%s,"timestamp":%s,%s}`, kind, id, up, stamp, fmt.Sprintf(format, args...))
	p.entries = id
}

func (p *pile) entry(kind, format string, args ...any) {
	p.under(p.entries, p.entries+1, kind, format, args...)
}

func (p *pile) user(content string) {
	p.entry("message", `"message":{"role":"user","content":%s}`, content)
}

func (p *pile) answer(content string) {
	p.entry("message", `"message":{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[%s],"stopReason":"stop","usage":%s}`, content, billed)
}

// say writes a prompt and its answer, so that what comes before is in a request.
func (p *pile) say(text string) {
	p.user(fmt.Sprintf(`"%s %d"`, text, p.entries))
	p.answer(`{"type":"text","text":"done"}`)
}

func (p *pile) patch(ops string) {
	p.entry("context_transform", `"schemaVersion":1,"transformerName":"t","patch":[%s]`, ops)
}

func (p *pile) result(call int) {
	p.entry("message", `"message":{"role":"toolResult","toolCallId":"c%d","toolName":"read","content":[{"type":"text","text":"out %d"}]}`, call, call)
}

func call(i int) string {
	return fmt.Sprintf(`{"type":"toolCall","id":"c%d","name":"read","arguments":{"path":"f%d"}}`, i, i)
}

// each writes something n times, with a turn after each.
func each(do func(p *pile, i int)) func(p *pile, n int) {
	return func(p *pile, n int) {
		for i := range n {
			do(p, i)
			p.say("next")
		}
	}
}

// alone writes something n times, and one turn at the end.
func alone(do func(p *pile, i int)) func(p *pile, n int) {
	return func(p *pile, n int) {
		for i := range n {
			do(p, i)
		}
		p.say("last")
	}
}

// members joins n members of one line.
func members(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

const (
	op     = `"scope":"cached","invalidateCacheReason":"r"`
	tool   = `{"name":"t%[1]d","description":"d","parameters":{}}`
	system = `"message":{"role":"system","content":"",%s}`
)

// codex writes a line of a Codex session.
func (p *pile) codex(kind, payload string) {
	if p.Len() == 0 {
		p.line(`{"timestamp":%s,"type":"session_meta","payload":{"id":"s1","cwd":"/w","base_instructions":{"text":"Be brief."}}}`, stamp)
		p.line(`{"timestamp":%s,"type":"turn_context","payload":{"model":"gpt-5.5"}}`, stamp)
	}
	p.line(`{"timestamp":%s,"type":"%s","payload":%s}`, stamp, kind, payload)
}

func (p *pile) codexTurn(i int) {
	for _, s := range []string{"user input", "assistant output"} {
		role, kind, _ := strings.Cut(s, " ")
		p.codex("response_item", fmt.Sprintf(`{"type":"message","role":"%s","content":[{"type":"%s_text","text":"t%d"}]}`, role, kind, i))
	}
	p.codex("token_usage_record", `{"response_id":"r","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7,"total_tokens":107}}`)
}

// claude writes a line of a Claude Code session.
func (p *pile) claude(rest string) {
	up := "null"
	if p.entries > 0 {
		up = fmt.Sprintf(`"u%d"`, p.entries)
	}
	p.entries++
	p.line(`{"parentUuid":%s,"isSidechain":false,"sessionId":"s1","version":"2.1.17","uuid":"u%d","timestamp":%s,%s}`, up, p.entries, stamp, rest)
}

func (p *pile) claudeAnswer(content string) {
	p.claude(fmt.Sprintf(`"type":"assistant","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}`, p.entries, content))
}

// shapesOfContexts are shapes of what changes contexts, and of the messages in them.
var shapesOfContexts = []hostileShape{
	{"compactions", each(func(p *pile, _ int) {
		p.entry("compaction", `"summary":"s","firstKeptEntryId":"00000001","tokensBefore":9`)
	})},
	{"compactions alone", alone(func(p *pile, _ int) {
		p.entry("compaction", `"summary":"s","firstKeptEntryId":"00000001","tokensBefore":9`)
	})},
	{"patches of options", each(func(p *pile, i int) { p.patch(fmt.Sprintf(`{"op":"options_set",%s,"temperature":0.%d}`, op, i)) })},
	{"patches that compact", each(func(p *pile, i int) {
		p.patch(fmt.Sprintf(`{"op":"compaction_apply",%s,"summary":"s","firstKeptMessageIndex":%d,"tokensBefore":9,"timestamp":1}`, op, i%3))
	})},
	{"patches that replace", each(func(p *pile, i int) {
		p.patch(fmt.Sprintf(`{"op":"messages_cached_replace",%s,"messages":[{"role":"user","content":"m%d"}]}`, op, i))
	})},
	{"patches that append", each(func(p *pile, i int) {
		p.patch(fmt.Sprintf(`{"op":"messages_uncached_append","scope":"uncached","messages":[{"role":"user","content":"m%d"}]}`, i))
	})},
	{"ops of a patch", func(p *pile, n int) {
		p.patch(members(n, `{"op":"compaction_apply",`+op+`,"summary":"s%d","firstKeptMessageIndex":0,"tokensBefore":9,"timestamp":1}`))
		p.say("last")
	}},
	{"options of a patch", func(p *pile, n int) {
		p.say("first")
		p.entry("thinking_level_change", `"thinkingLevel":"high"`)
		p.patch(members(n, `{"op":"options_set",`+op+`,"temperature":0.%d}`))
		p.say("last")
	}},
	{"parts", each(func(p *pile, i int) {
		p.patch(fmt.Sprintf(`{"op":"system_part_set",%s,"partName":"p%d","text":"x"}`, op, i))
	})},
	{"sections", func(p *pile, n int) {
		p.entry("message", system, `"sections":{`+members(n, `"s%[1]d":"text %[1]d"`)+`}`)
		p.say("last")
	}},
	{"system messages", each(func(p *pile, i int) { p.entry("message", system, fmt.Sprintf(`"sections":{"s%d":"x"}`, i)) })},
	{"tools", func(p *pile, n int) {
		p.entry("message", system, `"toolsAdded":[`+members(n, tool)+`]`)
		p.say("last")
	}},
	{"tools added", each(func(p *pile, i int) { p.entry("message", system, fmt.Sprintf(`"toolsAdded":[`+tool+`]`, i)) })},
	{"calls", func(p *pile, n int) {
		p.answer(members(n, `{"type":"toolCall","id":"c%[1]d","name":"read","arguments":{"path":"f%[1]d"}}`))
		alone((*pile).result)(p, n)
	}},
	{"calls without results", each(func(p *pile, i int) { p.answer(call(i)) })},
	{"results without calls", alone((*pile).result)},
	{"results of one call", func(p *pile, n int) {
		p.answer(call(1))
		alone(func(p *pile, _ int) { p.result(1) })(p, n)
	}},
	{"null lines", alone(func(p *pile, _ int) { p.line("null") })},
	{"broken lines", alone(func(p *pile, _ int) { p.line(`{"type":"message","id":`) })},
	{"ids in a circle", func(p *pile, n int) {
		for i := range n {
			p.under(9+(i+1)%(n/2), 9+i%(n/2), "label", `"targetId":"00000001"`)
		}
	}},
	{"blocks", func(p *pile, n int) {
		p.user(`[` + members(n, `{"type":"text","text":"b%d"}`) + `]`)
		p.answer(members(n, `{"type":"text","text":"b%d"}`))
	}},
	{"images", func(p *pile, n int) {
		p.user(`[` + members(n, `{"type":"image","mimeType":"image/png","data":"iVB%d"}`) + `]`)
		p.say("last")
	}},
	{"thinking", func(p *pile, n int) {
		p.answer(members(n, `{"type":"thinking","thinking":"so %[1]d"},{"type":"text","text":"b%[1]d"}`))
		p.say("last")
	}},
	{"models", each(func(p *pile, i int) { p.entry("model_change", `"provider":"p","modelId":"m%d"`, i) })},
	{"labels", alone(func(p *pile, i int) { p.entry("label", `"targetId":"00000001","label":"l%d"`, i) })},
	{"edits", each(func(p *pile, i int) {
		p.entry("context_edit", `"targetId":"%08x","replacement":{"content":"x"}`, 1+i*3/2)
	})},
	{"edits of one entry", alone(func(p *pile, i int) {
		p.entry("context_edit", `"targetId":"00000001","replacement":{"content":"x%d"}`, i)
	})},
	{"forks", func(p *pile, n int) {
		for i := range n {
			p.under(2, p.entries+1, "message", `"message":{"role":"user","content":"fork %d"}`, i)
			p.answer(`{"type":"text","text":"done"}`)
		}
	}},
	{"forks below each other", func(p *pile, n int) {
		for i := range n {
			p.say("on")
			p.under(p.entries-1, p.entries+1, "label", `"targetId":"00000001","label":"l%d"`, i)
			p.under(p.entries-1, p.entries+1, "label", `"targetId":"00000001","label":"l%d"`, i)
		}
		p.say("last")
	}},
	{"codex compactions", func(p *pile, n int) {
		for i := range n {
			p.codexTurn(i)
			p.codex("compacted", `{"message":"sum"}`)
		}
	}},
	{"codex histories", func(p *pile, n int) {
		for i := range n {
			p.codexTurn(i)
			p.codex("compacted", `{"message":"sum","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"sum"}]}]}`)
		}
	}},
	{"codex compactions taken back", func(p *pile, n int) {
		for i := range n {
			p.codexTurn(2 * i)
			p.codexTurn(2*i + 1)
			p.codex("compacted", `{"message":"sum"}`)
			p.codex("event_msg", `{"type":"thread_rolled_back","num_turns":1}`)
		}
		p.codexTurn(0)
	}},
	{"codex rollbacks", func(p *pile, n int) {
		for i := range n {
			p.codexTurn(2 * i)
			p.codexTurn(2*i + 1)
			p.codex("event_msg", `{"type":"thread_rolled_back","num_turns":1}`)
		}
		p.codexTurn(0)
	}},
	{"gemini rewinds", func(p *pile, n int) {
		p.line(`{"sessionId":"s1","projectHash":"h","startTime":%s,"lastUpdated":%[1]s,"kind":"main"}`, stamp)
		for i := range 2 * n {
			p.line(`{"id":"u%d","timestamp":%s,"type":"user","content":[{"text":"t%[1]d"}]}`, i, stamp)
			p.line(`{"id":"g%d","timestamp":%s,"type":"gemini","content":"done","tokens":{"input":9,"output":1,"total":10},"model":"gemini-2.5-pro"}`, i, stamp)
			if i%2 > 0 {
				p.line(`{"$rewindTo":"u%d"}`, i)
			}
		}
	}},
	{"claude results", func(p *pile, n int) {
		p.claude(`"type":"user","message":{"role":"user","content":"hi"}`)
		p.claudeAnswer(members(n, `{"type":"tool_use","id":"t%d","name":"T","input":{}}`))
		p.claude(`"type":"user","message":{"role":"user","content":[` + members(n, `{"type":"tool_result","tool_use_id":"t%d","content":"out"}`) + `]},"toolUseResult":{}`)
		p.claudeAnswer(`{"type":"text","text":"done"}`)
	}},
	{"claude recorded requests", func(p *pile, n int) {
		hash := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
		turn := func(role, text string) string {
			return hash(fmt.Sprintf(`{"content":[{"text":"%s","type":"text"}],"role":"%s"}`, text, role))
		}
		p.line(`{"type":"api-request-shape","sessionId":"s","shapeHash":"%s","shape":{"system":[],"tools":[]}}`, hash(`{"system":[],"tools":[]}`))
		for k := range n {
			p.claude(`"type":"user","message":{"role":"user","content":"hi"}`)
			base, keep, tail := "", 0, ""
			if k > 0 {
				base, keep, tail = fmt.Sprintf(`"base":"r%d",`, k-1), 2*k-1, `"`+turn("assistant", "done")+`",`
			}
			p.line(`{"type":"api-request","sessionId":"s","id":"r%d","querySource":"main",%s"keep":%d,"tail":[%s"%s"],"params":{},"shapeHash":"%s","requestDigest":"x"}`,
				k, base, keep, tail, turn("user", "hi"), hash(`{"system":[],"tools":[]}`))
			p.claudeAnswer(`{"type":"text","text":"done"}`)
		}
	}},
	{"claude attachments", func(p *pile, n int) {
		for range n {
			p.claude(`"type":"attachment","attachment":{"type":"file","content":"x"}`)
		}
		p.claude(`"type":"user","message":{"role":"user","content":"hi"}`)
		p.claudeAnswer(`{"type":"text","text":"done"}`)
	}},
	{"claude resumes", func(p *pile, n int) {
		for range n {
			p.claude(`"type":"user","message":{"role":"user","content":"hi"}`)
			p.claudeAnswer(`{"type":"tool_use","id":"t1","name":"T","input":{}}`)
			p.claude(`"type":"assistant","message":{"id":"r","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}`)
		}
	}},
}
