package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"
)

// A Run redacts one session, line by line in file order, which determines the numbers in
// placeholders. It is not safe for concurrent use. Close it when done.
type Run struct {
	r     *Redactor
	s     *Scanner
	walk  walker
	buf   [2][]byte
	edits []hit      // edits of the line
	hits  []hit      // of the line
	own   []hit      // of a string
	lock  sync.Mutex // of Learn and About
	words bool       // texts are messages
	all   bool       // every string is searched with its escapes resolved
	later bool       // not the first pass, which has counted images already
	json  bool       // the line that find has walked last is JSON
	Tally *Tally
}

// ErrLeft is the error if a redacted line still contains a secret.
var ErrLeft = errors.New("still contains a likely secret after redaction")

// errBroken is the error if a line was JSON and its redacted form is not.
var errBroken = errors.New("would not be valid JSON after redaction")

// maxRounds limits how often a line is searched, since removing one secret may reveal another: a line of a key the next
// one, where each stands in an object of its own.
const maxRounds = 64

// NewRun returns a run for a new session.
func (r *Redactor) NewRun() *Run {
	s := r.scans.Get().(*Scanner)
	clear(s.known)
	s.found = map[string]int32{}
	return &Run{
		r: r, s: s, Tally: &Tally{r: r},
		walk: walker{numbers: len(r.exact) > 0, schemas: r.opt.StructureOnly},
	}
}

// known returns a Run of the same session that only finds what x has found.
func (x *Run) known() *Run {
	y := x.r.only(maps.Clone(x.s.found)).NewRun()
	y.Tally = x.Tally
	x.later, y.later = true, true
	return y
}

// Close releases the run's memory.
func (x *Run) Close() { x.r.scans.Put(x.s) }

// line returns the redacted line of raw, which has no newline. The result may be raw itself,
// and is valid until the next call. The error is ErrLeft, or errBroken.
func (x *Run) line(raw []byte) (line []byte, err error) {
	x.Tally.line = x.Tally.line[:0]
	line = raw
	for round, was := 0, false; round < maxRounds; round++ {
		edits := x.find(line, round == 0)
		if was && !x.json {
			return nil, errBroken
		}
		was = x.json
		if len(edits) == 0 {
			if round > 0 {
				x.Tally.entry(line)
			}
			return line, nil
		}
		to := &x.buf[round%2]
		if len(line) >= huge {
			x.buf[1-round%2], *to = nil, make([]byte, 0, len(line)+1<<10)
		}
		*to = x.rewrite((*to)[:0], line, 0, len(line), edits, true)
		line = *to
	}
	return nil, ErrLeft
}

// find returns the edits of a line.
func (x *Run) find(line []byte, first bool) []hit {
	if len(line) >= huge {
		debug.FreeOSMemory() // free the memory of the previous line
	}
	x.edits, x.s.line, x.s.quoted = x.edits[:0], line, -1
	if quotedLine(line) {
		x.s.quoted = 1
	}
	if x.r.known && first && !x.all && !x.s.worth(line, -1) {
		return nil
	}
	x.s.spotted = false
	if x.json = x.walk.walk(line); !x.json {
		x.raw(x.s.plain(x.hits[:0], line), line, first)
		return x.edits
	}
	x.s.list(line, x.walk.tokens)
	x.hits = x.s.dropHarmless(line, x.skeleton(x.hits[:0], line))
	x.across(x.hits, line)
	for i := range x.walk.tokens {
		x.token(&x.walk.tokens[i], line, first)
	}
	if len(x.edits) > 0 {
		x.edits = merged(line, x.edits)
		x.distinct(line)
	}
	return x.edits
}

// margin is how many bytes at either end of a long string are searched together with the text
// around it.
const margin = 128

// skeleton adds the secrets in the line's JSON, except inside strings that are searched
// separately.
func (x *Run) skeleton(hits []hit, line []byte) []hit {
	from := 0
	for i := range x.walk.tokens {
		t := &x.walk.tokens[i]
		if alone := t.escaped || !t.searched(); alone && t.end-t.start > 2*margin {
			hits = x.s.wordsOfLine(hits, line, from, t.start+margin)
			from = t.end - margin
		}
	}
	hits = x.s.wordsOfLine(hits, line, from, len(line))
	return x.s.finish(hits, line)
}

