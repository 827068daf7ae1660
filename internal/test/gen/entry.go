package gen

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// header writes the session's header.
func (g *generator) header() {
	g.put(`{"type":"session"`)
	if g.Version > 1 {
		g.put(`,"version":%d`, g.Version)
	}
	g.put(`,"id":"%s","timestamp":"%s","cwd":"%s"}`, uuid(g.Seed), g.time(), cmp.Or(g.Project, "/home/mara/src/parcel"))
	g.write()
}

// uuid returns the session id of a seed.
func uuid(seed uint64) string {
	hex := strconv.FormatUint(seed*0x9e3779b97f4a7c15|1<<63, 16)
	return "019b0000-0000-7000-" + hex[:4] + "-" + hex[4:]
}

// write ends the line and writes it.
func (g *generator) write() {
	g.line = append(g.line, '\n')
	g.bytes += int64(len(g.line))
	g.w.Write(g.line) // an error stays with the writer until Flush
	g.line = g.line[:0]
}

// time returns a time later than all before it.
func (g *generator) time() string {
	g.clock += 250 + int64(g.r.IntN(4000))
	return time.UnixMilli(g.clock).UTC().Format("2006-01-02T15:04:05.000Z")
}

// nextID returns an id that no entry has. Multiplying by an odd number gives each of 2^32 a different one.
func (g *generator) nextID() uint32 {
	g.ids++
	return g.ids*0x9e3779b1 ^ uint32(g.Seed)
}

// open begins an entry of that type at the leaf, which it becomes.
func (g *generator) open(kind string) (id uint32) {
	id = g.nextID()
	g.put(`{"type":"%s"`, kind)
	if g.Version > 1 {
		parent := "null"
		if g.at.leaf != 0 {
			parent = fmt.Sprintf(`"%08x"`, g.at.leaf)
		}
		g.put(`,"id":"%08x","parentId":%s`, id, parent)
	}
	g.put(`,"timestamp":"%s"`, g.time())
	g.at.leaf = id
	return id
}

// close ends the entry, and damages it if its turn has come.
func (g *generator) close() {
	g.put("}")
	g.entries++
	g.since++
	if g.chance(g.Damage) {
		g.damage()
		return
	}
	g.write()
}

// message begins a message entry of that role.
func (g *generator) message(role string) uint32 {
	id := g.open("message")
	if role == "user" || role == "assistant" || role == "toolResult" {
		g.at.sent++
	}
	g.put(`,"message":{"role":"%s"`, role)
	return id
}

// stamp ends a message with its time, and the entry.
func (g *generator) stamp() {
	g.put(`,"timestamp":%d}`, g.clock)
	g.close()
}

// prompt writes a user's prompt.
func (g *generator) prompt() {
	id := g.message("user")
	g.put(`,"content":[{"type":"text","text":%s}`, g.text(g.length()))
	if g.chance(g.Images) {
		data := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 20+g.r.IntN(200))
		g.put(`,{"type":"image","data":"%s","mimeType":"image/png"}`, data)
	}
	g.put("]")
	g.stamp()
	if g.Version == 1 { // compactions name records by number, the header being 0
		id = g.ids
	}
	g.at.prompts = remember(g.at.prompts, id)
	g.at.edits = remember(g.at.edits, id)
}

// The tools that answers call.
var tools = []struct{ name, argument string }{
	{"bash", "command"}, {"read", "path"}, {"edit", "path"}, {"write", "path"}, {"grep", "pattern"},
}

// answer writes an assistant's message with that many tool calls.
func (g *generator) answer(calls int) {
	id := g.message("assistant")
	g.put(`,"content":[`)
	if g.r.IntN(3) == 0 {
		g.put(`{"type":"thinking","thinking":%s,"thinkingSignature":"c2ln"},`, g.text(g.length()))
	}
	g.put(`{"type":"text","text":%s}`, g.text(g.length()))
	for k := range calls {
		tool := tools[(g.entries+k)%len(tools)]
		g.put(`,{"type":"toolCall","id":"%s","name":"%s","arguments":{"%s":%s}}`,
			callID(id, k), tool.name, tool.argument, g.text(min(4096, g.length()/2)))
	}
	stop := "stop"
	if calls > 0 {
		stop = "toolUse"
	}
	g.put(`],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5"`)
	g.usage()
	g.put(`,"stopReason":"%s"`, stop)
	g.stamp()
	if calls == 0 { // other content would have no calls, and their results none
		g.at.edits = remember(g.at.edits, id)
	}
}

func callID(answer uint32, k int) string {
	return fmt.Sprintf("toolu_%s_%d", strconv.FormatUint(uint64(answer), 36), k)
}

// usage is plausible: what was there before is read from the cache.
func (g *generator) usage() {
	read, write, output := int64(1000+g.since*90), int64(100+g.r.IntN(900)), int64(20+g.r.IntN(800))
	g.put(`,"usage":{"input":4,"output":%d,"cacheRead":%d,"cacheWrite":%d,"totalTokens":%d`, output, read, write, 4+output+read+write)
	g.put(`,"cost":{"input":0.000012,"output":0.0015,"cacheRead":0.0003,"cacheWrite":0.000375,"total":0.002187}}`)
}

// toolRound writes an answer that calls tools, and their results.
func (g *generator) toolRound() {
	calls := 1 + g.r.IntN(2)
	g.answer(calls)
	answer, first := g.at.leaf, g.entries-1
	for k := range calls {
		id := g.message("toolResult")
		g.put(`,"toolCallId":"%s","toolName":"%s","content":[{"type":"text","text":%s}],"isError":%t`,
			callID(answer, k), tools[(first+k)%len(tools)].name, g.text(g.length()), g.r.IntN(20) == 0)
		g.stamp()
		g.at.edits = remember(g.at.edits, id)
	}
}
