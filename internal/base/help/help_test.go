package help

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"ctxtool/internal/test/must"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text          string
		width, indent int
		want          string
	}{
		{"", 10, 0, ""},
		{"a few words", 20, 0, "a few words"},
		{"a few words", 5, 0, "a few\nwords"},
		{"a few words", 6, 2, "a few\n  words"},
		{"ab words-that-are-long x", 6, 0, "ab\nwords-that-are-long\nx"},
		{"é● ïïï öö", 6, 0, "é● ïïï\nöö"},
	} {
		if got := wrap(c.text, c.width, c.indent); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// TestCommand: flags are under their headings, and those of topics only named.
func TestCommand(t *testing.T) {
	root := &cobra.Command{Use: "program", Short: "Do things"}
	root.AddGroup(&cobra.Group{ID: "First", Title: "First"})
	cmd := &cobra.Command{Use: "undo [flags] SESSION", Short: "Do a thing", Example: "  program do", GroupID: "First", Run: func(*cobra.Command, []string) {}}
	other := &cobra.Command{Use: "other", Short: "Do another", Run: cmd.Run}
	f := cmd.Flags()
	f.StringP("output", "o", "", "write to `FILE`")
	f.String("at", "leaf", "the `POINT`")
	f.Int("days", 3, "keep `N` (0: all)")
	f.Bool("plain", false, "do it plainly")
	f.String("rules", "", "by these rules")
	f.Bool("secret", false, "not for help")
	f.MarkHidden("secret")
	root.AddCommand(cmd, other)
	for _, c := range []struct {
		cmd  *cobra.Command
		want string
	}{
		{cmd, `Do a thing.

Usage: program undo [flags] SESSION

Examples:
  program do

Flags:
  --days N           keep N (0: all; default 3)
  --plain            do it plainly

Selection:
  --at POINT         the POINT (default leaf)

Writing:
  -o, --output FILE  write to FILE

More flags (ctxtool help TOPIC):
  rules      --rules
  settings   flags of every command

See also: ctxtool help exit-status, points, sessions
`},
		{root, `Do things.
Usage: program

First:
  undo         Do a thing

Others: other. `},
	} {
		var b strings.Builder
		must.Do(Command(&b, c.cmd, 0))
		got, _, _ := strings.Cut(b.String(), "Topics: ")
		if got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}

func TestTopic(t *testing.T) {
	text, ok := Topic("passes", map[string]string{"passes": List([][2]string{{"a", "first"}, {"long", "second"}})})
	if !ok || !strings.Contains(text, "\n  a     first\n  long  second\n") {
		t.Errorf("%v %s", ok, text)
	}
	if _, ok := Topic("nothing", nil); ok {
		t.Error("a topic that does not exist")
	}
}
