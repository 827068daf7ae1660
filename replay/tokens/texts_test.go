package tokens

import (
	"math/rand/v2"
	"strings"
)

// scripts are texts to make others of, in eleven scripts and more.
var scripts = []string{
	"The quick brown fox's tail can't jump over the lazy dog; we'll see, they'd say I'm ISO-8859-1 or HTTPServer's camelCaseName.",
	"Съешь же ещё этих мягких французских булок, да выпей чаю. ПРИВЕТ Мир",
	"Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία. ΑΒΓ",
	"敏捷的棕色狐狸跳过了懒狗。中文文本没有空格，标点是全角的！",
	"いろはにほへと ちりぬるを。カタカナとひらがなと漢字ー々",
	"다람쥐 헌 쳇바퀴에 타고파. 키스의 고유조건은",
	"نص حكيم له سر قاطع وذو شأن عظيم ١٢٣٤ مكتوب",
	"דג סקרן שט בים מאוכזב ולפתע מצא חברה. שָׁלוֹם",
	"ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश १२३",
	"เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน ๔๕๖",
	"Ճանապարհին ქართული ენა ዩኒኮድ ᠮᠣᠩᠭᠣᠯ བོད་ཡིག ខ្មែរ தமிழ் తెలుగు",
	"😀👍🏽👩‍👩‍👧‍👦🇩🇪☃️✈ ⅷ½²Ⅻ ǅǈ ªº ʰʷ 𐗙 𝒳 ſſ 'ſ ß İı K",
}

// spices are put in between.
var spices = []string{
	" ", "  ", "\n", "\r\n", "\n\n", "\n  \n", "\t", " \t ", "\u00a0", "\u3000", "\u2028", "\u0085", "\v", "    ", "\r", "                    ",
	"'s", "'S", "'ſ", "'Re", "'LL", "'vE", "'m", "'D", "'t", "'", "''", "'l", "'r",
	"/", "//", "/\n/", "!\n", "...", "-----", "<|endoftext|>", "{\"a\":[1,2]}", "=>", "\x00", "\x7f", "\ufffd", "\ufeff", "\u200d", "\u0301", "e\u0301", "\u0301\u0301A",
	"1", "12", "123", "1234", "12345678", "3.14", "1e-9", "٣", "½",
	"A", "AB", "ABc", "aB", "aBC", "AbC", "a", "中A", "A中", "中Aa", "Aªb", "ǅ", "ǅa", "aǅ",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ZXlKaGJHY2lPaUpJVXpJMU5pSXNJblI1Y0NJNklrcFhWQ0o5",
	"func main() {\n\tfmt.Println(\"x\")\n}\n", "https://example.org/a/b?c=d&e=f#g", "replay/tokens/o200k.go:12:",
}

// madeText is a text of up to n parts: words and slices of scripts, spices, and
// characters of any number.
func madeText(r *rand.Rand, n int) string {
	var b strings.Builder
	script := []rune(scripts[r.IntN(len(scripts))])
	for range 1 + r.IntN(n) {
		switch r.IntN(8) {
		case 0, 1, 2:
			from := r.IntN(len(script))
			b.WriteString(string(script[from:min(len(script), from+1+r.IntN(12))]))
		case 3, 4, 5:
			b.WriteString(spices[r.IntN(len(spices))])
		case 6:
			script = []rune(scripts[r.IntN(len(scripts))])
		default:
			b.WriteRune(madeRune(r))
		}
	}
	return b.String()
}

// madeRune is a character of any number, more often a low one. Halves of
// surrogates are U+FFFD, as they are to readers.
func madeRune(r *rand.Rand) rune {
	limit := []int{0x80, 0x300, 0x3000, 0x11000, 0x20000, 0x110000}[r.IntN(6)]
	c := rune(r.IntN(limit))
	if c >= 0xd800 && c < 0xe000 {
		return '\ufffd'
	}
	return c
}
