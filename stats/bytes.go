package stats

import (
	"bufio"
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats/table"
)

// bytesLens measures the request at the point, and the lines of the file.
var bytesLens = Lens{
	Name:   "bytes",
	About:  "request size against the provider's limit, images, the largest lines, what fills the disk",
	read:   readBytes,
	add:    addBytes,
	sheets: bytesSheets,
}

// A BytesPart is the size in bytes of the next request at the point, and of the lines of the
// files.
type BytesPart struct {
	Sessions []SessionBytes `json:"sessions"` // the next request of each at the point, and its file
	Images   []ImageBytes   `json:"images"`   // the largest in the requests, at most 10
	Lines    []LineBytes    `json:"lines"`    // the largest of the files, at most 10; `kind` as in a tree
	Disk     []DiskBytes    `json:"disk"`     // what fills files of other agents, disjoint, the largest first
	Spare    int64          `json:"spare"`    // bytes of `disk` that no replay needs
}

// A SessionBytes is the next request of one session. A limit is 0 if none is known.
type SessionBytes struct {
	File         string   `json:"file,omitempty"`         // as in `files[]`
	Session      string   `json:"session,omitempty"`      // the header's id
	Entry        string   `json:"entry,omitempty"`        // the last entry of the context's path
	Provider     string   `json:"provider,omitempty"`     // that the request goes to
	Request      int64    `json:"request"`                // bytes: about what is sent, `prompt` and `messages`
	Limit        int64    `json:"limit"`                  // bytes that the provider takes, 0 where it states none
	Share        *float64 `json:"share"`                  // `request` of `limit`
	Prompt       *int64   `json:"prompt"`                 // bytes of prompt and tools; null if neither is recorded
	Unrecorded   []string `json:"unrecorded,omitempty"`   // what `request` lacks: `system`, `tools`
	Messages     int64    `json:"messages"`               // bytes of the lines that the messages come from
	Images       int      `json:"images"`                 // number of images in the request
	ImageBytes   int64    `json:"imageBytes"`             // bytes of them, as base64
	ImageShare   *float64 `json:"imageShare"`             // of the request
	ImageLimit   int64    `json:"imageLimit"`             // bytes that the provider takes of one image
	LargeImages  int      `json:"largeImages"`            // images above it
	Size         int64    `json:"size"`                   // bytes of the session, unpacked
	LargestLine  int      `json:"largestLine"`            // bytes of its largest line
	LargestEntry string   `json:"largestEntry,omitempty"` // the entry on that line
}

// An ImageBytes is an image in a request.
type ImageBytes struct {
	File  string `json:"file,omitempty"`
	Entry string `json:"entry"` // of the message
	Line  int    `json:"line"`  // of that entry
	Bytes int    `json:"bytes"` // of it as base64
	Over  bool   `json:"over"`  // it is over the provider's limit
}

// A LineBytes is a line of a session file.
type LineBytes struct {
	File  string `json:"file,omitempty"`
	Line  int    `json:"line"`            // from 1
	Entry string `json:"entry,omitempty"` // on it
	Kind  string `json:"kind"`            // as in a tree
	Bytes int    `json:"bytes"`           // of the line
}

func readBytes(l *lensRun) {
	p := &BytesPart{Sessions: []SessionBytes{{}}, Images: []ImageBytes{}, Lines: []LineBytes{}, Disk: []DiskBytes{}}
	l.Report.Bytes = p
	b := &p.Sessions[0]
	l.Messages = append(l.Messages, func(m *weighed) {
		if m.Origin.By == m.Origin.Record && m.Origin.Op < 0 && !m.Ephemeral {
			b.Messages += int64(l.Session.LineSize(m.Origin.Record))
		} else {
			b.Messages += int64(m.Size)
		}
		for _, n := range m.Images {
			b.Images++
			b.ImageBytes += int64(n)
			p.Images = append(p.Images, ImageBytes{
				Entry: sessionfmt.Quote(l.Session.ID(m.Origin.Record)), Line: l.Session.Line(m.Origin.Record), Bytes: n,
			})
		}
	})
	l.Ends = append(l.Ends, func(e *replay.Envelope) {
		b.read(l, e)
		for i := range p.Images {
			if image := &p.Images[i]; b.ImageLimit > 0 && int64(image.Bytes) > b.ImageLimit {
				image.Over = true
				b.LargeImages++
			}
		}
		p.Images = largest(p.Images, most, func(i ImageBytes) int { return i.Bytes })
		p.Lines = largestLines(l.Session)
		if len(p.Lines) > 0 {
			b.LargestLine, b.LargestEntry = p.Lines[0].Bytes, p.Lines[0].Entry
		}
		l.fail(p.readDisk(l.Session))
	})
}

