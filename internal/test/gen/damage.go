package gen

// damages are the ways in which a line goes wrong. Each has the whole line, and
// writes what is left of it.
var damages = []func(g *generator){
	func(g *generator) { // torn in the middle
		g.line = g.line[:len(g.line)/2]
		g.write()
	},
	func(g *generator) { // glued to the next
		g.bytes += int64(len(g.line))
		g.w.Write(g.line)
		g.line = g.line[:0]
	},
	func(g *generator) { // twice
		whole := string(g.line)
		g.write()
		g.put("%s", whole)
		g.write()
	},
	func(g *generator) { // after a blank line, with a carriage return
		whole := string(g.line)
		g.line = g.line[:0]
		g.put("  ")
		g.write()
		g.put("%s\r", whole)
		g.write()
	},
	func(g *generator) { // before lines that are not objects
		g.write()
		for _, scalar := range []string{"42", `"text"`, "[]", "null"} {
			g.put("%s", scalar)
			g.write()
		}
	},
	func(g *generator) { // before an entry of another kind of program
		g.write()
		g.open("note_of_another")
		g.put("}")
		g.write()
	},
	func(g *generator) { // before a second header
		g.write()
		g.header()
	},
	func(g *generator) { // with bytes that are not UTF-8
		g.line[len(g.line)/2] = 0xff
		g.write()
	},
	func(g *generator) { // before an entry whose parent is not there
		g.write()
		g.at.leaf = g.nextID()
	},
	func(g *generator) { // before two entries that are each other's parent
		g.write()
		g.at.leaf = (g.ids+2)*0x9e3779b1 ^ uint32(g.Seed)
		g.open("label")
		g.put(`,"targetId":null}`)
		g.write()
		g.open("label")
		g.put(`,"targetId":null}`)
		g.write()
	},
}

// damage writes the line in one of the ways.
func (g *generator) damage() {
	damages[g.r.IntN(len(damages))](g)
}

// end ends the session; a damaged one in the middle of a line.
func (g *generator) end() {
	if g.Damage > 0 {
		g.put(`{"type":"message","id":"ffff`)
		g.bytes += int64(len(g.line))
		g.w.Write(g.line)
	}
}
