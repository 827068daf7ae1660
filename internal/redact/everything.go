package redact

import (
	"fmt"
	"regexp"
)

// ordinary are texts with nothing in common that is a secret.
var ordinary = []string{
	"Make the tests pass, and say why they failed.",
	`{"type":"message","id":"a1b2c3d4","parentId":null}`,
	"ok  \texample.com/parcel/outbox\t0.012s",
	"if err := os.Remove(name); err != nil { return err }",
	"/usr/share/doc/readme.txt: 12 lines, 3 of them empty",
	"你好，世界",
}

// sparing returns an error if an expression finds a secret in any text: a copy would have lost
// what it is made for.
func (r *rule) sparing(re *regexp.Regexp) error {
	for _, text := range ordinary {
		found := re.FindStringSubmatch(text)
		if found == nil || r.Entropy != 0 && entropy([]byte(found[r.SecretGroup])) <= r.Entropy {
			return nil
		}
	}
	return fmt.Errorf("its expression matches any text, such as %q", ordinary[0])
}
