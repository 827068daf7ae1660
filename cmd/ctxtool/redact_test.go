package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/redact"
	"ctxtool/internal/out/show"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// A planted secret: what stands in a text, and the pieces of it that no output may
// have. In between the pieces it can be spelled otherwise.
type planted struct {
	name, before, first, second, after string
}

// secrets are of the kinds that there are rules for. They are put together here so
// that nobody takes them for real.
var secrets = []planted{
	{"aws", "", "AKIA" + "Q3ZBWXN", "5TYUP2MKD", ""},
	{"github", "", "ghp_" + "R4nd0mT0k3nV4lu3", "F0rT3st5Onl9aBcDeFgH", ""},
	{"fine-grained", "", "github_pat_" + "11ABCDEFG0aZ9yX8wV7uT6_sR5qP4oN3mL2kJ1iH0", "gF9eD8cB7aZ6yX5wV4uT3sR2qP1oN0mL9kJ8iH7gQ", ""},
	{"slack", "", "xoxb-" + "123456789012-2109", "876543210Q2w3E4r5T6y", ""},
	{"jwt", "", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3", "ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P", ""},
	{"private key", "-----BEGIN RSA PRIVATE KEY-----\n", "MIIEpAIBAAKCAQEAx1Z9q7", "Wn3k0pLmVbYtRrEwQqAaSsDdFfGgHhJjKkLlZzXxCcVv\nBbNnMm", "\n-----END RSA PRIVATE KEY-----"},
	{"generic", `password = "`, "Kq7zP2mW", "x9Rt4Lb8", `"`},
	{"stripe", "", "sk_live_" + "4eC39HqLyjW", "DarjtT1zdp7dc9Z", ""},
	{"google", "", "AIza" + "SyD3x4mPl3K3yF0rT", "35t1ngOnlyN0tR3al9", ""},
	{"npm", "", "npm_" + "aB3dE5fG7hI9jK1lM3", "nO5pQ7rS9tU1vW3xY5", ""},
	{"email", "", "zebedee.quill", "@corp-mail.org", ""},
	{"home", "/home/", "zebe", "deeq", "/src/x.go"},
	{"windows home", `C:\Users\`, "zebe", "deeq", `\src`},
	{"value", "", "correct horse ", "battery staple", ""},
	{"number", "", "5550", "1234567", ""},
	{"own pattern", "ticket ", "ACME-77", "2468", ""},
}

// A spelled way to write a secret so that a plain search misses it. text is what the
// JSON string says, and raw changes how JSON spells that.
var spellings = []struct {
	name string
	text func(first, second string) string
	raw  func(first, second, quoted string) string
}{
	{"plain", func(a, b string) string { return a + b }, nil},
	{"escaped", func(a, b string) string { return a + b }, func(a, b, quoted string) string {
		return strings.ReplaceAll(quoted, a+b, a+fmt.Sprintf(`\u%04x`, b[0])+b[1:])
	}},
	{"twice escaped", func(a, b string) string { return a + fmt.Sprintf(`\u%04x`, b[0]) + b[1:] }, nil},
	{"thrice escaped", func(a, b string) string { return a + fmt.Sprintf(`\\u%04x`, b[0]) + b[1:] }, nil},
	{"entity", func(a, b string) string { return a + fmt.Sprintf("&#x%x;", b[0]) + b[1:] }, nil},
	{"percent", func(a, b string) string { return a + fmt.Sprintf("%%%02X", b[0]) + b[1:] }, nil},
	{"terminal", func(a, b string) string { return a + "\x1b[1;31m" + b }, nil},
	{"zero width", func(a, b string) string { return a + "\u200b" + b }, nil},
}

// places is a session in which every § is a string that may hold anything.
const places = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"§","parentSession":"§"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"system","content":"§","sections":{"rules":"§","§":"x"},"toolsAdded":[{"name":"bash","description":"§","parameters":{"type":"object","properties":{"§":{"type":"string","description":"§"}}}}],"timestamp":1}}
{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"§","timestamp":2}}
{"type":"message","id":"00000003","parentId":"00000002","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"user","content":[{"type":"text","text":"§","textSignature":"§"}],"timestamp":3}}
{"type":"message","id":"00000004","parentId":"00000003","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"assistant","api":"x","provider":"p","model":"m","stopReason":"toolUse","errorMessage":"§","diagnostics":[{"type":"t","details":{"§":"§"}}],"content":[{"type":"thinking","thinking":"§","thinkingSignature":"§"},{"type":"text","text":"§"},{"type":"toolCall","id":"call1","name":"bash","arguments":{"command":"§","§":["§",{"deep":{"§":"§"}}]},"partialJson":"§","thoughtSignature":"§"}],"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"total":0}},"timestamp":4}}
{"type":"message","id":"00000005","parentId":"00000004","timestamp":"2026-01-01T00:00:05.000Z","message":{"role":"toolResult","toolCallId":"call1","toolName":"bash","content":[{"type":"text","text":"§"}],"details":{"diff":"§","nested":[{"§":"§"}]},"nestedCalls":{"calls":[{"id":"n","name":"x","arguments":{"§":"§"},"status":"error","error":"§"}],"complete":true},"isError":false,"timestamp":5}}
{"type":"message","id":"00000006","parentId":"00000005","timestamp":"2026-01-01T00:00:06.000Z","message":{"role":"bashExecution","command":"§","output":"§","exitCode":0,"cancelled":false,"truncated":true,"fullOutputPath":"§","timestamp":6}}
{"type":"custom","customType":"mine","data":{"§":"§","list":["§",["§"]]},"id":"00000007","parentId":"00000006","timestamp":"2026-01-01T00:00:07.000Z"}
{"type":"custom_message","customType":"§","content":"§","display":true,"details":{"§":"§"},"id":"00000008","parentId":"00000007","timestamp":"2026-01-01T00:00:08.000Z"}
{"type":"context_transform","schemaVersion":1,"transformerName":"§","patch":[{"op":"system_part_set","scope":"cached","partName":"§","text":"§","invalidateCacheReason":"§"},{"op":"system_part_remove","scope":"cached","partName":"§","invalidateCacheReason":"§"},{"op":"system_parts_replace","scope":"cached","parts":[{"name":"§","text":"§"}],"invalidateCacheReason":"§"},{"op":"tools_replace","scope":"cached","tools":[{"name":"§","description":"§","parameters":{"type":"object","title":"§"}}],"invalidateCacheReason":"§"},{"op":"tools_remove","scope":"cached","toolNames":["nothing","§"],"invalidateCacheReason":"§"},{"op":"messages_cached_replace","scope":"cached","messages":[{"role":"user","content":"§","timestamp":1},{"role":"user","content":[{"type":"text","text":"§"}],"timestamp":1}],"invalidateCacheReason":"§"},{"op":"options_set","scope":"cached","reasoning":"§","invalidateCacheReason":"§"},{"op":"compaction_apply","scope":"cached","summary":"§","timestamp":1,"firstKeptMessageIndex":0,"tokensBefore":1,"invalidateCacheReason":"§"}],"display":{"title":"§","summary":"§","markdown":"§","rendererId":"§","rendererProps":{"§":["§"]}},"id":"00000009","parentId":"00000008","timestamp":"2026-01-01T00:00:09.000Z"}
{"type":"ephemeral","messages":[{"role":"user","content":"§","timestamp":1}],"id":"0000000a","parentId":"00000009","timestamp":"2026-01-01T00:00:10.000Z"}
{"type":"label","id":"0000000b","parentId":"0000000a","timestamp":"2026-01-01T00:00:11.000Z","targetId":"00000002","label":"§"}
{"type":"session_info","id":"0000000c","parentId":"0000000b","timestamp":"2026-01-01T00:00:12.000Z","name":"§"}
{"type":"usage","id":"0000000d","parentId":"0000000c","timestamp":"2026-01-01T00:00:13.000Z","kind":"§","provider":"§","model":"§","note":"§","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"total":0}}}
{"type":"future_thing","id":"0000000e","parentId":"0000000d","timestamp":"2026-01-01T00:00:14.000Z","§":{"§":"§"},"type2":"§"}
{"type":"branch_summary","id":"0000000f","parentId":"0000000e","timestamp":"2026-01-01T00:00:15.000Z","fromId":"00000002","summary":"§","details":{"readFiles":["§"]}}
{"type":"message","id":"§ id","parentId":"0000000f","timestamp":"2026-01-01T00:00:16.000Z","message":{"role":"user","content":"go on","timestamp":16}}
{"type":"context_edit","id":"00000011","parentId":"§ id","timestamp":"2026-01-01T00:00:17.000Z","targetId":"§ id","replacement":{"content":"§","why":"§"}}
{"type":"compaction","id":"00000012","parentId":"00000011","timestamp":"2026-01-01T00:00:18.000Z","summary":"§","firstKeptEntryId":"§ id","tokensBefore":1,"details":{"§":"§"}}
{"type":"message","id":"00000013","parentId":"00000012","timestamp":"2026-01-01T00:00:19.000Z","message":{"role":"user","content":[{"type":"text","text":"§"},{"type":"image","data":"§","mimeType":"§"}],"timestamp":19}}
{"type":"message","id":"00000014","parentId":"00000013","message":{"content":"§
["§",{"§":"§"}]
"§"
`

// plant puts secrets into a session, beginning with number first: another one in each
// place. The number is a JSON number too.
func plant(first int, how int) string {
	var b strings.Builder
	n := first
	id := ""
	for k, piece := range strings.Split(places, "§") {
		if k > 0 {
			p := secrets[n%len(secrets)]
			n++
			s := spellings[how]
			quoted, _ := json.Marshal("see " + p.before + s.text(p.first, p.second) + p.after + " there")
			text := string(quoted)
			if s.raw != nil {
				text = s.raw(p.first, p.second, text)
			}
			text = strings.Trim(text, `"`)
			if p.after == `"` { // trimmed too
				text = strings.TrimSuffix(string(text), `\`)
			}
			if strings.HasPrefix(piece, ` id"`) { // the same wherever the entry is named
				if id == "" {
					id = text
				}
				text = id
			}
			b.WriteString(text)
		}
		b.WriteString(piece)
	}
	return b.String()
}

// leaks are the pieces of secrets that a text has in it.
func leaks(text string) (found []string) {
	for _, p := range secrets {
		for _, piece := range []string{p.first, p.second} {
			if strings.Contains(text, piece) {
				found = append(found, p.name+": "+piece)
			}
		}
	}
	return found
}

// plantedFlags are the flags by which all planted secrets are found.
func plantedFlags(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	values, patterns := filepath.Join(dir, "values"), filepath.Join(dir, "own.toml")
	must.Do(os.WriteFile(values, []byte("correct horse battery staple\r\n\n"), 0o600))
	must.Do(os.WriteFile(patterns, []byte("[[rules]]\nid = \"ticket\"\nregex = '''\\bACME-\\d+\\b'''\nkeywords = [\"acme-\"]\n"), 0o600))
	config := filepath.Join(dir, "config.toml")
	must.Do(os.WriteFile(config, fmt.Appendf(nil, "values = %q\npatterns = %q\nenv = \"PLANTED_*\"\n", values, patterns), 0o600))
	return []string{"--config", config}
}

// TestPlanted: no secret that was planted is in what any command prints of a session
// that it redacts, in any form, and the redacted session is the session that it was.
func TestPlanted(t *testing.T) {
	flags := plantedFlags(t)
	var lines []string
	for _, line := range readingLines() {
		if !strings.Contains(line, "--strict") {
			lines = append(lines, line+" --redact")
		}
	}
	lines = append(lines, "show FILE 00000004 00000009 00000005 -o OUT --redact", "check FILE -f github -o OUT --redact", "redact FILE", "redact FILE -f json")
	each := len(lines)/len(spellings) + 1 // each line once
	for how, s := range spellings {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in, out := filepath.Join(dir, "s.jsonl"), filepath.Join(dir, "out")
			for first := range secrets {
				data := plant(first, how)
				must.Do(os.WriteFile(in, []byte(data), 0o600))
				plantedLine(t, append([]string{"redact", in, "-o", out}, flags...), out)
				if first > 0 {
					continue
				}
				if len(leaks(data)) < len(secrets)/2 {
					t.Fatal("no secrets are planted")
				}
				sameShape(t, in, out)
				for _, line := range dealt(how, each, lines) {
					os.Remove(out)
					plantedLine(t, append(commandLine(line, "FILE", in, "OUT", out), flags...), out)
				}
			}
		})
	}
}

// plantedLine runs a command and looks for secrets in all that it prints.
func plantedLine(t *testing.T, args []string, out string) {
	t.Helper()
	in := testEnv("")
	in.environ = append(in.environ, "PLANTED_NUMBER=55501234567")
	r := in.ran(args...)
	written, _ := os.ReadFile(out)
	if r.status != exitOK && r.status != exitFound && !slices.Contains(args, "--tail") {
		t.Errorf("%v: status %d: %s", args, r.status, &r.stderr)
	}
	for where, text := range map[string]string{"standard output": r.stdout.String(), "standard error": r.stderr.String(), "the file": string(written)} {
		for _, arg := range args {
			if filepath.IsAbs(arg) { // the numbers of temporary folders have every digit in them
				text = strings.ReplaceAll(text, filepath.Dir(arg), "")
			}
		}
		for _, p := range secrets {
			for _, piece := range []string{p.first, p.second} {
				if at := strings.Index(text, piece); at >= 0 && !t.Failed() {
					t.Errorf("%v: %s has the secret %s: %q", args, where, p.name, text[max(0, at-100):min(len(text), at+100)])
				}
			}
		}
	}
}

// sameShape: a redacted session has no finding that it had not, and replays to the
// same roles.
func sameShape(t *testing.T, was, is string) {
	t.Helper()
	shape := func(name string) (codes, roles []string) {
		r := ranIn("", "check", name, "-f", "json")
		var checked struct {
			Files []struct{ Findings []struct{ Code string } }
		}
		if err := json.Unmarshal(r.stdout.Bytes(), &checked); err != nil {
			t.Fatalf("%v: %s", err, &r.stderr)
		}
		for _, f := range checked.Files[0].Findings {
			codes = append(codes, f.Code)
		}
		r = ranIn("", "replay", name, "-f", "json", "--lenient")
		var replayed struct {
			Messages struct{ Cached, Uncached []struct{ Role string } }
		}
		if err := json.Unmarshal(r.stdout.Bytes(), &replayed); err != nil {
			t.Fatalf("%v: %s", err, &r.stderr)
		}
		for _, m := range append(replayed.Messages.Cached, replayed.Messages.Uncached...) {
			roles = append(roles, m.Role)
		}
		return codes, roles
	}
	codesWas, rolesWas := shape(was)
	codesIs, rolesIs := shape(is)
	for _, code := range codesIs {
		if !slices.Contains(codesWas, code) {
			t.Errorf("the redacted session has the finding %s, which it had not", code)
		}
	}
	if !slices.Equal(rolesWas, rolesIs) || len(rolesIs) == 0 {
		t.Errorf("roles %v become %v", rolesWas, rolesIs)
	}
}

// TestRedactedReadings: with --redact a command prints what it prints of the redacted
// session, but for the name.
func TestRedactedReadings(t *testing.T) {
	t.Parallel()
	for k, c := range append(corpus.Own(t), corpus.Shared(t)...) {
		if len(c.Data) > 300_000 {
			continue
		}
		dir := t.TempDir()
		in := filepath.Join(dir, "s.jsonl")
		must.Do(os.WriteFile(in, c.Data, 0o600))
		print := func(args ...string) string { return ranIn("", args...).stdout.String() }
		redacted := filepath.Join(dir, "redacted", "s.jsonl")
		print("redact", in, "-o", redacted)
		if _, err := os.Stat(redacted); err != nil {
			continue // no session
		}
		var forms [][]string
		for _, f := range show.Formats {
			forms = append(forms, []string{"replay", "-f", f.Name, "--lenient"})
		}
		forms = append(forms, []string{"log", "--all"}, []string{"log", "--tree"}, []string{"show", "-f", "raw"}, []string{"ls"}, []string{"check"})
		for _, form := range dealt(k, 1, forms) {
			args := slices.Insert(slices.Clone(form), 1, redacted)
			want := strings.ReplaceAll(print(args...), redacted, in)
			args[1] = in
			if got := print(append(args, "--redact")...); got != want && !strings.Contains(want, "the file was written to a moment ago") {
				t.Errorf("%s: %v --redact prints\n%.500s\nand of the redacted session\n%.500s", c.Name, form, got, want)
			}
		}
	}
}

// TestRedactBaseline: what another file adds is redacted too.
func TestRedactBaseline(t *testing.T) {
	t.Parallel()
	flags := plantedFlags(t)
	dir := t.TempDir()
	base := filepath.Join(dir, "base.json")
	secret := secrets[1].first + secrets[1].second
	text := fmt.Sprintf(`{"system":{"parts":[{"name":"a","text":"it is %[1]s"}]},"tools":[{"name":"t","description":"%[1]s","parameters":{"type":"object"}}]}`, secret)
	must.Do(os.WriteFile(base, []byte(text), 0o600))
	for _, f := range show.Formats {
		args := append([]string{"replay", filepath.Join(corpus.Root(t), "testdata", "sessions", "good", "v1.jsonl"), "--baseline", base, "-f", f.Name, "--redact"}, flags...)
		plantedLine(t, args, filepath.Join(dir, "none"))
	}
}

// TestRedactWorkers: many at a time give what each gives alone.
func TestRedactWorkers(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	r := must.Get(redact.New(redact.Options{}))
	want := map[string][]byte{}
	for k := range spellings {
		for first := range secrets {
			name := fmt.Sprintf("%d-%d.jsonl", k, first)
			data := []byte(plant(first, k))
			must.Do(os.WriteFile(filepath.Join(dir, name), data, 0o600))
			s, err := sessionfmt.OpenReader(name, bytes.NewReader(data), sessionfmt.Options{Through: r.Passes(nil)})
			if err != nil {
				t.Fatal(err)
			}
			if want[name], err = io.ReadAll(s.Plain()); err != nil {
				t.Fatal(err)
			}
			s.Close()
		}
	}
	if r := ranIn("", "redact", dir, "-o", out); r.status != exitOK {
		t.Fatalf("status %d: %s", r.status, &r.stderr)
	}
	for name, data := range want {
		if got, err := os.ReadFile(filepath.Join(out, name)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %v, or it is another one", name, err)
		}
	}
}
