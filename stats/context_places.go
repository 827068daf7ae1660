package stats

import (
	"ctxtool/internal/base/table"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A SessionPlaces counts the messages of a file by where they are.
type SessionPlaces struct {
	In        int `json:"in"`        // the request has them
	Unsure    int `json:"unsure"`    // of these, those before a line that was lost: a resume may not load them
	Branches  int `json:"branches"`  // on other branches, such as turns that were taken back, or after the point
	Compacted int `json:"compacted"` // dropped by compactions, or replaced by patches
	Omitted   int `json:"omitted"`   // removed by edits, or never sent
}

// findPlaces finds where the messages of a session are at a point.
func findPlaces(s *sessionfmt.Session, e *replay.Envelope) (p SessionPlaces) {
	in := map[int]bool{} // the records whose messages the request has, and those that replaced others
	for i := range e.Len() {
		if m := e.Piece(i); m.Sent() {
			in[m.Origin().Record] = true
		}
	}
	path, _ := s.Path(e.Leaf)
	cut, at := -1, make(map[int]int, len(path))
	for k, rec := range path {
		at[rec] = k
		if kind := s.Kind(rec); in[rec] && (kind == jsonl.Compaction || kind == jsonl.Transform) {
			cut = k
		}
	}
	lost := 0 // line of the last record whose parent is not in the file
	for _, f := range s.Findings {
		if f.Code == "bridged" {
			lost = max(lost, f.Line)
		}
	}
	for rec := range s.Len() {
		k, active := at[rec]
		switch kind := s.Kind(rec); {
		case !kind.IsMessage() || kind == jsonl.System || kind == jsonl.NoMessage:
		case in[rec]:
			if p.In++; s.Line(rec) < lost {
				p.Unsure++
			}
		case !active:
			p.Branches++
		case k < cut:
			p.Compacted++
		default:
			p.Omitted++
		}
	}
	return p
}

// placeSheet is the table of where the messages are.
func (p *ContextPart) placeSheet() table.Sheet {
	var all SessionPlaces
	for i := range p.Sessions {
		addUp(&all, &p.Sessions[i].Places)
	}
	var rows []fact
	add := func(what string, n int) {
		if n > 0 {
			rows = append(rows, fact{What: what, Number: n})
		}
	}
	add("dropped by compactions or patches", all.Compacted)
	add("on other branches, or later", all.Branches)
	add("removed by edits, or never sent", all.Omitted)
	if len(rows)+all.Unsure > 0 {
		rows = append(rows, fact{What: "in the context", Number: all.In})
	}
	add("  of these before a lost line: a resume may miss them", all.Unsure)
	return table.Sheet{Title: "why it is shorter than the file", Table: table.Of(rows, table.Fields[fact]("messages+of+the+file=what number"))}
}

// A fact is a number of things.
type fact struct {
	What   string `json:"what"`
	Number int    `json:"number"`
	Of     string `json:"of"` // which things these are
}
