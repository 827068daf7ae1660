package gen

import "fmt"

// transform writes a context_transform with one or two ops, now and then a
// compaction with its shadow.
func (g *generator) transform() {
	if g.Version < 3 {
		return
	}
	if g.r.IntN(8) == 0 {
		g.shadowed()
		return
	}
	g.open("context_transform")
	g.put(`,"schemaVersion":1,"transformerName":"gen","patch":[`)
	for k := range 1 + g.r.IntN(2) {
		if k > 0 {
			g.put(",")
		}
		g.names++
		ops[g.r.IntN(len(ops))](g, g.names%9)
	}
	g.put("]")
	g.close()
}

// op writes a cached operation.
func (g *generator) op(name, fields string, args ...any) {
	g.put(`{"op":"%s","scope":"cached","invalidateCacheReason":"it changed",`, name)
	g.put(fields+"}", args...)
}

// ops write one operation each, n being part of the names in it. The uncached
// one is left out: no persisted patch should hold it.
var ops = []func(g *generator, n int){
	func(g *generator, n int) { g.op("system_part_set", `"partName":"part%d","text":%s`, n, g.text(120)) },
	func(g *generator, n int) { g.op("system_part_remove", `"partName":"part%d"`, n) },
	func(g *generator, n int) {
		g.op("system_parts_replace", `"parts":[{"name":"base","text":%s},{"name":"part%d","text":"short"}]`,
			g.text(200), n)
	},
	func(g *generator, n int) {
		g.op("tools_replace", `"tools":[%s,%s]`, g.tools(), g.tool(fmt.Sprint("extra", n), "input"))
	},
	func(g *generator, n int) { g.op("tools_remove", `"toolNames":["extra%d","other"]`, n) },
	func(g *generator, n int) {
		g.at.prompts, g.at.edits, g.at.sent = nil, nil, 2
		g.op("messages_cached_replace", `"messages":[`+
			`{"role":"user","content":[{"type":"text","text":%s}],"timestamp":%d},`+
			`{"role":"assistant","content":[{"type":"text","text":"as before"}],"timestamp":%[2]d}]`,
			g.text(200), g.clock)
	},
	func(g *generator, n int) {
		g.op("options_set", `"temperature":0.%d0,"maxTokens":1%[1]d000,"reasoning":"high"`, n)
	},
	func(g *generator, n int) { g.compaction(n) },
}

// compaction writes a compaction_apply that keeps the messages from the one of that
// number on, and returns its summary. Which of the earlier prompts it drops is not
// kept track of: no later compaction names one.
func (g *generator) compaction(first int) (summary string) {
	first = min(first, g.at.sent)
	g.at.prompts, g.at.edits, g.at.sent = nil, nil, 1+g.at.sent-first
	summary = g.text(300)
	g.op("compaction_apply", `"summary":%s,"firstKeptMessageIndex":%d,"tokensBefore":5000,"timestamp":%d`,
		summary, first, g.clock)
	return summary
}

// shadowed writes a compaction as a patch, and as the entry that older readers
// know.
func (g *generator) shadowed() {
	keep := g.at.prompts[len(g.at.prompts)-1]
	g.open("context_transform")
	g.put(`,"schemaVersion":1,"transformerName":"compaction","patch":[`)
	summary := g.compaction(3)
	g.put("]")
	g.close()
	g.open("compaction")
	g.put(`,"summary":%s,"firstKeptEntryId":"%08x","tokensBefore":5000`, summary, keep)
	g.checkpoint()
	g.close()
}
