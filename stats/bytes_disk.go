package stats

import (
	"bufio"
	"bytes"
	"cmp"
	"slices"

	"ctxtool/internal/base/table"
	"ctxtool/internal/dialect"
	"ctxtool/internal/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A DiskBytes is something that fills files of other agents.
type DiskBytes struct {
	What  string `json:"what"`  // `base64`, `lines for display`, or what the agent's format stores
	Bytes int64  `json:"bytes"` // of these lines or values
	Count int    `json:"count"` // number of lines or values
	Spare bool   `json:"spare"` // it could go without changing any replay
}

// longestLine is how long a line may be that is measured, bytes.
const longestLine = 1 << 30

// readDisk measures what fills the file of another agent, without those that it continues.
func (p *BytesPart) readDisk(s *sessionfmt.Session) error {
	d := s.Dialect()
	if d == nil {
		return nil
	}
	head := jsonl.NewHeadReader(d.Pick)
	lines := bufio.NewScanner(s.Plain())
	lines.Buffer(make([]byte, 64<<10), longestLine)
	for lines.Scan() {
		h, broken := head.Read(lines.Bytes())
		switch {
		case broken != nil || h.Kind == jsonl.Scalar:
		case d.Read(h).Code == dialect.Skip:
			p.store(DiskBytes{"lines for display", int64(len(lines.Bytes())) + 1, 1, true})
		default:
			p.storeLine(d, h.Line)
		}
	}
	p.orderDisk()
	return lines.Err()
}

func (p *BytesPart) orderDisk() {
	slices.SortStableFunc(p.Disk, func(a, b DiskBytes) int { return cmp.Compare(b.Bytes, a.Bytes) })
}

// storeLine adds what one line stores. Nothing counts twice.
func (p *BytesPart) storeLine(d *dialect.Dialect, line jsonl.Value) {
	encoded := base64Of(line)
	for _, of := range d.Bulk {
		v := line.First(of.Path...)
		switch {
		case !v.Truthy():
		case of.Line:
			p.store(DiskBytes{of.About, int64(len(line)) + 1, 1, of.Spare})
			return
		default:
			p.store(DiskBytes{of.About, int64(len(v)), 1, of.Spare})
			within := base64Of(v)
			encoded.Bytes -= within.Bytes
			encoded.Count -= within.Count
		}
	}
	p.store(encoded)
}

// leastEncoded is how long a string is that counts as base64, bytes.
const leastEncoded = 1 << 10

// base64Of measures the strings of a value that are base64, as they stand or as a data URL.
func base64Of(v jsonl.Value) DiskBytes {
	d := DiskBytes{What: "base64"}
	if len(v) < leastEncoded {
		return d
	}
	for s := range v.Strings {
		if len(s) < leastEncoded {
			continue
		}
		text := s[1 : len(s)-1]
		if bytes.HasPrefix(text, []byte("data:")) {
			_, text, _ = bytes.Cut(text, []byte(";base64,"))
		}
		if len(text) > 0 && bytes.IndexFunc(text, notBase64) < 0 {
			d.Bytes += int64(len(text))
			d.Count++
		}
	}
	return d
}

func notBase64(r rune) bool {
	return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '/' && r != '='
}

// store adds bytes to what has the same name.
func (p *BytesPart) store(d DiskBytes) {
	if d.Bytes == 0 {
		return
	}
	k := slices.IndexFunc(p.Disk, func(had DiskBytes) bool { return had.What == d.What })
	if k < 0 {
		k, p.Disk = len(p.Disk), append(p.Disk, DiskBytes{What: d.What, Spare: d.Spare})
	}
	p.Disk[k].Bytes += d.Bytes
	p.Disk[k].Count += d.Count
	if d.Spare {
		p.Spare += d.Bytes
	}
}

// diskSheet is the table of what fills the disk.
func (p *BytesPart) diskSheet() table.Sheet {
	size := int64(0)
	for _, b := range p.Sessions {
		size += b.Size
	}
	rest, rows := size, slices.Clone(p.Disk)
	for _, d := range p.Disk {
		rest -= d.Bytes
	}
	if rest > 0 {
		rows = append(rows, DiskBytes{What: "all else, such as messages", Bytes: rest})
	}
	if p.Spare > 0 {
		rows = append(rows, DiskBytes{What: "all that no replay needs", Bytes: p.Spare})
	}
	return table.Sheet{Title: "what fills the disk", Table: table.Of(rows, table.Fields(
		"what* bytes:bytes $ number=count? $",
		col[*DiskBytes]{Name: "of size", Unit: table.Share, Value: func(d *DiskBytes) any { return share(d.Bytes, size) }},
		col[*DiskBytes]{Name: "replay", Value: func(d *DiskBytes) any { return phrase.If(d.Spare, "not needed") }},
	))}
}
