package redact

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// TestPublicKeyStays: what all keys of an algorithm have is no part of the private key that was found.
func TestPublicKeyStays(t *testing.T) {
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must.Get(x509.MarshalPKCS8PrivateKey(key))})
	other := must.Get(rsa.GenerateKey(rand.Reader, 2048))
	public := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must.Get(x509.MarshalPKIXPublicKey(&other.PublicKey))}))
	line := must.Get(json.Marshal([]string{string(private), public}))
	var out []string
	must.Do(json.Unmarshal(redacted(mustNew(Options{}), line), &out))
	if out[1] != public {
		t.Errorf("the public key becomes %s", out[1])
	}
	for _, row := range strings.Split(string(private), "\n")[1:4] {
		if strings.Contains(out[0], row) {
			t.Errorf("%s is left", row)
		}
	}
}