// read measures a request without its messages.
func (b *SessionBytes) read(l *lensRun, e *replay.Envelope) {
	p, err := e.Prompt()
	ref, err2 := e.ModelRef()
	if l.fail(cmp.Or(err, err2)); l.err != nil {
		return
	}
	prompt := int64(len(p.Compiled))
	for _, t := range p.Tools {
		prompt += int64(len(t.Raw))
	}
	system, tools := e.Unrecorded(p)
	if system {
		b.Unrecorded = append(b.Unrecorded, "system")
	}
	if tools {
		b.Unrecorded = append(b.Unrecorded, "tools")
	}
	if !system || !tools {
		b.Prompt = &prompt
	}
	b.Session, b.Provider, b.Size = l.Report.ID, ref.Provider, l.Session.OwnSize()
	if e.Leaf >= 0 {
		b.Entry = sessionfmt.Quote(l.Session.ID(e.Leaf))
	}
	limits, _ := models.LimitsOf(ref.Provider)
	b.Limit, b.ImageLimit = limits.Request, limits.Image
	b.Request = prompt + b.Messages
	b.Share = share(b.Request, b.Limit)
	b.ImageShare = share(b.ImageBytes, b.Request)
}

func largestLines(s *sessionfmt.Session) []LineBytes {
	records := []int{}
	for i := range s.Len() {
		records = keep(records, i, s.LineSize)
	}
	lines := make([]LineBytes, len(records))
	for k, i := range records {
		lines[k] = LineBytes{Line: s.Line(i), Kind: s.Kind(i).String(), Bytes: s.LineSize(i)}
		if s.Kind(i).IsEntry() {
			lines[k].Entry = sessionfmt.Quote(s.ID(i))
		}
	}
	return lines
}

// addBytes adds one session's part to a sum.
func addBytes(sum, one *Report) {
	p := partOf(&sum.Bytes, &BytesPart{Images: []ImageBytes{}, Lines: []LineBytes{}, Disk: []DiskBytes{}})
	q := one.Bytes
	p.Sessions = filed(p.Sessions, q.Sessions, one.File, func(b *SessionBytes) *string { return &b.File })
	p.Images = largest(filed(p.Images, q.Images, one.File, func(i *ImageBytes) *string { return &i.File }), most,
		func(i ImageBytes) int { return i.Bytes })
	for _, d := range q.Disk {
		p.store(d)
	}
	p.orderDisk()
	p.Lines = largest(filed(p.Lines, q.Lines, one.File, func(l *LineBytes) *string { return &l.File }), most,
		func(l LineBytes) int { return l.Bytes })
}

// bytesSheets returns the tables of the lens.
func bytesSheets(r *Report) []table.Sheet {
	p := cmp.Or(r.Bytes, &BytesPart{})
	some, notes := fullest(p.Sessions, func(b SessionBytes) int { return int(b.Request) })
	lacking := map[string]bool{}
	for _, b := range p.Sessions {
		for _, what := range b.Unrecorded {
			lacking[map[string]string{"system": "system prompt", "tools": "tools"}[what]] = true
		}
	}
	if len(lacking) > 0 {
		notes = append(notes, "Not in these sizes, since a file does not record them: "+
			strings.Join(slices.Sorted(maps.Keys(lacking)), " and ")+".")
	}
	several := len(p.Sessions) > 1
	all := []table.Sheet{
		{Table: table.Of(some, requestColumns), Notes: notes},
		table.Sheet{Title: "the largest images", Table: table.Of(p.Images, imageColumns)}.Of(several),
		table.Sheet{Title: "the largest lines", Table: table.Of(p.Lines, lineColumns)}.Of(several),
	}
	if len(p.Disk) > 0 {
		all = append(all, p.diskSheet())
	}
	return withRows(all)
}