// raw is find for a line that is not JSON: all of it is one text.
func (x *Run) raw(hits []hit, line []byte, first bool) {
	if text := bytes.TrimSpace(line); x.r.opt.StructureOnly && !x.words && len(text) > 0 && !sized(text) {
		at := bytes.Index(line, text)
		x.edits = append(x.edits, hit{start: at, end: at + len(text), rule: -1, text: size(text, false)})
		return
	}
	x.embedded(line, 0, first)
	x.edits = append(x.edits, x.s.views(hits, line, anySpelling)...)
}

// across takes hits in the raw line that span several strings, or are in a value because of its
// name, and splits them by string.
func (x *Run) across(hits []hit, line []byte) {
	tokens := x.walk.tokens
	for _, h := range hits {
		start, end := h.start, h.end
		k, _ := slices.BinarySearchFunc(tokens, start, func(t token, at int) int { return cmp.Compare(t.end, at) })
		for ; k < len(tokens) && tokens[k].start < end; k++ {
			t := &tokens[k]
			if t.kind != aString && t.kind != aKey && t.kind != aFreeKey || t.known || t.at&(isID|isWord) != 0 {
				continue
			}
			from, to := max(start, t.start), min(end, t.end)
			if from < to && (start < t.start || end > t.end || !t.escaped) {
				from, to = whole(line, t, from, to)
				if !x.r.covered(line, from, to) {
					value := h.value // of a part, the whole
					if from != start || to != end {
						value = string(line[from:to])
					}
					x.edits = append(x.edits, hit{start: from, end: to, rule: h.rule, value: value})
					if t.escaped {
						value = jsonl.Value(`"` + value + `"`).Text()
					}
					x.s.learn(h.rule, value)
				}
			}
		}
	}
}

// whole widens a range of a string to whole escapes.
func whole(line []byte, t *token, from, to int) (int, int) {
	if !t.escaped {
		return from, to
	}
	for i := t.start; i < to; {
		n := 1
		if line[i] == '\\' {
			n = 2
			if line[i+1] == 'u' {
				n = 6
			}
		}
		if i < from && i+n > from {
			from = i
		}
		if i+n > to {
			to = i + n
		}
		i += n
	}
	return from, to
}

// token adds the edits of one token.
func (x *Run) token(t *token, line []byte, first bool) {
	text := line[t.start:t.end]
	set := func(to string) {
		if string(text) != to {
			x.edits = append(x.edits, hit{start: t.start, end: t.end, rule: -1, text: to})
		}
	}
	switch t.kind {
	case aNumber:
		if rule, ok := x.r.exact[string(text)]; ok && !x.r.short(rule, len(text)) {
			x.edits = append(x.edits, hit{start: t.start, end: t.end, rule: rule, value: string(text), text: "0"})
		}
		return
	case aBytes:
		x.s.byteLists(line, t.start, t.end, func(plain []byte, start, end int) {
			x.edits = x.s.inBytes(x.edits, plain, line, hit{start: start, end: end})
		})
		return
	case aSealed:
		if set(""); len(text) > 0 && first {
			x.Tally.Stripped++
		}
		return
	case aBlob:
		set("null")
		if first {
			x.Tally.Stripped++
		}
		return
	case aSchema:
		set(`{"type":"object"}`)
		return
	case anImage:
		from := encoded(text)
		picture := isPicture(text[from:])
		// otherwise it is text that claims to be an image
		if isBase64(text[from:]) && (picture || x.r.opt.DropImages || x.r.opt.StructureOnly) {
			set(string(text[:from]) + x.picture(text[from:], t.at&isData != 0, first))
			return
		}
	}
	if t.known {
		return
	}
	if from := encoded(text); t.at&isData != 0 || from > 0 {
		data := text[from:]
		if t.escaped {
			data = []byte(jsonl.Value(`"` + string(data) + `"`).Text())
		}
		if to, ok := x.within(data); ok {
			set(string(text[:from]) + to)
			return
		}
	}
	if x.r.opt.StructureOnly && t.at&(isKept|isNamed) == 0 && t.kind != aKey {
		if len(text) > 0 && !sized(text) {
			set(size(text, t.escaped))
		}
		return
	}
	if !t.escaped && x.s.bland(text, t) {
		return
	}
	x.embedded(text, t.start, first)
	x.s.spotted = false
	if at := t.start; t.escaped && !x.all {
		if !t.searched() {
			at = -1
		}
		if !x.s.worth(text, at) {
			return
		}
	}
	how := anySpelling
	base := x.own[:0]
	if t.escaped {
		how = jsonSpelling
	} else if t.at&(isID|isWord) != 0 || t.kind == anImage {
		base = x.s.plain(base, text) // the search of the raw line skipped it
	} else {
		base = x.s.decoded(base, text)
	}
	x.own = x.s.views(base, text, how)
	for _, h := range x.own {
		h.start, h.end = t.start+h.start, t.start+h.end
		x.edits = append(x.edits, h)
	}
}

