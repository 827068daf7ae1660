package render

import (
	"encoding/json"
	"fmt"
	"io"

	"ctxtool/internal/report"
	"ctxtool/sessionfmt"
)

// A PageSummary is a session on one line of the report of a store.
type PageSummary = report.Summary

// Summary sums up a page that has been written.
func (h *HTML) Summary() (*PageSummary, error) { return h.report.Summary() }

// A PageStore is the report of a store: sessions, and where their pages are.
type PageStore struct {
	Schema   string         `json:"schema"` // ctxtool/page.store/1
	Title    string         `json:"title"`
	Redacted bool           `json:"redacted,omitempty"`
	Prices   string         `json:"prices"` // the day of the table of prices
	Sessions []*PageSummary `json:"sessions"`
}

// storeModules are the scripts of the index of a store.
var storeModules = []string{"dom", "store", "windowed", "index"}

// WriteStore writes the index of a store.
func WriteStore(w io.Writer, s *PageStore) error {
	s.Schema, s.Prices = "ctxtool/page.store/1", report.Prices
	shell := storePage.shell(sessionfmt.Clean(s.Title))
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	p := packers.Get().(*packer)
	defer packers.Put(p)
	text, err := p.data(nil, "head", hardest, data)
	if err != nil {
		return fmt.Errorf("packing the index: %w", err)
	}
	for _, part := range [][]byte{shell.before, text, shell.after} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
