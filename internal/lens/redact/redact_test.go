package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// pat is a token as GitHub makes them.
const pat = "ghp_" + "R4nd0mT0k3nV4lu3F0rT3st5Onl9aBcDeFgH"

func redacted(r *Redactor, data []byte) []byte {
	return must.Get(filtered(r, bytes.NewReader(data)))
}

// filtered is what the passes make of a session.
func filtered(r *Redactor, from io.Reader) (out []byte, err error) {
	for pass := range r.Passes(nil) {
		var to bytes.Buffer
		if err := pass(&to, from); err != nil {
			return nil, err
		}
		out, from = to.Bytes(), &to
	}
	return out, nil
}

// TestLine: what becomes of lines, one after the other of one session.
func TestLine(t *testing.T) {
	x := mustNew(Options{Values: []string{"hunter22", "4711", "system", "sesam öffne"}}).NewRun()
	defer x.Close()
	for _, c := range []struct{ line, want string }{
		{`{"type":"message","id":"a1","message":{"role":"user","content":"plain"}}`, ``},
		{`{"type":"session","cwd":"/home/mara/src"}`, `{"type":"session","cwd":"/home/user-1/src"}`},
		{`["C:\\Users\\Mara Lind\\x", "/Users/joe", "/home/mara"]`, `["C:\\Users\\user-2\\x", "/Users/user-3", "/home/user-1"]`},
		{`["/mnt/c/Users/mara/x","/cygdrive/d/users/mara/x","/srv/c/users/tim/x"]`, `["/mnt/c/Users/user-1/x","/cygdrive/d/users/user-1/x","/srv/c/users/tim/x"]`},
		{`["src/pages/home/index.tsx","https://site.org/home/page","/api/users/12"]`, ``},
		{`["--home-mara-src--","--home-kim-x--","--C--Users-joe-x--"]`, `["--home-user-1-src--","--home-user-4-x--","--C--Users-user-3-x--"]`},
		{`{"a":"mail joe@corp.org, git@host.org:x, a@2x.png1"}`, `{"a":"mail [redacted:email-1], git@host.org:x, a@2x.png1"}`},
		{`["joe@corp..org","joe@corp.org.","joe@corp.-x","joe@.corp.org","joe@corp.org-"]`, `["joe@corp..org","[redacted:email-1].","joe@corp.-x","joe@.corp.org","[redacted:email-1]-"]`},
		{`{"a":1.50,  "b":[ "` + pat + `" ] }`, `{"a":1.50,  "b":[ "[redacted:github-pat-1]" ] }`},
		{`{"a":"` + strings.Replace(pat, "R", `\u0052`, 1) + `"}`, `{"a":"[redacted:github-pat-1]"}`},
		{`{"n":4711,"m":47110,"s":"x4711x"}`, `{"n":0,"m":47110,"s":"x[redacted:value-1]x"}`},
		{`{"type":"message","message":{"role":"system","content":"system","system":"role"}}`, `{"type":"message","message":{"role":"system","content":"[redacted:value-2]","[redacted:value-2]":"role"}}`},
		{`{"data":{"hunter22":1,"hunter\u200b22":2,"x":3}}`, `{"data":{"[redacted:value-3]":1,"[redacted:value-3]-2":2,"x":3}}`},
		{`{"details":{"password":"Tr0ub4dor-3xQz"}}`, `{"details":{"password":"[redacted:generic-api-key-1]"}}`},
		{`{"details":["--token","Tr0ub4dor-3xQz9"]}`, `{"details":["--token","[redacted:generic-api-key-2]"]}`},
		{`{"message":{"content":[{"type":"thinking","thinking":"x","thinkingSignature":"abc"}]}}`, `{"message":{"content":[{"type":"thinking","thinking":"x","thinkingSignature":""}]}}`},
		{`{"details":{"signature":"f(x)","encrypted_content":{"a":1}}}`, `{"details":{"signature":"f(x)","encrypted_content":null}}`},
		{`{"content":[{"type":"image","data":"hunter22","mimeType":"image/png"},{"type":"image","data":"hunter22!"}]}`, `{"content":[{"type":"image","data":"[redacted:value-3]","mimeType":"image/png"},{"type":"image","data":"[redacted:value-3]!"}]}`},
		{`{"broken": "hunter22`, `{"broken": "[redacted:value-3]`},
		{`{"broken": "sesam \u00f6ffne`, `{"broken": "[redacted:value-4]`},
		{`"hunter22"`, `"[redacted:value-3]"`},
		{`["ann@mx.3com.com"]`, `["[redacted:email-2]"]`},
		{`["localhost:80:/users/list"]`, ``}, // no drive stands before it
		{`{"id":"hunter22","parentId":"hunter22"}`, `{"id":"[redacted:value-3]","parentId":"[redacted:value-3]"}`},
	} {
		got, err := x.line([]byte(c.line))
		if c.want == "" {
			c.want = c.line
		}
		if err != nil || string(got) != c.want {
			t.Errorf("%s\nbecomes %s, %v\nwant    %s", c.line, got, err, c.want)
		}
	}
}

