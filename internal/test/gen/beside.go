package gen

import (
	"fmt"
	"strings"
)

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
		g.put(`,"command":%s,"output":%s,"exitCode":%d,"cancelled":false,"truncated":false`, g.text(20), g.text(g.length()), g.r.IntN(2))
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
		g.put(`,"thinkingLevel":"%s"`, []string{"off", "minimal", "medium", "high"}[g.r.IntN(4)])
	default:
		g.open("session_info")
		g.put(`,"name":%s`, g.text(24))
	}
	g.close()
}

// custom writes an extension's message, as the version has it, and its entry,
// which no model sees.
func (g *generator) custom() {
	const content = `,"customType":"ci","content":%s,"display":true`
	if g.Version < 3 {
		g.message("hookMessage")
		g.put(content, g.text(g.length()))
		g.stamp()
		return
	}
	g.open("custom_message")
	g.put(content, g.text(g.length()))
	g.close()
	g.open("custom")
	g.put(`,"customType":"ci-state","data":{"runs":[%d,1.50,-0,1e3]}`, g.entries)
	g.close()
}

// system declares prompt and tools, at first all of them, then what changes.
func (g *generator) system() {
	g.message("system")
	g.put(`,"content":"","sections":{`)
	if !g.at.system {
		g.put(`"preamble":%s,"rules":%s},"toolsAdded":[%s]`, g.text(400), g.text(200), g.tools())
		g.at.system = true
		g.stamp()
		return
	}
	g.names++
	name := g.names % 7
	switch g.r.IntN(3) {
	case 0:
		g.put(`"notes%d":%s}`, name, g.text(120))
	case 1:
		g.put(`"notes%d":null}`, name)
	default:
		extra := fmt.Sprintf("extra%d", name)
		g.put(`"7":%s},"toolsRemoved":[{"name":"%s"}],"toolsAdded":[%s]`, g.text(60), extra, g.tool(extra, "input"))
	}
	g.stamp()
}

// tools declares the tools that answers call.
func (g *generator) tools() string {
	var all []string
	for _, t := range tools {
		all = append(all, g.tool(t.name, t.argument))
	}
	return strings.Join(all, ",")
}

func (g *generator) tool(name, argument string) string {
	return fmt.Sprintf(`{"name":"%s","description":%s,"parameters":{"type":"object","properties":{"%[3]s":{"type":"string"}},"required":["%[3]s"]}}`,
		name, g.text(80), argument)
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
	g.put(`,"targetId":"%08x","replacement":`, target)
	if omit {
		g.at.sent = max(0, g.at.sent-1)
		g.put("null")
	} else {
		g.put(`{"content":[{"type":"text","text":%s}]}`, g.text(60))
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
	g.put(`,"targetId":"%08x","label":"mark-%d"`, target, g.names)
	g.close()
}

func (g *generator) branchSummary(from uint32) {
	g.open("branch_summary")
	g.put(`,"fromId":"%08x","summary":%s`, from, g.text(g.length()))
	g.close()
}

// compact writes a compaction that keeps the last few prompts.
func (g *generator) compact() {
	keep := g.at.prompts[max(0, len(g.at.prompts)-3)]
	g.at.sent = 1
	g.open("compaction")
	first := `"firstKeptEntryId":"%08x"`
	if g.Version == 1 {
		first = `"firstKeptEntryIndex":%d`
	}
	g.put(`,"summary":%s,`+first+`,"tokensBefore":%d`, g.text(800), keep, 1000+g.since*90)
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
	g.put(`,"systemMessage":{"role":"system","content":"","sections":{"preamble":%s},"toolsAdded":[%s],"timestamp":%d}`,
		g.text(300), g.tools(), g.clock)
}

// ephemeral logs what only the next request gets.
func (g *generator) ephemeral() {
	if g.Version < 3 {
		return
	}
	g.open("ephemeral")
	g.put(`,"messages":[{"role":"user","content":[{"type":"text","text":%s}],"timestamp":%d}]`, g.text(60), g.clock)
	g.close()
}
