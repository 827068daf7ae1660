package search

import (
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"
)

func isGsh(head []byte) bool {
	v := firstObject(head)
	return v.Get("id").IsString() && v.Get("created_at").IsString() && v.Get("last_activity").IsString()
}

// gsh searches a session of gsh. Its messages have no times, and only texts and results are
// searched.
func (s *searcher) gsh(f File, out *searched) error {
	g := &Session{File: f}
	return s.eachLine(f, func(n int, line jsonl.Value) {
		role := line.Get("role").Text()
		if g.ID == "" && role == "" {
			g.ID, g.CWD, g.Title, g.Time = line.Get("id").Text(), line.Get("cwd").Text(), line.Get("title").Text(), line.Get("last_activity").Text()
			g.last, _ = line.Get("last_activity").Millis()
			if s.opt.Filter.in(g.CWD) && s.opt.Filter.at(g.last, true) {
				out.session = g
			}
			if g.Title != "" && !s.query.empty() {
				s.gshMessage(g, n, "", g.Title, Name)
			}
			return
		}
		g.Messages++
		out.lines++
		text, where := gshText(line, role)
		if role == "user" && g.Title == "" && where == Prompt {
			g.Title = string([]rune(text)[:min(80, utf8.RuneCountInString(text))])
		}
		s.gshMessage(g, n, role, text, where)
	})
}

// gshMessage searches a message.
func (s *searcher) gshMessage(g *Session, n int, role, text string, where Where) {
	f := &s.opt.Filter
	if f.Exit != nil || f.Model != "" || len(f.Kinds)+len(f.Tools) > 0 || f.Event != "" && (f.Event != "prompt" || where != Prompt) ||
		len(f.Roles) > 0 && !contains(f.Roles, role) || !s.query.has(text) {
		return
	}
	h := Hit{Schema: Schema, Source: InSessions, File: g.File.Given, Line: n, Session: g.ID, Kind: role, Where: where, CWD: g.CWD}
	text = s.redacted(text)
	if !s.query.has(text) {
		return
	}
	s.mark(&h, text)
	clear(s.counts)
	m := s.query.matcher(s.counts)
	m.add([]byte(text))
	g.add(found{record: int32(len(g.ready)), time: g.last, size: int32(len(text)), key: maphash.String(seed, text)}, s.counts)
	g.ready = append(g.ready, h)
}

// gshText returns the text of a message: its text and result blocks.
func gshText(line jsonl.Value, role string) (text string, where Where) {
	content := line.Get("content")
	where = Answer
	if role == "user" {
		where = Prompt
	}
	if content.IsString() {
		return content.Text(), where
	}
	var all []string
	for b := range content.Elements {
		switch {
		case b.Get("type").Is("text"):
			all = append(all, b.Get("text").Text())
		case b.Get("type").Is("tool_result"):
			where = Result
			all = append(all, b.Get("content").Text())
		}
	}
	return strings.Join(all, " "), where
}

// readReady returns the hits of a session that is not read again.
func (s *searcher) readReady(g *Session, most int) {
	g.Title, g.More = s.redacted(g.Title), 0
	for i := range g.found {
		if most > 0 && len(g.Hits) == most {
			g.More = len(g.found) - i
			return
		}
		f := &g.found[i]
		h := g.ready[f.record]
		h.Score, h.Copies = float64(f.score), int(f.copies)
		g.Hits = append(g.Hits, h)
	}
}
