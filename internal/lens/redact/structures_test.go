package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// structures are texts in which only the layout, the words of a name or the form of a value show the secret, with ones
// that only look alike.
var structures = []judgedValue{
	{"two words", "DB_PASSWORD=lantern-orchard-61", "lantern-orchard-61", "DB_PASSWORD=reset-password-61"},
	{"two words, YAML", "    password: brise-marine-83", "brise-marine-83", "    password: node-2"},
	{"directive", "default\npassword falke-nebel-36\nport 22", "falke-nebel-36", "default\npassword required\nport 22"},
	{"directive, columns", "user       ann\npassword   marisaBlanca58!\nfrom a", "marisaBlanca58", "user       ann\npassword   prompt\nfrom a"},
	{"directive, flag", "rootpw --plaintext lago-verde-29\nreboot", "lago-verde-29", "rootpw --lock\nreboot"},
	{"one line of netrc", "machine a.io login ann password lago-verde-29", "lago-verde-29", "the page on password reset-form-29"},
	{"router", "username ann password 0 lago-verde-29", "lago-verde-29", "username ann privilege 15"},
	{"field of a page", "page.getByLabel('Password').fill('LAGO-verde29')", "LAGO-verde29", "page.getByLabel('Password').click('LAGO-verde29')"},
	{"field, Selenium", `driver.find_element(By.ID, "password").send_keys("Lago-verde29")`, "Lago-verde29", `driver.find_element(By.ID, "password").click()`},
	{"field, selector", "await page.fill('#password', 'LAGO-verde29')", "LAGO-verde29", "await page.fill('#password', value)"},
	{"field, attribute", `await page.type('input[name="password"]', 'LAGO-verde29')`, "LAGO-verde29", `await page.click('input[name="password"]', opts)`},
	{"field, Cypress", "cy.get('#password').type('LAGO-verde29')", "LAGO-verde29", "cy.get('#password').should('be.visible')"},
	{"primary key", `"primaryKey": "bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg="`, "bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=", `"primaryKey": "order_line_id_2"`},
	{"primary key of a service", "batch_primary_access_key = \"bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=\"", "bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=", "PRIMARY KEY orders_pkey_01 (id)"},
	{"password of a cache", "CACHE_PASSWORD=q8Zr2LmX0vB7", "q8Zr2LmX0vB7", "CACHE_KEY=q8Zr2LmX0vB7kd92pW7x"},
	{"secret of a registry", "registry_secret: q8Zr2LmX0vB7kd92pW7x", "q8Zr2LmX0vB7kd92pW7x", "registry_token_ttl: 86400"},
	{"secret id", "secret_id: 6f1c2a34-9b1d-4e5f-8a7b-27e9589c6948", "6f1c2a34-9b1d-4e5f-8a7b-27e9589c6948", "secret_id: shop-db-main-2\nkey_id: 6f1c2a34-9b1d-4e5f-8a7b-27e9589c6948"},
	{"said now", "Passwort ist geändert, jetzt lago-verde-29 bitte", "lago-verde-29", "Passwort ist geändert, jetzt neu anmelden"},
	{"said now, Russian", "пароль поменяли, теперь lago-verde-29", "lago-verde-29", "пароль поменяли, теперь всё"},
}

func TestStructures(t *testing.T) { checkJudged(t, structures) }

// published are texts with what is meant to be seen by everybody, each with a secret that looks alike, where it has one.
var published = []judgedValue{
	{"key for pages", `Stripe("sk_live_51q8Zr2LmX0vB7kd92pW7xJm4")`, "sk_live_51q8Zr2LmX0vB7kd92pW7xJm4", `Stripe("pk_live_51q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8b7c6")`},
	{"key for maps", `token = "sk.eyJ1IjoiYW5uIiwiYSI6ImNtcThacjJMbVgwdkI3a2Q5MnBXN3gifQ.q8Zr2LmX0vB7kd92pW7xJm"`, "sk.eyJ1IjoiYW5uIiwiYSI6ImNtcThacjJMbVgwdkI3a2Q5MnBXN3gifQ.q8Zr2LmX0vB7kd92pW7xJm", `accessToken: "pk.eyJ1IjoiYW5uIiwiYSI6ImNtcThacjJMbVgwdkI3a2Q5MnBXN3gifQ.q8Zr2LmX0vB7kd92pW7xJm"`},
	{"key for analytics", "POSTHOG=phx_q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8", "phx_q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8", "POSTHOG_KEY=phc_q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8"},
	{"after a vault", "a: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  66306563303933623439623062303562666264323732613766\ndb_password: xK9mQ2vTw8", "xK9mQ2vTw8", "db_password: !vault |\n  $ANSIBLE_VAULT;1.2;AES256;prod\n  66306563303933623439623062303562666264323732613766\n  6630656330393362343962306230356266"},
	{"sealed secret", "stringData:\n  token: bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=", "bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=", "encryptedData:\n  token: AgBq8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8b7c6a1e2f4d3c8b7a6bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMgq8Zr2L"},
	{"key of a socket", "Sec-Api-Key: Rq1bXzMHS+N5akCQJ2uaqU==", "Rq1bXzMHS+N5akCQJ2uaqU==", "Sec-WebSocket-Key: Rq1bXzMHS+N5akCQJ2uaqU=="},
	{"public JWK", `{"kty":"OKP","crv":"Ed25519","d":"W_Bp439-8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLf"}`, "W_Bp439-8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLf", `{"kty":"EC","crv":"P-256","x":"kx_8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9","y":"q_8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d"}`},
	{"id of an instance", "key-6f1c2a34-9b1d-4e5f-8a7b-27e9589c6948", "key-6f1c2a34-9b1d-4e5f-8a7b-27e9589c6948", "member ingest-2-6f1c2a34-9b1d-4e5f-8a7b-27e9589c6948 left, bot-6f1c2a34-9b1d-4e5f-8a7b-27e9589c6948 joined"},
	{"id of a mail", "From: Ann <ann.lee@site.org>", "ann.lee@site.org", "Message-ID: <4f0c0fe2.8Zr2LmX0@mail.site.org>\nReferences: <a1b2@mail.site.org> <c3d4@mail.site.org>"},
	{"host", "1|q8Zr2LmX0vB7kd92pW7xJm4TnY6", "1|q8Zr2LmX0vB7kd92pW7xJm4TnY6", "|1|q8Zr2LmX0vB7kd92pW7xJm4TnY6=|Zr2LmX0vB7kd92pW7xJm4TnY6sH= ssh-ed25519"},
	{"not encrypted", "unencrypted:q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d, token: q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d", "q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d", "token: encrypted:q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d"},
	{"unit", "mail ann@site.services", "ann@site.services", "Unit=backup@photos.service\nWants=dev-disk@a.mount"},
	{"certificate", "password: 4FBp439q8Zr2LmX0", "4FBp439q8Zr2LmX0", "X509v3 Authority Key Identifier:\n    4F:0C:0F:E2:C4:D8:AA:2B:A0:B4:F1:A7:C3:3F:3D:9C:9D:8B:7C:6A"},
}

