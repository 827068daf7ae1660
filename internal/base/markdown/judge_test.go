package markdown_test

import (
	"bytes"
	"fmt"
	"html"
	"iter"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldhtml "github.com/yuin/goldmark/renderer/html"

	"ctxtool/internal/test/must"
)

var gfm = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList),
		goldmark.WithRendererOptions(goldhtml.WithUnsafe()))
})

// render is a document as HTML, in which raw HTML stays what it is: whatever of
// a text is HTML shows up as an element.
func render(doc string) string {
	var out bytes.Buffer
	must.Do(gfm().Convert([]byte(doc), &out))
	return out.String()
}

// elements yields where the tags and comments of a page begin and end.
func elements(page string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for at := 0; ; {
			k := strings.IndexByte(page[at:], '<')
			if k < 0 {
				return
			}
			from := at + k
			n := -1
			if strings.HasPrefix(page[from:], "<!--") {
				if n = strings.Index(page[from+4:], "-->"); n >= 0 {
					n += 4 + 3
				}
			}
			if n < 0 {
				if n = strings.IndexByte(page[from:], '>') + 1; n == 0 {
					return
				}
			}
			if at = from + n; !yield(from, at) {
				return
			}
		}
	}
}

// valued are the elements of a text that have an attribute.
var valued = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<(ol start="[0-9]+"|code class="language-[a-z0-9]+")>$`)
})

// visible is what a reader of HTML sees.
func visible(page string) string {
	var out strings.Builder
	last := 0
	for from, to := range elements(page) {
		out.WriteString(page[last:from])
		last = to
	}
	out.WriteString(page[last:])
	return html.UnescapeString(out.String())
}

// references are what hosts make links, pings or pictures of.
var references = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)@[a-z0-9_]|#[0-9]|![0-9]|\bGH-[0-9]|\b[0-9a-f]{7,}\b|://|\bwww\.|:[a-z0-9_+-]*[a-z][a-z0-9_+-]*:|:[+-]1:|:100:|\$|&[0-9]`)
})

// referring are the references that texts begin with, by text: a document has most of
// its texts from the shape around what is tested.
var referring = map[string]string{}

// reference is the first reference in a text, empty if there is none.
func reference(text string) string {
	found, known := referring[text]
	if !known {
		if len(referring) > 10_000 {
			clear(referring)
		}
		found = references().FindString(text)
		referring[text] = found
	}
	return found
}

// inert finds what is wrong with a page whose outline should be want: the tags
// outside of the texts, and within them only what this package writes. Blocks
// are allowed in texts between <hN>before</hN> and <hN>after</hN>.
func inert(page string, blocks bool) (outline string, err error) {
	var out strings.Builder
	var open []string // elements of the text that are open
	inside, code := false, 0
	last, rest := 0, page
	for from, to := range elements(page) {
		tag := page[from:to]
		text := html.UnescapeString(page[last:from])
		rest, last = page[to:], to
		if code == 0 {
			if found := reference(text); found != "" {
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
		if blocks && strings.HasPrefix(tag, "</h") && strings.HasSuffix(page[:from], ">before") {
			inside = true
		}
	}
	if inside || strings.ContainsAny(rest, "<") {
		return "", fmt.Errorf("the text has no end")
	}
	return out.String(), nil
}
