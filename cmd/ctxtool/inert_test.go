package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// hostile is what a session may hold that a reader's host would act on: a heading and a fence of its
// own, links, images, HTML, mentions, references, and control characters.
const hostile = "Fix the ticket @pwned and #4711 [x](http://pwned.example/a) ![y](http://pwned.example/b.png) " +
	"<img src=http://pwned.example/c> <!-- x --> http://pwned.example/d \x1b[2J\u202e `pwned` | --> \n# pwned\n\n## pwned two\n```\n> pwned\n- [ ] pwned\n"

// hostileSession writes a session that has such texts everywhere.
func hostileSession(name string) {
	quoted := func(s string) string { return string(must.Get(json.Marshal(s))) }
	edit := quoted("/w/<b>@pwned #4711`</b>.go\n# pwned")
	command := quoted("go test ./... # @pwned ` [x](http://pwned.example)\n# pwned")
	answer := func(id, parent, content string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[%s],"provider":"acme","model":%s,"stopReason":"toolUse","timestamp":2}}`,
			id, parent, content, quoted("m `|@pwned #4711"))
	}
	lines := []string{
		`{"type":"session","version":3,"id":"5e551011","timestamp":"2026-01-01T00:00:00.000Z","cwd":` + quoted("/w/<b>@pwned #4711</b>\n# pwned") + `}`,
		`{"type":"session_info","id":"a0000000","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","name":` + quoted(hostile) + `}`,
		`{"type":"message","id":"a1000000","parentId":"a0000000","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":` + quoted(hostile) + `,"timestamp":1}}`,
		answer("a2000000", "a1000000", `{"type":"text","text":`+quoted("I decided to use tabs instead of "+hostile)+`},{"type":"toolCall","id":"t1","name":"edit","arguments":{"path":`+edit+`,"oldText":"a","newText":"b"}}`),
		`{"type":"message","id":"a3000000","parentId":"a2000000","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"edit","content":[{"type":"text","text":"ok"}],"isError":false,"timestamp":3}}`,
		answer("a4000000", "a3000000", `{"type":"text","text":`+quoted(hostile)+`},{"type":"toolCall","id":"t2","name":"bash","arguments":{"command":`+command+`}}`),
		`{"type":"message","id":"a5000000","parentId":"a4000000","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"toolResult","toolCallId":"t2","toolName":"bash","content":[{"type":"text","text":` + quoted(hostile) + `}],"isError":true,"timestamp":4}}`,
		strings.Replace(answer("a6000000", "a5000000", `{"type":"text","text":`+quoted(hostile)+`}`), "toolUse", "stop", 1),
	}
	must.Do(os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

// TestMarkdownIsInert: whatever a session holds, no command's Markdown gets a heading, a link, an
// image or an element from it, nobody is named by it, and it has no control characters.
func TestMarkdownIsInert(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(os.Mkdir(filepath.Join(dir, "d"), 0o700))
	hostileSession(filepath.Join(dir, "d", "s.jsonl"))
	must.Do(os.WriteFile(filepath.Join(dir, "answer.md"), []byte("### Current Goal\n"+hostile), 0o600))
	for _, args := range []string{
		"notes d/s.jsonl", "notes --digest d", "notes d/s.jsonl --summarizer file:answer.md",
		"search pwned d -f markdown", "search -f markdown --source logs -- -- d", "search -f markdown --source shell_history -- -- d",
		"search --for pwned d -f markdown", "render d/s.jsonl",
		"stats d -f markdown", "stats d/s.jsonl --lens cost -f markdown", "diff d/s.jsonl a1000000 leaf -f markdown",
		"patch d/s.jsonl -f markdown --remove-tool x", "simulate d/s.jsonl -f markdown",
	} {
		r := ranIn(dir, strings.Fields(strings.ReplaceAll(args, " -- --", " --fixed=pwned"))...)
		if r.stdout.Len() == 0 {
			t.Errorf("%s: status %d, no answer: %s", args, r.status, &r.stderr)
		}
		checkInert(t, args, r.stdout.Bytes())
	}
}

// checkInert reports what a document has from a hostile session.
func checkInert(t *testing.T, what string, doc []byte) {
	t.Helper()
	if i := strings.IndexFunc(string(doc), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0x202e }); i >= 0 {
		t.Errorf("%s: control character at %q", what, doc[max(0, i-20):i+2])
	}
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(doc))
	ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock, *ast.CodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Heading:
			if strings.Contains(string(n.Lines().Value(doc)), "pwned") && strings.HasPrefix(strings.TrimSpace(string(n.Lines().Value(doc))), "pwned") {
				t.Errorf("%s: heading %q", what, n.Lines().Value(doc))
			}
		case *ast.Link:
			if strings.Contains(string(n.Destination), "pwned") {
				t.Errorf("%s: link to %s", what, n.Destination)
			}
		case *ast.Image:
			t.Errorf("%s: image %s", what, n.Destination)
		case *ast.AutoLink:
			t.Errorf("%s: link %s", what, n.URL(doc))
		case *ast.RawHTML:
			if tag := string(n.Segments.Value(doc)); strings.Contains(tag, "pwned") || strings.HasPrefix(tag, "<!--") {
				t.Errorf("%s: element %s", what, tag)
			}
		case *ast.Text:
			if said := string(n.Value(doc)); strings.Contains(said, "@pwned") || strings.Contains(said, "#4711") {
				t.Errorf("%s: %q names somebody", what, said)
			}
		}
		return ast.WalkContinue, nil
	})
}
