package compact

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/replay"
)

// TestConversation: docs/session-format.md 9.5, without thinking.
func TestConversation(t *testing.T) {
	blocks := func(all ...any) testMessage { return testMessage{"role": "user", "content": all} }
	for _, test := range []struct {
		name string
		in   []testMessage
		want string
	}{
		{"user", []testMessage{blocks(testMessage{"type": "text", "text": "a"}, image(), testMessage{"type": "text", "text": "b"})}, "[User]: ab"},
		{"only an image", []testMessage{blocks(image()), user("c")}, "[User]: c"},
		{"calls after texts", []testMessage{answer("", call("1", "ls", `{"path":".","2":{"b":1.0,"a":[1, 2]}}`), testMessage{"type": "text", "text": "look"}, call("2", "pwd", `{}`))},
			"[Assistant]: look\n\n[Assistant tool calls]: ls(2={\"b\":1,\"a\":[1,2]}, path=\".\"); pwd()"},
		{"only thinking", []testMessage{user("q"), {"role": "assistant", "content": []any{thinking("hm")}}}, "[User]: q"},
		{"empty text", []testMessage{{"role": "assistant", "content": []any{testMessage{"type": "text", "text": ""}}}}, "[Assistant]: "},
		{"2000 units", []testMessage{answer("", call("1", "x", `{}`)), result("1", strings.Repeat("é", 2000))}, "[Assistant tool calls]: x()\n\n[Tool result]: " + strings.Repeat("é", 2000)},
		{"empty result", []testMessage{answer("", call("1", "x", `{}`)), result("1", "")}, "[Assistant tool calls]: x()"},
	} {
		v := of(t, test.in...)
		if got := wholeOf(v, StylePi, historyPart).conversation(v.live()); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestTrapN40EmojiAtTheLimit: a pair of surrogates is not parted: 1999 units are kept,
// or all 2000 where the pair ends there. The mark counts the length less 2000 (docs/session-format.md 9.5).
func TestTrapN40EmojiAtTheLimit(t *testing.T) {
	for kept, rest := range map[string]string{strings.Repeat("x", 1999): "😀" + strings.Repeat("y", 10), strings.Repeat("x", 1998) + "😀": strings.Repeat("y", 11)} {
		v := of(t, answer("", call("1", "x", `{}`)), result("1", kept+rest))
		want := "[Assistant tool calls]: x()\n\n[Tool result]: " + kept + "\n\n[... 11 more characters truncated]"
		if got := wholeOf(v, StylePi, historyPart).conversation(v.live()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

//go:embed testdata/pitexts.mjs
var piTextsScript []byte

// piTexts are the conversations that pi would summarize to compact a session and keep 200
// tokens, and the files that it would list after the summary.
type piTexts struct {
	History, Prefix json.RawMessage // texts
	Appended        string
	Throws          string
}

// TestPiConversations: pi's own code writes the same conversations, with the same files
// after them.
func TestPiConversations(t *testing.T) {
	sessions := forPi(t)
	compared := 0
	for name, want := range corpus.OfPi[piTexts](t, piTextsScript, sessions) {
		v := viewOf(t, corpus.Session{Name: name, Data: sessions[name]}, replay.Options{Rules: replay.ByPi})
		if v == nil || want.Throws != "" {
			continue
		}
		cut := v.piCut(200)
		if cut.Why != "" {
			continue
		}
		r := wholeOf(v, StylePi, historyPart)
		for _, part := range []struct {
			messages []int
			want     []byte
		}{{cut.History, want.History}, {cut.Prefix, want.Prefix}} {
			got := quoted(r.conversation(part.messages))
			if !bytes.Equal(got, part.want) {
				n := 0
				for n < min(len(got), len(part.want)) && got[n] == part.want[n] {
					n++
				}
				t.Errorf("%s: from byte %d on %.100q, want %.100q", name, n, got[n:], part.want[n:])
			}
			compared += len(got)
		}
		if files := v.files(append(slices.Clone(cut.History), cut.Prefix...), cut.previous).files(); files.String() != want.Appended {
			t.Errorf("%s: files %q, want %q, %v", name, files, want.Appended, v.texts.err)
		}
	}
	if compared < 50_000 {
		t.Errorf("only %d bytes compared", compared)
	}
	t.Logf("%d bytes of conversation compared", compared)
}

// TestRequestTexts: each style asks for what it has to, and shows the conversation.
func TestRequestTexts(t *testing.T) {
	v := of(t, user("fix a.go, see https://x.example/1"), answer("I do", call("1", "read", `{"path":"src/a.go"}`)), result("1", strings.Repeat("r", 3000)), answer("done"))
	ask := func(r Request, p Prompt) string {
		t.Helper()
		text, err := r.text(p)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	update := wholeOf(v, StylePi, historyPart)
	update.Previous = "## Goal\nold"
	merge := wholeOf(v, styleYAgent, historyPart)
	merge.Previous = "old"
	sequence := Request{View: v, Style: styleYAgent, Part: sequencePart, Messages: []int{1, 2}, Before: []int{0}, After: []int{3}}
	for _, test := range []struct {
		name  string
		text  string
		wants []string
		not   string
	}{
		{"pi", ask(wholeOf(v, StylePi, historyPart), Prompt{Focus: "the tests"}), []string{
			"<conversation>\n[User]: fix a.go", "[... 1000 more characters truncated]", "\n</conversation>\n\n",
			"## Goal\n", "## Constraints & Preferences\n", "## Progress\n### Done\n- [x] ", "### In Progress\n- [ ] ", "### Blocked\n", "## Key Decisions\n- **", "## Next Steps\n1. ", "## Critical Context\n",
			"\n\nAdditional focus: the tests",
		}, "<previous-summary>"},
		{"pi update", ask(update, Prompt{}), []string{"</conversation>\n\n<previous-summary>\n## Goal\nold\n</previous-summary>\n\n", "Done", "## Next Steps\n1. "}, "Additional focus"},
		{"pi turn prefix", ask(wholeOf(v, StylePi, turnPrefixPart), Prompt{Focus: "x"}), []string{"# Conversation\n[User]: fix", "\n\n# Instructions\n", "## Original Request\n", "## Progress So Far\n", "## Context Needed to Continue\n", "Additional focus: x"}, "## Goal"},
		{"gsh", ask(wholeOf(v, StyleGSH, historyPart), Prompt{}), []string{"CONTEXT CHECKPOINT", "decisions", "constraints", "files that were read or changed, with their paths", "next steps", "snippets", "[User]: fix"}, "## Goal"},
		{"swe-cli", ask(wholeOf(v, styleSWECLI, historyPart), Prompt{}), []string{"PRESERVE:", "DROP:", "(4 messages, ", "1. USER: fix a.go", "2. ASSISTANT [Tools: read]: I do\n", "3. TOOL: " + strings.Repeat("r", 500) + "\n4. ASSISTANT: done", "70%"}, strings.Repeat("r", 501)},
		{"y-agent", ask(wholeOf(v, styleYAgent, historyPart), Prompt{}), []string{"changed direction", "results of tests", "conclusions", "tool call", "\n- https://x.example/1", "[Tool result]: rrr"}, "<previous-summary>"},
		{"y-agent update", ask(merge, Prompt{Identifiers: "relaxed"}), []string{"<previous-summary>\nold\n"}, "These identifiers"},
		{"y-agent sequence", ask(sequence, Prompt{}), []string{"<preceding_user_instruction>\n[User]: fix", "<messages>\n[Assistant]: I do", "<conclusion>\n[Assistant]: done\n</conclusion>"}, "[User]: fix a.go, see https://x.example/1\n\n[Assistant]"},
	} {
		for _, want := range test.wants {
			if !strings.Contains(test.text, want) {
				t.Errorf("%s: no %q in\n%s", test.name, want, test.text)
			}
		}
		if strings.Contains(test.text, test.not) {
			t.Errorf("%s: %q in\n%s", test.name, test.not, test.text)
		}
	}
}

// TestIdentifiers: docs/policies.md 4.6.
func TestIdentifiers(t *testing.T) {
	text := "see (https://a.example/x) https://a.example/y), a@b.c me@b.example. src/a.go, a/b ./x a.go/ T-7 plain https://a.example/y)."
	got := strings.Join(identifiersIn(text, []string{"T-7", "none"}), " ")
	if want := "(https://a.example/x) T-7 a.go/ https://a.example/y me@b.example src/a.go"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
