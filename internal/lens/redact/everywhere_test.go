package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
)

// TestEverywhere: a secret that one place shows goes from all places, before it and after
// it.
func TestEverywhere(t *testing.T) {
	const key = "zX81kLmQ0vB7tYw3"
	const gone = "[redacted:generic-api-key-1]"
	for _, c := range []struct{ in, want string }{
		{`{"text":"api_key = \"` + key + `\" and plain ` + key + `"}`, `{"text":"api_key = \"` + gone + `\" and plain ` + gone + `"}`},
		{`{"summary":"it is ` + key + `."}` + "\n" + `{"text":"api_key = \"` + key + `\""}`, `{"summary":"it is ` + gone + `."}` + "\n" + `{"text":"api_key = \"` + gone + `\""}`},
		{`{"api_key":"` + key + `"}` + "\n" + `{"data":{"` + key + `":"\u007a` + key[1:] + `"}}`, `{"api_key":"` + gone + `"}` + "\n" + `{"data":{"` + gone + `":"` + gone + `"}}`},
		{`{"api_key":"` + key + `"}` + "\n" + `{"broken ` + key, `{"api_key":"` + gone + `"}` + "\n" + `{"broken ` + gone},
		{`{"api_key":"` + key + `"}` + "\n" + `["z%58` + key[2:] + `", "` + strings.ToLower(key) + `"]`, `{"api_key":"` + gone + `"}` + "\n" + `["` + gone + `", "` + strings.ToLower(key) + `"]`},
		{`{"text":"redis://:4711471147114@cache/0"}` + "\n" + `[4711471147114]`, `{"text":"redis://:[redacted:url-password-1]@cache/0"}` + "\n" + `[0]`},
		{`{"text":"db://a:x9k2@h x9k2 x9k2z"}` + "\n" + `["x9k2"]`, `{"text":"db://a:[redacted:url-password-1]@h [redacted:url-password-1] x9k2z"}` + "\n" + `["[redacted:url-password-1]"]`},
		{`{"text":"db://a:20264@h"}` + "\n" + `[20264]`, `{"text":"db://a:[redacted:url-password-1]@h"}` + "\n" + `[20264]`},
		{`["x =3D ghp=5FR4nd0mT0k3n", "y =3D ghp=5FR4nd0mT0k4n"]`, `["x =3D [redacted:key-cut-short-1]", "y =3D [redacted:key-cut-short-2]"]`},
		{`["see ghp=5FR4nd0mT0k3n", "a=3Db"]`, `["see [redacted:key-cut-short-1]", "a=3Db"]`}, // one text has the sign for the line
		{`["see Z2hwX1I0bmQwbVQwazNuVjRsdTNGMFI="]`, `["see [redacted:key-cut-short-1]"]`},
		{`["api_key=` + key + `", "…` + key[4:13] + `…"]`, `["api_key=` + gone + `", "…` + gone + `…"]`},
	} {
		if got := string(redacted(mustNew(Options{}), []byte(c.in))); got != c.want {
			t.Errorf("%s\nbecomes %s\nwant    %s", c.in, got, c.want)
		}
	}
}

// TestCountedOnce: what is not looked into is counted once, however many passes there are.
func TestCountedOnce(t *testing.T) {
	in := `{"content":[{"type":"image","data":"` + pixel + `","mimeType":"image/png"}],"thinkingSignature":"abc"}` + "\n" +
		`{"text":"` + pat + `"}` + "\n" + `{"content":[{"type":"image","data":"` + pixel + `"},{"text":"x` + pat + `y"}]}` + "\n"
	var tally Tally
	from := io.Reader(strings.NewReader(in))
	for pass := range mustNew(Options{}).Passes(&tally) {
		var to bytes.Buffer
		must.Do(pass(&to, from))
		from = &to
	}
	if found := tally.Found(); tally.Images != 2 || tally.Stripped != 1 || len(found) != 1 || found[0].Places != 2 || found[0].Values != 1 {
		t.Errorf("%d images, %d sealed, %+v", tally.Images, tally.Stripped, found)
	}
}

// TestCutShort: the beginning of a key suffices to recognize it, and the host of a service
// needs no dot.
func TestCutShort(t *testing.T) {
	r := mustNew(Options{})
	for in, want := range map[string]string{
		"sk-ant-api03-Ab3dEf": "[redacted:key-cut-short-1]",
		"key sk-proj-Q9zT...": "key [redacted:key-cut-short-1]...",
		"ghp_R4nd0m":          "[redacted:key-cut-short-1]",
		"AKIAQ3EG":            "[redacted:key-cut-short-1]",
		pat:                   "[redacted:github-pat-1]",
		"sk-ant-... or ghp_[A-Za-z0-9]{36}, ghp_your_token": "",
		"xghp_R4nd0m": "x[redacted:key-cut-short-1]",
		"postgres://app:s3cretpw@localhost:5432/db":      "postgres://app:[redacted:url-password-1]@localhost:5432/db",
		"amqp://app:p@ss:w0rd@mq":                        "amqp://app:[redacted:url-password-1]@mq",
		"https://mara:Tr0ub4dor@git.corp.org/x":          "https://mara:[redacted:url-password-1]@git.corp.org/x",
		"https://u:${PASSWORD}@db https://u:password@db": "",
		"postgres://test:test@localhost/test":            "",
		"https://host:8080/x@y and http://[::1]:80/@x":   "",
		"ssh://git@host:22/x https://site/a:b@c":         "",
	} {
		if want == "" {
			want = in
		}
		if got := string(redacted(r, []byte(in))); got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", in, got, want)
		}
	}
}

