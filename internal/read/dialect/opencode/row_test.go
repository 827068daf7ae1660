package opencode

import "testing"

// TestRow: members that only an event has are nothing of a row's own message or part.
func TestRow(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"table":"part","id":"p","data":{"type":"text","part":{"text":"no"},"info":{"role":"user"}}}`,
		`{"table":"message","id":"m","data":{"info":{"role":"user"}}}`,
	} {
		var r row
		if r.read([]byte(text)); r.data.info.role.Exists() || r.data.part.text.Exists() {
			t.Errorf("%s: role %s, text %s", text, r.data.info.role, r.data.part.text.Value)
		}
	}
}
