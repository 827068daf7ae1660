package pi

import (
	"ctxtool/internal/read/fields"
	"ctxtool/sessionfmt/dialect"
)

// Fields returns the declaration of the fields of a dialect's lines, those of pi for nil.
func Fields(d *dialect.Dialect) *fields.Tree {
	if d == nil {
		return fields.Of[Line]()
	}
	return fields.OfType(d.Fields)
}
