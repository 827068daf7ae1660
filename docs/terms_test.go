package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	unused = regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`)
	quoted = regexp.MustCompile("(?ms)^```\\w.*?^```$|`[^`\n]+`")
)

// TestTerms holds documents, and help by its generated pages, to the words of glossary.md:
// none has one that its last table replaces. Code is left out: fences with a language, among
// them what commands print, and spans.
func TestTerms(t *testing.T) {
	text, err := os.ReadFile("glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	terms, list, _ := strings.Cut(string(text), "\n## Words not to use\n")
	_, list, _ = strings.Cut(list, "|---|---|\n")
	var words []string
	for _, row := range unused.FindAllStringSubmatch(list, -1) {
		for word := range strings.SplitSeq(row[1], "; ") {
			word = strings.ReplaceAll(regexp.QuoteMeta(word), `\*`, `\w*`)
			words = append(words, strings.ReplaceAll(word, " ", `\s+`))
		}
	}
	if len(words) < 40 {
		t.Fatalf("only %d words are not to be used: is the table in another form?", len(words))
	}
	not := regexp.MustCompile(`(?i)\b(?:` + strings.Join(words, "|") + `)\b`)

	names := []string{"../README.md"}
	err = filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "glossary.md" {
			text = []byte(terms)
		}
		prose := quoted.ReplaceAllFunc(text, func(code []byte) []byte {
			return []byte(strings.Repeat("\n", strings.Count(string(code), "\n")) + "`")
		})
		for _, at := range not.FindAllIndex(prose, -1) {
			line := strings.Count(string(prose[:at[0]]), "\n") + 1
			t.Errorf("%s:%d: %q: glossary.md has another word", name, line, prose[at[0]:at[1]])
		}
	}
}
