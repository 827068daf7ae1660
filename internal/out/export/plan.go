package export

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
)

// A form is a way to store tables: in files of which each has a table, or all.
type form struct {
	name        string
	partitioned bool                                   // by agent and date; else there is one part
	files       func(o *Options, part string) []string // of a part, below the folder
	begin       func(o *Options, p *planned) (partWriter, error)
}

// A partWriter writes the files of a part. They have their names once they are committed.
type partWriter interface {
	put(table int, row []any) error // a row, which it may change
	commit() error
	abort()
}

// A planned is a part that is to be written.
type planned struct {
	name  string
	form  *form
	stays []Source // sessions whose rows are taken from the files as they are
	reads []Source // sessions that are read
	rows  map[string]int64
}

// A plan is what an export does.
type plan struct {
	parts    []*planned
	sessions int // of this shard that were named
	reads    int
}

// The partition of sessions without an agent or date. To ClickHouse, Hive's name for it,
// __HIVE_DEFAULT_PARTITION__, is not a date.
const noAgent, noDate = "unknown", "1970-01-01"

// partitionOf returns the agent and the day on which a session began.
func partitionOf(h store.HeaderInfo) (agent, date string) {
	if at, err := time.Parse(time.RFC3339, h.Timestamp); err == nil {
		date = at.UTC().Format(time.DateOnly)
	}
	return cmp.Or(h.Agent, noAgent), cmp.Or(date, noDate)
}

// partition returns the partition of a session: by its header, or where that does not say, by what
// reading it says.
func (o *Options) partition(path string) (agent, date string) {
	agent, date = partitionOf(store.ReadHeader(o.Disk, path))
	if agent != noAgent && date != noDate {
		return agent, date
	}
	open := o.Stats.Open
	open.Times = true
	s, err := sessionfmt.Open(path, open)
	if err != nil {
		return agent, date
	}
	defer s.Close()
	began := int64(math.MaxInt64)
	for rec := range s.Len() {
		if ms, ok := s.Time(rec); ok && s.Kind(rec).IsMessage() {
			began = min(began, ms)
		}
	}
	if date == noDate && began != math.MaxInt64 {
		date = time.UnixMilli(began).UTC().Format(time.DateOnly)
	}
	return s.Agent(), date
}

// The most that a part has, so that a session that grows has little written again: sessions, and
// bytes of them.
const (
	mostSessions = 500
	mostBytes    = 256 << 20
)

// plan compares sessions with the manifest.
func (o *Options) plan(f *form, j *journal, sessions []Input, stale bool) (*plan, error) {
	type place struct {
		part *Part
		at   int
	}
	known := map[string]place{}
	for _, name := range j.names {
		p := j.parts[name]
		p.dirty = p.dirty || stale || !o.asWritten(f, p)
		for i := range p.Inputs {
			known[p.Inputs[i].Path] = place{p, i}
		}
	}
	out := &plan{}
	read := map[string]Source{} // what is read of known parts
	var fresh []Source
	for _, in := range sessions {
		path := o.absolute(in.Path)
		at, old := known[path]
		if !old && o.Shard.Of > 1 {
			if id := store.ReadHeader(o.Disk, in.Path).ID; !o.Shard.has(cmp.Or(id, path)) {
				continue
			}
		}
		out.sessions++
		var was *Source
		if old {
			was = &at.part.Inputs[at.at]
		}
		now, err := look(o.Disk, path, was)
		if err != nil {
			now = Source{Path: path} // reading it says why
		}
		now.Session = keyOf(path)
		switch {
		case !old:
			fresh = append(fresh, now)
		case at.part.dirty || was.Size != now.Size || was.Tail != now.Tail || err != nil || was.based(o.Disk):
			read[path] = now
		}
	}
	parts := map[string]*planned{}
	for _, name := range j.names {
		if err := o.keep(f, j.parts[name], read, stale, parts); err != nil {
			return nil, err
		}
	}
	o.place(f, j, fresh, parts)
	for _, p := range parts {
		if len(p.reads) > 0 || j.parts[p.name] != nil && j.parts[p.name].dirty {
			out.parts = append(out.parts, p)
			out.reads += len(p.reads)
		}
	}
	slices.SortFunc(out.parts, func(a, b *planned) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// keep plans what becomes of the sessions of a part that was written.
func (o *Options) keep(f *form, was *Part, read map[string]Source, stale bool, parts map[string]*planned) error {
	p := &planned{name: was.Part, form: f}
	for _, in := range was.Inputs {
		now, again := read[in.Path]
		if !again && was.dirty {
			var err error
			now, err = look(o.Disk, in.Path, nil)
			now.Session, again = in.Session, err == nil
		}
		switch {
		case again:
			p.reads = append(p.reads, now)
		case stale:
			return sessionfmt.Errorf("must be exported again, but %s is missing", sessionfmt.Quote(in.Path)).
				In(o.Dir).Hinted("export to another folder with -o; this one stays as it is")
		default:
			p.stays = append(p.stays, in)
		}
	}
	parts[p.name] = p
	return nil
}

// place plans the parts of new sessions.
func (o *Options) place(f *form, j *journal, fresh []Source, parts map[string]*planned) {
	type room struct {
		part     *planned
		sessions int
		bytes    int64
	}
	last := map[string]*room{} // by partition
	for i := range fresh {
		in := &fresh[i]
		partition := ""
		if f.partitioned {
			agent, date := o.partition(in.Path)
			partition = "agent=" + agent + "/date=" + date + "/"
		}
		r := last[partition]
		if r == nil {
			r = &room{}
			last[partition] = r
			for n := 0; r.part == nil || parts[o.partName(partition, n)] != nil; n++ {
				r.part = cmp.Or(parts[o.partName(partition, n)], &planned{name: o.partName(partition, n), form: f})
			}
			for _, s := range slices.Concat(r.part.stays, r.part.reads) {
				r.sessions, r.bytes = r.sessions+1, r.bytes+s.Size
			}
		}
		if f.partitioned && (r.sessions >= mostSessions || r.bytes+in.Size > mostBytes && r.sessions > 0) {
			n := 0
			for parts[o.partName(partition, n)] != nil {
				n++
			}
			*r = room{part: &planned{name: o.partName(partition, n), form: f}}
		}
		r.sessions, r.bytes = r.sessions+1, r.bytes+in.Size
		r.part.reads = append(r.part.reads, *in)
		parts[r.part.name] = r.part
	}
}

// partName returns the name of a part: its partition, the shard and a number.
func (o *Options) partName(partition string, n int) string {
	return fmt.Sprintf("%s%s-%03d", partition, o.Shard, n)
}

// absolute returns the absolute name of a session's file, as manifests have it.
func (o *Options) absolute(name string) string {
	if abs, err := filepath.Abs(o.Disk.Path(name)); err == nil {
		return filepath.ToSlash(abs)
	}
	return filepath.ToSlash(name)
}

// asWritten reports whether the files of a part have the sizes with which they were written.
func (o *Options) asWritten(f *form, p *Part) bool {
	for name, size := range p.Bytes {
		info, err := o.Disk.Stat(filepath.Join(o.Dir, filepath.FromSlash(name)))
		if err != nil || info.Size() != size {
			return false
		}
	}
	return len(p.Bytes) > 0
}
