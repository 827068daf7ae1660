package redact

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"ctxtool/internal/test/corpus"
)

// hostile are pieces of texts that could take long: they begin many matches, look far ahead, or are
// decoded again and again.
var hostile = []string{
	"curl ", "-----BEGIN PRIVATE KEY", "-----END PRIVATE KEY-----", "ey", "key=key", "a@", "/home/", "https://a", "data: ", `\u0041`, "%25", "&amp;",
	"sk-ant-", "sk-ant-x1Y2z3W4v5\n", "AKIA", "AKIAQ3EGRJ2XKZ7VTBNM", "MHcCAQEEI", "MIIEpAIBAAKCAQEA\n", "password=", "password ", "token: \"", "secret|", "api_key,'",
	"Cookie: ", "cookie=a=", "echo x | ", "docker login ", "gh secret set ", "mysql -", "$6$", "$ANSIBLE_VAULT;1.1;AES256 0", ":5432:", "x:y@tcp(", "discord ", "bot M",
	"mnemonic abcd ", "abcd ", "aGVsbG8gd29ybGQgaGVsbG8g", "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8g\n", "68656c6c6f", "=3D", "=\n",
	"^[[", "^[[31m", "\x1b[", "telegram 1", "2/1", "pat", "?sig=", "Authorization: Bearer ", "auth\":\"", "_auth=", "client-key-data: A", "://a:b", "[redacted:", "user-1",
	"\"", "\\", `\"`, `\\`, "'", "%", "=?", "=?utf-8?q?", "\x1b[31mkey\x1b[0m=", "0123456789abcdef", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/",
	"cookie: 日本語", "password is “é", "key=x1\u200b", "/users/a", `c:\users\ab c`, "--home-a-", "a@b.co:", "://a:b@", "MII???IBAAKC",
	"115,", "0x73, ", "73 ", `115,\n`, `1\\`,
}

// hostilePieces are hostile, each alone and with the next, and what the rules are made of: their
// keywords in assignments, prefixes, heads and examples, alone and with the next.
func hostilePieces() (all []string) {
	r := mustNew(Options{})
	from := slices.Clone(hostile)
	for _, x := range r.rules {
		for _, word := range x.Keywords[:min(len(x.Keywords), 2)] {
			from = append(from, word, word+"='", word+" x1Y2z3W4v5\n")
		}
		from = append(append(from, x.Is...), x.Not...)
	}
	for _, x := range r.tokens {
		from = append(from, x.Prefix, x.Is+"\n")
	}
	from = append(from, r.heads...)
	slices.Sort(from)
	from = slices.Compact(from)
	for k, piece := range from {
		if all = append(all, piece); k%8 == 0 {
			all = append(all, piece+from[(k*7+1)%len(from)])
		}
	}
	return all
}

// mostTimes is how often a text is read at most, by all rules together.
const mostTimes = 128

// linear fails a test if expressions read more than in proportion to the text, which is pieces. A
// rule may join in from some size on, and what was judged once is not read again: what grows too
// much must do so at the next size too, each text new to its scanner.
func linear(t *testing.T, s *Scanner, piece string) {
	t.Helper()
	read := func(s *Scanner, size int) int {
		before := s.read
		s.Find(bytes.Repeat([]byte(piece), size/len(piece)+1))
		return s.read - before
	}
	size, slack := corpus.Pick(1<<12, 1<<13), corpus.Pick(1<<11, 1<<12)
	tooMuch := func(size, few, many int) bool { return many > 5*few+slack || many > mostTimes*4*size }
	if !tooMuch(size, read(s, size), read(s, 4*size)) {
		return
	}
	size *= 4
	if few, many := read(s.r.NewScanner(), size), read(s.r.NewScanner(), 4*size); tooMuch(size, few, many) {
		t.Errorf("%q: %d bytes read of a text of %d, %d of one 4 times as long", piece, few, size, many)
	}
}

func TestLinear(t *testing.T) {
	pieces := hostilePieces()
	if len(pieces) < 200 {
		t.Fatalf("only %d texts", len(pieces))
	}
	for k := range 2 { // at once
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			t.Parallel()
			s := mustNew(Options{}).NewScanner()
			for at := k; at < len(pieces); at += 2 {
				linear(t, s, pieces[at])
			}
		})
	}
}

// TestLinearPatterns: rules that the user gives may look far ahead from many places.
func TestLinearPatterns(t *testing.T) {
	s := mustNew(Options{Patterns: []byte(`
[[rules]]
id = "far"
regex = 'ab[a-z]*[0-9]{3}'
[[rules]]
id = "counted"
regex = 'cd[^\n]{0,300}[0-9]{3}x'
`)}).NewScanner()
	for _, piece := range []string{"ab", "abc ab", "cd", "cd12"} {
		linear(t, s, piece)
	}
}

// FuzzLinear: no piece that is repeated makes expressions read more than in proportion.
func FuzzLinear(f *testing.F) {
	for _, piece := range hostile {
		f.Add(piece)
	}
	s := mustNew(Options{}).NewScanner()
	f.Fuzz(func(t *testing.T, piece string) {
		if piece != "" && len(piece) < 1<<10 {
			linear(t, s, piece)
		}
	})
}

// BenchmarkHostile searches texts of a megabyte.
func BenchmarkHostile(b *testing.B) {
	s := mustNew(Options{}).NewScanner()
	for _, piece := range hostilePieces() {
		text := bytes.Repeat([]byte(piece), 1<<20/len(piece))
		b.Run(fmt.Sprintf("%.40q", piece), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Find(text)
			}
		})
	}
}
