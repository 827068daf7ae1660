package render

import (
	"encoding/json"
	"fmt"
	"io"

	"ctxtool/internal/report"
	"ctxtool/sessionfmt"
)

// storeModules are the scripts of the index of a store.
var storeModules = []string{"dom", "store", "windowed", "index"}

// WriteStore writes the index of a store.
func WriteStore(w io.Writer, s *report.Store) error {
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
