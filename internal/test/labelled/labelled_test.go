// Package labelled makes texts with secrets, labelled by what must not be left of them, and texts
// without any, and measures what share of the secrets redaction removes, and what share of the others it
// changes. All values are random; the formats are those that the named sources document.
package labelled

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// A Case is a text with a secret.
type Case struct {
	Group    string   // what kind of secret: prefix, named, password, pem, file, rule
	Kind     string   // the provider, or the kind of password
	Shape    string   // what surrounds it
	Spelling string   // whole, cut, split, encoded and so on
	Place    string   // where in a session it is
	Text     string   // a text, or lines of a session if Place is not "text"
	Secrets  []string // no Window bytes in a row of any of them may be left
	Goal     string
}

// The goals of redaction: classes of cases with a minimum share.
const (
	Prefixed = "whole, known prefix"
	Whole    = "whole, all"
	PEM      = "private keys"
	Parts    = "cut or split"
	Encoded  = "encoded"

	// of the grammar
	Named      = "named, in a layout"
	Alone      = "prefixed, standing alone"
	CutOrSplit = "prefixed, cut or split"
)

// Goals returns the classes of a case: a whole secret with a prefix is also one of all whole ones.
func (c *Case) Goals() []string {
	if c.Goal == Prefixed {
		return []string{Prefixed, Whole}
	}
	return []string{c.Goal}
}

// Window is how many bytes of a secret in a row must not be left.
const Window = 8

// placeholder is what redaction writes instead of a secret. Its name may be a prefix of the secret.
var placeholder = regexp.MustCompile(`\[redacted:[\w-]+\]`)

// Left reports whether out shows Window bytes in a row of one of the secrets.
func (c *Case) Left(out string) bool {
	out = placeholder.ReplaceAllString(out, "\x00")
	for _, s := range c.Secrets {
		n := min(Window, len(s))
		for at := 0; at+n <= len(s); at++ {
			if strings.Contains(out, s[at:at+n]) {
				return true
			}
		}
	}
	return false
}

// A Harmless is a text without a secret, of a kind.
type Harmless struct{ Kind, Text string }

// A maker makes random texts.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 34))} }

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

// alphabets are the sets of characters that forms name.
var alphabets = map[string]string{
	"an": lowers + uppers + digits,
	"al": lowers + digits,
	"AL": uppers + digits,
	"l":  lowers,
	"L":  lowers + uppers,
	"d":  digits,
	"h":  digits + "abcdef",
	"H":  digits + "ABCDEF",
	"b":  lowers + uppers + digits + "+/",
	"w":  lowers + uppers + digits + "-_",
	"U":  uppers + "234567",
	"s":  lowers + uppers + digits + "!@#%^*+?",
}

func (m maker) text(set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[m.IntN(len(set))]
	}
	return string(b)
}

// random finds the random parts of a form: {an36} is 36 characters of the alphabet an.
var random = regexp.MustCompile(`\{([A-Za-z]{1,2})(\d+)\}`)

// fill fills a form in. What is random extends from the first random part to the last.
func (m maker) fill(form string) (text string, from, to int) {
	var b strings.Builder
	done := 0
	for _, at := range random.FindAllStringSubmatchIndex(form, -1) {
		b.WriteString(form[done:at[0]])
		if done == 0 {
			from = b.Len()
		}
		n, _ := strconv.Atoi(form[at[4]:at[5]])
		b.WriteString(m.text(alphabets[form[at[2]:at[3]]], n))
		to, done = b.Len(), at[1]
	}
	b.WriteString(form[done:])
	return b.String(), from, to
}

func pick[T any](m maker, all []T) T { return all[m.IntN(len(all))] }
