package main

import (
	"bufio"
	"cmp"
	"errors"
	"net/http"
	"strings"

	"ctxtool/internal/lens/search"
)

// A foundRow is a session with hits.
type foundRow struct {
	Page  string   `json:"page"`
	File  string   `json:"file"`
	Title string   `json:"title,omitempty"`
	CWD   string   `json:"project,omitempty"`
	Time  string   `json:"time,omitempty"`
	Hits  []hitRow `json:"hits"`
	More  int      `json:"more,omitempty"`
}

// A hitRow is a hit, and the address of its entry.
type hitRow struct {
	Page   string       `json:"page"`
	Where  search.Where `json:"where,omitempty"`
	Kind   string       `json:"kind,omitempty"`
	Before string       `json:"before,omitempty"`
	Match  string       `json:"match"`
	After  string       `json:"after,omitempty"`
}

// mostHits is the number of hits that are shown for a session.
const mostHits = 4

// found searches the texts of all sessions for the words in a URL, and writes the best sessions.
func (b *browsed) found(w *bufio.Writer, r *http.Request, flush func()) error {
	asked := r.URL.Query()
	o := period{since: asked.Get("since"), until: asked.Get("until"), zone: b.zone}
	since, until, err := o.check(b.env)
	words := strings.TrimSpace(asked.Get("q"))
	if err != nil || words == "" {
		return refusal{http.StatusBadRequest, cmp.Or(err, errors.New("no words")).Error()}
	}
	files, err := b.list()
	if err != nil {
		return err
	}
	var searched []search.File
	agent := asked.Get("agent")
	for _, f := range files {
		n := b.number(f)
		b.mu.Lock()
		other := agent != "" && b.agents[n] != "" && b.agents[n] != agent
		b.mu.Unlock()
		if !other {
			searched = append(searched, search.File{Name: f.path, Given: b.fileName(f.name)})
		}
	}
	opt := search.Options{
		Query: search.Words(words, len(strings.Fields(words)) > 1), Source: search.InSessions, Redact: b.redactor,
		Filter: search.Filter{Project: asked.Get("project"), Since: since, Until: until}, Open: b.opened(r, 0),
	}
	opt.Open.Through = nil // as in ctxtool search
	results := search.Run(searched, opt)
	if err := r.Context().Err(); err != nil {
		return err
	}
	if err := b.line(w, map[string]int{"sessions": len(results.Sessions), "hits": results.Found}); err != nil {
		return err
	}
	flush()
	for s, err := range results.Read(usualResults, mostHits) {
		if err != nil {
			return err
		}
		if err := b.line(w, b.hits(s)); err != nil {
			return err
		}
		flush()
	}
	return nil
}

func (b *browsed) hits(s *search.Session) foundRow {
	n := b.number(listedFile{path: s.File.Name})
	row := foundRow{Page: address(n), File: s.File.Given, Title: s.Title(), CWD: s.CWD, Time: s.Time, More: s.More}
	for _, h := range s.Hits {
		at := row.Page
		if h.ID != "" {
			at += "#entry-" + strings.ReplaceAll(h.ID, "%", "%25")
		}
		row.Hits = append(row.Hits, hitRow{at, h.Where, h.Kind, h.Text[:h.From], h.Text[h.From:h.To], h.Text[h.To:]})
	}
	return row
}
