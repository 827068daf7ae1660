package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"ctxtool/internal/golden"
)

// TestCommandPages holds docs/commands to what the commands' help says.
func TestCommandPages(t *testing.T) {
	const dir = "../../docs/commands"
	want := map[string]bool{}
	var page func(c *cobra.Command)
	page = func(c *cobra.Command) {
		if !c.IsAvailableCommand() && c.HasParent() {
			return
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "_") + ".md"
		want[name] = true
		c.DisableAutoGenTag = true
		c.InitDefaultHelpFlag()
		var b bytes.Buffer
		if err := doc.GenMarkdown(c, &b); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, filepath.Join(dir, name), b.Bytes())
		for _, sub := range c.Commands() {
			page(sub)
		}
	}
	page(newRoot(&env{stdin: os.Stdin}))
	files, err := filepath.Glob(dir + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[filepath.Base(f)] {
			t.Errorf("%s is the page of no command", f)
		}
	}
}

// TestReductionsDocumented: docs/formats.md names every key of what the commands print
// that make contexts smaller.
func TestReductionsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## `ctxtool/truncate/1`")
	section, _, _ = strings.Cut(section, "## `ctxtool/count/1`")
	words := map[string]bool{}
	for _, word := range strings.FieldsFunc(section, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }) {
		words[word] = true
	}
	seen := map[string]bool{}
	const session = "testdata/sessions/demo.jsonl"
	for _, args := range [][]string{
		{"truncate", session, "--max", "300", "--as", "edits", "-f", "json"}, {"compact", session, "--keep", "500", "-f", "json"},
		{"reduce", session, "--policy", "y-agent", "--if-over", "99%", "-f", "json"}, {"reduce", "testdata/sessions/good", "-f", "json"}, {"policies", "-f", "json"},
	} {
		out, _ := said(t, args...)
		var v any
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		keysOf(v, seen)
	}
	for key := range seen {
		if !words[key] {
			t.Errorf("docs/formats.md does not say what %s is", key)
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d keys", len(seen))
	}
}

// keysOf collects the keys of all objects in a value but for those of entries, whose
// format is pi's, and those of options.
func keysOf(v any, seen map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, el := range v {
			keysOf(el, seen)
		}
	case map[string]any:
		for key, el := range v {
			seen[key] = true
			if key != "append" && key != "params" && key != "options" {
				keysOf(el, seen)
			}
		}
	}
}
