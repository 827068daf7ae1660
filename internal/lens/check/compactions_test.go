package check

import "testing"

// TestShadowBelowCircle: the patch that a compaction may be the shadow of is looked
// for up to where parents form a cycle, and no further.
func TestShadowBelowCircle(t *testing.T) {
	patch := entry("context_transform", "t", "", `,"schemaVersion":1,"transformerName":"compaction","patch":[]`)
	compaction := entry("compaction", "k", "y", `,"summary":"s","firstKeptEntryId":"y","tokensBefore":1`)
	if r := checked(file(head3, patch, user("x", "y"), user("y", "x"), compaction)); !r.has("cycle") || r.has("shadow-broken") {
		t.Errorf("%+v", r.Findings)
	}
}
