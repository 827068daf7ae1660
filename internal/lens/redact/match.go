package redact

import (
	"slices"
	"unicode/utf8"
)

// expressions adds the secrets of the rules whose words were found.
func (s *Scanner) expressions(dst []hit, text []byte) []hit {
	for _, k := range s.r.always {
		s.wake(k)
	}
	for _, k := range s.busy {
		switch r := s.r.rules[k]; {
		case r.within > 0:
			dst = s.around(dst, text, k)
		case r.anchors == nil:
			dst = s.whole(dst, text, k)
		case !r.gated || s.seen[k]:
			dst = s.matches(dst, text, k)
		}
		s.seen[k], s.starts[k] = false, s.starts[k][:0]
	}
	s.busy = s.busy[:0]
	return dst
}

// wake marks a rule for checking once all words of the text are known.
func (s *Scanner) wake(k int32) {
	if !s.seen[k] && len(s.starts[k]) == 0 {
		s.busy = append(s.busy, k)
	}
}

// dfa returns the dfa of a rule.
func (s *Scanner) dfa(k int32) *dfa {
	if s.dfas[k] == nil {
		s.dfas[k] = newDFA(s.r.rules[k].prog())
	}
	return s.dfas[k]
}

// Limits of what is read for a rule: by its dfa, times the text, beyond which its expression searches
// the whole text; by its expression again, beyond which what a judge rejects may hide a secret.
const (
	mostRead  = 16
	mostAgain = 1 << 12
)

// matches adds the secrets of a rule, given where its matches may begin.
func (s *Scanner) matches(dst []hit, text []byte, k int32) []hit {
	r, d := s.r.rules[k], s.dfa(k)
	slices.Sort(s.starts[k])
	n, done, last, again, read := len(dst), 0, 0, 0, 0
	for _, at := range slices.Compact(s.starts[k]) {
		start := int(at)
		if start < done {
			continue
		}
		ok, until := d.run(text, start)
		if read += until - start; read > mostRead*(len(text)+mostAgain) {
			dst = s.whole(dst[:n], text, k)
			break
		}
		if !ok && until-start > minPart && until-start < longestShape {
			s.broken = append(s.broken, brokenMatch{k, start, until - 1})
		}
		if !ok || r.Judge != judgeNone && until-start < mostAgain && madeOf(text[start:until]).odd == 0 {
			continue
		}
		read += until - start
		again += max(0, min(until, last)-start)
		last = max(last, until)
		groups := r.match(text, start, until)
		if groups == nil {
			continue
		}
		for range r.lazy {
			c, n := utf8.DecodeLastRune(text[:groups[0]])
			if groups[0]-n < done || n == 0 || !r.class.MatchRune(c) {
				break
			}
			groups[0] -= n
		}
		before, end := len(dst), groups[1]
		dst = s.match(dst, text, k, groups)
		if r.Judge == judgeNone || len(dst) > before || again > len(text)/4+mostAgain {
			done = end // what a judge has rejected may hide a secret
		}
	}
	s.read += read
	return dst
}

// A brokenMatch is where the match of a rule begins, and where it breaks off.
type brokenMatch struct {
	rule       int32
	start, end int
}

// mostJoined is in how many parts a match is looked for.
const mostJoined = 4

// rejoined adds the secret of a rule whose match continues after what it breaks off at, in one part or several.
func (s *Scanner) rejoined(dst []hit, text []byte, m brokenMatch) []hit {
	k, start, end := m.rule, m.start, m.end
	if isAlnum(text[end]) {
		return dst
	}
	r := s.r.rules[k]
	parts, joined := append(s.parted[:0], cell{start, end}), append(s.encoded[:0], text[start:end]...)
	for len(parts) < mostJoined {
		from, ok := joint(text, parts[len(parts)-1].start, end)
		if !ok {
			break
		}
		to := from
		for to < len(text) && to-from < longestShape && !ends[text[to]] {
			to++
		}
		s.read += to - from
		if to == from {
			break
		}
		parts, joined, end = append(parts, cell{from, to}), append(joined, text[from:to]...), to
	}
	s.parted, s.encoded = parts, joined
	if len(parts) < 2 {
		return dst
	}
	s.read += len(joined)
	if is, _ := s.dfa(k).run(joined, 0); !is {
		return dst
	}
	groups := r.first().FindSubmatchIndex(joined)
	if groups == nil || groups[0] > 0 {
		return dst
	}
	first, last, ok := r.secret(joined, groups)
	cut := parts[0].end - start
	if !ok || first > cut-minPart/2 || last <= cut || r.plain(joined[first:last], joined[:groups[1]]) {
		return dst
	}
	at := 0 // of the part in joined
	for _, p := range parts {
		from, to := p.start+max(0, first-at), p.start+min(p.end-p.start, last-at)
		if to > from {
			dst = append(dst, hit{rule: s.r.ofRule[k], start: from, end: to, value: string(text[from:to])})
		}
		at += p.end - p.start
	}
	return dst
}

