package main

import (
	"fmt"
	"strings"
)

// question is a call with its result, as turns of a session are mostly made of them.
func (p *pile) question(id int, tool, arguments, result string) {
	p.answer(fmt.Sprintf(`{"type":"toolCall","id":"c%d","name":"%s","arguments":{%s}}`, id, tool, arguments))
	p.entry("message", `"message":{"role":"toolResult","toolCallId":"c%d","toolName":"%s","content":[{"type":"text","text":"%s"}]}`, id, tool, result)
}

// textOf is an answer whose text is n times a piece, as JSON has it; a piece may name its number.
func textOf(piece string) func(p *pile, n int) {
	return func(p *pile, n int) {
		text := strings.ReplaceAll(members(n, piece), ",", "")
		p.answer(`{"type":"text","text":"` + text + `"}`)
		p.user(`"` + text + `"`)
		p.question(1, "bash", `"command":"make"`, text)
		p.say("last")
	}
}

// shapesOfLines are shapes of texts, calls, lines and entries, and of more sessions of other agents.
var shapesOfLines = []hostileShape{
	{"nesting", func(p *pile, n int) {
		p.answer(`{"type":"toolCall","id":"c1","name":"read","arguments":{"path":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}`)
		p.say("last")
	}},
	{"arguments", func(p *pile, n int) {
		p.answer(`{"type":"toolCall","id":"c1","name":"other","arguments":{` + members(n, `"a%[1]d":"v%[1]d"`) + `}}`)
		p.say("last")
	}},
	{"equal members", func(p *pile, n int) {
		p.answer(`{"type":"toolCall","id":"c1","name":"read","arguments":{` + members(n, `"path":"v%d"`) + `}}`)
		p.say("last")
	}},
	{"a long key", func(p *pile, n int) {
		p.answer(`{"type":"toolCall","id":"c1","name":"read","arguments":{"` + strings.Repeat("key of it ", n) + `":1}}`)
		p.entry("message", system, `"sections":{"`+strings.Repeat("key", n)+`":"x"}`)
		p.say("last")
	}},
	{"a long number", func(p *pile, n int) {
		p.patch(`{"op":"options_set",` + op + `,"temperature":` + strings.Repeat("12", n) + `}`)
		p.entry("compaction", `"summary":"s","firstKeptEntryId":"00000001","tokensBefore":%s`, strings.Repeat("9", n))
		p.say("last")
	}},
	{"schema of a tool", func(p *pile, n int) {
		p.entry("message", system, `"toolsAdded":[{"name":"t","description":"d","parameters":{"type":"object","properties":{`+members(n, `"a%[1]d":{"type":"string"}`)+`}}}]`)
		p.say("last")
	}},
	{"words", textOf(`word%d `)},
	{"a word", textOf(`abcdefgh`)},
	{"lines", textOf(`line %d of it\n`)},
	{"empty lines in a text", textOf(`\n`)},
	{"fences", textOf("```\\n")},
	{"brackets", textOf(`[`)},
	{"quotes", textOf(`> `)},
	{"emphasis", textOf(`*a **b `)},
	{"lists", textOf(`- a%d\n  - b\n`)},
	{"tables", textOf(`| a | b%d |\n|---|---|\n`)},
	{"links", textOf(`[a%[1]d](http://x/%[1]d) <b> `)},
	{"colours", textOf(`\u001b[31mred\u001b[0m`)},
	{"marks", textOf(`e\u0301`)},
	{"paths in a text", textOf(`dir/file%d.go:12: undefined: name%[1]d\n`)},
	{"secrets", textOf(`password=\"hunter%dQzX9v\" `)},
	{"keys in a text", textOf(`AKIAQ7RT%dX9V2LMNPQR `)},
	{"hex", textOf(`deadbeef`)},
	{"json in a text", textOf(`{\"a\":`)},
	{"edits of lines", func(p *pile, n int) {
		text := func(name string) string { return strings.ReplaceAll(members(n, name+`%d\n`), ",", "") }
		p.question(1, "edit", `"path":"a.go","oldText":"`+text("old")+`","newText":"`+text("new")+`"`, "ok")
		p.question(2, "edit", `"path":"a.go","oldText":"`+text("a")+`","newText":"`+strings.Repeat(`x\ny\n`, n)+`"`, "ok")
		p.question(3, "write", `"path":"a.go","content":"`+text("new")+`"`, "ok")
		p.say("last")
	}},
	{"files", alone(func(p *pile, i int) {
		p.question(i, "read", fmt.Sprintf(`"path":"f%d.go"`, i), fmt.Sprintf("func f%d()", i))
		p.question(-i-1, "edit", fmt.Sprintf(`"path":"f%d.go","oldText":"a","newText":"b"`, i), "ok")
	})},
	{"reads of a file", alone(func(p *pile, i int) { p.question(i, "read", `"path":"f.go"`, "func f()") })},
	{"edits of a file", alone(func(p *pile, i int) {
		p.question(i, "edit", fmt.Sprintf(`"path":"f.go","oldText":"a%d","newText":"b%d"`, i, i), "ok")
		p.question(-i-1, "read", `"path":"f.go"`, fmt.Sprintf("func f%d()", i))
	})},
	{"failures", alone(func(p *pile, i int) {
		p.question(i, "bash", `"command":"make"`, `make: *** [all] Error 2\nCommand exited with code 2`)
	})},
	{"commands", alone(func(p *pile, i int) { p.question(i, "bash", fmt.Sprintf(`"command":"cat f%d && make"`, i), `ok`) })},
	{"names of tools", alone(func(p *pile, i int) { p.question(i, fmt.Sprintf("tool%d", i), `"x":1`, "ok") })},
	{"compactions of reads", alone(func(p *pile, i int) {
		p.question(i, "read", fmt.Sprintf(`"path":"f%d.go"`, i%100), fmt.Sprintf("func name%d()", i%100))
		p.entry("compaction", `"summary":"name%d","firstKeptEntryId":"%08x","tokensBefore":9`, i, p.entries)
	})},
	{"compactions that keep all", alone(func(p *pile, i int) {
		p.question(i, "read", `"path":"f.go"`, fmt.Sprintf("func name%d()", i))
		p.entry("compaction", `"summary":"s","firstKeptEntryId":"00000001","tokensBefore":9`)
		p.entry("context_edit", `"targetId":"%08x","replacement":null`, p.entries-3)
	})},
	{"failed answers", each(func(p *pile, i int) {
		p.entry("message", `"message":{"role":"assistant","provider":"p","model":"m%d","content":[],"stopReason":"error","errorMessage":"overloaded"}`, i)
	})},
	{"equal ids", alone(func(p *pile, i int) { p.under(1, 3, "message", `"message":{"role":"user","content":"x%d"}`, i) })},
	{"lost parents", alone(func(p *pile, i int) {
		p.under(1<<28+i, p.entries+1, "message", `"message":{"role":"user","content":"x%d"}`, i)
	})},
	{"roots", func(p *pile, n int) {
		for i := range n {
			p.under(0, p.entries+1, "message", `"message":{"role":"user","content":"x%d"}`, i)
		}
	}},
	{"children before parents", func(p *pile, n int) {
		for i := range n {
			p.under(n+9-i-1, n+9-i, "message", `"message":{"role":"user","content":"x%d"}`, i)
		}
	}},
	{"headers", alone(func(p *pile, i int) {
		p.line(`{"type":"session","version":3,"id":"s%d","timestamp":%s,"cwd":"/w%d"}`, i, stamp, i)
	})},
	{"empty lines", alone(func(p *pile, _ int) { p.line("") })},
	{"carriage returns", alone(func(p *pile, i int) { p.line("\r\r"); p.user(fmt.Sprintf(`"x%d"}}`+"\r", i)) })},
	{"byte order marks", alone(func(p *pile, i int) { p.WriteString("\ufeff"); p.user(fmt.Sprintf(`"x%d"`, i)) })},
	{"invalid bytes", alone(func(p *pile, i int) { p.user(fmt.Sprintf("\"x%d\xff\xc3\"", i)) })},
	{"glued lines", alone(func(p *pile, i int) { p.user(`"x"`); p.Truncate(p.Len() - 1) })},
	{"torn line", func(p *pile, n int) {
		p.say("last")
		p.WriteString(`{"type":"message","id":"x","message":{"role":"user","content":"` + strings.Repeat(`{\"a\":`, n))
	}},
	{"torn objects", func(p *pile, n int) {
		p.say("last")
		p.line(strings.Repeat(`{"type":"message","id":"a",`, n))
	}},
	{"session names", alone(func(p *pile, i int) { p.entry("session_info", `"name":"n%d"`, i) })},
	{"thinking levels", each(func(p *pile, i int) { p.entry("thinking_level_change", `"thinkingLevel":"l%d"`, i) })},
	{"branch summaries", each(func(p *pile, i int) { p.entry("branch_summary", `"summary":"s%d","fromId":"00000001"`, i) })},
	{"custom messages", each(func(p *pile, i int) {
		p.entry("custom_message", `"customType":"t%d","content":"x","display":true`, i)
	})},
	{"unknown types", alone(func(p *pile, i int) { p.entry(fmt.Sprintf("t%d", i), `"a%d":1`, i) })},
	{"unknown roles", each(func(p *pile, i int) { p.entry("message", `"message":{"role":"r%d","content":"x"}`, i) })},
	{"ephemerals", each(func(p *pile, i int) { p.entry("ephemeral", `"messages":[{"role":"user","content":"e%d"}]`, i) })},
	{"usage entries", each(func(p *pile, i int) {
		p.entry("usage", `"kind":"k%d","provider":"p%d","model":"m%d","usage":%s`, i, i, i, billed)
	})},
	{"shell commands", each(func(p *pile, i int) {
		p.entry("message", `"message":{"role":"bashExecution","command":"c%d","output":"o","exitCode":1}`, i)
	})},
	{"edits backwards", func(p *pile, n int) {
		for range n {
			p.say("next")
		}
		for i := range 2 * n {
			p.entry("context_edit", `"targetId":"%08x","replacement":null`, 2*n-i)
		}
		p.say("last")
	}},
	{"edits of nothing", alone(func(p *pile, i int) { p.entry("context_edit", `"targetId":"f%07x","replacement":null`, i) })},
	{"a part set again", each(func(p *pile, i int) {
		p.patch(fmt.Sprintf(`{"op":"system_part_set",%s,"partName":"p","text":"x%d"}`, op, i))
	})},
	{"tools removed", func(p *pile, n int) {
		p.entry("message", system, `"toolsAdded":[`+members(n, tool)+`]`)
		each(func(p *pile, i int) { p.entry("message", system, fmt.Sprintf(`"toolsRemoved":[{"name":"t%d"}]`, i)) })(p, n)
	}},
	{"codex calls", func(p *pile, n int) {
		p.codexTurn(0)
		for i := range n {
			p.codex("response_item", fmt.Sprintf(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls %d\"}","call_id":"c%d"}`, i, i))
		}
		for i := range n {
			p.codex("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":"out"}`, i))
		}
		p.codexTurn(1)
	}},
	{"codex models", func(p *pile, n int) {
		for i := range n {
			p.codexTurn(i)
			p.codex("turn_context", fmt.Sprintf(`{"model":"m%d","cwd":"/w%d"}`, i, i))
		}
	}},
	{"codex sessions", func(p *pile, n int) {
		p.codexTurn(0)
		for i := range n {
			p.codex("session_meta", fmt.Sprintf(`{"id":"s%d","cwd":"/w","base_instructions":{"text":"Be %d."}}`, i, i))
		}
		p.codexTurn(1)
	}},
	{"codex history", func(p *pile, n int) {
		p.codexTurn(0)
		p.codex("compacted", `{"message":"sum","replacement_history":[`+members(n, `{"type":"message","role":"user","content":[{"type":"input_text","text":"t%d"}]}`)+`]}`)
		p.codexTurn(1)
	}},
	{"codex events", func(p *pile, n int) {
		p.codexTurn(0)
		for i := range n {
			p.codex("event_msg", fmt.Sprintf(`{"type":"exec_command_end","call_id":"c%d","stdout":"out","exit_code":0}`, i))
			p.codex("event_msg", fmt.Sprintf(`{"type":"token_count","info":{"last_token_usage":{"input_tokens":%d,"output_tokens":1,"total_tokens":9}}}`, i))
		}
		p.codexTurn(1)
	}},
	{"codex reasoning", func(p *pile, n int) {
		p.codexTurn(0)
		for i := range n {
			p.codex("response_item", fmt.Sprintf(`{"type":"reasoning","summary":[{"type":"summary_text","text":"s%d"}],"encrypted_content":"x"}`, i))
		}
		p.codexTurn(1)
	}},
	{"codex rollback of all", func(p *pile, n int) {
		for i := range n {
			p.codexTurn(i)
		}
		for i := range n {
			p.codex("event_msg", fmt.Sprintf(`{"type":"thread_rolled_back","num_turns":%d}`, 1+i%2))
		}
		p.codexTurn(0)
	}},
	{"claude boundaries", func(p *pile, n int) {
		for i := range n {
			p.claude(fmt.Sprintf(`"type":"user","message":{"role":"user","content":"hi %d"}`, i))
			p.claudeAnswer(`{"type":"text","text":"done"}`)
			p.claude(fmt.Sprintf(`"type":"system","subtype":"compact_boundary","content":"Conversation compacted","logicalParentUuid":"u%d","compactMetadata":{"trigger":"auto","preTokens":9}`, p.entries))
			p.claude(`"type":"user","isCompactSummary":true,"message":{"role":"user","content":"the summary"}`)
		}
	}},
	{"claude parts of an answer", func(p *pile, n int) {
		p.claude(`"type":"user","message":{"role":"user","content":"hi"}`)
		for i := range n {
			p.claude(fmt.Sprintf(`"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"t%d"}],"usage":{"input_tokens":9,"output_tokens":1}}`, i))
		}
		p.claude(`"type":"user","message":{"role":"user","content":"hi"}`)
		p.claudeAnswer(`{"type":"text","text":"done"}`)
	}},
	{"claude siblings", func(p *pile, n int) {
		p.claude(`"type":"user","message":{"role":"user","content":"hi"}`)
		for i := range n {
			p.line(`{"parentUuid":"u1","isSidechain":false,"sessionId":"s1","version":"2.1.17","uuid":"v%d","timestamp":%s,"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t%d","name":"T","input":{}}],"usage":{"input_tokens":9,"output_tokens":1}}}`, i, stamp, i)
		}
		for i := range n {
			p.line(`{"parentUuid":"v%d","isSidechain":false,"sessionId":"s1","version":"2.1.17","uuid":"w%d","timestamp":%s,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"out"}]},"toolUseResult":{}}`, i, i, stamp, i)
		}
	}},
	{"claude snapshots", func(p *pile, n int) {
		p.claude(`"type":"user","message":{"role":"user","content":"hi"}`)
		for i := range n {
			p.line(`{"type":"file-history-snapshot","messageId":"u%d","snapshot":{"messageId":"u%d","trackedFileBackups":{},"timestamp":%s},"isSnapshotUpdate":false}`, i, i, stamp)
			p.line(`{"type":"summary","summary":"s%d","leafUuid":"u1"}`, i)
			p.line(`{"type":"queue-operation","operation":"enqueue","timestamp":%s,"sessionId":"s1","content":"q%d"}`, stamp, i)
		}
		p.claudeAnswer(`{"type":"text","text":"done"}`)
	}},
	{"claude sidechains", func(p *pile, n int) {
		p.claude(`"type":"user","message":{"role":"user","content":"hi"}`)
		for i := range n {
			p.line(`{"parentUuid":null,"isSidechain":true,"agentId":"a%d","sessionId":"s1","version":"2.1.17","uuid":"x%d","timestamp":%s,"type":"user","message":{"role":"user","content":"do"}}`, i, i, stamp)
		}
		p.claudeAnswer(`{"type":"text","text":"done"}`)
	}},
	{"gemini histories", func(p *pile, n int) {
		p.line(`{"sessionId":"s1","projectHash":"h","startTime":%s,"lastUpdated":%[1]s,"kind":"main"}`, stamp)
		for i := range n {
			p.line(`{"id":"u%d","timestamp":%s,"type":"user","content":[{"text":"t%[1]d"}]}`, i, stamp)
			p.line(`{"id":"g%d","timestamp":%s,"type":"gemini","content":"done","tokens":{"input":9,"output":1,"total":10},"model":"gemini-2.5-pro"}`, i, stamp)
			p.line(`{"$set":{"messages":[{"id":"s%d","timestamp":%s,"type":"user","content":"summary"},{"id":"g%d","timestamp":%s,"type":"gemini","content":"done"}]}}`, i, stamp, i, stamp)
		}
	}},
	{"gemini answers again", func(p *pile, n int) {
		p.line(`{"sessionId":"s1","projectHash":"h","startTime":%s,"lastUpdated":%[1]s,"kind":"main"}`, stamp)
		p.line(`{"id":"u1","timestamp":%s,"type":"user","content":[{"text":"t"}]}`, stamp)
		for i := range n {
			p.line(`{"id":"g1","timestamp":%s,"type":"gemini","content":"done %d","tokens":{"input":9,"output":1,"total":10},"model":"gemini-2.5-pro"}`, stamp, i)
			p.line(`{"$set":{"lastUpdated":%s}}`, stamp)
		}
	}},
}
