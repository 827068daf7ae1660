package redact

import (
	"strings"
	"testing"
)

// TestPhrases: the seed of a wallet is found by its words, in lists and lines of any kind; examples and sentences stay.
func TestPhrases(t *testing.T) {
	r := mustNew(Options{})
	const words = "zoo zone zero youth young yellow year wrong write wrist wrap worth"
	list := strings.Fields(words)
	for _, text := range []string{
		"mnemonic: \"" + words + "\"", "restored with\n" + words + "\nyesterday",
		"const m = '" + words + "';", "# seed words: [\"" + strings.Join(list, `", "`) + "\"]",
		"Recovery phrase:\n> " + strings.Join(list[:4], " ") + "\n> " + strings.Join(list[4:8], " ") + "\n> " + strings.Join(list[8:], " "),
		"Wallet\n1. " + strings.Join(list, "\n7. "),
		`const phrase = "` + strings.Join(list[:6], " ") + ` " +` + "\n  \"" + strings.Join(list[6:], " ") + `";`,
		"before it came letter advice cage absurd amount doctor acoustic avoid letter advice cage above and after", // its checksum is right
		"frase: gengiva digitar foguete tamborim feirante agachar faixa polvilho porta urubu glicose enjoar\nrede: a",
		"助记词\n枪 孩 况 银 棋 吊 央 萄 寻 马 歪 前\n好", "フレーズは次です。\nくしゃみ せっぱん ちゅうい むぎちゃ はいち けちらす いっせい いてん ないしょ びじゅつかん ようきゅう こぼれる\n以上",
	} {
		if left := r.Text(text); !strings.Contains(left, "[redacted:mnemonic-1]") {
			t.Errorf("%q stays %q", text, left)
		}
	}
	for _, text := range []string{
		"The recovery phrase is twelve words", "mnemonic: " + strings.Repeat("abandon ", 11) + "about",
		"wallet " + strings.Repeat("test ", 11) + "junk", "words like these are what people often use when they write about other things every day",
		"the phrase reports whether the word before the last one is a name in the list of words", "phrase: " + strings.Join(list[:11], " ") + ".",
	} {
		if left := r.Text(text); left != text {
			t.Errorf("%q changes to %q", text, left)
		}
	}
}

// TestLiterals: a value that source code writes in several literals, or in lines that a backslash continues, is judged
// as a whole.
func TestLiterals(t *testing.T) {
	r := mustNew(Options{})
	for text, parts := range map[string]string{
		"PASSWORD = (\n    \"lavande-fro\"\n    \"mage-reef-90\"\n)":                                        "lavande-fro mage-reef-90",
		"new StringBuilder(); rcon_password = new StringBuilder(\"monday-cof\").append(\"fee-anchor-65\");": "monday-cof fee-anchor-65",
		"$private_key = -join @(\"24f49a634d9b086e8be9c72eb\", \"ff3b75ecaf564a1ad3b4433\")":                "24f49a634d9b086e8be9c72eb ff3b75ecaf564a1ad3b4433",
		"     2\tPASSWORD = \"sakura-kamin\" \\\n     3\t  \"ari-spruce-50-hazel\"":                         "sakura-kamin ari-spruce-50-hazel",
		"export PRIVATE_KEY=SyeGNi5wK\\\nvZC07KL7cSpSS2ercg+i8v\\\nzCzUIltT6etI=\n":                         "SyeGNi5wK vZC07KL7cSpSS2ercg zCzUIltT6etI",
		"> api_secret: 19dfc03410ba41b5b9a0d4994d1\n> 616b60c4d9de4\n>":                                     "19dfc03410ba41b5b9a0d4994d1 616b60c4d9de4",
		"SET val = '73be6df25493' || 'bfabddef63d2962117aab7554021' WHERE name = 'hmac_secret'":             "73be6df25493 bfabddef63d2962117aab7554021",
	} {
		left := r.Text(text)
		for part := range strings.FieldsSeq(parts) {
			if strings.Contains(left, part) {
				t.Errorf("%q of %q stays", part, text)
			}
		}
	}
	for _, text := range []string{
		`password = "please enter " + "your password";`, `token = getToken("user-name", "pass-word-1");`,
		"commit: 19dfc03410ba41b5b9a0d4994d1\n> 616b60c4d9de4 is the next\n",
	} {
		if left := r.Text(text); left != text {
			t.Errorf("%q changes to %q", text, left)
		}
	}
}

// TestWithin: what a name belongs to says what its value is.
func TestWithin(t *testing.T) {
	r := mustNew(Options{})
	const hex = "4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c"
	for text, is := range map[string]bool{
		"'crypt' => [\n  'key' => '" + hex + "'\n]":     true,
		"[LongTermKey]\nKey=" + hex:                     true,
		"{\"cache\": {\"key\": \"" + hex + "\"}}":       false,
		"\"securityKeys\": {\"S2\": \"" + hex + "\"}":   true,
		"\"primaryKeys\": {\"users\": \"" + hex + "\"}": false,
		"\"password\": {\n  \"sensitive\": true,\n  \"type\": \"x\",\n  \"value\": \"" + "xK9mQ%2vTw8q" + "\"\n}": true,
		"\"password\": {\"type\": \"string\", \"minLength\": 8}":                                                  false,
		"Some(ClientSecret::new(\"" + hex + "\".to_string()))":                                                    true,
		"secret:create --name DEPLOY_KEY --value xK9mQ2vTw8q8Zr2LmX0v --type string":                              true,
		"Пароль #1: xqBmAiHYnCdyyjNGc87Y":                                                                         true,
		"protector:\n  823689-240204-186443-244355-912889-516700-883204-895678":                                   true,
		"network_key: [247, 44, 56, 36, 162, 213, 124, 51, 225, 145, 83, 140, 137, 117, 124, 180]":                true,
		"network_id: [247, 44, 56, 36, 162, 213, 124, 51, 225, 145, 83, 140, 137, 117, 124, 180]":                 false,
		"input tokens: [247, 44, 56, 36, 162, 213, 124, 51, 225, 145, 83, 140, 137, 117, 124, 180]":               false,
		"der: 308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420":                           true,
	} {
		if left := r.Text(text); (left != text) != is {
			t.Errorf("%q is now %q", text, left)
		}
	}
}
