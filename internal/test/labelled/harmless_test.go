package labelled

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

var hole = regexp.MustCompile(`<(word|ident|Ident|path|n)>`)

func (m maker) harmless(form string) string {
	form = hole.ReplaceAllStringFunc(form, func(h string) string {
		w := func() string { return pick(m, words) }
		title := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
		switch h {
		case "<word>":
			return w()
		case "<n>":
			return m.text(digits, 1+m.IntN(3))
		case "<path>":
			return fmt.Sprintf("src/%s/%s_%s.%s", w(), w(), w(), pick(m, []string{"go", "ts", "py", "json", "md"}))
		case "<Ident>":
			return title(w()) + title(w())
		}
		switch m.IntN(3) {
		case 0:
			return w() + "_" + w()
		case 1:
			return w() + title(w()) + title(w())
		}
		return w() + title(w())
	})
	text, _, _ := m.fill(form)
	return text
}

// NoSecrets returns harmless strings of a seed: at least n, as many of each kind.
func NoSecrets(seed uint64, n int) (all []Harmless) {
	m := newMaker(seed)
	kinds := len(harmlessKinds) + 1
	for _, p := range harmlessKinds {
		for k := range n/kinds + 1 {
			all = append(all, Harmless{p.Kind, m.harmless(p.Forms[k%len(p.Forms)])})
		}
	}
	for range n/kinds + 1 {
		var words []string
		for range 4 + m.IntN(20) {
			words = append(words, m.harmless("<word>"))
		}
		all = append(all, Harmless{"text in base64", base64.StdEncoding.EncodeToString([]byte(strings.Join(words, " ")))})
	}
	return all
}
