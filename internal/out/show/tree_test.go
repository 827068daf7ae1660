package show

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/read/outline"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// TestTrapTree: a branch summary is drawn below its parent, whether its fromId is the
// leaf that was left, or the parent as in older files.
func TestTrapTree(t *testing.T) {
	for trap, from := range map[string]string{"T46": "a", "N6": "c"} {
		t.Run(trap, func(t *testing.T) {
			message := func(id, parent string) string {
				return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"message":{"role":"user","content":"M"}}`, id, parent)
			}
			lines := []string{`{"type":"session","version":3,"id":"s","cwd":"/w"}`, message("a", ""), message("b", "a"), message("c", "b"),
				`{"type":"branch_summary","id":"s","parentId":"a","fromId":"` + from + `","summary":"S"}`, message("d", "s"), ""}
			s := open(t, corpus.Session{Data: []byte(strings.Join(lines, "\n"))})
			var got strings.Builder
			w := bufio.NewWriter(&got)
			must.Do(TreeForms.Of(Tree{Nodes: outline.Of(s, s.Leaf())}).Write(w, "text", Screen{}))
			must.Do(w.Flush())
			want := `● a user  M
├─○ b user (2 entries, leaf c)  M
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
