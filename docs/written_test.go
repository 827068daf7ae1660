package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// maxWritten is how many lines of documents people write at most.
const maxWritten = 4490

// generatedPages are written by tests as a whole.
var generatedPages = map[string]bool{"checks/README.md": true, "scorecard.md": true, "policies-compared.md": true, "compared.md": true}

// generatedParts are written by tests too: tables of structs and of operations, what the program of
// library.md prints, and, in pages whose examples run, what these print.
var (
	generatedParts = regexp.MustCompile("(?ms)^<!-- (?:struct|compared|answer)[^\n]*-->\n((?:\\|[^\n]*\n)*)|^<!-- ops -->\n(.*?)^<!-- /ops -->\n|^With `demo.jsonl` it prints\n\n```\n.*?^```\n")
	examples       = regexp.MustCompile("(?ms)^```console\n.*?^```$")
	exampleOutput  = regexp.MustCompile("(?m)^[^$`].*\n|^\n")
)

// TestWritten: people write no more lines of documents than somebody can know. What `-update`
// writes does not count, nor the head of a check's page.
func TestWritten(t *testing.T) {
	written, generated := 0, 0
	must.Do(filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		if err != nil || filepath.Ext(name) != ".md" || strings.HasPrefix(name, "commands/") {
			return err
		}
		page := string(must.Get(os.ReadFile(name)))
		rest := generatedParts.ReplaceAllString(page, "")
		rest = examples.ReplaceAllStringFunc(rest, func(block string) string { return exampleOutput.ReplaceAllString(block, "") })
		switch {
		case generatedPages[name]:
			rest = ""
		case strings.HasPrefix(name, "checks/"):
			_, rest, _ = strings.Cut(rest, "\n\nSeverity: ")
			_, rest, _ = strings.Cut(rest, "\n")
		}
		lines := strings.Count(rest, "\n")
		written, generated = written+lines, generated+strings.Count(page, "\n")-lines
		return nil
	}))
	if written > maxWritten {
		t.Errorf("%d lines of documents are written by people, at most %d may be", written, maxWritten)
	}
	t.Logf("%d lines written, %d generated", written, generated)
}
