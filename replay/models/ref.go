package models

// A Ref names a model. The zero value is no model.
type Ref struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
}

// Name is provider/id, empty for no model.
func (m Ref) Name() string {
	if m == (Ref{}) {
		return ""
	}
	return m.Provider + "/" + m.ID
}
