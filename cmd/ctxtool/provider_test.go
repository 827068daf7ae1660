package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// A refusedSession is a session of pi or of Claude Code, message by message.
type refusedSession struct {
	lines  []string
	claude bool
}

// line adds an entry; the message is that of its agent.
func (s *refusedSession) line(kind, message string, more ...string) {
	n := len(s.lines)
	at := fmt.Sprintf("2026-01-01T00:%02d:%02d.000Z", n/60, n%60)
	extra := strings.Join(more, "")
	if s.claude {
		parent := "null"
		if n > 0 {
			parent = fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, n-1)
		}
		s.lines = append(s.lines, fmt.Sprintf(`{"type":%q,"uuid":"00000000-0000-4000-8000-%012d","parentUuid":%s,"sessionId":"s","version":"2.1.100","cwd":"/w","timestamp":%q,"message":%s%s}`,
			kind, n, parent, at, message, extra))
		return
	}
	if n == 0 {
		s.lines = append(s.lines, `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`)
		n++
	}
	parent := "null"
	if n > 1 {
		parent = fmt.Sprintf(`"%08d"`, n-1)
	}
	body := `"message":` + message
	if message == "" {
		body = strings.TrimPrefix(extra, ",")
	}
	s.lines = append(s.lines, fmt.Sprintf(`{"type":%q,"id":"%08d","parentId":%s,"timestamp":%q,%s}`, kind, n, parent, at, body))
}

// user adds a prompt with a content.
func (s *refusedSession) user(content string) *refusedSession {
	if s.claude {
		s.line("user", `{"role":"user","content":`+content+`}`)
	} else {
		s.line("message", `{"role":"user","content":`+content+`,"timestamp":1}`)
	}
	return s
}

// say adds an answer with blocks, of a model of pi's; Claude Code has its own.
func (s *refusedSession) say(provider, model, blocks string) *refusedSession {
	if s.claude {
		s.line("assistant", fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-4-5","content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5}}`, len(s.lines), blocks))
	} else {
		s.line("message", fmt.Sprintf(`{"role":"assistant","provider":%q,"model":%q,"api":"x","content":[%s],"stopReason":"stop","usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15},"timestamp":1}`, provider, model, blocks))
	}
	return s
}

// result adds the result of a call.
func (s *refusedSession) result(id, content string) *refusedSession {
	if s.claude {
		return s.user(fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":%s}]`, id, content))
	}
	s.line("message", fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"toolName":"bash","content":%s,"isError":false,"timestamp":1}`, id, content))
	return s
}

// Blocks as each agent writes them.
func piText(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }

func piCall(id, name, arguments string) string {
	return fmt.Sprintf(`{"type":"toolCall","id":%q,"name":%q,"arguments":%s}`, id, name, arguments)
}

func claudeCall(id string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"ls"}}`, id)
}

func claudeImage(mime, data string) string {
	return fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":%q,"data":%q}}`, mime, data)
}

// pngOf is the beginning of an image of a size, as base64.
func pngOf(wide, high int) string {
	head := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), make([]byte, 17)...)
	binary.BigEndian.PutUint32(head[16:], uint32(wide))
	binary.BigEndian.PutUint32(head[20:], uint32(high))
	return base64.StdEncoding.EncodeToString(head)
}