// within returns the replacement of a text in base64, such as an attachment: what its text says
// redacted, in base64. ok is false if it is none, or has nothing to redact.
func (x *Run) within(data []byte) (to string, ok bool) {
	text, err := base64.StdEncoding.AppendDecode(nil, data)
	if err != nil || bytes.IndexByte(text, 0) >= 0 {
		return "", false
	}
	if x.r.opt.StructureOnly {
		if len(text) > 0 && !sized(text) {
			text = []byte(size(text, false))
		}
		return base64.StdEncoding.EncodeToString(text), true
	}
	hits := x.s.views(x.s.plain(nil, text), text, anySpelling)
	if len(hits) == 0 {
		return "", false
	}
	return base64.StdEncoding.EncodeToString(x.rewrite(nil, text, 0, len(text), hits, true)), true
}

// encoded returns where base64 begins in a string: after the head of a data URL.
func encoded(text []byte) int {
	if !bytes.HasPrefix(text, []byte("data:")) {
		return 0
	}
	head, _, ok := bytes.Cut(text[:min(len(text), maxMark)], []byte(";base64,"))
	if !ok {
		return 0
	}
	return len(head) + len(";base64,")
}

// distinct keeps an object's keys different if redaction would make them equal.
func (x *Run) distinct(line []byte) {
	tokens := x.walk.tokens
	changed := map[int]bool{}
	k := 0
	for _, e := range x.edits {
		for k < len(tokens) && tokens[k].end < e.end {
			k++
		}
		if k < len(tokens) && tokens[k].start <= e.start && (tokens[k].kind == aKey || tokens[k].kind == aFreeKey) {
			changed[tokens[k].object] = true
		}
	}
	if len(changed) == 0 {
		return
	}
	type place struct {
		object int
		key    string
	}
	names := map[place]string{} // by new name, the old ones
	k = 0
	var more []hit
	for _, t := range tokens {
		if t.kind != aKey && t.kind != aFreeKey || !changed[t.object] {
			continue
		}
		for k < len(x.edits) && x.edits[k].end < t.start {
			k++
		}
		last := k
		for last < len(x.edits) && x.edits[last].end <= t.end {
			last++
		}
		was := string(line[t.start:t.end])
		name := string(x.rewrite(nil, line, t.start, t.end, x.edits[k:last], false))
		suffix := ""
		for n := 2; ; n++ {
			at := place{t.object, name + suffix}
			if before, there := names[at]; !there || before == was {
				names[at] = was
				break
			}
			suffix = "-" + strconv.Itoa(n)
		}
		if suffix != "" {
			more = append(more, hit{start: t.end, end: t.end, rule: -1, text: suffix})
		}
	}
	if len(more) > 0 {
		x.edits = append(x.edits, more...)
		slices.SortStableFunc(x.edits,
			func(a, b hit) int { return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.start, b.start)) })
	}
}

// rewrite appends a range of a line with its edits applied, and counts them.
func (x *Run) rewrite(dst, line []byte, start, end int, edits []hit, counted bool) []byte {
	for _, e := range edits {
		dst = append(dst, line[start:e.start]...)
		start = e.end
		if e.rule < 0 {
			dst = append(dst, e.text...)
			continue
		}
		n := x.number(e.rule, e.value)
		if counted {
			x.Tally.add(e.rule, n)
		}
		if e.text != "" {
			dst = append(dst, e.text...)
			continue
		}
		dst = x.r.placeholder(dst, e.rule, n)
	}
	return append(dst, line[start:end]...)
}

// number returns the number of a value among those of its rule.
func (x *Run) number(rule int32, value string) int {
	m := x.Tally.of(rule).numbers
	if m == nil {
		m = map[string]int{}
		x.Tally.of(rule).numbers = m
	}
	n := m[value]
	if n == 0 {
		n = len(m) + 1
		m[strings.Clone(value)] = n
	}
	return n
}

// runes returns the number of characters of a JSON string.
func runes(text []byte, escaped bool) int {
	if escaped {
		var v view
		if makeView(&v, text, jsonSpelling, false) {
			text = v.text
		}
	}
	return utf8.RuneCount(text)
}
