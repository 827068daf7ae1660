package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
