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

// wordList is a file with a published list of words.
const wordList = "internal/lens/redact/table_phrase.go"

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

var quoted = regexp.MustCompile("(?ms)^```\\w.*?^```$|`[^`\n]+`")

// oldTerms are words that only this project used, and those to use instead; `*` stands for the end
// of a word.
var oldTerms = []struct{ not, but string }{
	{"how dear; the dearest; dear*", "cost; the most expensive"},
	{"how full", "context use; size"},
	{"what about", "title"},
	{"the life of a text", "where a text enters and leaves the context"},
	{"by whose rules", "replay rules"},
	{"anew", "new; again"},
	{"what now is; where now is", "the current state"},
	{"takes down; took down", "records"},
	{"says that; says whether", "reports; reports whether"},
	{"hang on; hangs on; hung on", "reparented to; appended at"},
	{"way up; leads nowhere", "parents; dangling"},
	{"circle*", "cycle"},
	{"tip; tips", "leaf"},
	{"whole or not at all", "atomically"},
	{"left alone", "skipped"},
	{"stands against", "conflicts with"},
	{"see to the disk", "check the disk"},
	{"really happened", "what the file records"},
	{"way of a byte; floor*; what leaves a context", "data flow; layers; reduction"},
	{"behind", "after"},
	{"in front of", "before"},
	{"the other way round", "in reverse order; the reverse"},
	{"told of; tells of; told as", "reported; recorded"},
	{"today's", "current"},
	{"sound session", "repaired session"},
	{"mend*; unmended", "repair; fix"},
	{"is no string; is no number; is no object; is no list; is no entry; is no header; is no time; are no JSON; is no JSON; is no system message", "is not a string; must be a string"},
	{"in a hundredth", "in about 10 ms"},
	{"by what for; what for", "by purpose"},
	{"it is then", "after it"},
	{"all the same", "anyway; nevertheless"},
	{"look* through; go through; goes through", "search; read"},
	{"counted times; times a factor", "scaled by"},
	{"by the processors", "number of CPUs"},
	{"vouch*", "trust"},
	{"upper and lower case are the same", "ignore case"},
	{"member; members", "field"},
	{"whatever it names", "literally"},
	{"took away; takes away", "removed"},
}

// bannedTerms returns an expression for the words of oldTerms, except the rows with those words.
func bannedTerms(except map[string]string, more ...string) *regexp.Regexp {
	words := slices.Clone(more)
	for _, row := range oldTerms {
		if _, ok := except[row.not]; ok {
			continue
		}
		for word := range strings.SplitSeq(row.not, "; ") {
			word = strings.ReplaceAll(regexp.QuoteMeta(word), `\*`, `\w*`)
			words = append(words, strings.ReplaceAll(word, " ", `\s+`))
		}
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(words, "|") + `)\b`)
}

// betterTerm returns what to write for a banned word.
func betterTerm(word string) string {
	for _, row := range oldTerms {
		for not := range strings.SplitSeq(row.not, "; ") {
			stem := strings.TrimSuffix(not, "*")
			if strings.HasPrefix(strings.ToLower(strings.Join(strings.Fields(word), " ")), stem) {
				return row.but
			}
		}
	}
	return "a plainer word"
}

// TestTerms checks that documents, and help through its generated pages, use no word of oldTerms. It ignores code: fences with a language, which include
// output of commands, and spans.
func TestTerms(t *testing.T) {
	banned := bannedTerms(nil)
	names := []string{"../README.md"}
	must.Do(filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	}))
	for _, name := range names {
		text := must.Get(os.ReadFile(name))
		prose := quoted.ReplaceAllFunc(text, func(code []byte) []byte {
			return []byte(strings.Repeat("\n", strings.Count(string(code), "\n")) + "`")
		})
		for _, at := range banned.FindAllIndex(prose, -1) {
			line := strings.Count(string(prose[:at[0]]), "\n") + 1
			word := string(prose[at[0]:at[1]])
			t.Errorf("%s:%d: %q: write %s", name, line, word, betterTerm(word))
		}
	}
}

// TestTermsInCode checks comments and string literals of Go files likewise. It ignores struct
// tags, and code spans in comments.
func TestTermsInCode(t *testing.T) {
	banned := bannedTerms(codeTerms, oddTerms...)
	for _, folder := range plainCode {
		must.Do(filepath.WalkDir(filepath.Join("..", folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel := strings.TrimPrefix(filepath.ToSlash(name), "../")
			if d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if filepath.Ext(name) == ".go" && rel != "docs/terms_test.go" && rel != wordList {
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
			t.Errorf("%s: %q: write %s", set.Position(pos), word, betterTerm(word))
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
