package redact

import "strings"

// stopWords are in values that are none.
var stopWords = func() *automaton {
	return newAutomaton([]string{
		"example", "placeholder", "changeme", "change_me", "change-me", "your_", "your-", "yourpass", "yoursecret", "yourtoken", "yourkey", "yourapi", "insert_", "insert-", "replace_me", "replaceme",
		"replace-me", "replacewith", "replace_with", "replace-with", "dummy", "redacted", "foobar", "fake", "sample", "_here", "-here", "hidden", "masked", "undefined", "lorem",
		"xxxxx", "***", "...", "…", "•", "1234567", "abcdefg", "qwerty", "letmein", "deadbeef", "secret_key", "secretkey", "secret-key", "my_secret", "my-secret", "my_password", "my-password", "my_token", "my-token", "my_key", "my-key",
		"password1", "passw0rd", "p@ssw0rd", "p@ssword", "test1234", "admin123", "test123", "00000000", "not-for-prod", "notreal", "not-real", "a-z", "gpl-", "-or-later", "apache-2",
	})
}()

// references begin what stands for a value that is elsewhere.
var references = []string{
	"$", "%s", "%d", "%v", "%q", "%(", "{", "[", "<", "(", "#{", "@@", "!", "arn:", "op://", "vault:",
	"ref+", "env:", "env.", "ssm:", "projects/", "sha256:", "sha512", "sha1-", "sha384-", "md5:",
	"urn:", "did:", "data:", "process.env", "os.", "this.", "self.", "req.", "args.", "ctx.", "config.",
	"settings.", "secrets.", "secretRef:", "@Microsoft.", "/run/", "/var/", "/etc/", "/usr/", "/opt/", "/home/", "ssh-", "AAAAB3",
	"AAAAC3", "./", "../", "~/", `\`, "MD5(", "SHA256:",
}

// publicHeads begin certificates and public keys in base64.
var publicHeads = []string{"LS0tLS1CRUdJTiBDRVJU", "LS0tLS1CRUdJTiBQVUJM", "LS0tLS1CRUdJTiBUUlVT"}

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
var idPrefixes = wordSet(`toolu srvtoolu mcptoolu call msg req resp chatcmpl cmpl gen run thread asst file batch item rs
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
