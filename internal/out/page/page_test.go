package page

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/out/transcript"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// open opens a session in memory, nil where it is none.
func open(t testing.TB, c corpus.Session) *sessionfmt.Session {
	t.Helper()
	s, err := sessionfmt.OpenReader("s.jsonl", bytes.NewReader(c.Data), sessionfmt.Options{})
	if err != nil {
		return nil
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// page is a session as Markdown.
func page(s *sessionfmt.Session, set func(*Page)) []byte {
	return must.Get(writtenPage(s, set))
}

func writtenPage(s *sessionfmt.Session, set func(*Page)) ([]byte, error) {
	c, err := transcript.NewConversation(replay.New(s, replay.Options{}), s.Leaf(), true)
	if err != nil {
		return nil, err
	}
	parts, _ := ParseParts(PartNames(), nil)
	p := &Page{Session: s, Chapters: c.Chapters(), Markdown: true, Parts: parts, MaxLines: 40}
	if set != nil {
		set(p)
	}
	var b bytes.Buffer
	err = p.Write(&b)
	return b.Bytes(), err
}

// A skeleton is what a page consists of, texts aside.
type skeleton struct {
	headings []int    // levels
	links    []string // where they lead
	html     []string // tags
	infos    []string // languages of fences
	depth    int      // of what can be opened, at the end
	wrong    []string
}

var tag = regexp.MustCompile(`</?[a-zA-Z!][^>]*>?`)

// parsed reads a page as GitHub would.
func parsed(doc []byte) (k skeleton) {
	root := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser().Parse(text.NewReader(doc))
	tags := func(raw string) {
		for _, tag := range tag.FindAllString(raw, -1) {
			k.html = append(k.html, tag)
			switch tag {
			case "<details>":
				k.depth++
			case "</details>":
				k.depth--
			}
			if k.depth < 0 {
				k.wrong = append(k.wrong, "more is closed than was opened")
			}
		}
	}
	ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			k.headings = append(k.headings, n.Level)
			if n.Parent() != root {
				k.wrong = append(k.wrong, "a heading within something else")
			}
		case *ast.Link:
			k.links = append(k.links, string(n.Destination))
		case *ast.AutoLink, *ast.Image:
			k.wrong = append(k.wrong, n.Kind().String())
		case *ast.FencedCodeBlock:
			k.infos = append(k.infos, string(n.Language(doc)))
		case *ast.HTMLBlock:
			var raw bytes.Buffer
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				raw.Write(line.Value(doc))
			}
			if n.HasClosure() {
				raw.Write(n.ClosureLine.Value(doc))
			}
			tags(raw.String())
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				seg := n.Segments.At(i)
				tags(string(seg.Value(doc)))
			}
		case *ast.CodeBlock, *ast.ThematicBreak:
			k.wrong = append(k.wrong, n.Kind().String())
		}
		return ast.WalkContinue, nil
	})
	return k
}

// ours are the tags that pages are made of.
var ours = regexp.MustCompile(`^(</?(details|summary|b|code|span)>|<br>|<a id="turn-\d+">|</a>)$`)

// hosted are languages of fences that hosts do more with than colour them.
var hosted = regexp.MustCompile(`(?i)^(suggestion|mermaid|math|geojson|topojson|stl)`)

// sound says what is wrong with a page of so many turns and branches.
func sound(doc []byte, turns, branches int, file bool) (wrong []string) {
	k := parsed(doc)
	wrong = k.wrong
	want := append([]int{1}, slices.Repeat([]int{2}, turns+branches)...)
	if file && turns > 0 {
		want = append(want, 2) // the contents
	}
	if !slices.Equal(k.headings, want) {
		wrong = append(wrong, fmt.Sprintf("headings %v, want %v", k.headings, want))
	}
	links := 0
	for _, to := range k.links {
		if !regexp.MustCompile(`^#turn--?\d+$`).MatchString(to) {
			wrong = append(wrong, "a link to "+to)
		}
		links++
	}
	if file && links != turns || !file && links != 0 {
		wrong = append(wrong, fmt.Sprintf("%d links", links))
	}
	if k.depth != 0 {
		wrong = append(wrong, "not all that was opened is closed")
	}
	for _, tag := range k.html {
		if !ours.MatchString(tag) {
			wrong = append(wrong, "the tag "+tag)
		}
	}
	for _, info := range k.infos {
		if hosted.MatchString(info) {
			wrong = append(wrong, "a fence of "+info)
		}
	}
	return wrong
}