// jpegHead is the beginning of another one.
var jpegHead = base64.StdEncoding.EncodeToString([]byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01"))

func fromPi() *refusedSession     { return &refusedSession{} }
func fromClaude() *refusedSession { return &refusedSession{claude: true} }

const (
	opus   = "claude-opus-4-5"
	okText = `[{"type":"text","text":"ok"}]`
	signed = `"signature":"` + "c2lnbmF0dXJlLW9mLWEtYmxvY2stb2YtdGhpbmtpbmctdGhhdC1pcy1sb25nLWVub3VnaC10by1iZS1vbmU=" + `"`
)

// A reported is a session that a user reported, and the provider's error, which --provider has to name.
type reported struct {
	issue, provider, code, quote string
	session                      *refusedSession
}

// refused lists them. They take 40 MB, and so are not made in each process that a test starts.
func refused() []reported {
	return []reported{
		{"anthropics/claude-code#3639", "anthropic", "refused-pairs", "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
			fromClaude().user(`"list"`).say("", "", claudeCall("toolu_1")).user(`"what is going on"`)},
		{"anthropics/claude-code#5989", "anthropic", "refused-pairs", "immediately after: toolu_3.",
			fromClaude().user(`"list"`).say("", "", claudeCall("toolu_2")+","+claudeCall("toolu_3")).result("toolu_2", `"a"`).user(`"go on"`)},
		{"anthropics/claude-code#6340", "anthropic", "refused-pairs", "unexpected `tool_use_id` found in `tool_result` blocks: toolu_4.",
			fromClaude().user(`"list"`).say("", "", `{"type":"text","text":"no"}`).result("toolu_4", `"a"`).user(`"go on"`)},
		{"openclaw/openclaw#9672", "anthropic", "refused-pairs", "messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_5.", func() *refusedSession {
			s := fromPi().user(`"read it all"`).say("anthropic", opus, piCall("toolu_5", "bash", "{}")).result("toolu_5", okText).say("anthropic", opus, piText("done"))
			s.line("compaction", "", `,"summary":"read","firstKeptEntryId":"00000003","tokensBefore":1000`)
			return s
		}()},
		{"NachoSEO/claudegram#12", "anthropic", "refused-pairs", "`tool_use` ids must be unique",
			fromPi().user(`"search"`).say("anthropic", opus, piCall("toolu_6", "bash", "{}")+","+piCall("toolu_6", "bash", "{}")).result("toolu_6", okText)},
		{"vectorize-io/hindsight#4250", "anthropic", "refused-pairs", "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_7",
			fromPi().user(`"reflect"`).say("anthropic", opus, piCall("toolu_7", "bash", "{}")).result("toolu_7", okText).result("toolu_7", okText)},
		{"Gitlawb/openclaude#187", "openai", "refused-pairs", "No tool output found for function call call_8.",
			fromClaude().user(`"list"`).say("", "", claudeCall("call_8")).user(`"go on"`)},
		{"google-gemini/gemini-cli#6379", "google", "refused-pairs", "number of function response parts is equal to the number of function call parts",
			fromPi().user(`"run"`).say("google", "gemini-2.5-pro", piCall("c9", "bash", "{}")).result("c9", okText).result("c9", okText)},
		{"lobehub/lobehub#7298", "google", "refused-pairs", "function response turn comes immediately after a function call turn",
			fromPi().user(`"run"`).say("google", "gemini-2.5-pro", piText("no")).result("c10", okText)},
		{"diegosouzapw/OmniRoute#13573", "google", "refused-turn", "function call turn comes immediately after a user turn", func() *refusedSession {
			s := fromPi().user(`"run"`).say("google", "gemini-2.5-pro", piCall("c11", "bash", "{}")).result("c11", okText)
			s.line("context_edit", "", `,"targetId":"00000001","replacement":null`)
			return s
		}()},
		{"anthropics/claude-code#60837", "anthropic", "refused-empty", "text content blocks must be non-empty",
			fromClaude().user(`"hello"`).say("", "", `{"type":"text","text":""}`).user(`"go on"`)},
		{"openclaw/openclaw#84430", "anthropic", "refused-thinking", "thinking.signature: Field required",
			fromClaude().user(`"hello"`).say("", "", `{"type":"thinking","thinking":"hm","signature":""},{"type":"text","text":"a"}`).user(`"go on"`)},
		{"anthropics/claude-code#63203", "anthropic", "refused-thinking", "blocks in the latest assistant message cannot be modified",
			fromClaude().user(`"hello"`).say("", "", `{"type":"thinking","thinking":"hm",`+signed+`},{"type":"text","text":"a"},{"type":"thinking","thinking":"hm",`+signed+`},{"type":"text","text":"a"}`).user(`"go on"`)},
		{"continuedev/continue#8933", "openai", "refused-thinking", "Item 'rs_12' of type 'reasoning' was provided without its required following item.",
			fromPi().user(`"hello"`).say("openai", "gpt-5", `{"type":"thinking","thinking":"","thinkingSignature":"{\"id\":\"rs_12\",\"type\":\"reasoning\"}"}`).user(`"go on"`)},
		{"earendil-works/pi#224", "anthropic", "refused-image", "image exceeds 5 MB maximum: 5300000 bytes > 5242880 bytes",
			fromPi().user(`"read"`).say("anthropic", opus, piCall("toolu_13", "read", "{}")).
				result("toolu_13", `[{"type":"image","mimeType":"image/png","data":"`+strings.Repeat("A", 5_300_000)+`"}]`)},
		{"anthropics/claude-code#35234", "anthropic", "refused-image", "specified using the image/png media type, but the image appears to be a image/jpeg image",
			fromClaude().user(`[` + claudeImage("image/png", jpegHead) + `]`)},
		{"vybestack/llxprt-code#2130", "anthropic", "refused-image", "specified using the image/jpeg media type, but the image appears to be a image/png image",
			fromPi().user(`"read"`).say("anthropic", opus, piCall("toolu_14", "read", "{}")).
				result("toolu_14", `[{"type":"text","text":"it"},{"type":"image","mimeType":"image/jpeg","data":"`+pngOf(8, 8)+`"}]`)},
		{"anthropics/claude-code#34120", "anthropic", "refused-image", "many-image requests: 2000 pixels",
			fromClaude().user(`[` + strings.Repeat(claudeImage("image/png", pngOf(80, 80))+",", 20) + claudeImage("image/png", pngOf(2162, 322)) + `]`)},
		{"anthropics/claude-code#24541", "anthropic", "refused-image", "Too much media: 0 document pages + 107 images > 100",
			fromClaude().user(`[` + strings.Repeat(claudeImage("image/png", pngOf(80, 80))+",", 106) + claudeImage("image/png", pngOf(80, 80)) + `]`)},
		{"anthropics/claude-code#3277", "anthropic", "refused-text", "not valid JSON: no low surrogate in string",
			fromClaude().user(`"cut \ud83d here"`)},
		{"fitchmultz/pi-cursor-sdk#237", "openai", "refused-name", "maximum length 64, but got a string with length 65 instead",
			fromPi().user(`"run"`).say("cursor", "x", piCall("cursor-pi-bridge-run-c2417032-9686-40f2-bd3c-a763fbaa7693-tool-10", "bash", "{}")).
				result("cursor-pi-bridge-run-c2417032-9686-40f2-bd3c-a763fbaa7693-tool-10", okText)},
		{"anthropics/claude-code#20705", "anthropic", "refused-thinking", "the first block must be `thinking` or `redacted_thinking`. Found `text`.",
			fromClaude().user(`"hello"`).say("", "", `{"type":"text","text":"a"},{"type":"thinking","thinking":"hm",`+signed+`},{"type":"text","text":"b"}`).user(`"go on"`)},
		{"anthropics/claude-code#23390", "anthropic", "refused-empty", "text content blocks must contain non-whitespace text",
			fromClaude().user(`"hello"`).say("", "", `{"type":"text","text":"\n"}`).user(`"go on"`)},
		// Also where a later request was answered.
		{"anthropics/claude-code#62396", "anthropic", "refused-empty", "text content blocks must be non-empty",
			fromClaude().user(`"list"`).say("", "", piText("")+","+claudeCall("toolu_18")).result("toolu_18", `"a"`).say("", "", piText("done")).user(`"go on"`)},
		{"anthropics/claude-code#54988", "anthropic", "refused-empty", "text content blocks must be non-empty",
			fromClaude().user(`[`+claudeImage("image/png", pngOf(8, 8))+`,`+piText("")+`]`).say("", "", piText("a dot")).user(`"and now"`).say("", "", piText("done"))},
		{"anthropics/claude-code#23440", "anthropic", "refused-empty", "text content blocks must contain non-whitespace text",
			fromClaude().user(`"hello"`).say("", "", piText("\n\n")).user(`"go on"`).say("", "", piText("done"))},
		{"google-gemini/gemini-cli#3054", "google", "refused-image", "Unsupported MIME type: image/svg+xml",
			fromPi().user(`[{"type":"image","mimeType":"image/svg+xml","data":"PHN2Zy8+"}]`)},
		{"kaitranntt/ccs#25", "google", "refused-name", "Invalid function name. Must start with a letter or an underscore.",
			fromPi().user(`"run"`).say("anthropic", opus, piCall("c16", "1password", "{}")).result("c16", okText)},
		{"apify/tester-mcp-client#11", "anthropic", "refused-name", "tool_use.name: String should match pattern",
			fromPi().user(`"run"`).say("google", "gemini-2.5-pro", piCall("c17", "josef.prochazka--webpage-singer", "{}")).result("c17", okText)},
		{"anthropics/anthropic-sdk-typescript#622", "anthropic", "refused-turn", `first message must use the "user" role`, func() *refusedSession {
			s := fromPi().user(`"hello"`).say("amazon-bedrock", "anthropic.claude-3-haiku", piText("How can I help?")).user(`"go on"`)
			s.line("context_edit", "", `,"targetId":"00000001","replacement":null`)
			return s
		}()},
		{"anomalyco/opencode#500", "anthropic", "refused-size", "prompt is too long: 20", func() *refusedSession {
			s := fromPi().user(`"read"`)
			for i := range 40 { // with something for a compaction to take
				s.user(fmt.Sprintf(`"You must keep rule %d of a.go. %s"`, i, strings.Repeat("word ", 4000))).say("anthropic", opus, piText("Fixed the parser in a.go."))
			}
			s.line("message", `{"role":"assistant","provider":"anthropic","model":"claude-opus-4-5","api":"x","content":[{"type":"text","text":"ok"}],"stopReason":"stop","usage":{"input":195000,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":195005},"timestamp":1}`)
			return s.user(`"` + strings.Repeat("word ", 6000) + `"`)
		}()},
		{"anthropics/claude-code#6696", "anthropic", "refused-name", "tool_use.input: Input should be a valid dictionary",
			fromPi().user(`"run"`).say("anthropic", opus, piCall("toolu_15", "bash", `"{\"command\": \"ls"`)).result("toolu_15", okText)},
	}
}

// TestRefused: --provider names what providers have refused, in their words, and after the fix that the finding names
// nothing is refused any more.
func TestRefused(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, r := range refused() {
		dir := t.TempDir()
		must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(strings.Join(r.session.lines, "\n")+"\n"), 0o600))
		found := refusedIn(dir, "s.jsonl", r.provider)
		if len(found) == 0 || found[0].Code != r.code || !strings.Contains(strings.ReplaceAll(found[0].Text, `\"`, `"`), r.quote) {
			t.Errorf("%s: %v", r.issue, found)
			continue
		}
		tried[r.code] = true
		fix := found[0].Fix
		if !strings.Contains(fix, " -o ") {
			fix += " --write"
		}
		asPrinted(t, dir, fix)
		out := "s.jsonl"
		if r.session.claude {
			out = "NEW.jsonl"
		}
		if left := refusedIn(dir, out, r.provider); len(left) > 0 {
			t.Errorf("%s: after %s: %v", r.issue, fix, left)
		}
	}
	for _, c := range check.All() {
		if c.Group == "provider" && !tried[c.Code] {
			t.Errorf("nothing is refused by %s", c.Code)
		}
	}
}

