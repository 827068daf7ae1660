package labelled

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime/quotedprintable"
	"net/url"
	"strings"
)

// Set returns the cases of a seed, also of the rules of a configuration in gitleaks' format.
func Set(seed uint64, config []byte) ([]Case, error) {
	m := newMaker(seed)
	all, err := newMaker(seed).ofRules(config)
	if err != nil {
		return nil, err
	}
	for _, p := range prefixedKinds {
		all = append(all, m.tokens(p)...)
	}
	for _, p := range contextKinds {
		all = append(all, m.known(p, "named")...)
	}
	for _, p := range fileKinds {
		all = append(all, m.known(p, "file")...)
	}
	for _, p := range valueForms {
		for _, s := range passwordShapes {
			for range 2 {
				value, _, _ := m.fill(p.form())
				all = append(all, Case{"password", p.name(), s.name(), "whole", "text", fmt.Sprintf(s.form(), value), []string{value}, Whole})
			}
		}
	}
	for range 5 {
		all = append(all, m.mnemonic())
		for _, kind := range keyKinds {
			all = append(all, m.keys(kind)...)
		}
	}
	return append(all, m.placed()...), nil
}

// tokens are the cases of a token with a prefix.
func (m maker) tokens(p pattern) (all []Case) {
	add := func(shape, spelling, text, goal string, secrets ...string) {
		all = append(all, Case{"prefix", p.name(), shape, spelling, "text", text, secrets, goal})
	}
	for _, s := range tokenShapes {
		token, from, _ := m.fill(p.form())
		add(s.name(), "whole", fmt.Sprintf(s.form(), token), Prefixed, token[from:])
	}
	for _, b := range before {
		token, from, _ := m.fill(p.form())
		add("before", "whole", "x "+b+token+" y", Prefixed, token[from:])
	}
	for _, a := range after {
		token, from, _ := m.fill(p.form())
		add("after", "whole", "x "+token+a+"y", Prefixed, token[from:])
	}
	for n := 12; n < 112; n++ {
		token, from, _ := m.fill(p.form())
		cut := from + n
		if cut >= len(token) {
			break
		}
		switch n % 4 {
		case 0:
			add("prose", "cut at the end", "it begins "+token[:cut]+"… and so on", Parts, token[from:cut])
		case 1:
			add("environment", "cut at the end", "SITE_API_KEY="+token[:cut], Parts, token[from:cut])
		case 2:
			add("masked", "masked in part", "SITE_API_KEY="+token[:cut]+"****"+token[len(token)-3:], Parts, token[from:cut])
		default:
			if rest := token[cut-7:]; len(rest) >= Window {
				add("environment", "cut at the front", "SITE_API_KEY="+rest, Parts, rest)
			}
		}
	}
	m.split(p, add)
	m.encoded(p, add)
	token, from, _ := m.fill(p.form())
	half := (from + len(token)) / 2
	add("elsewhere", "cut at the front", "key "+token+"\nand …"+token[half:], Parts, token[from:])
	add("elsewhere", "cut at both ends", "key "+token+"\nand …"+token[from+1:half]+"…", Parts, token[from:])
	return all
}

func (m maker) split(p pattern, add func(shape, spelling, text, goal string, secrets ...string)) {
	for _, j := range joints {
		for _, far := range []bool{false, true} {
			token, from, _ := m.fill(p.form())
			cut := from + 12
			if far {
				cut = (from + len(token)) / 2
			}
			if len(token)-cut < Window {
				continue
			}
			add(j.name(), "split", "key = \""+token[:cut]+j.form()+token[cut:]+"\"", Parts, token[from:cut], token[cut:])
		}
	}
	token, from, _ := m.fill(p.form())
	add("colour", "with colour codes", token[:from+4]+"\x1b[31m"+token[from+4:from+9]+"\x1b[0m"+token[from+9:], Parts, token[from+9:])
	add("caret", "with colour codes", token[:from+4]+"^[[31m"+token[from+4:from+9]+"^[[0m"+token[from+9:], Parts, token[from+9:])
}

func (m maker) encoded(p pattern, add func(shape, spelling, text, goal string, secrets ...string)) {
	for _, form := range []string{"%s", "SITE_API_KEY=%s", "{\"auth\":\"%s\"}\n"} {
		token, from, _ := m.fill(p.form())
		plain := fmt.Sprintf(form, token)
		for _, e := range []struct{ name, text string }{
			{"base64", base64.StdEncoding.EncodeToString([]byte(plain))},
			{"base64 url", base64.RawURLEncoding.EncodeToString([]byte(plain))},
			{"base64 lines", lines(base64.StdEncoding.EncodeToString([]byte(plain)), 76)},
			{"hex", hex.EncodeToString([]byte(plain))},
			{"hex upper", strings.ToUpper(hex.EncodeToString([]byte(plain)))},
		} {
			at := (strings.Index(plain, token) + from) * len(e.text) / len(plain)
			add("in "+e.name, "encoded", "data: "+e.text+"\n", Encoded, strings.Fields(e.text[at:])...)
		}
		quoted := printable(plain + strings.Repeat(" and more", 8))
		at := max(0, strings.Index(quoted, token[:min(from, 3)]))
		add("in quoted-printable", "encoded", quoted, Encoded, strings.FieldsFunc(quoted[at+from:at+len(token)], func(r rune) bool { return r == '=' || r == '\n' || r == '\r' })...)
		add("in json in json", "encoded", quotedJSON(quotedJSON(plain)), Encoded, token[from:])
		add("in percent", "encoded", "x="+url.QueryEscape(plain), Encoded, token[from:])
	}
}

// known are the cases of a secret with the words that name it.
func (m maker) known(p pattern, group string) (all []Case) {
	for _, s := range contextShapes {
		for range 3 {
			text, from, to := m.fill(p.form())
			secrets := strings.Split(text[from:to], "\n")
			if s.name() == "escaped" {
				text = quotedJSON(text)
			}
			all = append(all, Case{group, p.name(), s.name(), "whole", "text", fmt.Sprintf(s.form(), text), secrets, Whole})
		}
	}
	return all
}

// mnemonic is a seed phrase by words such as those of BIP 39.
func (m maker) mnemonic() Case {
	var words []string
	for range 12 {
		words = append(words, pick(m, seedWords))
	}
	phrase := strings.Join(words, " ")
	return Case{"named", "mnemonic", "alone", "whole", "text", pick(m, []string{"mnemonic: ", "seed phrase: ", "MNEMONIC="}) + `"` + phrase + `"`, []string{phrase}, Whole}
}

// placed are secrets in each place of a session.
func (m maker) placed() (all []Case) {
	for _, at := range places {
		for _, kind := range []string{"prefix", "password"} {
			for range 8 {
				var text, secret string
				if kind == "prefix" {
					p := pick(m, prefixedKinds)
					token, from, _ := m.fill(p.form())
					text, secret = token, token[from:]
				} else {
					secret = m.text(alphabets["an"], 14)
					text = "DB_PASSWORD=" + secret
				}
				line := fmt.Sprintf(at.form(), quotedJSON(text))
				all = append(all, Case{kind, "any", "in a session", "whole", at.name(), line + "\n", []string{secret}, Whole})
			}
		}
	}
	return all
}

func quotedJSON(text string) string {
	b, _ := json.Marshal(text) // cannot fail for a string
	return string(b[1 : len(b)-1])
}

func lines(text string, n int) string {
	var b strings.Builder
	for len(text) > n {
		b.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	return b.String() + text
}

func printable(text string) string {
	var b strings.Builder
	w := quotedprintable.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}
