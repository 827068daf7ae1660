package redact

import _ "embed" // for the list of words

// seedWords is the English list of words that wallets spell seeds in, in order
// (github.com/bitcoin/bips/blob/master/bip-0039/english.txt).
//
//go:embed english.txt
var seedWords string

// phraseWords are the words near which a phrase of any language is looked for, in small letters. None has a character
// that JSON escapes.
var phraseWords = []string{
	"mnemonic", "phrase", "frase", "wallet", "seed word", "seed_word", "seedword", "bip39", "bip-39", "bip 39", "cartera",
	"carteira", "portefeuille", "portafogli", "geldb", "recovery word", "backup word", "12 words", "24 words", "mnemo",
	"wiederherstellungsw", "\u0444\u0440\u0430\u0437", "\u043a\u043e\u0448\u0435\u043b", "助记", "助記", "フレーズ", "ニーモニック",
	"ウォレット", "니모닉", "시드", "지갑", "복구",
}

// sentenceWords are frequent words of sentences in languages that have such lists, none of which is in one.
var sentenceWords = wordSet(`the and for with are was not you your from this they have has into will our its his her
	los las una del que por con para como más pero sus está les des une dans pour avec est qui sur pas sont der die das
	und mit von für ist den dem ein eine auf nicht che per della delle non sono gli dei nel alla com não dos das uma
	seu pelo mais jest nie się dla oraz které jsou není nebo aby`)