// TestAcross: of a value that lies across strings, each string loses its part, and whole
// escapes.
func TestAcross(t *testing.T) {
	for _, c := range []struct{ value, line, want string }{
		{`ab", "cd`, `["x\n\nab", "cd\n\ny"]`, `["x\n\n[redacted:value-1]", "[redacted:value-2]\n\ny"]`},
		{`tab", "cd\`, `["x\n\tab", "cd\n\ny"]`, `["x\n[redacted:value-1]", "[redacted:value-2]\ny"]`},
		{`e9ab", "cd\u0`, `["x\u00e8\u00e9ab", "cd\u00e9\u00e8y"]`, `["x\u00e8[redacted:value-1]", "[redacted:value-2]\u00e8y"]`},
		{`ab", "cd\n`, `["x\\ab", "cd\n"]`, `["x\\[redacted:value-1]", "[redacted:value-2]"]`},
		{`ab", "cd", "e`, `["x\nab", "cd", "e\n"]`, `["x\n[redacted:value-1]", "[redacted:value-2]", "[redacted:value-3]\n"]`},
	} {
		x := mustNew(Options{Values: []string{c.value}}).NewRun()
		if got, err := x.line([]byte(c.line)); err != nil || string(got) != c.want {
			t.Errorf("%s\nbecomes %s, %v\nwant    %s", c.line, got, err, c.want)
		}
		x.Close()
	}
}

// TestFilterLines: lines of any length, with and without a newline, and a byte order mark.
func TestFilterLines(t *testing.T) {
	r := mustNew(Options{})
	secret, gone := `"`+pat+`"`, `"[redacted:github-pat-1]"`
	for _, size := range []int{0, 1, 256<<10 - len(secret), 600 << 10} {
		pad := strings.Repeat(" ", size)
		for _, end := range []string{"", "\n", "\n\n", "\n" + pad + secret, "\n" + jsonl.BOM} {
			for _, begin := range []string{"", jsonl.BOM} {
				got := string(redacted(r, []byte(begin+pad+secret+end)))
				if want := begin + pad + gone + strings.ReplaceAll(end, secret, gone); got != want {
					t.Errorf("%d bytes before it, then %.5q: %s", size, end, difference([]byte(got), []byte(want)))
				}
			}
		}
	}
	const sealed, stripped = jsonl.BOM + `{"thinkingSignature":"abc"}` + "\n", jsonl.BOM + `{"thinkingSignature":""}` + "\n"
	if got := string(redacted(r, []byte(sealed+sealed))); got != stripped+sealed { // the second is not JSON
		t.Errorf("%q", got)
	}
	broken := errors.New("broken")
	if _, err := filtered(r, iotest.ErrReader(broken)); err != broken {
		t.Errorf("of a reader that fails: %v", err)
	}
}

// TestLeft: what shows another secret each time that one is gone is looked at maxRounds times, the last time to see that
// nothing is left.
func TestLeft(t *testing.T) {
	r := mustNew(Options{Patterns: []byte("[[rules]]\nid = \"r\"\nregex = '[0-9\\]]([a-z])'")})
	if _, err := filtered(r, strings.NewReader("\n1abcdefg\n1"+strings.Repeat("a", maxRounds)+"\n")); !errors.Is(err, ErrLeft) || err.(*sessionfmt.Error).Pos.Line != 3 {
		t.Errorf("%v", err)
	}
	if out, err := filtered(r, strings.NewReader("\n1abcdefg\n")); err != nil || string(out) != "\n1[redacted:r-1][redacted:r-2][redacted:r-3][redacted:r-4][redacted:r-5][redacted:r-6][redacted:r-7]\n" {
		t.Errorf("%v, %q", err, out)
	}
}

// TestEmailLengths: what is before the @ has at most 64 bytes, and a domain 253.
func TestEmailLengths(t *testing.T) {
	domain := strings.Repeat("a1.", 83) + "abcde"
	for _, c := range []struct{ before, domain, want string }{
		{strings.Repeat("x", 64), "b.cd", strings.Repeat("x", 64) + "@b.cd"},
		{strings.Repeat("x", 65), "b.cd", strings.Repeat("x", 64) + "@b.cd"},
		{"x", domain[:253], "x@" + domain[:253]},
		{"x", domain[:254], "x@" + domain[:253]},
	} {
		text := []byte(c.before + "@" + c.domain)
		start, end, ok := email(text, len(c.before))
		if got := string(text[start:end]); got != c.want || !ok {
			t.Errorf("%d bytes @ %d bytes: %q", len(c.before), len(c.domain), got)
		}
	}
}

// TestSpelled: a secret is found however it is spelled, and nothing else goes.
func TestSpelled(t *testing.T) {
	s := mustNew(Options{}).NewScanner()
	for _, spelled := range []string{
		pat, strings.Replace(pat, "_", `_`, 1), strings.Replace(pat, "_", `\x5f`, 1), strings.Replace(pat, "_", `\u{5f}`, 1), strings.Replace(pat, "_", `\137`, 1),
		strings.Replace(pat, "_", "&#95;", 1), strings.Replace(pat, "_", "&#x5F;", 1), strings.Replace(pat, "_", "&lowbar;", 1), strings.Replace(pat, "R4", "&#8203;R4", 1),
		strings.Replace(pat, "_", "%5F", 1), strings.Replace(pat, "_", "%255F", 1), strings.Replace(pat, "T0", "T\x1b[31m0", 1), strings.Replace(pat, "T0", "T\x1b[4@0", 1), strings.Replace(pat, "T0", "T\x1b]0;x\a0", 1),
		strings.Replace(pat, "k3", "k\u200b3", 1), strings.Replace(pat, "k3", "\u202ek3", 1), strings.Replace(pat, "k3", "\u212a3", 1), strings.Replace(pat, "k3", "k\u00ad3", 1),
		strings.Replace(pat, "_", `\\u005f`, 1), strings.Replace(pat, "_", `\\\\x5f`, 1),
	} {
		text := "see é\t" + spelled + " and so on"
		hits := s.Find([]byte(text))
		if len(hits) != 1 || hits[0].Rule != "github-pat" {
			if spelled != strings.Replace(pat, "k3", "\u212a3", 1) { // the letter has another case
				t.Errorf("%q: %v", text, hits)
			}
			continue
		}
		if got := text[:hits[0].Start] + "|" + text[hits[0].End:]; got != "see é\t| and so on" {
			t.Errorf("%q leaves %q", text, got)
		}
	}
}

// TestSessions: of every session there is, what is redacted keeps its lines, is the
// same session, and has nothing left to redact. Options other than the first have the
// sample of them.
func TestSessions(t *testing.T) {
	sample := corpus.Sample(t)
	for _, try := range []struct {
		Options
		sessions []corpus.Session
	}{
		{Options{Values: []string{"parcel", "read"}}, corpus.All(t)},
		{Options{StructureOnly: true}, sample},
		{Options{DropImages: true}, sample},
	} {
		opt := try.Options
		r := mustNew(opt)
		for _, c := range try.sessions {
			out := redacted(r, c.Data)
			if bytes.Count(out, []byte{'\n'}) != bytes.Count(c.Data, []byte{'\n'}) {
				t.Errorf("%s: it has other lines", c.Name)
			}
			if again := redacted(r, out); !bytes.Equal(again, out) {
				t.Errorf("%s: redacting it twice is not the same as once: %s", c.Name, difference(out, again))
			}
			was, err := sessionfmt.OpenReader("was", bytes.NewReader(c.Data), sessionfmt.Options{})
			if err != nil {
				continue
			}
			is, err := sessionfmt.OpenReader("is", bytes.NewReader(out), sessionfmt.Options{})
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
				continue
			}
			if err := Same(was, is); err != nil && !(opt.StructureOnly && is.Coverage.Skipped > 0) {
				t.Errorf("%s: %v", c.Name, err)
			}
			is.Close()
			was.Close()
		}
	}
}

func difference(a, b []byte) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	at := max(0, i-60)
	return fmt.Sprintf("%q, then %q", a[at:min(len(a), i+60)], b[at:min(len(b), i+60)])
}

// TestStructureOnly: no text is left, and what is not a text is.
func TestStructureOnly(t *testing.T) {
	x := mustNew(Options{StructureOnly: true}).NewRun()
	defer x.Close()
	for _, c := range []struct{ line, want string }{
		{`{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}`, `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"[2 characters]"}`},
		{`{"type":"message","id":"a","message":{"role":"user","content":"h\u00e9llo"}}`, `{"type":"message","id":"a","message":{"role":"user","content":"[5 characters]"}}`},
		{`{"message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{"ab":1,"cd":{"x":"y"},"e":""}}]}}`,
			`{"message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{"[2 characters]":1,"[2 characters]-2":{"[1 character]":"[1 character]"},"[1 character]":""}}]}}`},
		{`{"message":{"role":"system","content":"","sections":{"cwd":"/x"},"toolsAdded":[{"name":"bash","description":"d","parameters":{"type":"object","required":["x"]}}]}}`,
			`{"message":{"role":"system","content":"","sections":{"cwd":"[2 characters]"},"toolsAdded":[{"name":"bash","description":"[1 character]","parameters":{"type":"object"}}]}}`},
		{`{"content":[{"type":"image","data":"AAAA","mimeType":"image/gif"}]}`, `{"content":[{"type":"image","data":"` + pixel + `","mimeType":"image/gif"}]}`},
		{`no JSON`, `[7 characters]`},
	} {
		got, err := x.line([]byte(c.line))
		if err != nil || string(got) != c.want {
			t.Errorf("%s\nbecomes %s, %v\nwant    %s", c.line, got, err, c.want)
		}
	}
}

