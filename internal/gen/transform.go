package gen

import "strconv"

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
		ops[g.r.IntN(len(ops))](g, strconv.Itoa(g.names%9))
	}
	g.put("]")
	g.close()
}

// op begins a cached operation.
func (g *generator) op(name string) {
	g.put(`{"op":"`, name, `","scope":"cached","invalidateCacheReason":"it changed",`)
}

// ops write one operation each, n being part of the names in it. The uncached
// one is left out: no persisted patch should hold it.
var ops = []func(g *generator, n string){
	func(g *generator, n string) {
		g.op("system_part_set")
		g.put(`"partName":"part`, n, `","text":`)
		g.text(120)
		g.put("}")
	},
	func(g *generator, n string) {
		g.op("system_part_remove")
		g.put(`"partName":"part`, n, `"}`)
	},
	func(g *generator, n string) {
		g.op("system_parts_replace")
		g.put(`"parts":[{"name":"base","text":`)
		g.text(200)
		g.put(`},{"name":"part`, n, `","text":"short"}]}`)
	},
	func(g *generator, n string) {
		g.op("tools_replace")
		g.put(`"tools":[`)
		g.tools()
		g.put(",")
		g.tool("extra"+n, "input")
		g.put("]}")
	},
	func(g *generator, n string) {
		g.op("tools_remove")
		g.put(`"toolNames":["extra`, n, `","other"]}`)
	},
	func(g *generator, n string) {
		g.op("messages_cached_replace")
		g.at.prompts, g.at.edits, g.at.sent = nil, nil, 2
		g.put(`"messages":[{"role":"user","content":[{"type":"text","text":`)
		g.text(200)
		g.put(`}],"timestamp":`)
		g.putInt(g.clock)
		g.put(`},{"role":"assistant","content":[{"type":"text","text":"as before"}],"timestamp":`)
		g.putInt(g.clock)
		g.put("}]}")
	},
	func(g *generator, n string) {
		g.op("options_set")
		g.put(`"temperature":0.`, n, `0,"maxTokens":1`, n, `000,"reasoning":"high"}`)
	},
	func(g *generator, n string) {
		g.op("compaction_apply")
		first, _ := strconv.Atoi(n)
		g.compaction(first)
	},
}

// compaction ends a compaction_apply that keeps the messages from the one of that
// number on, and returns its summary. Which of the earlier prompts it drops is not
// kept track of: no later compaction names one.
func (g *generator) compaction(first int) (summary string) {
	first = min(first, g.at.sent)
	g.at.prompts, g.at.edits, g.at.sent = nil, nil, 1+g.at.sent-first
	g.put(`"summary":`)
	at := len(g.line)
	g.text(300)
	summary = string(g.line[at:])
	g.put(`,"firstKeptMessageIndex":`, strconv.Itoa(first), `,"tokensBefore":5000,"timestamp":`)
	g.putInt(g.clock)
	g.put("}")
	return summary
}

// shadowed writes a compaction as a patch, and as the entry that older readers
// know.
func (g *generator) shadowed() {
	keep := g.at.prompts[len(g.at.prompts)-1]
	g.open("context_transform")
	g.put(`,"schemaVersion":1,"transformerName":"compaction","patch":[`)
	g.op("compaction_apply")
	summary := g.compaction(3)
	g.put("]")
	g.close()
	g.open("compaction")
	g.put(`,"summary":`, summary, `,"firstKeptEntryId":`)
	g.putID(keep)
	g.put(`,"tokensBefore":5000`)
	g.checkpoint()
	g.close()
}
