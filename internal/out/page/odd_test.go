package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/linediff"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// sessionOf is a session of these lines after a header, each entry below the one
// before it. In a line Q is the id of its entry and its parent's.
func sessionOf(t *testing.T, cwd string, lines ...string) *sessionfmt.Session {
	t.Helper()
	b := []byte(`{"type":"session","version":3,"id":"s","cwd":"` + cwd + `"}` + "\n")
	parent := "null"
	for k, line := range lines {
		id := fmt.Sprintf(`"%08d"`, k)
		b = append(b, strings.Replace(line, "Q", `"id":`+id+`,"parentId":`+parent, 1)+"\n"...)
		parent = id
	}
	s := must.Get(sessionfmt.OpenReader("s.jsonl", bytes.NewReader(b), sessionfmt.Options{}))
	t.Cleanup(func() { s.Close() })
	return s
}

const asked = `{"type":"message",Q,"message":{"role":"user","content":"go on with it, please"}}`

// TestDamageHasNoMaker: what is said of damage, and where a branch begins, comes from
// no entry that could have changed it.
func TestDamageHasNoMaker(t *testing.T) {
	s := sessionOf(t, "/app", asked, `{"type":"message","id":"x","parentId":"nosuch","message":{"role":"user","content":"lost"}}`)
	doc := string(page(s, nil))
	if want := `> **Damage**: line 3: entry x: its parent "nosuch"`; strings.Contains(doc, "made so by") || !strings.Contains(doc, want) {
		t.Errorf("no %q in\n%s", want, doc)
	}
	if !strings.Contains(doc, "\n## Branch") && !strings.Contains(doc, "\n## Another") {
		t.Errorf("no branch in\n%s", doc)
	}
}

// TestBudgetCountsListEnds: the empty lines that end lists count.
func TestBudgetCountsListEnds(t *testing.T) {
	lines := []string{asked}
	for range 300 {
		lines = append(lines,
			`{"type":"message",Q,"message":{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"bash","arguments":{"command":"true"}}]}}`,
			`{"type":"message",Q,"message":{"role":"toolResult","toolCallId":"1","content":[]}}`,
			`{"type":"message",Q,"message":{"role":"assistant","content":"ok"}}`)
	}
	s := sessionOf(t, "/app", lines...)
	all := utf8.RuneCount(page(s, nil))
	for budget := all - 1; budget > all/2; budget -= all / 16 {
		doc := page(s, func(p *Page) { p.Budget = budget })
		if n := utf8.RuneCount(doc); n > budget {
			t.Errorf("%d characters with a budget of %d", n, budget)
		}
	}
}

func TestNear(t *testing.T) {
	p := &Page{cwd: "/app/"}
	for text, want := range map[string]string{
		"/app/x.go": "x.go", "/srv/app/x.go": "/srv/app/x.go", "cat /app/a /srv/app/b '/app/c'": "cat a /srv/app/b 'c'", "cd /app && ls": "ls",
	} {
		if got := p.near(text); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
	if doc := page(sessionOf(t, "//", asked, `{"type":"message",Q,"message":{"role":"bashExecution","command":"ls /a/b","output":"x","exitCode":0}}`), nil); !bytes.Contains(doc, []byte("ls /a/b")) {
		t.Errorf("in the root folder:\n%s", doc)
	}
}

// TestWrittenTwice: a page can be written again, as --fail-on-secret does.
func TestWrittenTwice(t *testing.T) {
	var p *Page
	first := page(sessionOf(t, "/app", asked), func(set *Page) { p, set.File = set, true })
	var again bytes.Buffer
	if err := p.Write(&again); err != nil || !bytes.Equal(again.Bytes(), first) {
		t.Errorf("%v: first\n%s\nand then\n%s", err, first, &again)
	}
}

// TestLargeReplacement: texts that have little in common are not compared line by line.
func TestLargeReplacement(t *testing.T) {
	lines := func(word string, n int) string {
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, "%s %d\n", word, k)
		}
		return b.String()
	}
	for _, c := range [][2]string{{lines("a", 9000) + "x\n", lines("a", 9000) + "y\n"}, {"x\n" + lines("a", 9000), "y\n" + lines("a", 9000)}} {
		if all := linediff.Lines(c[0], c[1]); len(all) != 9002 {
			t.Errorf("%d lines where one of 9,001 differs", len(all))
		}
	}
	diff := replaced([]activity.Replacement{{Old: lines("a", 3000), New: lines("b", 3000)}})
	if removed, added := bytes.Count(diff, []byte("-a ")), bytes.Count(diff, []byte("+b ")); removed != 3000 || added != 3000 {
		t.Errorf("%d lines removed and %d added", removed, added)
	}
}

// TestBeginningOfCode: a text that is all code begins with its first line.
func TestBeginningOfCode(t *testing.T) {
	if got := beginning("```go\n\npanic: boom\nx\n```\n", 40); got != "panic: boom" {
		t.Errorf("it begins with %q", got)
	}
}

// TestResultBehindOthers: a message or damage between a call and its result does not
// part them.
func TestResultBehindOthers(t *testing.T) {
	for _, between := range []string{`{"type":"custom_message",Q,"customType":"note","content":"x","display":true}`, `{"broken`} {
		s := sessionOf(t, "/app", asked,
			`{"type":"message",Q,"message":{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"bash","arguments":{"command":"make"}}]}}`)
		b := make([]byte, 0, 1<<12)
		for i := range s.Len() {
			line := must.Get(s.NewReader().Line(i))
			b = append(append(b, line...), '\n')
		}
		b = append(b, strings.Replace(between, "Q", `"id":"n","parentId":"00000001"`, 1)+"\n"...)
		parent := "00000001"
		if !strings.HasPrefix(between, `{"broken`) {
			parent = "n"
		}
		b = append(b, `{"type":"message","id":"r","parentId":"`+parent+`","message":{"role":"toolResult","toolCallId":"1","content":"bad","isError":true}}`+"\n"...)
		s = must.Get(sessionfmt.OpenReader("s.jsonl", bytes.NewReader(b), sessionfmt.Options{}))
		defer s.Close()
		if doc := page(s, nil); bytes.Contains(doc, []byte("no result")) || !bytes.Contains(doc, []byte("1 call")) || !bytes.Contains(doc, []byte("**Failed**: 1 command")) {
			t.Errorf("with %s between them:\n%s", between, doc)
		}
	}
}
