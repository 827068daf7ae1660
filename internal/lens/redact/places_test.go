package redact

import (
	"strings"
	"testing"
)

// TestBelonging: a value belongs to a name wherever a person or a program puts it, and what only follows a name belongs
// to another.
func TestBelonging(t *testing.T) {
	r := mustNew(Options{})
	const code, human = "q8Zr2LmX0vB7kd92pW7xJm4T", "Winter1424!x"
	for _, text := range []string{
		"$ pulumi config get --path dbPassword\n" + code, "$ cat /run/secrets/db_password\n" + human,
		"$ aws secretsmanager get-secret-value --secret-id a --output text\n" + code, "$ pwgen -s 24 1\n" + code,
		"Password for the [elastic] user:\n  " + code, "please use the following password to proceed to installation:\n\n" + code,
		`hmac.New(sha256.New, []byte("` + code + `"))`, `jwt.sign({ id }, '` + code + `', { expiresIn: "1h" })`,
		`conn.simple_bind_s("cn=admin,dc=x", "` + human + `")`, `WiFi.begin("home", "` + human + `");`,
		`fill_in "Password", with: "` + human + `"`, "echo 'root:" + human + "' | chpasswd", human + " is the password",
		"password=monkey-garden-78\ndomain=X", "wg set wg0 private-key <(echo " + code + "JnYsHc1aUeLfKoPi9d8=)",
		"config: {\"name\": \"sessionid\", \"value\": \"" + code + "\"}", `api_secret: "` + code + `…YWln"`,
		"PRIVATE_KEY=0x4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c",
		"$ sed -n 10,11p app.key\n" + strings.Repeat(code+"/Ab+Cd9Q", 2) + "\n" + strings.Repeat("Zx9/"+code+"+Q7k", 2),
		"$ cat id.json\n[20,154,6,81,158,40,104,175,76,27,243,117,218,65,196,112,46,144,192,99,120,152,237,107,95,143,104,204,183,247,94,45]",
	} {
		left := r.Text("It says:\n" + text + "\n\nand more")
		for _, secret := range []string{code, human, "monkey-garden", "4f0c0fe2", "Zx9/", "154,6"} {
			if strings.Contains(left, secret) {
				t.Errorf("%q is left in %q", secret, left)
			}
		}
	}
	const digest = "4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c9d8b7c6a"
	for _, text := range []string{
		`const a={token:n.t,harbor:"e7c9090e"}`, `e.apiKey=t.k,e.hash="` + digest + `"`, `{"password":"","id":"` + code + `"}`,
		"<Input label=\"The password\"\n  value={password}\n  onChange={(e) => setPassword(e.target.value)} />",
		`{"thinking":"The token is read twice.","signature":"EqQB` + code + code + `=="}`, `key: "E_IK_nISNTjDxt9WkIZyI", label: "Account"`,
		"headers: authorization=[REDACTED] cookie=*** x-request-id=4f0c0fe2-c4d8-4aa2-ba0b-f1a7c33f3d9c",
		"RuleID:      generic-api-key\nFile:        a.go\nCommit:      " + digest, "sha,message\n" + digest + ",update secret\n" + digest + ",bump",
		"db_password: ENC[AES256_GCM,data:q8Zr2LmX0vB7kd92pW7x,iv:q8Zr2LmX0vB7kd92pW7xJm4T=,tag:q8Zr2LmX0vB7kd92pW7x==,type:str]",
		`password: "{cipher}` + digest + digest + `"`, "token:\n  secure: " + code + code + "==", "password = \"ENC(" + code + ")\"",
		"spec:\n  encryptedData:\n    password: AgB" + strings.Repeat(code, 12), "X509v3 Subject Key Identifier:\n    08:C7:5A:0A:5E:64:E0:5A:21:E5:A0:B8:77:42:14:35:6E:CA:18:74",
		"sb_publishable_" + code + "aUeLfKo", "pk_live_51" + code + code, "VAPID_PUBLIC_KEY=B" + strings.Repeat(code, 4)[:86],
		"RECAPTCHA_SITE_KEY=6L" + code + "JnYsHc1aUeLfKo", "resumeToken: \"" + digest + "\"", "signingKey: 0E36C24759DCD439", "password: s3cr3t",
		`secret "sh.helm.release.v1.copper.v30" deleted`, `auth: { type: "oauth2", flow: "pkce-s256" }`, `password = os.environ["SHOP_PW_V2"]`,
		"string token = 1;\nint32 secret_id = 55;", `= "Ticket", "Password.csproj", "{8ca93418-7763-4a87-931b-8e5c649b393a}"`,
		"keyid: [id=key-02d761f4b4c86abff]", "restore-keys: |\n  Linux-pnpm-" + digest,
	} {
		if left := r.Text(text); left != text {
			t.Errorf("%q changes to %q", text, left)
		}
	}
}

// TestChecked62: a token of GitHub with its checksum is one wherever it stands, also if its characters look like an
// example; one with another checksum is still taken.
func TestChecked62(t *testing.T) {
	const right = "exampleexampleexampleexampleab" // CRC-32 in base62 follows
	sum := checksum62([]byte(right))
	if !checked62("ghp_", []byte(right+sum)) || checked62("ghp_", []byte(right+"000000")) || checked62("ghp_", []byte(right)) {
		t.Error("the checksum is wrong")
	}
	r := mustNew(Options{})
	if left := r.Text("it is ghp_" + right + sum); strings.Contains(left, right) {
		t.Errorf("%q is left", left)
	}
	if left := r.Text("it is ghp_q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLf"); strings.Contains(left, "q8Zr") {
		t.Errorf("%q is left", left)
	}
}
