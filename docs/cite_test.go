package docs_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

var (
	heading  = regexp.MustCompile(`(?m)^##+ (\d+(?:\.\d+)?)\.? `)
	within   = regexp.MustCompile(`\((\d{1,2}(?:\.\d+)?)\)`)
	number   = regexp.MustCompile(`\d+(?:\.\d+)*`)
	example  = regexp.MustCompile("(?s)```json\n(.*?)```")
	newline  = regexp.MustCompile(`\s*\n[ \t]*(?://|\*|#)?[ \t]*`)
	outside  = regexp.MustCompile(`\bspec/[\w.-]+\.md`)
	citation = regexp.MustCompile(`\b(session-format|policies)\.md\)? (\d+(?:\.\d+)*(?:(?:, | and )\d+(?:\.\d+)*)*)`)
)

// written are the files in which something may be cited.
var written = []string{".go", ".md", ".js", ".mjs", ".tmpl", ".txt", ".txtar"}

// numbered are the documents whose sections are cited, and the numbers of those.
func numbered(t *testing.T) map[string]map[string]bool {
	docs := map[string]map[string]bool{}
	for _, name := range []string{"session-format", "policies"} {
		text := must.Get(os.ReadFile(name + ".md"))
		docs[name] = map[string]bool{}
		for _, m := range heading.FindAllSubmatch(text, -1) {
			if n := string(m[1]); docs[name][n] {
				t.Errorf("%s.md has two sections %s", name, n)
			} else {
				docs[name][n] = true
			}
		}
		for _, m := range within.FindAllSubmatch(text, -1) {
			if n := string(m[1]); !docs[name][n] {
				t.Errorf("%s.md names its section %s, which it does not have", name, n)
			}
		}
		for _, m := range example.FindAllSubmatch(text, -1) {
			for line := range strings.Lines(string(m[1])) {
				if !json.Valid([]byte(line)) {
					t.Errorf("%s.md: an example is not JSON: %s", name, line)
				}
			}
		}
	}
	return docs
}

// TestCitations: what comments and documents cite is in the repository, and a section of
// it exists.
func TestCitations(t *testing.T) {
	docs := numbered(t)
	cited := 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git": // a file in a work tree
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(written, filepath.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range outside.FindAll(text, -1) {
			t.Errorf("%s cites %s, which is not in the repository", name, m)
		}
		if !bytes.Contains(text, []byte(".md")) { // most files
			return nil
		}
		for _, m := range citation.FindAllSubmatch(newline.ReplaceAll(text, []byte(" ")), -1) {
			for _, n := range number.FindAll(m[2], -1) {
				if cited++; !docs[string(m[1])][string(n)] {
					t.Errorf("%s cites section %s of %s.md, which does not exist", name, n, m[1])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if cited == 0 {
		t.Error("nothing is cited: the pattern of a citation is wrong")
	}
}
