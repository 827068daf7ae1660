package gen

import "strconv"

// before writes what may stand before a prompt: settings, a system message, a
// shell command, an extension's words.
func (g *generator) before() {
	if g.chance(g.Settings) {
		g.setting()
	}
	if g.Version == 3 && g.Systems > 0 && (!g.at.system || g.chance(g.Systems)) {
		g.system()
	}
	if g.chance(g.Bash) {
		g.message("bashExecution")
		g.put(`,"command":`)
		g.text(20)
		g.put(`,"output":`)
		g.text(g.length())
		g.put(`,"exitCode":`, strconv.Itoa(g.r.IntN(2)), `,"cancelled":false,"truncated":false`)
		if g.r.IntN(2) == 0 {
			g.put(`,"excludeFromContext":true`)
		}
		g.stamp()
	}
	if g.chance(g.Custom) {
		g.custom()
	}
}

func (g *generator) setting() {
	switch g.r.IntN(3) {
	case 0:
		g.open("model_change")
		g.put(`,"provider":"anthropic","modelId":"claude-sonnet-4-5"`)
	case 1:
		g.open("thinking_level_change")
		g.put(`,"thinkingLevel":"`, []string{"off", "minimal", "medium", "high"}[g.r.IntN(4)], `"`)
	default:
		g.open("session_info")
		g.put(`,"name":`)
		g.text(24)
	}
	g.close()
}

// custom writes an extension's message, as the version has it, and its entry,
// which no model sees.
func (g *generator) custom() {
	switch {
	case g.Version < 3:
		g.message("hookMessage")
		g.put(`,"customType":"ci","content":`)
		g.text(g.length())
		g.put(`,"display":true`)
		g.stamp()
	default:
		g.open("custom_message")
		g.put(`,"customType":"ci","content":`)
		g.text(g.length())
		g.put(`,"display":true`)
		g.close()
		g.open("custom")
		g.put(`,"customType":"ci-state","data":{"runs":[`, strconv.Itoa(g.entries), `,1.50,-0,1e3]}`)
		g.close()
	}
}

// system declares prompt and tools, at first all of them, then what changes.
func (g *generator) system() {
	g.message("system")
	g.put(`,"content":"","sections":{`)
	if !g.at.system {
		g.put(`"preamble":`)
		g.text(400)
		g.put(`,"rules":`)
		g.text(200)
		g.put(`},"toolsAdded":[`)
		g.tools()
		g.put("]")
		g.at.system = true
		g.stamp()
		return
	}
	g.names++
	name := strconv.Itoa(g.names % 7)
	switch g.r.IntN(3) {
	case 0:
		g.put(`"notes`, name, `":`)
		g.text(120)
		g.put("}")
	case 1:
		g.put(`"notes`, name, `":null}`)
	default:
		g.put(`"7":`)
		g.text(60)
		g.put(`},"toolsRemoved":[{"name":"extra`, name, `"}],"toolsAdded":[`)
		g.tool("extra"+name, "input")
		g.put("]")
	}
	g.stamp()
}

// tools declares the tools that answers call.
func (g *generator) tools() {
	for k, t := range tools {
		if k > 0 {
			g.put(",")
		}
		g.tool(t.name, t.argument)
	}
}

func (g *generator) tool(name, argument string) {
	g.put(`{"name":"`, name, `","description":`)
	g.text(80)
	g.put(`,"parameters":{"type":"object","properties":{"`, argument, `":{"type":"string"}},"required":["`, argument, `"]}}`)
}

// edit leaves out the answer just written, or rewrites one of the latest messages.
func (g *generator) edit() {
	target := g.at.edits[g.r.IntN(len(g.at.edits))]
	if g.Version < 3 {
		return
	}
	omit := g.r.IntN(3) == 0
	if omit { // of a result the call would be left
		target = g.at.leaf
	}
	g.open("context_edit")
	g.put(`,"targetId":`)
	g.putID(target)
	if omit {
		g.at.sent = max(0, g.at.sent-1)
		g.put(`,"replacement":null`)
	} else {
		g.put(`,"replacement":{"content":[{"type":"text","text":`)
		g.text(60)
		g.put("}]}")
	}
	g.close()
}

func (g *generator) label() {
	if g.Version == 1 {
		return
	}
	target := g.at.leaf
	g.names++
	g.open("label")
	g.put(`,"targetId":`)
	g.putID(target)
	g.put(`,"label":"mark-`, strconv.Itoa(g.names), `"`)
	g.close()
}

func (g *generator) branchSummary(from uint32) {
	g.open("branch_summary")
	g.put(`,"fromId":`)
	g.putID(from)
	g.put(`,"summary":`)
	g.text(g.length())
	g.close()
}

// compact writes a compaction that keeps the last few prompts.
func (g *generator) compact() {
	keep := g.at.prompts[max(0, len(g.at.prompts)-3)]
	g.at.sent = 1
	g.open("compaction")
	g.put(`,"summary":`)
	g.text(800)
	if g.Version == 1 {
		g.put(`,"firstKeptEntryIndex":`)
		g.putInt(int64(keep))
	} else {
		g.put(`,"firstKeptEntryId":`)
		g.putID(keep)
	}
	g.put(`,"tokensBefore":`)
	g.putInt(int64(1000 + g.since*90))
	g.checkpoint()
	g.close()
	g.since = 0
	g.at.edits = g.at.edits[len(g.at.edits)-min(2, len(g.at.edits)):]
}

// checkpoint gives a compaction the system message that continues after it.
// Without one, the next prompt declares prompt and tools again.
func (g *generator) checkpoint() {
	if !g.Checkpoints || !g.at.system {
		g.at.system = false
		return
	}
	g.put(`,"systemMessage":{"role":"system","content":"","sections":{"preamble":`)
	g.text(300)
	g.put(`},"toolsAdded":[`)
	g.tools()
	g.put(`],"timestamp":`)
	g.putInt(g.clock)
	g.put("}")
}

// ephemeral logs what only the next request gets.
func (g *generator) ephemeral() {
	if g.Version < 3 {
		return
	}
	g.open("ephemeral")
	g.put(`,"messages":[{"role":"user","content":[{"type":"text","text":`)
	g.text(60)
	g.put(`}],"timestamp":`)
	g.putInt(g.clock)
	g.put("}]")
	g.close()
}
