package html_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
)

// TestPageHostile holds that nothing that a session says runs, or leaves the page.
func TestPageHostile(t *testing.T) {
	t.Parallel()
	b := openText(t, "a<img src=x onerror=owned=1>.jsonl", hostileSession())
	b.Run(`for (const what of ['outputs', 'thoughts']) ctxtool.talk.set(what, true)
		for (const row of ctxtool.side.order.rows) { ctxtool.goto(row); await ctxtool.store.row(row); await new Promise(f => setTimeout(f)) }
		for (const step of ctxtool.steps) ctxtool.select(step)
		for (const tab of ['messages', 'prompt', 'overview']) document.querySelector('[data-tab=' + tab + ']').click()
		for (const box of document.querySelectorAll('details')) box.open = true
		for (const row of ctxtool.context.rows) await ctxtool.context.read(row)
		ctxtool.closeDialog()
		ctxtool.spread()
		for (const box of document.querySelectorAll('details')) box.open = true
		for (const b of document.querySelectorAll('.unfold')) b.click()
		await new Promise(f => setTimeout(f, 500))`)
	b.Holds("typeof owned === 'undefined'")
	b.Holds("document.querySelectorAll('iframe, object, embed, form, base, img:not([src^=\"data:image/\"]), a[href*=\"javascript\"]').length === 0")
	b.Holds("[...document.querySelectorAll('img')].every(i => /^data:image\\/(png|jpeg|gif|webp);base64,/.test(i.src))")
	b.Holds("!/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.textContent.replace(/\\{[^]*/, '')) ")
	b.Holds("document.getElementById('talk-space').textContent.includes('<script>')")
	b.Silent()
}

// hostileSession has what somebody would write who wants the page to run it.
func hostileSession() string {
	var out bytes.Buffer
	script := `<script>owned=1</script><img src=x onerror=owned=1><svg onload=owned=1></svg></script><script>owned=1</script><!--<script>`
	texts := []string{
		script, "[a](javascript:owned=1) [b](data:text/html,<script>owned=1</script>) ![c](https://evil.example/c.png) <https://evil.example/> [d](  java\nscript:owned=1)",
		"```html\n" + script + "\n```\n`" + script + "`\n<details open ontoggle=owned=1>", "\u202eevil\u2066 \u200f x\x07\x1b]0;title\x07\x1b[31mred\u2028",
		"<skill name=\"" + script + "\" location=\"x\">" + script + "</skill>" + script,
		"| a | b |\n|---|---|\n" + strings.Repeat("| "+script+" | y |\n", corpus.Pick(20, 400)), strings.Repeat("> ", corpus.Pick(200, 3000)) + "deep",
		strings.Repeat("[", corpus.Pick(400, 5000)), strings.Repeat("*a ", corpus.Pick(400, 5000)),
		"\ufffd {{title}} {{data}} $& $1 \x7f0 \x7f",
	}
	n := 0
	line := func(v map[string]any) {
		n++
		v["id"], v["timestamp"] = fmt.Sprintf("%08x", n), "2026-01-01T00:00:00.000Z"
		if n > 1 {
			v["parentId"] = fmt.Sprintf("%08x", n-1)
		}
		data, _ := json.Marshal(v)
		out.Write(append(data, '\n'))
	}
	message := func(m map[string]any) { line(map[string]any{"type": "message", "message": m}) }
	fmt.Fprintf(&out, `{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":%q}`+"\n", "/"+script)
	for _, text := range texts {
		message(map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": text}, map[string]any{"type": script, "text": script},
			map[string]any{"type": "image", "mimeType": "image/svg+xml", "data": "PHN2ZyBvbmxvYWQ9Im93bmVkPTEiLz4="}, map[string]any{"type": "image", "mimeType": "image/png\" onerror=\"owned=1", "data": "x\" onerror=\"owned=1"}}})
		message(map[string]any{"role": "assistant", "provider": script, "model": script, "stopReason": "error", "errorMessage": script, "usage": map[string]any{"input": 1e300, "output": -5, "cost": map[string]any{"total": "x"}},
			"content": []any{map[string]any{"type": "text", "text": text}, map[string]any{"type": "thinking", "thinking": text}, map[string]any{"type": "toolCall", "id": text, "name": script, "arguments": map[string]any{"command": text, script: script}}}})
		message(map[string]any{"role": "toolResult", "toolCallId": text, "toolName": script, "isError": true, "content": []any{map[string]any{"type": "text", "text": text}}, "details": map[string]any{"diff": text}})
		line(map[string]any{"type": "compaction", "summary": text, "firstKeptEntryId": "nowhere", "tokensBefore": script})
		line(map[string]any{"type": "label", "targetId": "00000001", "label": script})
		line(map[string]any{"type": "session_info", "name": script})
		line(map[string]any{"type": script, "data": script})
		line(map[string]any{"type": "context_edit", "targetId": "00000002", "replacement": map[string]any{"content": text}})
		line(map[string]any{"type": "context_transform", "schemaVersion": 1, "transformerName": script, "patch": []any{map[string]any{"op": script, "scope": "cached", "invalidateCacheReason": script}}})
		message(map[string]any{"role": "bashExecution", "command": text, "output": text, "exitCode": script})
	}
	fmt.Fprintf(&out, `{"type":"message","id":"deep","parentId":"%08x","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"d","name":"deep","arguments":%s1%s}]}}`+"\n",
		n, strings.Repeat(`{"a":[`, 50_000), strings.Repeat("]}", 50_000))
	out.WriteString(`{"type":"message","id":"utf8","parentId":"deep","timestamp":"x","message":{"role":"user","content":"` + "\xff\xfe\xc3" + `"}}` + "\nbroken " + script + "\n{\"torn\":\n")
	return out.String()
}

