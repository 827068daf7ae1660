package sessionfmt

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"unicode/utf8"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// An arrangement turns the lines of another agent's session into entries while the file is read.
type arrangement struct {
	s     *Session
	by    dialect.Arranger
	line  dialect.Line // the current unit
	flags uint16       // the current line in it
	moved rule.Set     // rules that moved the leaf since the last entry
	leaf  int
	names *Namer
	times bool
	r     *Reader
	head  *jsonl.HeadReader
	skim  []jsonl.Value
	err   error // the first of them

	numbered, part int // the last record whose part was requested, and its part
}

func (s *Session) newArrangement(opt Options) *arrangement {
	s.table, s.joined = newIDTable(0), make([]joined, 1)
	s.skimming(opt)
	by := s.dialect.New
	if s.doc != nil {
		by = s.dialect.Document
	}
	return &arrangement{s: s, by: by(), times: opt.Times || opt.Origins, leaf: -1, names: s.NewNamer(),
		r: s.NewReader()}
}

// merge arranges the lines of a unit.
func (a *arrangement) merge(u *unit) error {
	s, before := a.s, uint32(a.s.Coverage.passed)
	s.reserve(u)
	s.report(u)
	s.skims.join(&u.skims)
	for i := range u.records {
		rec := &u.records[i]
		a.flags = rec.flags
		s.badUTF8 = s.badUTF8 || rec.flags&flagBadUTF8 != 0
		a.line = dialect.Line{
			Code: dialect.Code(rec.kind), At: rec.span(), Number: before + rec.line,
			ID: idAt(u.ids, rec.id), Ref: idAt(u.ids, ref(rec.parent)), Group: idAt(u.ids, u.groups[i]),
			Own: s.src.sectionAt(rec.off()) == nil, Rules: u.rules[i],
		}
		s.used.all |= a.line.Rules
		n := len(s.records)
		if len(u.times) > 0 {
			a.line.Time = u.times[i]
		}
		if a.by.Next(a, &a.line); a.err != nil {
			return a.err
		}
		if a.line.Code == dialect.Unknown && len(s.records) == n { // no entry represents it
			s.used.loose |= rule.Of(rule.Unread)
		}
	}
	return nil
}

// end is called after the last unit.
func (a *arrangement) end() error {
	if lines := a.s.Coverage.passed; len(a.s.records) < lines/16 { // of an agent that only now adds its entries
		a.s.records, a.s.last = growTo(a.s.records, float64(lines)), growTo(a.s.last, float64(lines))
	}
	a.by.End(a)
	if len(a.s.records) == 0 { // all lines are only for display
		a.flags = 0
		a.Add(rule.Unread, jsonl.Header, &dialect.Line{At: a.s.first, Number: 1})
	}
	a.s.leaf, a.s.used.atLeaf = a.leaf, a.moved
	return a.err
}

// Add implements [dialect.Tree], like the methods below.
func (a *arrangement) Add(by rule.Rule, kind jsonl.Kind, l *dialect.Line, more ...dialect.Span) (entry int) {
	s := a.s
	rec := record{line: l.Number, kind: kind}
	rec.move(l.At)
	if kind != jsonl.Header && a.line.At.Off == l.At.Off {
		rec.flags = a.flags
	}
	id := l.ID
	if kind == jsonl.Header && len(id) == 0 {
		name, _ := s.dialect.File(s.called)
		id = []byte(name)
	}
	if kind.IsEntry() {
		s.tableRoom()
		rec.parent = uint32(a.leaf + 1)
		slot, tag := s.slot(id)
		if len(id) == 0 || *slot != 0 {
			id = a.name(l, kind)
			slot, tag = s.slot(id)
		}
		a.leaf, *slot = len(s.records), tag|uint32(len(s.records)+1)
		s.Coverage.Entries++
	}
	rec.id = s.keepID(id)
	entry = len(s.records)
	s.records, s.last = append(s.records, rec), append(s.last, 0)
	used := rule.Of(by) | l.Rules | a.moved | rule.If(kind == jsonl.Unknown, rule.Unread)
	s.used.add(used)
	a.moved = 0
	if a.times {
		s.times = append(s.times, l.Time)
	}
	for _, at := range more {
		a.Join(0, entry, at)
	}
	return entry
}

// name makes the id of an entry whose line has no usable one.
func (a *arrangement) name(l *dialect.Line, kind jsonl.Kind) []byte {
	s := a.s
	if part := a.nextPart(l.At.Off); part > 0 {
		first := l.ID
		if len(first) == 0 {
			first = s.idOf(len(s.records) - part)
		}
		if id := fmt.Appendf(first[:len(first):len(first)], ".%d", part); s.withID(id) < 0 {
			return id
		}
	}
	parent := ""
	if a.leaf >= 0 {
		parent = s.ID(a.leaf)
	}
	return []byte(a.names.next(parent, a.Read(l.At), kind.String()))
}