// turnsOf counts what becomes a section of a page.
func turnsOf(s *sessionfmt.Session) (turns, branches int) {
	c, _ := transcript.NewConversation(replay.New(s, replay.Options{}), s.Leaf(), true)
	for _, blocks := range c.Chapters() {
		for b, err := range blocks(nil, false) {
			switch {
			case err != nil:
			case b.Kind == transcript.Prompt:
				turns++
			case b.Kind == transcript.Branch && b.Value == nil:
				branches++
			}
		}
	}
	return turns, branches
}

// TestPage: the page of every session is made of what it should be made of, whole
// and folded, and no longer than it may be.
func TestPage(t *testing.T) {
	for _, c := range corpus.Sample(t) {
		s := open(t, c)
		if s == nil {
			continue
		}
		turns, branches := turnsOf(s)
		for _, file := range []bool{false, true} {
			doc := page(s, func(p *Page) { p.File = file })
			for _, w := range sound(doc, turns, branches, file) {
				t.Errorf("%s: %s", c.Name, w)
			}
		}
		budgets := []int{60000, 20000, 4000, 1000, 1}
		if len(c.Data) > 64<<10 && !corpus.Whole() {
			budgets = []int{20000, 1}
		}
		for _, budget := range budgets {
			doc, err := writtenPage(s, func(p *Page) { p.Budget = budget })
			if large, ok := err.(*TooLargeError); ok {
				if large.Need <= budget || len(doc) > 0 {
					t.Errorf("%s: %d characters do not fit %d; %d bytes were written", c.Name, large.Need, budget, len(doc))
				}
				fits, err := writtenPage(s, func(p *Page) { p.Budget = large.Need })
				if n := utf8.RuneCount(fits); err != nil || n > large.Need {
					t.Errorf("%s: with the budget that it needs, %d: %d characters, %v", c.Name, large.Need, n, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := utf8.RuneCount(doc); n > budget {
				t.Errorf("%s: %d characters with a budget of %d", c.Name, n, budget)
			}
			for _, w := range sound(doc, turns, branches, false) {
				t.Errorf("%s, budget %d: %s", c.Name, budget, w)
			}
			head, _, _ := bytes.Cut(doc, []byte("\n## "))
			if lines := bytes.Count(head[:bytes.Index(append(head, "\n\n"...), []byte("\n\n"))], []byte{'\n'}); lines > 20 {
				t.Errorf("%s: the head has %d lines", c.Name, lines)
			}
		}
	}
}

// hostileSession has a text wherever a session can have one.
func hostileSession(text string) []byte {
	q := string(jsonl.AppendQuoted(nil, text))
	var b strings.Builder
	n := 0
	add := func(entry string) {
		parent := "null"
		if n++; n > 1 {
			parent = fmt.Sprintf(`"%08d"`, n-1)
		}
		fmt.Fprintf(&b, `{"id":"%08d","parentId":%s,"timestamp":%s,%s}`+"\n", n, parent, q, strings.ReplaceAll(entry, "Q", q))
	}
	message := func(m string) { add(`"type":"message","message":{` + m + `}`) }
	b.WriteString(`{"type":"session","version":3,"id":"s","cwd":` + q + "}\n")
	add(`"type":"session_info","name":Q`)
	add(`"type":"model_change","provider":Q,"modelId":Q`)
	add(`"type":"thinking_level_change","thinkingLevel":Q`)
	message(`"role":"system","content":Q,"sections":{Q:Q},"toolsAdded":[{"name":Q,"description":Q,"parameters":{Q:Q}}]`)
	message(`"role":"user","content":Q`)
	message(`"role":"assistant","provider":Q,"model":Q,"content":[{"type":"text","text":Q},{"type":"thinking","thinking":Q},` +
		`{"type":"toolCall","id":"1","name":Q,"arguments":{"path":Q,Q:Q}},{"type":"toolCall","id":"2","name":"bash","arguments":{"command":Q}},` +
		`{"type":"toolCall","id":"3","name":"edit","arguments":{"path":Q,"oldText":Q,"newText":Q}},{"type":"toolCall","id":"4","name":"write","arguments":{"path":"a.md","content":Q}},` +
		`{"type":"toolCall","id":"5","name":Q,"arguments":{}}],"stopReason":"toolUse"`)
	message(`"role":"toolResult","toolCallId":"1","toolName":Q,"content":[{"type":"text","text":Q},{"type":"image","mimeType":Q,"data":Q}],"details":{Q:Q}`)
	message(`"role":"toolResult","toolCallId":"2","toolName":Q,"content":Q,"isError":true`)
	message(`"role":"toolResult","toolCallId":"3","toolName":Q,"content":Q,"details":{"diff":Q}`)
	message(`"role":"toolResult","toolCallId":"4","toolName":Q,"content":Q`)
	message(`"role":"bashExecution","command":Q,"output":Q,"exitCode":1`)
	message(`"role":"assistant","content":[{"type":"text","text":Q}],"stopReason":"error","errorMessage":Q`)
	add(`"type":"custom_message","customType":Q,"content":Q,"display":true`)
	add(`"type":"custom_message","customType":Q,"content":Q,"display":false`)
	add(`"type":"context_edit","targetId":"00000005","replacement":{"content":Q}`)
	add(`"type":"context_edit","targetId":Q,"replacement":null`)
	add(`"type":"context_transform","schemaVersion":1,"transformerName":Q,"patch":[{"op":"system_part_set","scope":"cached","partName":Q,"text":Q,"invalidateCacheReason":Q}],"display":{"title":Q,"summary":Q,"markdown":Q}`)
	add(`"type":"context_transform","schemaVersion":1,"transformerName":Q,"patch":[],"display":{"title":Q,"rendererId":Q,"rendererProps":{Q:Q}}`)
	add(`"type":"ephemeral","messages":[{"role":"user","content":Q}]`)
	add(`"type":"label","targetId":"00000005","label":Q`)
	add(`"type":"compaction","summary":Q,"firstKeptEntryId":"00000005","tokensBefore":9`)
	add(`"type":"branch_summary","summary":Q`)
	message(`"role":"user","content":[{"type":"text","text":"<skill name=\"s\" location=\"l\">"},{"type":"text","text":Q}]`)
	b.WriteString(q + "\n")
	add(`"type":Q`)
	message(`"role":"assistant","content":"the end"`)
	return []byte(b.String())
}

// hostile are texts that would like to be more than that.
var hostile = []string{
	"x", "```\n</details>\n# out\n```", "~~~~mermaid\ngraph\n", "</summary></details><script>alert(1)</script>", "<!-- ", "]]> <![CDATA[ <?php",
	"# heading\n===\n---\n***\n", "- a\n  - b\n\n    code\n1. c", "> quote\n> [!WARNING]\n> x", "[a]: http://b\n[a] [^1]\n\n[^1]: note", "![i](http://x) <http://y> https://z.example www.w.example a@b.example",
	"@all #1 o/r#2 GH-3 !4 fixes #5 0123456789abcdef0123456789abcdef01234567", strings.Repeat("`", 300), strings.Repeat(">", 300), strings.Repeat("[", 300), "| a | b |\n|---|---|\n| ` | ` |",
	"$x$ $$y$$ $`z`$ :+1:", "\x1b[31mred\x1b]0;title\x07\u202e\u200b\x00\xff\r\ra\u2028b", "```suggestion\nx\n```", "```math\nx\n```\n```geojson\n{}\n```", strings.Repeat("line\n", 100), strings.Repeat("long ", 400),
	"&lt;b&gt; &#64;all &amp;", "\\", "*a **b __c _d", "<details><summary>", "\t\tindented", " \n \n ", "+++\nx\n+++", "%%% ::: {{ }} {% %}",
}

// TestHostile: no text of a session changes what a page is made of.
func TestHostile(t *testing.T) {
	for _, text := range hostile {
		hostilePage(t, text)
	}
}

func FuzzPage(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { hostilePage(t, text) })
}

func hostilePage(t *testing.T, text string) {
	t.Helper()
	s := must.Get(sessionfmt.OpenReader("s.jsonl", bytes.NewReader(hostileSession(text)), sessionfmt.Options{}))
	defer s.Close()
	turns, branches := turnsOf(s)
	for _, set := range []func(*Page){
		func(*Page) {}, func(p *Page) { p.File = true }, func(p *Page) { p.MaxLines = 3 }, func(p *Page) { p.Budget = 9000 },
	} {
		var p Page
		set(&p)
		doc, err := writtenPage(s, set)
		if _, ok := err.(*TooLargeError); ok {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range sound(doc, turns, branches, p.File) {
			t.Errorf("%q: %s in\n%s", text, w, doc)
		}
	}
}
