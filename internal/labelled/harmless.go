package labelled

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

// A plain is a kind of harmless text. In its forms {an36} is random as in forms of secrets, and
// <word>, <ident>, <Ident>, <path>, <n> are words, identifiers, paths and numbers.
type plain struct {
	kind  string
	forms []string
}

var plains = []plain{
	{"digests", []string{"{h40}", "{h64}", "{h32}", "sha256:{h64}", "md5 {h32}  <path>", "{h64}  <path>", "etag: \"{h32}\"", "sha512-{b86}==", "cache key {h40}", "checksum = \"{h64}\"", "Digest: sha256:{h64}", "<ident>-{h12}.js", "revision: {h40}", `"sha": "{h40}"`, "key: <ident>-{h64}"}},
	{"uuids", []string{"{h8}-{h4}-4{h3}-a{h3}-{h12}", `"id": "{h8}-{h4}-4{h3}-b{h3}-{h12}"`, "request {h8}-{h4}-4{h3}-9{h3}-{h12} took <n> ms", "session={h8}-{h4}-4{h3}-9{h3}-{h12} <word>", "key: {h8}-{h4}-4{h3}-8{h3}-{h12}"}},
	{"git", []string{"commit {h40}\nAuthor: <Ident>\n\n    <word> <word> <word>", "index {h7}..{h7} 100644", "{h7} <word> <word> <word>", "diff --git a/<path> b/<path>\nindex {h9}..{h9} 100644\n--- a/<path>\n+++ b/<path>", "   {h7}..{h7}  main -> main", "HEAD is now at {h7} <word> the <word> token", "tree {h40}\nparent {h40}", "{h40} refs/heads/<word>-<word>", "On branch <word>/<word>-token-<word>", "[main {h7}] Rotate the <word> secret"}},
	{"lock files", []string{`"integrity": "sha512-{b86}=="`, "github.com/<word>/<word> v1.<n>.0 h1:{b43}=", "github.com/<word>/token v0.<n>.1/go.mod h1:{b43}=", "checksum = \"{h64}\"", `    {file = "<word>-1.0-py3-none-any.whl", hash = "sha256:{h64}"},`, `"resolved": "https://registry.npmjs.org/<word>/-/<word>-<n>.1.2.tgz#{h40}"`, `    resolution: "<word>@npm:1.<n>.0"` + "\n    checksum: 10c0/{h128}", `"node_modules/jsonwebtoken": {"version": "9.0.<n>", "integrity": "sha512-{b86}=="}`, "  <word>-secret-<word>@1.<n>.0:\n    resolution: {integrity: sha512-{b86}==}", `name = "secrecy"` + "\nversion = \"0.<n>.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"{h64}\"", "    --hash=sha256:{h64}"}},
	{"images", []string{"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{b600}", "url(data:font/woff2;base64,d09GMgABAAAAA{b400})", "/9j/4AAQSkZJRgABAQ{b500}", "R0lGODlhAQABAIAA{b80}", "UklGR{b300}", `<img src="data:image/svg+xml;base64,PHN2ZyB4bWxucz0i{b200}">`}},
	{"minified", []string{"!function(e,t){var n={h1}a,r=e.<ident>;t.exports=n(r)}(this,function(e){return e<<{d1}});", ".a{L2}{d1}{color:#{h6};margin:0 {d1}px}.b{L3}{background:#{h3}}", "var {L1}={L1}.{L2}({d2}),{L1}={L1}[{d1}]||{};", "const t={token:e.<ident>,key:n.<ident>,secret:!0};", "a.password=b.<ident>;c.token=d[{d1}];", "function u(e){return e.apiKey||e.api_key||null}", "t.accessToken=r,t.refreshToken=i,t.expiresIn={d4};", "e.exports={tokenEndpoint:\"/oauth/token\",authKey:\"<ident>\"}", `//# sourceMappingURL=<ident>.{h8}.js.map`, `"mappings":"AAAA,{an2}AAS{an4},CAAC;{an3}AAAM,{an60}"`}},
	{"classes", []string{`class="sk-<word>-<word> sk-{d1}"`, "task-<word>-<word>-<word>", ".sk-<word>-<word>-container { display: none }", "risk-<word>-<word>-<word>-<n>", "desk-<word>-<word>-<word>", `<div class="hf_<word>_<word> gsk_<word>_<word>_container">`, "key_<ident>_<word>_<word>_<word>", "xai-<word>-<word>-<word>", "api-<word>-<word>-<word>-service-<n>", "--sk-<word>-<word>-color: var(--pat-<word>-<word>)", "sdk-<word>-<word>-<word>-v<n>", "patient.<ident>.<ident>", "secret_<word>_<word>_<word>_<word>", "fw_<word>_<word>_<word>_<n>", "pk-<word>-<word>-<word>", "ask-<ident>-<n>-<word>-<word>"}},
	{"code", []string{"const token = await get<Ident>Token(<ident>);", "password: string;", "func <Ident>(password, salt []byte) error {", "this.accessToken = response.data.<ident>;", "token := lexer.Next<Ident>()", "if (!apiKey) throw new Error('apiKey is required');", "secret = os.environ[\"<Ident>_SECRET\"]", "let api_key = env::var(\"<Ident>_KEY\")?;", "private readonly tokenService: TokenService,", "const { password, ...<ident> } = <ident>;", "tokens = tokenizer.encode(<ident>, add_special_tokens=False)", "expect(token).toEqual(expected<Ident>);", "password = getpass.getpass('Password: ')", "auth: { token: process.env.<Ident>_TOKEN },", "def test_<word>_password_<word>_<word>():", "key={`${<ident>}-${<ident>}`}", "<li key={item.<ident>}>", "SECRET_KEY = config('<Ident>_KEY')", "map[string]string{\"token\": <ident>.Token}", "return secretManager.getSecretValue(<Ident>Arn)", "keyboard.on('<word>', handle<Ident>)", "PasswordHash: hash<Ident>(<ident>),", "setPassword(<ident>.newPassword)", "token_type = TokenType.<Ident>", "type AuthToken = { accessToken: string; refreshToken: string }", "api_key: Optional[str] = None,", "apiKey: settings.<ident>ApiKey ?? default<Ident>,", "password=<ident>_password, token=<ident>_token", "var passwordField = document.querySelector('#<word>-password-<word>');", "tokenUrl: 'https://<word>.<word>.io/oauth2/v<n>/token',", "@Value(\"${<word>.security.<word>.secret}\") private String secret;", "secretKey := []byte(viper.GetString(\"<word>.<word>-secret\"))", "password: <ident>.<ident>.<ident>Password,", "token = <Ident>Factory.create<Ident>(user=<ident>)", "CSRF_TOKEN_NAME = 'csrfmiddlewaretoken'", "errInvalidToken = errors.New(\"invalid <word> token: <word>\")", "const TOKEN_STORAGE_KEY = '<word>_<word>_token';", "api_key_header = APIKeyHeader(name=\"X-API-Key\")", "password_reset_token_generator.check_token(<ident>, <ident>)"}},
	{"placeholders", []string{"PASSWORD=changeme", "API_KEY=your-api-key-here", "TOKEN=<your-token>", "SECRET=${SECRET}", "password: \"********\"", "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "export OPENAI_API_KEY=sk-...", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "password=********", "token: ${{ secrets.GITHUB_TOKEN }}", "api_key: {{ .Values.apiKey }}", "DB_PASSWORD=%s", "mysql -u root -p$MYSQL_PWD", "postgres://user:password@localhost:5432/db", "https://user:pass@example.com", "--token YOUR_ACCESS_TOKEN", "secret: REPLACE_ME_WITH_SECRET", "password: 'example-password'", "API_KEY=XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX", "OPENAI_API_KEY=sk-your-key-here-<word>", "token=abcdefghijklmnop", "password=12345678", "PASSWORD=[hidden]", "api-key: dummy-api-key-for-<word>", "curl -u username:password https://example.com", "Password: ••••••••••", "sk-ant-api03-...", "AIzaSy...", "export GITHUB_TOKEN=$(gh auth token)", "PGPASSWORD=$(cat /run/secrets/pg) psql", "password: !vault |", "client_secret=os.getenv('CLIENT_SECRET')", "password = var.<word>_password", "apiKey: \"test-api-key\"", "API_TOKEN=insert_token_here", "secret=foobarbaz", "token: \"fake-token-<n>\"", "SECRET_KEY='not-so-secret'", "xoxb-your-token-here", "glpat-xxxxxxxxxxxxxxxxxxxx", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "Set-Cookie: session=<session-id>; Path=/", "api_key=\"[redacted:generic-api-key-<n>]\"", "password: undefined", "token=null&page=<n>", "MYSQL_ROOT_PASSWORD: ${MYSQL_ROOT_PASSWORD:-secret}", "sk_test_your_stripe_key"}},
	{"prose", []string{"The <word> token is <word> and the <word> expires.", "Your password must <word> at least 12 characters.", "Set the secret to <word> before the <word>.", "the api key was <word> by the <word> team", "A token consists of <word>, <word> and <word>.", "The password for the <word> is <word>ed in <path>.", "I rotated the key; token: <word> <word>.", "Tokens are counted by <word> in <path> (about <n> of them).", "Authorization: the <word> may <word> the <word>", "passwords, tokens and keys are <word>ed", "the secret is <word> <word> <word>", "Secrets management with <Ident> and <word>", "| token | <word> | <word> the <word> |", "- **password**: the <word> of the <word>", "* `apiKey` (string, required): <word> <word>", "see token <word>-<word> in <path>", "Password: <word>", "the key is <ident>", "auth is handled by <ident>", "Bearer <word> of the <word>"}},
	{"usage", []string{`"usage":{"input":{d4},"output":{d3},"cacheRead":{d6},"totalTokens":{d7}}`, "max_tokens={d4}, temperature=0.{d1}", "{\"token_count\":{d5},\"total_token_usage\":{\"input_tokens\":{d6}}}", "context: {d6} tokens of {d6}", "prompt_tokens: {d5}", "tokens/s: {d3}.{d2}", "Token limit: {d9}", "keyboardLatency={d3}ms"}},
	{"ids", []string{`"id":"toolu_01{an22}"`, `"id":"call_{an24}"`, `"id":"msg_01{an22}"`, "req_{an24}", "chatcmpl-{an29}", "resp_{h48}", "01J{AL23}", "ses_{an22}", "prj_{an12}", "run-{an16}", `"tool_use_id":"toolu_01{an22}"`, "arn:aws:iam::{d12}:role/<Ident>", "i-0{h16}", "vpc-0{h16}", "pod/<word>-<word>-{h10}-{al5} 1/1 Running", "<word>-{h9}-{al5}", "trace_id={h32} span_id={h16}", `"requestId":"{b20}="`, "fs-{h8}", "cus_{an14}", "price_1{an23}", "pk_test_docs"}},
	{"paths", []string{"<path>", "/var/lib/<path>/tokens/{h2}/{h38}", "node_modules/.pnpm/<word>@{d1}.{d1}.{d1}/node_modules/<word>/<path>", "https://<word>.<word>.io/<path>?page={d2}&key=<ident>", "file:///tmp/<word>-{an8}/<path>", "/nix/store/{al32}-<word>-1.{d1}", "s3://<word>-<word>/<path>/{h32}", "https://<word>.io/#/<ident>?tab=<word>&token=<ident>", "target/debug/deps/<ident>-{h16}.d", "git@git.<word>.io:<word>/<word>.git", "./secrets/<word>.enc.yaml", "/run/secrets/<word>_password"}},
	{"keys of others", []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} <word>", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{b300}== <word>", "-----BEGIN CERTIFICATE-----\nMIID{b60}\n{b64}\n{b64}\n{b40}==\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA{b16}\n{b64}\n{b24}IDAQAB\n-----END PUBLIC KEY-----", "SHA256:{b43}", "MD5:{h2}:{h2}:{h2}:{h2}:{h2}:{h2}:{h2}:{h2}", "ca-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t{b120}", "pub   rsa4096/{H16} 2026-01-01 [SC]\n      {H40}", "public_key = {b43}=", "fingerprint: {h2}:{h2}:{h2}:{h2}:{h2}:{h2}"}},
	{"logs", []string{"2026-01-02T03:04:05.{d3}Z INFO <word>: <word> token refreshed in {d3}ms", "[{d2}:{d2}:{d2}] WARN password check <word> for user <word>", "E{d4} {d2}:{d2}:{d2}.{d6} {d5} <ident>.go:{d3}] auth: <word> <word>", "\tat com.<word>.<Ident>.<ident>(<Ident>.java:{d3})", "  File \"<path>\", line {d3}, in <ident>", "goroutine {d2} [running]:\nmain.<ident>(0xc000{h6}, 0x{h2})", "0x{h16}: {h2} {h2} {h2} {h2} {h2} {h2} {h2} {h2}", "ok  \t<word>/<path>\t{d1}.{d3}s", "PASS <path> ({d2}.{d2} s)", "GET /api/<word>/{d6}?key=<word> 200 {d2}ms", "Step 3/{d2} : ENV TOKEN_FILE=/run/<word>/token\n ---> {h12}", "token validation failed: <word> at position {d3}", "npm warn deprecated <word>@{d1}.{d1}.{d1}: <word> <word>"}},
	{"configuration", []string{"secretName: <word>-<word>-credentials", "secretKeyRef:\n  name: <word>-<word>\n  key: <word>-password", "password_file: /etc/<word>/<word>", "token_endpoint: https://<word>.io/oauth2/token", "keyFile: <path>", "auth:\n  enabled: true\n  type: <word>", "api_key_env: <Ident>_API_KEY", "\"tokenizer\": \"<word>-<word>-base\"", "pad_token: \"<|endoftext|>\"", "eos_token: '</s>'", "hotkey = \"ctrl+shift+{l1}\"", "primary_key: <ident>", "foreign_key: <word>_<word>_id", "partition-key: <ident>", "public_key_path: <path>", "token_ttl: {d2}h", "password_policy: <word>-<word>", "\"keywords\": [\"<word>\", \"<word>\", \"auth\"]", "sort_key = '<ident>'", "AUTH_PROVIDER=<word>", "KEYCLOAK_REALM=<word>-<word>", "  - secret: <word>_<word>_<word>\n    mode: 0400", "\"authToken\": true,", "keymap.<word> = \"<ident>\"", "PASSWORD_MIN_LENGTH=12", "JWT_SECRET_NAME=<word>/<word>/jwt", "passwordless: true", "access_key_rotation_days = {d2}", "tokens_per_minute: {d6}"}},
	{"encoded", []string{"%3Cp%3E<word>%20<word>%20<word>%3C%2Fp%3E", "=3D<word> =3D{d2} <word>", "{h2} {h2} {h2} {h2} {h2} {h2}", "\\x{h2}\\x{h2}\\x{h2}", "AAAAAAAAAAAAAAAA{b40}AAAAAAAA", "0x{h64}", "&#x{h2};<word>&#{d2};"}},
}