// TestPlanted: of sessions with secrets that one entry shows for what they are, and others
// repeat in many spellings, none is left in any of them: 300, or 2,000 where whole matrices
// are asked for.
func TestPlanted(t *testing.T) {
	r := mustNew(Options{})
	s := r.NewScanner()
	rnd := rand.New(rand.NewPCG(17, 1))
	sessions := corpus.Pick(150, 2000)
	var bases [40][]byte // each is planted in again, over and over
	for n := range bases {
		bases[n] = gen.Session(gen.Shape{
			Seed: uint64(n), Entries: 10, Text: 60, MaxText: 200, Tools: 0.6, CompactEvery: 5,
			Bash: 0.2, Labels: 0.2, Custom: 0.2, Edits: 0.1, Version: 3 - n%20/19,
		})
	}
	for n := range sessions {
		var secrets []string
		for range 1 + rnd.IntN(2) {
			secrets = append(secrets, plainSecret(rnd, s))
		}
		in := plant(rnd, bases[n%len(bases)], secrets)
		out := redacted(r, in)
		for _, text := range readings(out) {
			for _, secret := range secrets {
				if value := secret[strings.IndexByte(secret, '\x00')+1:]; strings.Contains(text, value[:strings.IndexByte(value, '\x00')]) {
					t.Fatalf("session %d: %q is left in %.300q\nof %s", n, secret, text, in)
				}
			}
		}
	}
}

// plainSecret is one as it shows itself: what comes before it, itself, and what comes
// after it, between NULs.
func plainSecret(rnd *rand.Rand, s *Scanner) string {
	word := func(n int) string {
		const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[rnd.IntN(len(letters))]
		}
		return string(b)
	}
	for {
		before, value, after := "", word(10+rnd.IntN(30)), ""
		switch rnd.IntN(7) {
		case 0:
			before, after = "api_key = \"", "\""
		case 1:
			before = "export DEPLOY_TOKEN="
		case 2:
			before, after = "postgres://app:", "@localhost:5432/db"
		case 3:
			value = "ghp_" + word(36)
		case 4:
			value = "sk-ant-api03-" + word(4+rnd.IntN(20))
		case 5:
			before, after = "{\"client_secret\": \"", "\"}"
		case 6:
			before, after = "password: '", "'"
		}
		for _, hit := range s.Find([]byte(before + value + after)) {
			if hit.Start == len(before) && hit.End == len(before)+len(value) {
				return before + "\x00" + value + "\x00" + after
			}
		}
	}
}

// plant puts each secret as it shows itself into one text of a session, and by itself
// into others.
func plant(rnd *rand.Rand, session []byte, secrets []string) []byte {
	lines := bytes.Split(bytes.TrimSuffix(session, []byte("\n")), []byte("\n"))
	type text struct{ line, at int }
	var texts []text // where a text ends
	for n, line := range lines {
		for _, at := range endOfText.FindAllIndex(line, -1) {
			texts = append(texts, text{n, at[1] - 1})
		}
	}
	more := map[text]string{}
	put := func(s string) { more[texts[rnd.IntN(len(texts))]] += " " + s + " " }
	for _, secret := range secrets {
		parts := strings.Split(secret, "\x00")
		put(quoted(parts[0] + parts[1] + parts[2]))
		for range 1 + rnd.IntN(4) {
			put(spell(rnd, parts[1]))
		}
	}
	var out []byte
	for n, line := range lines {
		done := 0
		for at, c := range line {
			if add, ok := more[text{n, at}]; ok && c == '"' {
				out = append(append(out, line[done:at]...), add...)
				done = at
			}
		}
		out = append(append(out, line[done:]...), '\n')
	}
	return out
}

// endOfText finds strings that may hold any text.
var endOfText = regexp.MustCompile(`"(?:text|content|summary|thinking|command|output|label|path|errorMessage)":"(?:[^"\\]|\\.)*"`)

// quoted is a text as it stands in a JSON string.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b[1 : len(b)-1])
}

// spell writes a text in one of the spellings that are looked into, for a JSON string.
func spell(rnd *rand.Rand, text string) string {
	at := rnd.IntN(len(text))
	head, c, tail := text[:at], text[at], text[at+1:]
	switch rnd.IntN(8) {
	case 0:
		return fmt.Sprintf(`%s\u%04x%s`, head, c, tail)
	case 1:
		return fmt.Sprintf(`%s\\u%04x%s`, head, c, tail) // quoted again
	case 2:
		return fmt.Sprintf(`%s%%%02X%s`, head, c, tail)
	case 3:
		return fmt.Sprintf(`%s&#%d;%s`, head, c, tail)
	case 4:
		return fmt.Sprintf(`%s&#x%x;%s`, head, c, tail)
	case 5:
		return fmt.Sprintf("%s%c\u200b%s", head, c, tail)
	case 6:
		return fmt.Sprintf(`%s%c\u001b[0m%s`, head, c, tail)
	}
	return "x" + text + "y"
}

// readings are the lines of a session, as they are spelled and with escapes read again
// and again, each kind by a library of its own.
func readings(session []byte) (all []string) {
	for line := range strings.Lines(string(session)) {
		for range 4 {
			all = append(all, line)
			line = unicodeEscape.ReplaceAllStringFunc(line, func(s string) string {
				n, _ := strconv.ParseUint(s[2:], 16, 32)
				return string(rune(n))
			})
			line = hidden.ReplaceAllString(line, "")
			line = html.UnescapeString(line)
			line = percent.ReplaceAllStringFunc(line, func(s string) string { c, _ := url.PathUnescape(s); return c })
		}
	}
	return all
}

var (
	unicodeEscape = regexp.MustCompile(`\\u[0-9a-fA-F]{4}`)
	hidden        = regexp.MustCompile("\u200b|\x1b\\[[0-9;]*m")
	percent       = regexp.MustCompile(`%[0-7][0-9A-Fa-f]`)
)
