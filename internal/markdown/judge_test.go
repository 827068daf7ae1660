package markdown_test

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldhtml "github.com/yuin/goldmark/renderer/html"
)

var gfm = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList),
		goldmark.WithRendererOptions(goldhtml.WithUnsafe()))
})

// render is a document as HTML, in which raw HTML stays what it is: whatever of
// a text is HTML shows up as an element.
func render(t testing.TB, doc string) string {
	t.Helper()
	var out bytes.Buffer
	if err := gfm().Convert([]byte(doc), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var elements = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`) })

// valued are the elements of a text that have an attribute.
var valued = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<(ol start="[0-9]+"|code class="language-[a-z0-9]+")>$`)
})

// visible is what a reader of HTML sees.
func visible(t testing.TB, page string) string {
	t.Helper()
	return html.UnescapeString(elements().ReplaceAllString(page, ""))
}

// references are what hosts make links, pings or pictures of.
var references = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)@[a-z0-9_]|#[0-9]|![0-9]|\bGH-[0-9]|\b[0-9a-f]{7,}\b|://|\bwww\.|:[a-z0-9_+-]*[a-z][a-z0-9_+-]*:|:[+-]1:|:100:|\$|&[0-9]`)
})

// inert finds what is wrong with a page whose outline should be want: the tags
// outside of the texts, and within them only what this package writes. Blocks
// are allowed in texts between <hN>before</hN> and <hN>after</hN>.
func inert(page string, blocks bool) (outline string, err error) {
	var out strings.Builder
	var open []string // elements of the text that are open
	inside, code := false, 0
	last, rest := 0, page
	for _, at := range elements().FindAllStringIndex(page, -1) {
		tag := page[at[0]:at[1]]
		text := html.UnescapeString(page[last:at[0]])
		rest, last = page[at[1]:], at[1]
		if code == 0 {
			if found := references().FindString(text); found != "" {
				return "", fmt.Errorf("reference %q in %q", found, text)
			}
		}
		name := strings.TrimRight(strings.Fields(strings.Trim(tag, "</>"))[0], "/")
		switch closing := strings.HasPrefix(tag, "</"); {
		case name == "code" && closing:
			code--
		case name == "code":
			code++
		}
		if blocks && strings.HasPrefix(tag, "<h") && strings.HasPrefix(rest, "after</h") {
			inside = false
			if len(open) > 0 {
				return "", fmt.Errorf("%v open at the end", open)
			}
		}
		switch {
		case !inside && (tag == "<code>" || tag == "</code>" || tag == "<span>" || tag == "</span>"):
		case !inside:
			out.WriteString(tag)
		case tag == "<br />" || tag == "<br>":
		case strings.HasPrefix(tag, "</"):
			if len(open) == 0 || open[len(open)-1] != name {
				return "", fmt.Errorf("%s closes %v", tag, open)
			}
			open = open[:len(open)-1]
		case tag == "<p>", tag == "<b>", tag == "<ul>", tag == "<ol>", tag == "<li>", tag == "<pre>", tag == "<code>", tag == "<span>",
			valued().MatchString(tag):
			if len(open) == 0 && (name == "b" || name == "li") {
				return "", fmt.Errorf("%s outside of a block", tag)
			}
			open = append(open, name)
		default:
			return "", fmt.Errorf("%s in a text", tag)
		}
		if blocks && strings.HasPrefix(tag, "</h") && strings.HasSuffix(page[:at[0]], ">before") {
			inside = true
		}
	}
	if inside || strings.ContainsAny(rest, "<") {
		return "", fmt.Errorf("the text has no end")
	}
	return out.String(), nil
}