var hole = regexp.MustCompile(`<(word|ident|Ident|path|n)>`)

var harmlessWords = strings.Fields("account action active adapter after answer archive array async backup balance batch before binary block border branch " +
	"buffer build bundle button cache call cancel change channel check client clock close cluster code column command commit component config " +
	"connect console container content context control copy counter create current custom data database debug default delete deploy design detail " +
	"device dialog digest direct display document domain driver editor element empty enable engine entry error event example export factory field " +
	"file filter final first folder footer format forward function gateway global graph group handle header health helper history hook image import " +
	"index inner input insert install item journal kernel label language layer layout length level library limit line link list loader local lock " +
	"logger lookup loop machine manager marker master matrix member memory menu message method metric middle migrate mobile model module monitor " +
	"mount native network node normal notice number object offset option order output owner package panel parent parser patch pattern payload " +
	"person pipeline plugin pointer policy pool portal position prefix preview process product profile project prompt proxy query queue quick " +
	"random range reader record redirect reference region register release remote render replace report request reset resource response result " +
	"retry return review role root route runner sample schema scope script search section select sender server service session setting shadow " +
	"share signal simple single size snapshot socket source stack stage start state static status storage store stream string style submit suffix " +
	"summary support switch symbol system table target task team template tenant text theme thread timeout toggle tooltip topic total trace track " +
	"transfer tree trigger tunnel update upload user value vector vendor version view visitor volume watch widget window worker workflow writer zone")

