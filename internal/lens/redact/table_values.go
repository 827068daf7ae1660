package redact

import (
	"strings"
	"sync"
)

// stopWords are in values that are none.
var stopWords = sync.OnceValue(func() *automaton {
	return newAutomaton([]string{
		"example", "placeholder", "changeme", "change_me", "change-me", "your_", "your-", "yourpass", "yoursecret", "yourtoken", "yourkey", "yourapi", "insert_", "insert-", "replace_me", "replaceme",
		"replace-me", "replacewith", "replace_with", "replace-with", "dummy", "redacted", "foobar", "fake", "sample", "_here", "-here", "hidden", "masked", "undefined", "lorem",
		"xxxxx", "***", "...", "…", "•", "1234567", "abcdefg", "qwerty", "letmein", "deadbeef", "secret_key", "secretkey", "secret-key", "my_secret", "my-secret", "my_password", "my-password", "my_token", "my-token", "my_key", "my-key",
		"password1", "passw0rd", "p@ssw0rd", "p@ssword", "test1234", "admin123", "test123", "00000000", "not-for-prod", "notreal", "not-real", "a-z", "gpl-", "-or-later", "apache-2",
		"zmień", "zmien", "verander", "eintragen", "ändern", "aendern", "remplacer", "changez", "cambiar", "cámbia", "tu_clave", "tu-clave", "su_clave", "su-clave", "tu_contra", "sua_senha", "sua-senha",
		"minha_senha", "twoje", "twój", "jouw", "ваш_", "измени", "замени", "generate-", "generate_", "openssl-rand", "long-lived",
	})
})