var requestColumns = []col[*SessionBytes]{
	{Name: "session", Unit: table.Path, Flex: true,
		Value: func(s *SessionBytes) any { return cmp.Or(s.File, s.Session) }},
	{Name: "request", Unit: table.Bytes, Value: func(s *SessionBytes) any { return table.About{Of: s.Request} }},
	{Name: "limit", Unit: table.Bytes, Yields: 2,
		Value: func(s *SessionBytes) any { return table.Unless0(s.Limit) }},
	{Name: "share", Unit: table.Share, Value: func(s *SessionBytes) any { return s.Share }},
	{Name: "provider", Yields: 1, Value: func(s *SessionBytes) any { return s.Provider }},
	{Name: "images", Unit: table.Number, Value: func(s *SessionBytes) any { return table.Unless0(s.Images) }},
	{Name: "of request", Unit: table.Share,
		Value: func(b *SessionBytes) any {
			return table.If(b.Images > 0, b.ImageShare)
		}},
	{Name: "too large", Unit: table.Number,
		Value: func(s *SessionBytes) any { return table.Unless0(s.LargeImages) }},
}

var imageColumns = []col[*ImageBytes]{
	{Name: "session", Unit: table.Path, Flex: true, Value: func(i *ImageBytes) any { return i.File }},
	{Name: "entry", Unit: table.Entry, Value: func(i *ImageBytes) any { return i.Entry }},
	{Name: "line", Unit: table.Number, Value: func(i *ImageBytes) any { return i.Line }},
	{Name: "base64", Unit: table.Bytes, Value: func(i *ImageBytes) any { return i.Bytes }},
	{
		Value: func(i *ImageBytes) any { return phrase.If(i.Over, "over the limit") },
	},
}

var lineColumns = []col[*LineBytes]{
	{Name: "session", Unit: table.Path, Flex: true, Value: func(l *LineBytes) any { return l.File }},
	{Name: "line", Unit: table.Number, Value: func(l *LineBytes) any { return l.Line }},
	{Name: "entry", Unit: table.Entry, Value: func(l *LineBytes) any { return l.Entry }},
	{Name: "kind", Value: func(l *LineBytes) any { return l.Kind }},
	{Name: "bytes", Unit: table.Bytes, Value: func(l *LineBytes) any { return l.Bytes }},
}

// A DiskBytes is a kind of content that fills files of other agents.
type DiskBytes struct {
	What  string `json:"what"`  // `base64`, `lines for display`, or what the agent's format stores
	Bytes int64  `json:"bytes"` // of these lines or values
	Count int    `json:"count"` // number of lines or values
	Spare bool   `json:"spare"` // it could go without changing any replay
}

// longestLine is the length up to which lines are measured, bytes.
const longestLine = 1 << 30

// readDisk measures the content of another agent's file by kind, without the files that it continues.
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
	sorting.By(p.Disk, func(a, b DiskBytes) int { return cmp.Compare(b.Bytes, a.Bytes) })
}

// storeLine adds the content of one line, without counting anything twice.
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

// leastEncoded is the minimum length of a string that counts as base64, bytes.
const leastEncoded = 1 << 10

const inBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

// base64Of measures the base64 strings in a value, plain or as data URLs.
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
		if len(text) > 0 && len(bytes.TrimLeft(text, inBase64)) == 0 {
			d.Bytes += int64(len(text))
			d.Count++
		}
	}
	return d
}

// store adds bytes to the kind with this name.
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

// diskSheet returns the table of what fills the disk.
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
	return table.Sheet{Title: "what fills the disk", Table: table.Of(rows, []col[*DiskBytes]{
		{Name: "what", Flex: true, Value: func(d *DiskBytes) any { return d.What }},
		{Name: "bytes", Unit: table.Bytes, Value: func(d *DiskBytes) any { return d.Bytes }},
		{Name: "of size", Unit: table.Share,
			Value: func(d *DiskBytes) any { return share(d.Bytes, size) }},
		{Name: "number", Unit: table.Number, Value: func(d *DiskBytes) any { return table.Unless0(d.Count) }},
		{Name: "replay", Value: func(d *DiskBytes) any { return phrase.If(d.Spare, "not needed") }},
	})}
}
