package models

import (
	"cmp"
	"fmt"
	"strings"
)

// A Ref names a model. The zero value is no model.
type Ref struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
}

// Name is provider/id, or the id alone where no provider is known. It is empty for no model.
func (m Ref) Name() string {
	if m == (Ref{}) {
		return ""
	}
	return strings.TrimPrefix(m.Provider+"/"+m.ID, "/")
}

// Setting is the line of a configuration file that adds the model to the table, with words
// where numbers are to be filled in. It stands above the tables of the file.
func (m Ref) Setting() string {
	return fmt.Sprintf("models.%q = { contextWindow = TOKENS, input = DOLLARS, output = DOLLARS }",
		cmp.Or(m.Provider, "PROVIDER")+"/"+m.ID)
}
