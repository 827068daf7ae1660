package render

import "testing"

// TestTemplates: all templates can be read, and call functions that are there.
func TestTemplates(t *testing.T) {
	if _, err := templates(); err != nil {
		t.Error(err)
	}
}