// nextPart returns part for the next record. It usually follows the last numbered one, which makes it cheap.
func (a *arrangement) nextPart(off int64) int {
	i := len(a.s.records)
	if before := i - 1; before > 0 && before == a.numbered && a.s.records[before].off() == off &&
		a.s.records[before].kind.IsEntry() {
		a.part++
	} else {
		a.part = a.s.part(i, off)
	}
	a.numbered = i
	return a.part
}

// part returns how many entries before record i were made from the line at this offset.
func (s *Session) part(i int, off int64) (n int) {
	for ; i > 0 && s.records[i-1].off() == off && s.records[i-1].kind.IsEntry(); i-- {
		n++
	}
	return n
}

// keepID stores an id in the arena.
func (s *Session) keepID(id []byte) ref {
	at := ref(len(s.ids))
	s.ids = append(binary.AppendUvarint(s.ids, uint64(len(id))), id...)
	return at
}

func (a *arrangement) Join(by rule.Set, entry int, at dialect.Span) {
	s := a.s
	s.used.more(entry, by)
	n, last := uint32(len(s.joined)), s.last[entry]
	one := joined{at.Off, at.Size, n}
	if last > 0 {
		one.next, s.joined[last].next = s.joined[last].next, n
	}
	s.joined, s.last[entry] = append(s.joined, one), n
}

func (a *arrangement) Keep(entry int, k dialect.Kept) {
	if a.s.kept == nil {
		a.s.kept = map[int]dialect.Kept{}
	}
	a.s.kept[entry] = k
}

func (a *arrangement) Unanswered(by rule.Rule, entry int) {
	a.s.used.more(entry, rule.Of(by))
	a.s.records[entry].flags |= flagUnanswered
}

func (a *arrangement) Recorded(entry int, at dialect.Span) {
	a.s.records[entry].flags |= flagRecorded
	if a.s.recorded == nil {
		a.s.recorded = map[int]dialect.Span{}
	}
	a.s.recorded[entry] = at
}
func (a *arrangement) About(at dialect.Span) { a.s.about = append(a.s.about, at) }
func (a *arrangement) Copied(entry int)      { a.s.records[entry].flags |= flagCopied }
func (a *arrangement) Delegated(entry int)   { a.s.records[entry].flags |= flagDelegated }
func (a *arrangement) Aside(at dialect.Span) {
	a.s.aside = append(a.s.aside, at)
}
func (a *arrangement) Counted(run string, dollars float64) {
	if a.s.counted == nil {
		a.s.counted = map[string]float64{}
	}
	a.s.counted[run] = dollars
}
func (a *arrangement) Leaf() int          { return a.leaf }
func (a *arrangement) Find(id []byte) int { return a.s.withID(id) }

func (a *arrangement) Move(by rule.Rule, entry int) {
	a.leaf = entry
	a.moved |= rule.Of(by)
	a.s.used.all |= a.moved
}

func (a *arrangement) Asked(provider, model []byte) { a.s.used.ask(provider, model) }

func (a *arrangement) Report(code string, l *dialect.Line, text string) {
	id := ""
	if len(l.ID) > 0 && a.Find(l.ID) >= 0 {
		id = idString(l.ID)
	}
	a.s.found.add(code, int(l.Number), id, "%s", text)
}

func (a *arrangement) Replace(by rule.Set, entry int, old, new dialect.Span) {
	a.s.used.more(entry, by)
	if rec := &a.s.records[entry]; rec.off() == old.Off {
		a.numbered = 0
		rec.move(new)
		rec.flags &^= flagNoUsage
	}
	for j := range a.s.joinedTo(entry) {
		if j.at() == old {
			j.off, j.size = new.Off, new.Size
		}
	}
}

func (a *arrangement) Spans(entry int) []dialect.Span {
	all := []dialect.Span{a.s.records[entry].span()}
	for j := range a.s.joinedTo(entry) {
		all = append(all, j.at())
	}
	return all
}

func (a *arrangement) Read(at dialect.Span) jsonl.Value {
	line, err := a.r.read(at)
	if a.Fail(err); err != nil {
		return jsonl.Value("null")
	}
	if !utf8.Valid(line) {
		line = jsonl.ReplaceInvalidUTF8(line)
	}
	return jsonl.Value(jsonl.Trim(line))
}

func (a *arrangement) Skim(at dialect.Span) []jsonl.Value {
	if a.skim = a.s.skims.appendAt(a.skim[:0], at.Off); len(a.skim) > 0 || a.s.skims.whole {
		return a.skim
	}
	if a.head == nil {
		a.head = jsonl.NewHeadReader(a.s.dialect.Pick)
	}
	if h, bad := a.head.Read(a.Read(at)); bad == nil {
		a.skim = a.s.dialect.Skim(a.skim[:0], h)
	}
	return a.skim
}

func (a *arrangement) Fail(err error) { a.err = cmp.Or(a.err, err) }

// joinedTo yields the further lines of an entry, beside its first one.
func (s *Session) joinedTo(entry int) iter.Seq[*joined] {
	return func(yield func(*joined) bool) {
		last := s.last[entry]
		for k := last; k > 0; {
			k = s.joined[k].next
			if !yield(&s.joined[k]) || k == last {
				return
			}
		}
	}
}
