package page

import (
	"fmt"
	"strings"
	"testing"
)

// called is an answer that makes a call, and result what came of it.
func called(tool, args string) string {
	return `{"type":"message",Q,"message":{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"` + tool + `","arguments":` + args + `}],"stopReason":"toolUse"}}`
}

func result(text string, failed bool) string {
	return `{"type":"message",Q,"message":{"role":"toolResult","toolCallId":"1","content":[{"type":"text","text":"` + text + `"}],"isError":` + fmt.Sprint(failed) + `}}`
}

// TestPageOfCalls: an edit whose result has no diff shows what it replaces; of commands
// that failed, those that only look for something come last, and one that passed later
// has that said.
func TestPageOfCalls(t *testing.T) {
	const failed = `Command exited with code 2`
	s := sessionOf(t, "/app", asked,
		called("edit", `{"path":"a.go","oldText":"one\ntwo","newText":"one\nthree"}`), result("done", false),
		called("bash", `{"command":"cd src && make lint"}`), result(failed, true),
		called("bash", `{"command":"make test"}`), result(failed, true),
		called("bash", `{"command":"make test"}`), result("ok", false),
		called("bash", `{"command":"cd src && grep x"}`), result(failed, true),
	)
	doc := string(page(s, nil))
	for _, want := range []string{"-two\n+three\n", "make test` exit 2, passed later"} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %q in\n%s", want, doc)
		}
	}
	head, _, _ := strings.Cut(doc, "\n## ")
	lint, looked := strings.Index(head, "make lint"), strings.Index(head, "grep x")
	if lint < 0 || looked >= 0 && looked < lint {
		t.Errorf("what looks for something does not come last in\n%s", head)
	}
}

// TestBeginning: of a long text its beginning is looked at, in whole characters.
func TestBeginning(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"- one **two**\n\n```\ncode\n```\nthree", "one two three"},
		{"```\nonly code\n```", "only code"},
		{strings.Repeat(" ", 8<<10-1) + "äfter", ""},
		{"before\n" + strings.Repeat(" ", 8<<10) + "after", "before"},
	} {
		if got := beginningOf([]byte(c.text), 40); got != c.want {
			t.Errorf("%.20q: %q, want %q", c.text, got, c.want)
		}
	}
}
