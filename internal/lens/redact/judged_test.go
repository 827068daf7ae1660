package redact

import "testing"

// judgedValues are texts with a secret that their layout and their words show, each with one that only looks alike.
var judgedValues = []judgedValue{
	{"address", "main.(*T).Token(\"q8Zr2LmX0vB7kd92pW7x\")", "q8Zr2LmX0vB7kd92pW7x", "main.(*T).Token(0xc0001f5e41, {0xc0000a1b2c, 0x8a})"},
	{"object", "token: 0x7fa01b2c3d4e5f60718293a4b5c6d7e8", "0x7fa01b2c3d4e5f60718293a4b5c6d7e8", "<shop.CartToken object at 0x7fa01b2c3d4e>"},
	{"numbers", "{\"APDAKeyHi\", \"q8Zr2LmX0vB7kd92pW7x\"}", "q8Zr2LmX0vB7kd92pW7x", "{\"KeyHi_EL1\", KeyHi_EL1, 0x182220, READ},\n{\"KeyLo_EL1\", REG_APDBKeyLo_EL1, 0x182200},"},
	{"words and a number", "POSTGRES_PASSWORD=amber-violin-harbour-42", "amber-violin-harbour-42", "password: db-password-secret-42"},
	{"two words", "\"pass\": \"amber-violin-harbour-42\"", "amber-violin-harbour-42", "password: amber-violin"},
	{"phrase", "the passphrase of the old key is \"amber violin harbour lantern oak\" today", "amber violin harbour lantern oak", "passphrase: \"enter the passphrase for this key\""},
	{"phrase with dashes", "passphrase: amber-violin-harbour-lantern", "amber-violin-harbour-lantern", "passphrase: enter-the-new-passphrase"},
	{"type", "db_password: str = \"Amb3r!violin\"", "Amb3r!violin", "db_password: str = \"\""},
	{"login", "creds for the scanner: ann:AmberViolin!42", "ann:AmberViolin!42", "creds for the scanner: ann:later"},
	{"qualified after", "Voici la clé d'API : x3JSqJUwt3COOgjxo4rnlRE0", "x3JSqJUwt3COOgjxo4rnlRE0", "la clé d'API : voir la page suivante"},
	{"Cyrillic", "Вот ключ API: ad502983-f1da-4135-95b0-488b0c242bc5", "ad502983-f1da-4135-95b0-488b0c242bc5", "Вот ключ API: завтра"},
	{"mdp", "l'utilisateur ann et le mdp 36YEEfF7pc-pr3", "36YEEfF7pc-pr3", "le mdp utilisateur"},
	{"said", "my api key for the map service is 288ba5619178bc3312a6b053f9a6337c. Use it", "288ba5619178bc3312a6b053f9a6337c", "the api key whose md5 is 288ba5619178bc3312a6b053f9a6337c."},
	{"Schlüssel", "Schlüssel: Amber353!violin", "Amber353!violin", "key: Sheet12!AB34"},
	{"clave", "he cambiado la clave de admin a hDyo+vrCVSQ8!lU0HlE7, prueba", "hDyo+vrCVSQ8!lU0HlE7", "the key of Sheet12!AB34"},
	{"netrc", "machine site.io login ann password amber-violin-harbour-42", "amber-violin-harbour-42", "the password reset-form-field-42"},
	{"test", "\"pass\": \"amber-violin-harbour-43\"", "amber-violin-harbour-43", "--- PASS: suite-alpha-beta-12 (0.00s)"},
	{"verb", "das Passwort lautet AmberViolin!42", "AmberViolin!42", "das Passwort lautet anders"},
	{"Chinese", "密码是AmberViolin!42", "AmberViolin!42", "密码是空的"},
	{"Japanese", "パスワードはAmberViolin!42です", "AmberViolin!42", "パスワードは必須です"},
	{"typed", "password: SecretStr = \"Amb3r!violin\"", "Amb3r!violin", "password: SecretStr = Field(...)"},
	{"name of a service", "password: 42-amber-violin-harbour", "42-amber-violin-harbour", "password: storage-backup-config-3"},
	{"command", "sshpass -p amber-violin-harbour-42 ssh ann@h", "amber-violin-harbour-42", "sshpass -p $PASS ssh ann@h"},
	{"commit", "secret key\n795cb3858f0e4cd7b29a", "795cb3858f0e4cd7b29a", "rename secret key\n795cb3858 rotate logs"},
	{"bot", "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs", "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs", "MTk4NjIyNDgzNDcxOTI1MjQ4.png"},
	{"JSON", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjEifQ", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjEifQ", "eyJwYWdlIjozNywic29ydCI6Im5hbWUiLCJvcmRlciI6ImFzYyJ9"},
	{"crates.io", "cioQ8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1a", "cioQ8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1a", "message cioas0qqbi2gxkmtwhifbfpnb"},
	{"continued", "signing_key: |\n  XIeJblmzt7lTBDS8qX8txGILrIMZYTDX\n  9HTFUtKAUHVA6FjcDhAFzJW8EfCt\nttl: 1h", "9HTFUtKAUHVA6FjcDhAFzJW8EfCt", "signing_key: none\n  description\nttl: 1h"},
	{"identifiers", "signing_key: |\n  XIeJblmzt7lTBDS8qX8txGILrIMZYTDX\n  9HTFUtKAUHVA6FjcDhAF", "9HTFUtKAUHVA6FjcDhAF", "REG_CNTKCTL_EL1\nREG_DBGBCR2_EL1\nREG_DBGBVR13_EL1"},
	{"other column", "| Service | Password |\n|---|---|\n| checkout-svc | tOhxFCiT3INAobhIYiX |", "tOhxFCiT3INAobhIYiX", "| Service | Password |\n|---|---|\n| checkout-svc | unset |"},
}

// A judgedValue is a kind of text with a secret, and one without.
type judgedValue struct{ kind, is, secret, not string }

func TestJudgedValues(t *testing.T) { checkJudged(t, judgedValues) }

func checkJudged(t *testing.T, values []judgedValue) {
	t.Helper()
	s := mustNew(Options{}).NewScanner()
	for _, c := range values {
		found := false
		for _, h := range s.Find([]byte(c.is)) {
			found = found || c.is[h.Start:h.End] == c.secret
		}
		if !found {
			t.Errorf("%s: %q is not found in %q", c.kind, c.secret, c.is)
		}
		for _, h := range s.Find([]byte(c.not)) {
			t.Errorf("%s: %q is found in %q", c.kind, c.not[h.Start:h.End], c.not)
		}
	}
}