func TestPublished(t *testing.T) {
	checkJudged(t, published)
	s := mustNew(Options{}).NewScanner()
	for _, k := range seals {
		for _, h := range s.Find([]byte(k.example)) {
			t.Errorf("%s: %q is found in %q", k.open, k.example[h.Start:h.End], k.example)
		}
	}
}

// TestConstants: what all keys of a kind have is no part of one of them.
func TestConstants(t *testing.T) {
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n" +
		"QyNTUxOQAAACBq8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9dAAAAJgq8Zr2LmX0\nvAAAAAtzc2gtZWQyNTUxOQAAACBq8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d\n-----END OPENSSH PRIVATE KEY-----"
	public := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPx3vT9nW5yQ1mK7cR4jH8sB2gL6fD0zA3eU5oXiNwVq ann"
	in := must.Get(json.Marshal([]string{key, public}))
	out := string(redacted(mustNew(Options{}), in))
	if !strings.Contains(out, public) || strings.Contains(out, "kd92pW7xJm4TnY6sHc1aUeLfKoPi9dAAAAJ") {
		t.Errorf("%s becomes %s", in, out)
	}
}

// announcedValues are alone on a line, or are what a command prints.
var announcedValues = []judgedValue{
	{"below a sentence", "Sign in once with this password and change it:\n\n  q8Zr2LmX0vB7\n", "q8Zr2LmX0vB7", "Sign in once with this password and change it:\n\n  settings\n"},
	{"below a sentence, digest", "Please use the following password to log on:\n\n4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c\n\nIt is shown once.", "4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", "The checksum of the password file on disk:\n\n4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c\n"},
	{"in a list", "# New token for the runner (keep it):\n# * q8Zr2LmX0vB7kd92pW7x", "q8Zr2LmX0vB7kd92pW7x", "# New token for the runner (keep it):\n# * internal/token_2.go"},
	{"below a heading", "Exported private key (main)\nq8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d", "q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d", "Exported public key (main)\nq8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d"},
	{"codes", "Backup codes for ann (each works once):\n\n  k3vq7-9fw2z\n  p8xd4-t6mh1\n", "p8xd4-t6mh1", "Backup codes for ann (each works once):\n\n  settings\n"},
	{"file of a key", "$ cat config/master.key\n4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", "4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", "$ cat config/sort.key\n4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c"},
	{"file of a token", "# xxd -p /etc/agent/join-token | tr -d '\\n'\n4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", "4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", "# xxd -p /etc/agent/token_test.go\n4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c"},
	{"file with a user", "cut -d: -f2- /srv/agent/server-token\nagent:4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", "4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", "cut -d: -f2- /srv/agent/image\nsha256:4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c"},
	{"store of keys", "KEYSTORE=/u3+7QAAAAIAAAABAAAAAQAGdXBsb2FkvdqsabJmX0vB7kd92pW7xJm4TnY6sHc1a=", "/u3+7QAAAAIAAAABAAAAAQAGdXBsb2FkvdqsabJmX0vB7kd92pW7xJm4TnY6sHc1a=", "KEYSTORE=/u3/store.jks"},
	{"PKCS #12", "p12: MIIKagIBAzCCCiQGCSqGSIb3DQEHAaCCBBEEggQNq8Zr2LmX0vB7kd92pW7xJm4TnY6s", "MIIKagIBAzCCCiQGCSqGSIb3DQEHAaCCBBEEggQNq8Zr2LmX0vB7kd92pW7xJm4TnY6s", "p7b: MIIKagYJKoZIhvcNAQcCoIIKWzCCClcCAQExADALBgkqhkiG9w0BBwGggg"},
}

func TestAnnounced(t *testing.T) { checkJudged(t, announcedValues) }