// TestFormat: what pi's format says itself is not a text: its words are never replaced,
// and its names and times are no text of anybody's.
func TestFormat(t *testing.T) {
	types := "session message thinking_level_change model_change compaction branch_summary custom custom_message label session_info " +
		"context_transform ephemeral context_edit usage cache_warm system user assistant toolResult bashExecution hookMessage contextTransform " +
		"branchSummary compactionSummary text thinking image toolCall"
	named := mustNew(Options{Values: strings.Fields(types)}).NewRun()
	defer named.Close()
	for _, word := range strings.Fields(types) {
		line := `{"type":"` + word + `","message":{"role":"` + word + `"}}`
		if got, err := named.line([]byte(line)); err != nil || string(got) != line {
			t.Errorf("%s becomes %s, %v", line, got, err)
		}
	}
	bare := mustNew(Options{StructureOnly: true}).NewRun()
	defer bare.Close()
	for _, name := range strings.Fields("type role op scope stopReason thinkingLevel reasoning kind mimeType status id parentId targetId fromId " +
		"firstKeptEntryId toolCallId transformEntryId responseId timestamp model modelId responseModel provider api rawStopReason " +
		"providerThinkingLevel toolName namespace customType transformerName rendererId partName expiresAt version") {
		line := `{"message":{"` + name + `":"of its own"}}`
		if got, err := bare.line([]byte(line)); err != nil || string(got) != line {
			t.Errorf("%s becomes %s, %v", line, got, err)
		}
	}
}

