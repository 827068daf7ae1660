package redact

import (
	"bytes"
	"strings"
)

// This file knows values of names of secrets that are none: fingerprints, public keys, identifiers, examples.

// isColons reports whether a text is pairs of hex digits with colons between them, as fingerprints are.
func isColons(v []byte) bool {
	if len(v) < 23 || len(v)%3 != 2 {
		return false
	}
	for i, c := range v {
		if i%3 == 2 && c != ':' || i%3 < 2 && !isHex(c) {
			return false
		}
	}
	return true
}

// isPoint reports whether a text is the base64 of a point of P-256, which is a public key.
func isPoint(v []byte) bool { return len(v) == 87 && v[0] == 'B' }

// isDotted reports whether a text is words and numbers of versions with dots between them.
func isDotted(v []byte) bool {
	if bytes.Count(v, []byte(".")) < 2 {
		return false
	}
	for part := range bytes.SplitSeq(v, []byte(".")) {
		if rest := bytes.TrimLeft(part, "v"); !isLowerWord(part) && digits(rest) < len(rest) || len(part) > 16 {
			return false
		}
	}
	return true
}

// isBareKey reports whether a name is key, or begins with an underscore and is otherwise.
func isBareKey(name []byte) bool {
	return bytes.EqualFold(bytes.TrimLeft(name, "_"), []byte("key"))
}

// isKeyCode reports whether a text is long enough for a key, or has the padding of base64.
func isKeyCode(v []byte) bool {
	return len(v) >= 22 && v[len(v)-1] == '=' || len(v) >= 30 && hasKinds(v, 3) || len(v) >= 40 && isCode(v)
}

// leet are digits and signs that stand for letters.
var leet = strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i")

// isNameOfOne reports whether a value is the word for one, as examples have it: s3cr3t, Passwort123!
func isNameOfOne(v []byte) bool {
	if len(v) > 16 {
		return false
	}
	word := bytes.TrimRight(bytes.ToLower(v), "0123456789!?.#-_*")
	return (nameRoles[string(word)]|nameRoles[leet.Replace(string(word))])&(isPassword|isSecret) != 0
}
