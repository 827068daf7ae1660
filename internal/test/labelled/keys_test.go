package labelled

import (
	"fmt"
	"strings"
)

// keys are the cases of a private key: whole, without its end lines, and as files, diffs and
// source code show it.
func (m maker) keys(kind pattern) (all []Case) {
	n := 1200
	if strings.HasPrefix(kind.name(), "EC") {
		n = 152
	}
	body := strings.Split(lines(kind.form()+m.text(alphabets["b"], n)+"==", 64), "\n")
	first, last := "-----BEGIN "+kind.name()+"-----", "-----END "+kind.name()+"-----"
	whole := append(append([]string{first}, body...), last)
	add := func(spelling string, lines []string, secrets []string) {
		for _, s := range []pattern{
			{"lines", "\n"}, {"indented", "\n    "}, {"diff", "\n+"}, {"quoted", "\n> "}, {"crlf", "\r\n"}, {"escaped", `\n`},
			{"concatenated", `\n" +` + "\n  \""}, {"numbered", "\n     7\t"}, {"one line", " "},
		} {
			text := "cat key\n" + s.form() + strings.Join(lines, s.form()) + s.form() + "\n$ ls"
			all = append(all, Case{"pem", kind.name(), s.name(), spelling, "text", text, secrets, PEM})
		}
	}
	add("whole", whole, body)
	add("without its end", whole[:len(whole)-1], body)
	add("without its beginning", whole[1:], body)
	add("without both", body, body)
	if len(body) > 6 {
		add("cut in the middle", append(append([]string{}, whole[:5]...), "..."), body[:4])
		add("its last lines", whole[len(whole)-5:], body[len(body)-4:])
		add("with an omission", append(append(append([]string{}, whole[:4]...), fmt.Sprintf("[%d lines]", len(body)-6)), whole[len(whole)-4:]...), append(append([]string{}, body[:3]...), body[len(body)-3:]...))
	}
	return all
}