// TestDoctorOwnProvider: doctor names what the provider of the session's own model refuses, and no other's rules.
func TestDoctorOwnProvider(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blank := `{"type":"text","text":"\n\n"}`
	for name, s := range map[string]*refusedSession{
		"claude.jsonl": fromClaude().user(`"hello"`).say("", "", blank).user(`"go on"`).say("", "", piText("done")),
		"gpt.jsonl":    fromPi().user(`"run"`).say("openai", "gpt-5", piCall(strings.Repeat("x", 65), "bash", "{}")).result(strings.Repeat("x", 65), okText),
		"pi.jsonl":     fromPi().user(`"hello"`).say("anthropic", opus, blank).user(`"go on"`).say("anthropic", opus, piText("done")),
	} {
		must.Do(os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(s.lines, "\n")+"\n"), 0o600))
	}
	for name, line := range map[string]string{
		"claude.jsonl": "anthropic refuses message 1: \"messages: text content blocks must contain non-whitespace text\"\n" +
			"    ctxtool import claude.jsonl -o - | ctxtool repair --provider anthropic - -o NEW.jsonl",
		"gpt.jsonl": "openai refuses message 1",
		"pi.jsonl":  "nothing found that is worth a change", // pi leaves it out
	} {
		if out := ranIn(dir, "doctor", name).stdout.String(); !strings.Contains(out, line) {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// A refusedFinding is a finding.
type refusedFinding struct{ Code, Text, Fix string }

// refusedIn returns what a provider refuses of a session.
func refusedIn(dir, name, provider string) []refusedFinding {
	r := ranIn(dir, "check", name, "--provider", provider, "--only", "provider", "--json")
	var reports struct {
		Files []struct{ Findings []refusedFinding }
	}
	if err := json.Unmarshal(r.stdout.Bytes(), &reports); err != nil {
		return []refusedFinding{{Text: r.stderr.String()}}
	}
	return reports.Files[0].Findings
}

// TestSoundIsAccepted: no real session is refused by the provider of its own model.
func TestSoundIsAccepted(t *testing.T) {
	t.Parallel()
	n := 0
	for _, s := range append(corpus.Shared(t), corpus.Foreign(t)...) {
		if !strings.HasPrefix(s.Name, "corpus/") || strings.Contains(s.Name, "schema-drift") { // made up, with a result alone
			continue
		}
		dir := t.TempDir()
		must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), s.Data, 0o600))
		for _, provider := range check.Providers {
			if strings.Contains(s.Name, "claude-code") && provider != "anthropic" || strings.Contains(s.Name, "codex") && provider != "openai" {
				continue
			}
			for _, f := range refusedIn(dir, "s.jsonl", provider) {
				t.Errorf("%s: %s: %s", s.Name, f.Code, f.Text)
			}
			n++
		}
	}
	t.Log(n)
}
