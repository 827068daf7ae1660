package render

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/sessionfmt/outline"
)

// TestTrapTree: a branch summary is drawn below its parent, whether its fromId is the
// leaf that was left, or the parent as in older files.
func TestTrapTree(t *testing.T) {
	for trap, from := range map[string]string{"T46": "a", "N6": "c"} {
		t.Run(trap, func(t *testing.T) {
			message := func(id, parent string) string {
				return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"message":{"role":"user","content":"M"}}`, id, parent)
			}
			s := sessionOf(t, "/w", message("a", ""), message("b", "a"), message("c", "b"),
				`{"type":"branch_summary","id":"s","parentId":"a","fromId":"`+from+`","summary":"S"}`, message("d", "s"))
			var got strings.Builder
			if err := WriteTree(&got, TreeReport{Nodes: outline.Of(s, s.Leaf())}); err != nil {
				t.Fatal(err)
			}
			want := `● a user  M
├─○ b user (2 entries, tip c)  M
│ ○ c user  M
● s branch_summary  S
● d user ← leaf  M
`
			if got.String() != want {
				t.Errorf("drawn\n%swant\n%s", got.String(), want)
			}
		})
	}
}