// TestPatterns: rules of one's own, their lists, and what is wrong with some.
func TestPatterns(t *testing.T) {
	r := mustNew(Options{Patterns: []byte(`
[[rules]]
id = "ticket"
regex = '''\bACME-(\d{4,})\b'''
[[rules.allowlists]]
stopwords = ["0000"]
[[rules]]
id = "phrase"
regex = '''(?i)open\s+sesame'''
keywords = ["SESAME"]
[[rules]]
id = "both"
regex = '''both-(\w+)'''
[[rules.allowlists]]
condition = "AND"
regexes = ["^x"]
stopwords = ["test"]
[[rules]]
id = "one"
regex = '''one-(\w+)'''
[[rules.allowlists]]
condition = "&&"
regexes = ["^x"]
[[rules.allowlists]]
condition = "and"
stopwords = ["test"]
[[rules.allowlists]]
condition = "and"
regexes = ["^y"]
paths = ["x"]
`)})
	if got := r.Text("ACME-12345, ACME-10000, Open\tSesame, ACME-12345"); got != "ACME-[redacted:ticket-1], ACME-10000, [redacted:phrase-1], ACME-[redacted:ticket-1]" {
		t.Error(got)
	}
	if got := r.Text("both-xtest both-x1 both-test both-a, one-x1 one-test one-y one-a"); got != "both-xtest both-[redacted:both-1] both-[redacted:both-2] both-[redacted:both-3], one-x1 one-test one-[redacted:one-1] one-[redacted:one-2]" {
		t.Error(got)
	}
	for _, bad := range []string{"[[rules]]\nid='x'\nregex='('", "[[rules]]\nid='x y'\nregex='a'", "[[rules]]\nid='x'\nregex='a'\nsecretGroup=1", "rules = 3", "[[rules]]\nid='x'\nregex='a'\n[[rules.allowlists]]"} {
		if _, err := New(Options{Patterns: []byte(bad)}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if _, err := New(Options{Values: []string{"abc"}}); err == nil {
		t.Error("a value of three bytes is taken")
	}
}

// TestRedactorsApart: rules of one Redactor do not rename those of another.
func TestRedactorsApart(t *testing.T) {
	r := mustNew(Options{})
	mustNew(Options{Patterns: []byte("[[rules]]\nid = \"a\"\nregex = 'aaaa'\n[[rules]]\nid = \"b\"\nregex = 'bbbb'")})
	if got := r.Text(pat + " tvly-dev-q8Zr2LmX0vB7"); got != "[redacted:github-pat-1] [redacted:tavily-key-1]" {
		t.Error(got)
	}
}

// TestMarked: what says of itself that it is redacted.
func TestMarked(t *testing.T) {
	for text, want := range map[string]bool{
		"/home/user-1/x": true, "--home-user-2-x--": true, "/x/[redacted:email-1]": true, "[12 characters]": true, "[1 character]": true,
		"/home/mara/x": false, "/superuser-1x": false, "": false, "[12 characters": false,
	} {
		if Marked(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// FuzzRedact: whatever the bytes, lines stay lines, JSON stays JSON, and a second
// time changes nothing.
func FuzzRedact(f *testing.F) {
	for _, s := range corpus.Small(f) {
		f.Add(s.Data)
	}
	f.Add([]byte(`{"password":"` + pat + `","a\u0040b.org":{"/home/x/":["--token","Tr0ub4dor-3xQz9"]}}`))
	f.Add([]byte(`curl -u "joe@corp.org:hunter22" ` + "\n" + `&#x2f;home&#x2f;joe%2fx`))
	all := []*Redactor{mustNew(Options{Values: []string{"hunter22", "redacted", "character"}}), mustNew(Options{StructureOnly: true})}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, r := range all {
			out, err := filtered(r, bytes.NewReader(data))
			if err != nil {
				if errors.Is(err, ErrLeft) || errors.Is(err, errStructure) {
					continue
				}
				t.Fatal(err)
			}
			was, is := bytes.Split(data, []byte{'\n'}), bytes.Split(out, []byte{'\n'})
			if len(was) != len(is) {
				t.Fatalf("%d lines become %d", len(was), len(is))
			}
			for k := range was {
				if json.Valid(was[k]) && !json.Valid(is[k]) {
					t.Fatalf("%q becomes %q, which is not JSON", was[k], is[k])
				}
			}
			if again := redacted(r, out); !bytes.Equal(again, out) {
				t.Fatalf("twice is not once: %s", difference(out, again))
			}
		}
	})
}
