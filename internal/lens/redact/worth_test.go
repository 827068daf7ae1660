package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// mixed are pieces of texts in many scripts, with names, values and signs around them.
var mixed = []string{
	"пароль", "密码", "│", "┌──", "😀", "é", "—", "“", "”", ": ", "=", " ", "\n", "token", "password", "xK9mQ2vTq8Zr2LmX", "секрет", "トークン",
	"👩\u200d💻", "|", "\"", "→", "№", "key", "ghp_7TNOqGIYdkrhXz", "日本語", "…", "`", "{", "a1B2c3D4e5F6g7H8", "?", "\t", "  ", "value", "name:", " as ",
	`\e`, `\n`, `\b`, `\u`, `\x6b`, `\"`, "to", "ken", "pass", "wd", "%6b", "&amp;", "\x1b[1m", "<", ">", "/home/mara/x", "joe@corp.org", "you", "\u00ad", "ke", "y_",
}

func mixture(rnd *rand.Rand) string {
	var b strings.Builder
	for range 2 + rnd.IntN(14) {
		b.WriteString(mixed[rnd.IntN(len(mixed))])
	}
	return b.String()
}

// TestCharactersStayWhole: no replacement begins or ends within a character.
func TestCharactersStayWhole(t *testing.T) {
	r, rnd := mustNew(Options{}), rand.New(rand.NewPCG(1, 2))
	for range corpus.Pick(3000, 60000) {
		line := must.Get(json.Marshal(map[string]string{"content": mixture(rnd)}))
		if out := redacted(r, line); !utf8.Valid(out) {
			t.Fatalf("%q\nbecomes %q", line, out)
		}
	}
}

// TestWorth: strings that are not searched with their escapes resolved have no secret that only shows then.
func TestWorth(t *testing.T) {
	r, rnd := mustNew(Options{}), rand.New(rand.NewPCG(3, 4))
	skipped := 0
	check := func(line []byte) {
		x, y := r.NewRun(), r.NewRun()
		defer x.Close()
		defer y.Close()
		y.all = true
		is, _ := x.line(line)
		is = bytes.Clone(is)
		if want, _ := y.line(line); !bytes.Equal(is, want) {
			t.Fatalf("%.600q\nbecomes %.600q\nwant    %.600q", line, is, want)
		}
	}
	for k := range corpus.Pick(4000, 60000) {
		text := mixture(rnd)
		if k%2 == 0 {
			text = fmt.Sprintf("%q", text) // quoted again
		}
		check(must.Get(json.Marshal(map[string]string{"content": text})))
	}
	for _, session := range append(corpus.Own(t), corpus.Shared(t)...) {
		s := r.NewScanner()
		var w walker
		for line := range bytes.Lines(session.Data[:min(len(session.Data), corpus.Pick(1<<18, 1<<22))]) {
			line = bytes.TrimSpace(line)
			check(line)
			if s.quoted = -1; w.walk(line) {
				for _, token := range w.tokens {
					if token.escaped && !s.worth(line[token.start:token.end], -1) {
						skipped++
					}
				}
			}
		}
	}
	if skipped < 50 { // the project's own sessions have more
		t.Errorf("only %d strings were not searched", skipped)
	}
}