// references begin what stands for a value that is elsewhere.
var references = []string{
	"$", "%s", "%d", "%v", "%q", "%(", "{", "[", "<", "(", "#{", "@@", "!", "arn:", "op://", "vault:",
	"ref+", "env:", "env.", "ssm:", "projects/", "sha256:", "sha512", "sha1-", "sha384-", "md5:",
	"urn:", "did:", "data:", "process.env", "os.", "this.", "self.", "req.", "args.", "ctx.", "config.",
	"settings.", "secrets.", "secretRef:", "@Microsoft.", "/run/", "/var/", "/etc/", "/usr/", "/opt/", "/home/", "ssh-", "AAAAB3",
	"AAAAC3", "ENC[", "ENC(", "encrypted:", "AQICAH", "./", "../", "~/", `\`, "MD5(", "SHA256:",
}

// publicHeads begin certificates and public keys in base64.
var publicHeads = []string{"LS0tLS1CRUdJTiBDRVJU", "LS0tLS1CRUdJTiBQVUJM", "LS0tLS1CRUdJTiBUUlVT"}

// publishable are the prefixes of keys that are meant to be seen, in pages and apps, each with where that is said.
var publishable = []struct{ prefix, source string }{
	{"pk_live_", "docs.stripe.com/keys"},
	{"pk_test_", "docs.stripe.com/keys"},
	{"pk.eyJ", "docs.mapbox.com/help/dive-deeper/access-tokens"},
	{"phc_", "posthog.com/docs/api"},
	{"sb_publishable_", "supabase.com/docs/guides/api/api-keys"},
	{"FLWPUBK", "developer.flutterwave.com/docs/authentication"},
	{"appl_", "www.revenuecat.com/docs/projects/authentication"},
	{"goog_", "www.revenuecat.com/docs/projects/authentication"},
	{"APP_USR-PUB", "www.mercadopago.com/developers/en/docs/your-integrations/credentials"},
	{"cs_test_", "docs.stripe.com/api/checkout/sessions/object"},
	{"cs_live_", "docs.stripe.com/api/checkout/sessions/object"},
	{"ca-pub-", "support.google.com/adsense/answer/105516"},
}

// A seal is how a text begins that holds encrypted values, public keys or signatures, which are meant to be published.
type seal struct {
	open    string // what precedes them
	end     string // what ends them, empty for the first character that base64 has not, or sealedLines
	example string
	source  string
}

// sealedLines is the end of what lines of hex hold.
const sealedLines = "lines"

// seals are the kinds of encrypted texts.
var seals = []seal{
	{"ENC[", "]", "password: ENC[AES256_GCM,data:q8Zr2LmX0vB7kd92,iv:bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=,tag:q8Zr2LmX0vB7kd92pW7xJm==,type:str]", "github.com/getsops/sops, github.com/voxpupuli/hiera-eyaml"},
	{"ENC(", ")", "spring.datasource.password=ENC(bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=)", "github.com/ulisesbocchio/jasypt-spring-boot"},
	{"EJ[", "]", `"api_token": "EJ[1:bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=:q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1a:4TnY6sHc1aUeLfKoPi9d8b7c]"`, "github.com/Shopify/ejson"},
	{"{cipher}", "", "db.password={cipher}4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", "docs.spring.io/spring-cloud-config/reference/server/encryption-and-decryption.html"},
	{"{AES}", "", "password: {AES}bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=", "docs.oracle.com/en/middleware/fusion-middleware/weblogic-server"},
	{"encrypted:", "", `DB_PASSWORD="encrypted:BDqDBibm4wsYqMpCjTQ6BsDHmMadg9K3dAt+Z9HPMfLEIRVz50hmLXPXRuDBXaJi"`, "dotenvx.com/docs/concepts/encryption"},
	{"secure:", "", "API_TOKEN:\n  secure: bXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMgbXzMHS+N5akCQJ2uaqUxl/f1It62yrebzKel5XQkbMg=", "docs.travis-ci.com/user/encryption-keys"},
	{"$ANSIBLE_VAULT;", sealedLines, "api_key: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  66306563303933623439623062303562666264323732613766", "docs.ansible.com/ansible/latest/vault_guide"},
	{"BEGIN PGP MESSAGE", "END PGP", "secret: |\n  -----BEGIN PGP MESSAGE-----\n\n  hQEMAq8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8b7c6a1e2f4d3c8b7a\n", "RFC 9580, 6.2"},
	{"BEGIN PGP SIGNATURE", "END PGP", "token: x\n-----BEGIN PGP SIGNATURE-----\n\niQEzBAEBCAAdFiEEq8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8b7c6a\n", "RFC 9580, 6.2"},
	{"BEGIN PUBLIC KEY", "END PUBLIC", "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAx05Sj9agyNA6QwP9MpwD\nFBCciGYL6w7nG+Y5oC76vfJChO5+lHn5rlnP7DwU2wZlo+0aFsgdg8SqWrIH0xeI\n", "RFC 7468, 13"},
	{"BEGIN RSA PUBLIC KEY", "END RSA", "-----BEGIN RSA PUBLIC KEY-----\nMIIBCgKCAQEAx05Sj9agyNA6QwP9MpwD\nFBCciGYL6w7nG+Y5oC76vfJChO5+lHn5rlnP7DwU2wZlo+0aFsgdg8SqWrIH0xeI\n", "RFC 8017, A.1.1"},
	{"BEGIN CERTIFICATE", "END CERTIFICATE", "-----BEGIN CERTIFICATE-----\nFBCciGYL6w7nG+Y5oC76vfJChO5+lHn5rlnP7DwU2wZlo+0aFsgdg8SqWrIHpwD\nyscgPnx9ZGJbKNTsRaB5fzZh06GgU0csbB2bIBh2FmTE2npPrmy5mG6ZjpkZn561\n", "RFC 7468, 5"},
	{"BEGIN PGP PUBLIC KEY", "END PGP", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQENBFBCciGYL6w7nG+Y5oC76vfJChO5+lHn5rlnP7DwU2wZlo+0aFsgdg8SqpwD\n", "RFC 9580, 6.2"},
	{"BEGIN AGE ENCRYPTED FILE", "END AGE", "key: |\n  -----BEGIN AGE ENCRYPTED FILE-----\n  YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBxOFpyMkxtWDB2QjdrZDky\n", "age-encryption.org/v1"},
}

// sealedHeads begin values that a service has encrypted for itself: of Sealed Secrets with a key of 4,096 bits, of KMS.
var sealedHeads = []string{"AgA", "AgB", "AgC", "AgD", "AQICAH", "AQECAH"}

// leastSealed is the length of the shortest of these values, in bytes.
const leastSealed = 96

// publicFields are the fields of JSON whose values look random and are none of a secret: of a public key (RFC 7517), of
// what tells one request, page or version from another.
var publicFields = wordSet(`n x y kid x5t x5c x5u thumbprint etag nonce integrity digest cursor next_cursor nextcursor
			pagetoken page_token nextpagetoken next_page_token request_id requestid trace_id traceid deltalink`)

// methods are the parts of names of cryptographic methods.
var methods = wordSet(`aes 128 192 224 256 384 512 1024 2048 4096 gcm cbc ctr ecb sha sha1 sha2 sha3 sha256 sha384
			sha512 md5 hmac rsa rs256 rs384 rs512 hs256 hs384 hs512 es256 es384 es512 ps256 eddsa ed25519
			ed448 ecdsa ecdh ecdhe p256 p384 p521 secp256k1 secp256r1 prime256v1 scram argon2 argon2i
			argon2id bcrypt scrypt pbkdf2 chacha20 poly1305 x25519 xchacha20 x509 pkcs1 pkcs8 pkcs12 pem der
			pss oaep v1 v2 v3 v4 plus with and tls ssl tls1 0 1 2 3 oauth oauth2 oauth1 openid oidc saml
			saml2 ntlm kerberos ldap basic digest bearer kw dir a128gcm a256gcm a128kw a256kw a128cbc utf8
			utf 8 base64 hex ascii id s256 k8s jwt jws jwe mfa 2fa totp u2f fido2 webauthn http https`)

// tokenPrefixes are words in the prefixes of tokens: a short random text after one of them is a secret.
var tokenPrefixes = wordSet(`sk rk ak pat tok token tkn secret sec key apikey api live prod sandbox sbox auth oauth access
			admin svc svcacct srv bot cred pw pwd pass priv prv private oat pst sat rw personal uat usertoken
			clitoken cli license hook webhook whsec ingest`)

// idPrefixes are words in the prefixes of what is no secret: ids, names of files, digests.
var idPrefixes = wordSet(`sg snap vol vpc subnet eni igw ami rtb acl eipalloc nat tgw vpce toolu srvtoolu mcptoolu call msg req resp chatcmpl cmpl gen run thread asst file batch item rs
			fc ws ctc lsh evt pi ch in sub prod acct cus price pm si seti txn plan card src prj project ses
			conv conversation step event trace span dpl team org usr inv ord order obj node chunk index main
			vendor bundle assets sha1 sha256 sha384 sha512 md5 nonce commit rev hash digest etag build image
			img layer pod job task lib liv mdl cache checkpoint snapshot uuid id ref turn part prt doc page
			block blk row tbl rec fld viw wsp workspace channel media video audio photo asset upload pub
			public pk css jsx sc mui module style chunk_ pkg dist nix store google sentry release font icon
			sprite rsc bk`)

// shapeWords are the words of prefixes after which a token that is cut short is looked for.
var shapeWords = strings.Fields("sk_ sk- rk_ ak_ ak- pat_ pat- tok_ tok- token_ token- tkn_ secret_ secret- sec_ sec- key_ key- apikey_ " +
	"_live_ _prod_ _admin_ live_ sandbox_ sbox_ oauth_ svc_ svcacct- cred_ oat_ pst_ api_ api- auth_ auth- prod_ prod-")
