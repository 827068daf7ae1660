package entry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/entry"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
)

// TestLikely: a patch between an answer and a prompt was likely made where it is nearer in
// time; before a first answer it was made before a request, and after the last at a turn's
// end.
func TestLikely(t *testing.T) {
	line := func(id, parent string, second int, rest string) string {
		return fmt.Sprintf(`{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:%02d.000Z",%s}`+"\n", id, parent, second, rest)
	}
	message := func(role string) string {
		return `"type":"message","message":{"role":"` + role + `","content":[]}`
	}
	patch := `"type":"context_transform","schemaVersion":1,"patch":[]`
	head := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n" + line("u", "null", 1, message("user"))
	answered := head + line("a", `"u"`, 2, message("assistant"))
	for _, c := range []struct{ name, file, want string }{
		{"nearer to the prompt", answered + line("t", `"a"`, 9, patch) + line("v", `"t"`, 10, message("user")), "before_request"},
		{"nearer to the answer", answered + line("t", `"a"`, 3, patch) + line("v", `"t"`, 10, message("user")), "turn_end"},
		{"after the last answer", answered + line("t", `"a"`, 9, patch), "turn_end"},
		{"after a prompt", head + line("t", `"u"`, 9, patch), "before_request"},
	} {
		s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(c.file), sessionfmt.Options{}))
		r := replay.New(s, replay.Options{})
		likely := ""
		path, _ := s.Path(s.Leaf())
		for step, err := range r.Along(path) {
			if err != nil {
				t.Fatal(err)
			}
			row := must.Get(entry.RowOf(s, step, weigh.Counts{}, weigh.Counts{}, weigh.Size{}, path, slices.Index(path, step.Record)))
			if row.Boundary != nil {
				likely = string(row.Boundary.Likely)
			}
		}
		if likely != c.want {
			t.Errorf("%s: %q, want %q", c.name, likely, c.want)
		}
	}
}