func (m maker) harmless(form string) string {
	form = hole.ReplaceAllStringFunc(form, func(h string) string {
		w := func() string { return pick(m, harmlessWords) }
		title := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
		switch h {
		case "<word>":
			return w()
		case "<n>":
			return m.text(digits, 1+m.IntN(3))
		case "<path>":
			return fmt.Sprintf("src/%s/%s_%s.%s", w(), w(), w(), pick(m, []string{"go", "ts", "py", "json", "md"}))
		case "<Ident>":
			return title(w()) + title(w())
		}
		switch m.IntN(3) {
		case 0:
			return w() + "_" + w()
		case 1:
			return w() + title(w()) + title(w())
		}
		return w() + title(w())
	})
	text, _, _ := m.fill(form)
	return text
}

// NoSecrets returns harmless strings of a seed: at least n, as many of each kind.
func NoSecrets(seed uint64, n int) (all []Harmless) {
	m := newMaker(seed)
	kinds := len(plains) + 1
	for _, p := range plains {
		for k := range n/kinds + 1 {
			all = append(all, Harmless{p.kind, m.harmless(p.forms[k%len(p.forms)])})
		}
	}
	for range n/kinds + 1 {
		var words []string
		for range 4 + m.IntN(20) {
			words = append(words, m.harmless("<word>"))
		}
		all = append(all, Harmless{"text in base64", base64.StdEncoding.EncodeToString([]byte(strings.Join(words, " ")))})
	}
	return all
}
