package sessionfmt

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Origins tells which records of a session were copied from another one: by a fork, by a clone, or by a
// sub-agent that begins with its parent's context. Only this relation makes a copy, never equal text or usage.
type Origins struct {
	s      *Session
	id     string
	parent string // id of the copied session; empty if copies can be told without it
	began  int64  // start of the session, milliseconds since 1970, if older records are copies; else 0
}

// Origins returns how to tell copied records of the session, given its header as HeaderLine returns it. Copies
// that are known by being older than their session require Options.Times or Options.Origins.
func (s *Session) Origins(header jsonl.Value) Origins {
	f := header.All("parentSession", "timestamp", "id")
	o := Origins{s: s, id: f[2].Text(), parent: f[0].Text()}
	if s.copied.from != "" {
		o.parent = s.copied.from
	}
	if f[0].Truthy() || s.dialect != nil && s.dialect.OlderCopies {
		o.began, _ = f[1].Millis()
	}
	return o
}

// Calls returns what identifies the calls of the session.
func (o *Origins) Calls() *models.CallOrigins {
	all := &models.CallOrigins{Session: o.id, Copied: o.Copied, Import: o.s != nil && o.s.dialect == nil}
	all.LocalIDs = o.s != nil && o.s.dialect != nil && o.s.dialect.LocalIDs
	return all
}

// Copied reports whether record i was copied from another session; below 0 there is none. from is the id of that
// session where the copy has another id or time than the original, so that only the relation tells; it is empty for
// a copy that kept both.
func (o *Origins) Copied(i int) (from string, copied bool) {
	s := o.s
	if s == nil || i < 0 || s.records[i].kind == jsonl.Header || s.Held(i) {
		return "", false
	}
	off := s.records[i].off()
	if s.src.sectionAt(off) != nil {
		return "", true
	}
	if s.records[i].flags&flagCopied != 0 || off >= s.copied.off && off < s.copied.end {
		return o.parent, true
	}
	at, dated := s.Time(i)
	return "", o.began != 0 && dated && at < o.began
}

// mostBeside is the number of files beside a fork that are searched for the copied session.
const mostBeside = 1000

// copiedLines are the lines of a session that were copied from another one, under new times.
type copiedLines struct {
	from     string // the id of the other session; empty for none
	off, end int64  // of the lines, if they are known
}

// findCopied finds the lines at the beginning of the file that are copies, where the agent wrote them again under new
// times: they say the same, in the same order, as those that the other session had when this one began. Without the
// file of that session no line is known as a copy.
func (s *Session) findCopied(first jsonl.Value, opt Options) (c copiedLines) {
	if s.dialect == nil || s.dialect.CopyOf == nil || len(s.src.sections) > 0 || s.doc != nil {
		return c
	}
	own := s.src.eachLine
	var second jsonl.Value
	head := int64(0) // start of the second line
	for end, line := range own {
		if head > 0 {
			second = bytes.Clone(line)
			break
		}
		if line != nil {
			head = end
		}
	}
	b, ok := s.dialect.CopyOf(first, second)
	if !ok {
		return c
	}
	c.from = b.ID
	if b.Upto > 0 {
		c.off, c.end = head, s.src.linesBelow(b.Upto)
		return c
	}
	name, err := s.findOriginal(b, opt)
	if err != nil || name == s.Name {
		return c // what is not there shows no copies
	}
	of, _, err := openBase(name, dialect.Base{All: true}, opt)
	if err != nil {
		return c
	}
	defer of.src.close()
	c.off, c.end = head, s.sameLinesAs(of.src, first, head)
	return c
}

// sameLinesAs returns the offset up to which a source has the same lines, ignoring lines that do not count.
func (s *Session) sameLinesAs(of *source, first jsonl.Value, head int64) (end int64) {
	next, stop := iter.Pull2(of.eachLine)
	defer stop()
	began, dated := first.Get("timestamp").Millis()
	end = head
	for at, line := range s.src.eachLine {
		what, asks := s.dialect.Same(line)
		if at <= head || !what.Exists() {
			continue
		}
		var original, said jsonl.Value
		for said == nil {
			var ok bool
			if _, original, ok = next(); !ok {
				return end
			}
			said, _ = s.dialect.Same(original)
		}
		if ms, ok := original.Get("timestamp").Millis(); ok && dated && ms > began || !bytes.Equal(what, said) {
			return end
		}
		if !asks { // a fork ends before a prompt
			end = at
		}
	}
	return end
}

// eachLine yields the lines of a source, each with the offset after it; nil stands for a line that is not JSON.
// A line is valid until the next one.
func (s *source) eachLine(yield func(end int64, line jsonl.Value) bool) {
	x := &indexer{src: s, buf: new(unitBuffer)}
	for pos := int64(0); pos < s.size; {
		line, _, err := x.longLine(pos, pos)
		if err != nil {
			return
		}
		pos = min(pos+int64(len(line))+1, s.size)
		v, bad := jsonl.ParseValue(bytes.Trim(line, "\x00"))
		if bad != nil || !v.IsObject() {
			v = nil
		}
		if !yield(pos, v) {
			return
		}
	}
}

// findOriginal returns the file of the session whose copy this one begins with: by the name of the continued
// session, or by the first line of a file beside this one.
func (s *Session) findOriginal(b dialect.Base, opt Options) (name string, err error) {
	if name, err = s.identity.findBase(s.Name, b, opt); err == nil {
		return name, nil
	}
	dir := filepath.Dir(s.Name)
	beside, _ := os.ReadDir(opt.Disk.Path(dir))
	for _, f := range beside[:min(len(beside), mostBeside)] {
		file := filepath.Join(dir, f.Name())
		if !strings.HasSuffix(sessionName(file), ".jsonl") || file == filepath.Clean(s.Name) ||
			!opt.Disk.isRegular(file) {
			continue
		}
		src, err := opt.Disk.fetch(file, nil)
		if err != nil {
			continue
		}
		first, _ := firstLine(src)
		src.close()
		if first != nil && s.dialect.Sniff(first) && s.dialect.Session(first).Text() == b.ID {
			return file, nil
		}
	}
	return "", errors.Join(err, fs.ErrNotExist)
}