// match returns the match that begins at text[start], and its groups; nothing from text[until] on
// matters. Where prog matches, the beginning is empty since it is lazy.
func (r *rule) match(text []byte, start, until int) []int {
	re, from := r.first, start
	if start > 0 {
		_, n := utf8.DecodeLastRune(text[:start])
		re, from = r.afterOne, start-n
	}
	groups := re().FindSubmatchIndex(text[from:until])
	if groups == nil {
		return nil
	}
	for i := range groups {
		if groups[i] >= 0 {
			groups[i] += from
		}
	}
	groups[0] = start
	return groups
}

// whole adds the secrets of a rule that is tried on the whole text.
func (s *Scanner) whole(dst []hit, text []byte, k int32) []hit {
	return s.part(dst, text, k, 0, len(text))
}

// part is whole for text[start:end].
func (s *Scanner) part(dst []hit, text []byte, k int32, start, end int) []hit {
	s.read += end - start
	if s.searches[k] == nil {
		s.searches[k] = newDFA(s.r.rules[k].anywhere())
	}
	if !s.searches[k].matches(text[start:end]) {
		return dst
	}
	for _, groups := range s.r.rules[k].whole().FindAllSubmatchIndex(text[start:end], -1) {
		for i := range groups {
			if groups[i] >= 0 {
				groups[i] += start
			}
		}
		dst = s.match(dst, text, k, groups)
	}
	return dst
}

// around is whole for a rule whose matches contain a keyword, given where these end.
func (s *Scanner) around(dst []hit, text []byte, k int32) []hit {
	margin := s.r.rules[k].within + utf8.UTFMax // an expression looks at a character before and after a match
	slices.Sort(s.starts[k])
	ends := s.starts[k]
	for len(ends) > 0 {
		n := 1
		for n < len(ends) && int(ends[n]-ends[n-1]) <= 2*margin {
			n++
		}
		dst = s.part(dst, text, k, max(0, int(ends[0])-margin), min(len(text), int(ends[n-1])+margin))
		ends = ends[n:]
	}
	return dst
}

// match adds the secret of a match, if there is one.
func (s *Scanner) match(dst []hit, text []byte, k int32, groups []int) []hit {
	for groups[0] < groups[1] && text[groups[0]] == '\n' {
		groups[0]++
	}
	for groups[0] < groups[1] && text[groups[1]-1] == '\n' {
		groups[1]--
	}
	r := s.r.rules[k]
	start, end, ok := r.secret(text, groups)
	if !ok {
		return dst
	}
	secret, match := text[start:end], text[groups[0]:groups[1]]
	if s.judged(int(k), start-groups[0], match, func() bool { return r.plain(secret, match) }) ||
		r.plainLine(secret, text, groups[0], groups[1]) {
		return dst
	}
	return append(dst, hit{rule: s.r.ofRule[k], start: start, end: end, value: string(secret)})
}

// judged reports whether a match is no secret, which begins at match[at]. kind identifies what plain
// computes.
func (s *Scanner) judged(kind, at int, match []byte, plain func() bool) bool {
	s.key = append(append(s.key[:0], byte(kind), byte(kind>>8), byte(at)), match...)
	is, known := s.allowedMatches[string(s.key)]
	if !known {
		s.read += len(match)
		is = plain()
		if len(s.allowedMatches) == maxAllowedMatches {
			clear(s.allowedMatches)
		}
		s.allowedMatches[string(s.key)] = is
	}
	return is
}

// maxAllowedMatches is how many matches are remembered, since code repeats them.
const maxAllowedMatches = 4096