// TestPageObjects holds that a page shows what it has where a session has objects in
// place of texts, and those with members that a script would call.
func TestPageObjects(t *testing.T) {
	t.Parallel()
	const odd = `{"toString":1,"valueOf":1,"__proto__":{"x":1},"constructor":"c"}`
	bodies := []string{
		`"type":"message","message":{"role":"user","content":[{"type":"text","text":ODD},{"type":ODD,"text":ODD},{"type":"image","mimeType":ODD,"data":ODD},null,5]}`,
		`"type":"message","message":{"role":"assistant","provider":ODD,"model":ODD,"stopReason":"error","errorMessage":ODD,"content":[{"type":"thinking","thinking":ODD},{"type":"toolCall","id":ODD,"name":ODD,"arguments":{"path":"a.constructor","content":"x","b":[ODD]}}]}`,
		`"type":"message","message":{"role":"toolResult","toolCallId":ODD,"toolName":ODD,"content":[{"type":"text","text":"x"}]}`,
		`"type":"message","message":{"role":"bashExecution","command":ODD,"output":ODD,"exitCode":ODD}`,
		`"type":"message","message":{"role":"constructor","content":ODD}`, `"type":"message","message":{"role":ODD,"content":ODD}`,
		`"type":"model_change","provider":ODD,"modelId":ODD`, `"type":"thinking_level_change","thinkingLevel":ODD`, `"type":"session_info","name":ODD`,
		`"type":"label","targetId":"e1","label":ODD`, `"type":"custom","customType":ODD,"data":ODD`, `"type":"custom_message","customType":ODD,"content":ODD`,
		`"type":"branch_summary","summary":ODD,"fromId":ODD`, `"type":"compaction","summary":ODD,"firstKeptEntryId":ODD,"tokensBefore":ODD`,
		`"type":"message","message":{"role":"user","content":"the end"}`,
	}
	session := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}` + "\n"
	for i, body := range bodies {
		parent := "null"
		if i > 0 {
			parent = fmt.Sprintf(`"e%d"`, i)
		}
		session += fmt.Sprintf(`{"id":"e%d","parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z",%s}`+"\n", i+1, parent, strings.ReplaceAll(body, "ODD", odd))
	}
	b := openText(t, "objects.jsonl", session)
	b.Run(`ctxtool.side.filter = 'all'; ctxtool.side.refresh()
		for (const row of ctxtool.side.order.rows) ctxtool.goto(row)
		for (const row of ctxtool.context.rows) await ctxtool.context.read(row)
		ctxtool.closeDialog()
		location.hash = '#%'
		await new Promise(f => setTimeout(f, 100))`)
	b.Holds("document.getElementById('talk-space').textContent.includes('the end')")
	b.Silent()
}

// TestPageBroken holds that a stopped replay shows the context up to where it stops,
// and says why; and that damage is told in its place.
func TestPageBroken(t *testing.T) {
	t.Parallel()
	const session = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}
{"type":"message","id":"u1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first"}}
{"type":"message","id":"a1","parentId":"u1","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"one"}],"provider":"p","model":"m"}}
this is not JSON
{"type":"context_transform","id":"t1","parentId":"a1","timestamp":"2026-01-01T00:00:03.000Z","schemaVersion":1,"patch":[{"op":"messages_cached_replace","scope":"cached","messages":[]}]}
{"type":"message","id":"u2","parentId":"t1","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"user","content":"second"}}
{"type":"message","id":"a2","parentId":"u2","timestamp":"2026-01-01T00:00:05.000Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"provider":"p","model":"m"}}
`
	b := openText(t, "stopped.jsonl", session)
	b.Holds("/The replay stops here.*invalidateCacheReason/.test(document.getElementById('talk-space').textContent)")
	b.Holds("/line 4/.test(document.getElementById('talk-space').textContent)")
	b.Run("ctxtool.select(ctxtool.steps[ctxtool.steps.length-1])")
	b.Holds("document.getElementById('request-name').textContent === 'Next request' && /up to where/.test(document.getElementById('request-facts').textContent)")
	b.Holds("ctxtool.context.rows.length === 2")
	b.Holds("/second/.test(document.getElementById('talk-space').textContent) && /two/.test(document.getElementById('talk-space').textContent)")
	b.Run("document.getElementById('findings').click()")
	b.Holds("document.querySelectorAll('.findings li').length >= 2")
	b.Silent()
}
