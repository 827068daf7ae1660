package labelled

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"html"
	"strings"
)

// A half is one of the two halves of the kinds, layouts and wrappings. Rules are developed on one half; the
// other half is only measured.
type half int

const (
	developed half = iota
	heldOut
)

// halfOf returns the half of a kind, layout or wrapping, by its name: it never changes.
func halfOf(name string) half {
	h := fnv.New32a()
	h.Write([]byte(name))
	return half(h.Sum32() >> 7 & 1)
}

// in returns the patterns of a half.
func in(h half, all []pattern) (some []pattern) {
	for _, p := range all {
		if halfOf(p.name()) == h {
			some = append(some, p)
		}
	}
	return some
}

// pattern is a name and a form.
type pattern [2]string

func (p pattern) name() string { return p[0] }
func (p pattern) form() string { return p[1] }

// A plain is a kind of harmless text.
type plain struct {
	Kind  string
	Forms []string
}

// styled returns a name of several words in every style that a layout may ask for.
func styled(words string) map[string]string {
	all := strings.Fields(words)
	camel, pascal := "", ""
	for k, w := range all {
		title := strings.ToUpper(w[:1]) + w[1:]
		if w[0] >= 0x80 {
			title = w
		}
		pascal += title
		if k == 0 {
			title = w
		}
		camel += title
	}
	return map[string]string{
		"$NAME": strings.ToUpper(strings.Join(all, "_")), "$snake": strings.Join(all, "_"), "$camel": camel,
		"$Pascal": pascal, "$kebab": strings.Join(all, "-"), "$words": words, "$dots": strings.Join(all, "."),
	}
}

// lay writes a name and a value in a layout. Its other values are harmless.
func (m maker) lay(layout, name, value string) string {
	var pairs []string
	for style, text := range styled(name) {
		pairs = append(pairs, style, text)
	}
	pairs = append(pairs, "$V", value, "$v", base64.StdEncoding.EncodeToString([]byte(value)), "$w", pick(m, words),
		"$x", pick(m, words), "$d", m.text(digits, 2), "$pad", strings.Repeat(" ", max(2, 24-len(styled(name)["$NAME"]))))
	return strings.NewReplacer(pairs...).Replace(layout)
}

// wrap puts a text into what surrounds texts in sessions.
func wrap(how, text string) string {
	each := func(with string) string {
		return with + strings.ReplaceAll(text, "\n", "\n"+with)
	}
	switch how {
	case "diff":
		return "@@ -1,3 +1,4 @@\n" + each("+")
	case "diff removed":
		return each("-  ")
	case "quotation":
		return each("> ")
	case "indented":
		return each("        ")
	case "fence":
		return "It says:\n```\n" + text + "\n```\nDone."
	case "numbered":
		var b strings.Builder
		for n, line := range strings.Split(text, "\n") {
			fmt.Fprintf(&b, "%6d\t%s\n", n+7, line)
		}
		return b.String()
	case "arrows": // as agents number lines
		var b strings.Builder
		for n, line := range strings.Split(text, "\n") {
			fmt.Fprintf(&b, "%6d→%s\n", n+7, line)
		}
		return b.String()
	case "grep":
		return each("conf/app.txt:12:")
	case "log":
		return each("2026-03-04T05:06:07.123Z web-1 | ")
	case "crlf":
		return strings.ReplaceAll(text, "\n", "\r\n")
	case "json":
		return `{"stdout":"` + quotedJSON(text) + `","exit":0}`
	case "html":
		return "<pre>" + html.EscapeString(text) + "</pre>"
	case "comment":
		return each("# ")
	case "slashes":
		return each("// ")
	case "prompt":
		return "$ cat it\n" + text + "\n$ "
	case "box":
		return "│ " + strings.ReplaceAll(text, "\n", " │\n│ ") + " │"
	case "colours":
		return "\x1b[32m" + strings.ReplaceAll(text, "\n", "\x1b[0m\n\x1b[32m") + "\x1b[0m"
	case "repr":
		return "b'" + strings.ReplaceAll(strings.ReplaceAll(text, `'`, `\'`), "\n", `\n`) + "'"
	}
	return text
}

// wrappings are the names of what wrap knows.
var wrappings = []pattern{
	{"none"}, {"diff"}, {"diff removed"}, {"quotation"}, {"indented"}, {"fence"}, {"numbered"}, {"arrows"}, {"grep"}, {"log"},
	{"crlf"}, {"json"}, {"html"}, {"comment"}, {"slashes"}, {"prompt"}, {"box"}, {"colours"}, {"repr"},
}

// Grammar returns n texts of a half for each of its sorts: named secrets in layouts, tokens standing alone, and
// tokens that are cut or split.
func Grammar(seed uint64, h half, n int) (all []Case) {
	m := newMaker(seed)
	kinds, layouts, wraps := in(h, namedKinds), in(h, namedLayouts), in(h, wrappings)
	for range n {
		k, l, w := pick(m, kinds), pick(m, layouts), pick(m, wraps)
		value, _, _ := m.fill(k.form())
		secrets := []string{value}
		if strings.Contains(l.form(), "$v") {
			secrets = []string{base64.StdEncoding.EncodeToString([]byte(value))}
		}
		text := wrap(w.name(), m.lay(l.form(), k.name(), value))
		if w.name() == "html" {
			secrets[0] = html.EscapeString(secrets[0])
		}
		all = append(all, Case{"grammar", k.name(), l.name(), w.name(), "text", text, secrets, Named})
	}
	tokens, around := in(h, append(prefixedKinds, moreTokens...)), in(h, loneLayouts)
	for range n {
		k, l, w := pick(m, tokens), pick(m, around), pick(m, wraps)
		value, from, _ := m.fill(k.form())
		all = append(all, Case{"token", k.name(), l.name(), w.name(), "text", wrap(w.name(), m.lay(l.form(), "upload", value)),
			[]string{value[from:]}, Alone})
	}
	for range n {
		k, j := pick(m, tokens), pick(m, in(h, joints))
		value, from, _ := m.fill(k.form())
		rest := len(value) - from
		if rest < 2*Window+4 {
			continue
		}
		cut := from + Window + m.IntN(rest-2*Window)
		switch m.IntN(3) {
		case 0:
			all = append(all, Case{"part", k.name(), "cut", "cut", "text", "it begins with " + value[:cut+4] + "… and so on",
				[]string{value[from : cut+4]}, CutOrSplit})
		case 1:
			all = append(all, Case{"part", k.name(), j.name(), "split", "text", "say \"" + value[:cut] + j.form() + value[cut:] + "\"",
				[]string{value[from:cut], value[cut:]}, CutOrSplit})
		default:
			all = append(all, Case{"part", k.name(), "elsewhere", "cut", "text", "use " + value + "\nlater …" + value[cut:] + " again",
				[]string{value[from:]}, CutOrSplit})
		}
	}
	return all
}

// NoSecretsOf returns n harmless texts of a half.
func NoSecretsOf(seed uint64, h half, n int) (all []Harmless) {
	m := newMaker(seed + 1)
	var kinds []plain
	for _, p := range moreHarmless {
		for _, form := range p.Forms {
			if halfOf(form) == h {
				kinds = append(kinds, plain{p.Kind, []string{form}})
			}
		}
	}
	wraps := in(h, wrappings)
	for range n {
		p := pick(m, kinds)
		all = append(all, Harmless{p.Kind, wrap(pick(m, wraps).name(), m.harmless(p.Forms[0]))})
	}
	return all
}
