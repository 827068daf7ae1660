package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// plainCode are the folders whose Go files TestTermsInCode checks, with the folders below them.
var plainCode = []string{
	"cmd", "compact", "docs", "internal", "migrate", "render", "replay", "sessionfmt", "stats",
}

// exactValues are string literals with a banned word that programs depend on.
var exactValues = []string{
	`"behind"`, // a reason of ctxtool trace
}

// codeTerms are words that comments and strings may have although documents may not.
var codeTerms = map[string]string{
	"member; members": "jsonl names the methods that read JSON objects Members",
	"circle*":         "a shape in pages",
	"tip; tips":       "`ctxtool log --tree --json` has a field of that name",
}

// oddTerms are further phrases that comments and strings must not have: unknown, instead of,
// appended at, kind and so on say the same.
var oddTerms = []string{
	"nobody knows", "in the place of", "hangs?", "kin", "heirs?", "fates?", "letter by letter",
	"gone through", "gone over", "is no array", "that is there", "the way of", "takes it down",
	"round in a circle", "as it stands there", "be had", "for people", "nobody (?:can|says)", "what became of",
	"aims? at", "none any more", "below nothing", "in earnest",
}

var (
	unused = regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`)
	quoted = regexp.MustCompile("(?ms)^```\\w.*?^```$|`[^`\n]+`")
)

// bannedTerms returns the glossary without its last table, and an expression for the words
// in that table, except the rows with those words.
func bannedTerms(t *testing.T, except map[string]string, more ...string) (glossary string, banned *regexp.Regexp) {
	text := must.Get(os.ReadFile("glossary.md"))
	glossary, list, _ := strings.Cut(string(text), "\n## Words not to use\n")
	_, list, _ = strings.Cut(list, "|---|---|\n")
	words := slices.Clone(more)
	for _, row := range unused.FindAllStringSubmatch(list, -1) {
		if _, ok := except[row[1]]; ok {
			continue
		}
		for word := range strings.SplitSeq(row[1], "; ") {
			word = strings.ReplaceAll(regexp.QuoteMeta(word), `\*`, `\w*`)
			words = append(words, strings.ReplaceAll(word, " ", `\s+`))
		}
	}
	if len(words) < 40 {
		t.Fatalf("only %d words in the table: has its format changed?", len(words))
	}
	return glossary, regexp.MustCompile(`(?i)\b(?:` + strings.Join(words, "|") + `)\b`)
}

// TestTerms checks that documents, and help through its generated pages, use no word that the
// last table of glossary.md replaces. It ignores code: fences with a language, which include
// output of commands, and spans.
func TestTerms(t *testing.T) {
	glossary, banned := bannedTerms(t, nil)
	names := []string{"../README.md"}
	must.Do(filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	}))
	for _, name := range names {
		text := must.Get(os.ReadFile(name))
		if name == "glossary.md" {
			text = []byte(glossary)
		}
		prose := quoted.ReplaceAllFunc(text, func(code []byte) []byte {
			return []byte(strings.Repeat("\n", strings.Count(string(code), "\n")) + "`")
		})
		for _, at := range banned.FindAllIndex(prose, -1) {
			line := strings.Count(string(prose[:at[0]]), "\n") + 1
			t.Errorf("%s:%d: %q: glossary.md has another word", name, line, prose[at[0]:at[1]])
		}
	}
}

// TestTermsInCode checks comments and string literals of Go files likewise. It ignores struct
// tags, and code spans in comments.
func TestTermsInCode(t *testing.T) {
	_, banned := bannedTerms(t, codeTerms, oddTerms...)
	for _, folder := range plainCode {
		must.Do(filepath.WalkDir(filepath.Join("..", folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel := strings.TrimPrefix(filepath.ToSlash(name), "../")
			if d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if filepath.Ext(name) == ".go" && rel != "docs/terms_test.go" {
				checkTerms(t, name, banned)
			}
			return nil
		}))
	}
}

// checkTerms reports the banned words in the comments and string literals of a file.
func checkTerms(t *testing.T, name string, banned *regexp.Regexp) {
	set := token.NewFileSet()
	file := must.Get(parser.ParseFile(set, name, nil, parser.ParseComments))
	check := func(pos token.Pos, text string) {
		for _, word := range banned.FindAllString(text, -1) {
			t.Errorf("%s: %q: glossary.md has another word", set.Position(pos), word)
		}
	}
	for _, group := range file.Comments {
		check(group.Pos(), quoted.ReplaceAllString(group.Text(), "`"))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind == token.STRING && !slices.Contains(exactValues, n.Value) {
				check(n.Pos(), n.Value)
			}
		}
		return true
	})
}
