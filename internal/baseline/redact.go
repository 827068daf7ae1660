package baseline

import (
	"cmp"
	"slices"

	"ctxtool/internal/redact"
	"ctxtool/replay/prompt"
)

// Redact redacts a baseline in place.
func Redact(b *prompt.Baseline, r *redact.Redactor) error {
	x := r.NewRun()
	defer x.Close()
	for k := range b.Parts {
		b.Parts[k].Text = x.Text(b.Parts[k].Text)
	}
	for k := range b.Tools {
		line, err := x.Definition(b.Tools[k].Raw)
		if err != nil {
			return err
		}
		b.Tools[k].Raw = slices.Clone(line)
		b.Tools[k].Name = cmp.Or(b.Tools[k].Raw.Get("name").Text(), b.Tools[k].Name)
	}
	return nil
}
