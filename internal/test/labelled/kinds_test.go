package labelled

// prefixedKinds are tokens that begin with a public prefix, and where their formats are documented.
var prefixedKinds = []pattern{
	{"openai-project", "sk-proj-{w74}T3BlbkFJ{w74}"},                  // platform.openai.com/docs/api-reference/authentication
	{"openai-service", "sk-svcacct-{w58}T3BlbkFJ{w58}"},               // platform.openai.com/docs/api-reference/project-service-accounts
	{"openai-admin", "sk-admin-{w58}T3BlbkFJ{w58}"},                   // platform.openai.com/docs/api-reference/admin-api-keys
	{"openai-legacy", "sk-{an20}T3BlbkFJ{an20}"},                      // github.com/gitleaks/gitleaks, openai-api-key
	{"anthropic", "sk-ant-api03-{w93}AA"},                             // docs.anthropic.com/en/api/overview
	{"anthropic-admin", "sk-ant-admin01-{w93}AA"},                     // docs.anthropic.com/en/api/administration-api
	{"anthropic-oauth", "sk-ant-oat01-{w93}AA"},                       // docs.anthropic.com/en/docs/claude-code/github-actions
	{"anthropic-refresh", "sk-ant-ort01-{w93}AA"},                     // docs.anthropic.com/en/docs/claude-code/github-actions
	{"bedrock", "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{b300}"}, // docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html
	{"google-api", "AIza{w35}"},                                       // cloud.google.com/docs/authentication/api-keys
	{"google-oauth-secret", "GOCSPX-{w28}"},                           // developers.google.com/identity/protocols/oauth2
	{"google-access", "ya29.{w120}"},                                  // developers.google.com/identity/protocols/oauth2
	{"google-refresh", "1//0{w100}"},                                  // developers.google.com/identity/protocols/oauth2
	{"xai", "xai-{an80}"},                                             // docs.x.ai/docs/overview
	{"groq", "gsk_{an52}"},                                            // console.groq.com/docs/quickstart
	{"deepseek", "sk-{h32}"},                                          // api-docs.deepseek.com
	{"replicate", "r8_{an37}"},                                        // replicate.com/docs/topics/security/api-tokens
	{"tavily", "tvly-dev-{an32}"},                                     // docs.tavily.com/documentation/quickstart
	{"langsmith-personal", "lsv2_pt_{h32}_{h10}"},                     // docs.smith.langchain.com/administration/how_to_guides
	{"langsmith-service", "lsv2_sk_{h32}_{h10}"},                      // docs.smith.langchain.com/administration/how_to_guides
	{"langfuse-secret", "sk-lf-{h8}-{h4}-{h4}-{h4}-{h12}"},            // langfuse.com/docs/get-started
	{"openrouter", "sk-or-v1-{h64}"},                                  // openrouter.ai/docs/api-reference/authentication
	{"perplexity", "pplx-{an48}"},                                     // docs.perplexity.ai/guides/getting-started
	{"huggingface", "hf_{L34}"},                                       // huggingface.co/docs/hub/security-tokens
	{"pinecone", "pcsk_{an6}_{an64}"},                                 // docs.pinecone.io/guides/projects/manage-api-keys
	{"cursor", "key_{h64}"},                                           // docs.cursor.com/account/teams/admin-api
	{"supabase-token", "sbp_{h40}"},                                   // supabase.com/docs/reference/cli/supabase-login
	{"supabase-secret", "sb_secret_{w31}"},                            // supabase.com/docs/guides/api/api-keys
	{"fireworks", "fw_{an24}"},                                        // docs.fireworks.ai/getting-started/quickstart
	{"nvidia", "nvapi-{w64}"},                                         // docs.nvidia.com/nim
	{"aws-id", "AKIA{U16}"},                                           // docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
	{"aws-temporary-id", "ASIA{U16}"},                                 // docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
	{"github", "ghp_{an36}"},                                          // docs.github.com/en/authentication, about authentication
	{"github-oauth", "gho_{an36}"},                                    // docs.github.com/en/authentication, about authentication
	{"github-app", "ghs_{an36}"},                                      // docs.github.com/en/authentication, about authentication
	{"github-fine", "github_pat_{an22}_{an59}"},                       // docs.github.com/en/authentication, about authentication
	{"gitlab", "glpat-{w20}"},                                         // docs.gitlab.com/security/tokens
	{"gitlab-runner", "glrt-{w20}"},                                   // docs.gitlab.com/security/tokens
	{"bitbucket", "ATBB{an32}"},                                       // support.atlassian.com/bitbucket-cloud/docs/app-passwords
	{"atlassian", "ATATT3xFfGF0{w176}={H8}"},                          // support.atlassian.com/atlassian-account/docs
	{"slack-bot", "xoxb-{d12}-{d12}-{an24}"},                          // api.slack.com/authentication/token-types
	{"slack-client", "xoxc-{d12}-{d12}-{d12}-{h64}"},                  // api.slack.com/authentication/token-types
	{"slack-cookie", "xoxd-{an120}"},                                  // api.slack.com/authentication/token-types
	{"slack-app", "xapp-1-A{AL10}-{d13}-{h64}"},                       // api.slack.com/authentication/token-types
	{"stripe-live", "sk_live_{an24}"},                                 // docs.stripe.com/keys
	{"stripe-restricted", "rk_live_{an99}"},                           // docs.stripe.com/keys
	{"stripe-webhook", "whsec_{an32}"},                                // docs.stripe.com/webhooks
	{"netlify", "nfp_{an36}"},                                         // docs.netlify.com/api/get-started
	{"mapbox", "sk.eyJ1{an80}.{w22}"},                                 // docs.mapbox.com/help/glossary/access-token
	{"dropbox", "sl.u.{w130}"},                                        // developers.dropbox.com/oauth-guide
	{"figma", "figd_{w40}"},                                           // www.figma.com/developers/api#access-tokens
	{"notion", "ntn_{d11}{an35}"},                                     // developers.notion.com/docs/authorization
	{"notion-legacy", "secret_{an43}"},                                // developers.notion.com/docs/authorization
	{"tailscale", "tskey-auth-k{an9}CNTRL-{an32}"},                    // tailscale.com/kb/1252/key-prefixes
	{"docker-hub", "dckr_pat_{w27}"},                                  // docs.docker.com/security/access-tokens
	{"crates", "cio{an32}"},                                           // doc.rust-lang.org/cargo/reference/publishing.html
	{"nuget", "oy2{al43}"},                                            // learn.microsoft.com/nuget/nuget-org/scoped-api-keys
	{"npm", "npm_{an36}"},                                             // docs.npmjs.com/about-access-tokens
	{"pypi", "pypi-AgEIcHlwaS5vcmc{w100}"},                            // pypi.org/help/#apitoken
	{"rubygems", "rubygems_{h48}"},                                    // guides.rubygems.org/api-key-scopes
	{"circleci", "CCIPAT_{an22}_{h40}"},                               // circleci.com/docs/managing-api-tokens
	{"buildkite", "bkua_{h40}"},                                       // buildkite.com/docs/apis/managing-api-tokens
	{"buildkite-agent", "bkct_{an48}"},                                // buildkite.com/docs/agent/v3/tokens
	{"asana", "2/1204567890123456/1209876543210987:{h32}"},            // developers.asana.com/docs/personal-access-token
	{"airtable", "patq8Zr2LmX0vB7kd.{h64}"},                           // airtable.com/developers/web/guides/personal-access-tokens
	{"newrelic-user", "NRAK-{AL27}"},                                  // docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys
	{"launchdarkly-sdk", "sdk-{h8}-{h4}-{h4}-{h4}-{h12}"},             // launchdarkly.com/docs/home/account/api
	{"launchdarkly-api", "api-{h8}-{h4}-{h4}-{h4}-{h12}"},             // launchdarkly.com/docs/home/account/api
	{"digitalocean", "dop_v1_{h64}"},                                  // docs.digitalocean.com/reference/api/create-personal-access-token
	{"linear", "lin_api_{an40}"},                                      // linear.app/developers
	{"vault", "hvs.{w95}"},                                            // developer.hashicorp.com/vault/docs/concepts/tokens
	{"doppler", "dp.pt.{an43}"},                                       // docs.doppler.com/reference/auth-token-formats
	{"databricks", "dapi{h32}"},                                       // docs.databricks.com/dev-tools/auth/pat.html
	{"postman", "PMAK-{h24}-{h34}"},                                   // learning.postman.com/docs/developer/postman-api
	{"sendgrid", "SG.{w22}.{w43}"},                                    // www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys
	{"neon", "npg_{an12}"},                                            // neon.com/docs/manage/roles
	{"sentry-user", "sntryu_{h64}"},                                   // docs.sentry.io/account/auth-tokens
	{"grafana", "glsa_{an32}_{h8}"},                                   // grafana.com/docs/grafana/latest/administration/service-accounts
	{"shopify", "shpat_{h32}"},                                        // shopify.dev/docs/apps/build/authentication-authorization
	{"age", "AGE-SECRET-KEY-1{U58}"},                                  // github.com/FiloSottile/age
	{"twilio-key", "SK{h32}"},                                         // www.twilio.com/docs/iam/api-keys
	{"jwt", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ{w80}.{w43}"},    // RFC 7519
}

// contextKinds are secrets that the words around them show.
var contextKinds = []pattern{
	{"aws-secret", "AWS_SECRET_ACCESS_KEY={b40}"},                                                                            // docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html
	{"aws-secret-file", "aws_secret_access_key = {b40}"},                                                                     // docs.aws.amazon.com/cli/latest/userguide/cli-configure-files.html
	{"aws-secret-csv", "Access key ID,Secret access key\nAKIAIOSFODNN7EXAMPLE,{b40}"},                                        // docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html
	{"aws-session", `"SessionToken": "{b200}"`},                                                                              // docs.aws.amazon.com/STS/latest/APIReference/API_GetSessionToken.html
	{"aws-session-variable", "AWS_SESSION_TOKEN={b200}"},                                                                     // docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html
	{"basic header", "Authorization: Basic {b27}="},                                                                          // RFC 7617
	{"proxy header", "Proxy-Authorization: Basic {b32}"},                                                                     // RFC 9110, 11.7.2
	{"aws-presigned", "https://b.s3.amazonaws.com/k?X-Amz-Expires=900&X-Amz-Signature={h64}&X-Amz-SignedHeaders=host"},       // docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
	{"azure-account", "DefaultEndpointsProtocol=https;AccountName=store;AccountKey={b86}==;EndpointSuffix=core.windows.net"}, // learn.microsoft.com/azure/storage/common/storage-configure-connection-string
	{"azure-sas", "https://a.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={an42}%3D"},                                      // learn.microsoft.com/azure/storage/common/storage-sas-overview
	{"azure-bus", "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={b43}="},                // learn.microsoft.com/azure/service-bus-messaging/service-bus-sas
	{"mistral", "MISTRAL_API_KEY={an32}"},                                                                                    // docs.mistral.ai/getting-started/quickstart
	{"together", "TOGETHER_API_KEY={h64}"},                                                                                   // docs.together.ai/docs/quickstart
	{"cohere", "CO_API_KEY={an40}"},                                                                                          // docs.cohere.com
	{"discord", `DISCORD_TOKEN="{an26}.{an6}.{w38}"`},                                                                        // discord.com/developers/docs/reference#authentication
	{"telegram", "https://api.telegram.org/bot{d10}:{w35}/getMe"},                                                            // core.telegram.org/bots/api#authorizing-your-bot
	{"twilio-auth", "TWILIO_AUTH_TOKEN={h32}"},                                                                               // www.twilio.com/docs/iam/api/authtoken
	{"cloudflare", "CLOUDFLARE_API_TOKEN={w40}"},                                                                             // developers.cloudflare.com/fundamentals/api/get-started/create-token
	{"datadog", "DD_API_KEY={h32}"},                                                                                          // docs.datadoghq.com/account_management/api-app-keys
	{"vercel", "VERCEL_TOKEN={an24}"},                                                                                        // vercel.com/docs/rest-api
	{"heroku", "HEROKU_API_KEY={h8}-{h4}-{h4}-{h4}-{h12}"},                                                                   // devcenter.heroku.com/articles/authentication
	{"slack-webhook", "https://hooks.slack.com/services/T{AL8}/B{AL10}/{an24}"},                                              // api.slack.com/messaging/webhooks
	{"discord-webhook", "https://discord.com/api/webhooks/223704706495545344/{w68}"},                                         // discord.com/developers/docs/resources/webhook
	{"rails", "secret_key_base: {h128}"},                                                                                     // guides.rubyonrails.org/security.html
	{"rails-master", "RAILS_MASTER_KEY={h32}"},                                                                               // guides.rubyonrails.org/security.html
	{"django", "SECRET_KEY = 'django-insecure-{s50}'"},                                                                       // docs.djangoproject.com/en/stable/ref/settings/#secret-key
	{"laravel", "APP_KEY=base64:{b43}="},                                                                                     // laravel.com/docs/encryption
	{"wordpress", "define('AUTH_KEY',         '{s64}');"},                                                                    // developer.wordpress.org/advanced-administration/wordpress/wp-config
	{"wordpress-salt", "define( 'NONCE_SALT', '{s64}' );"},                                                                   // developer.wordpress.org/advanced-administration/wordpress/wp-config
	{"otpauth", "otpauth://totp/Shop:ann?secret={U32}&issuer=Shop"},                                                          // github.com/google/google-authenticator/wiki/Key-Uri-Format
	{"kube-key", "    client-key-data: {b400}="},                                                                             // kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig
	{"kube-token", "    token: {w300}"},                                                                                      // kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig
	{"supabase-url", "postgresql://postgres.abc:{an16}@aws-0-eu.pooler.supabase.com:6543/postgres"},                          // supabase.com/docs/guides/database/connecting-to-postgres
	{"gcp-refresh", `"client_secret": "d-{an22}", "type": "authorized_user"`},                                                // cloud.google.com/docs/authentication/application-default-credentials
}

// fileKinds are files that hold secrets.
var fileKinds = []pattern{
	{".netrc", "machine api.site.io\n  login ann\n  password {an16}\n"},                         // curl.se/libcurl/c/CURLOPT_NETRC.html
	{".netrc line", "machine api.site.io login ann password {an20}"},                            // curl.se/libcurl/c/CURLOPT_NETRC.html
	{".npmrc", "//registry.site.io/:_authToken={an36}"},                                         // docs.npmjs.com/cli/configuring-npm/npmrc
	{".npmrc basic", "//registry.site.io/:_password={b24}"},                                     // docs.npmjs.com/cli/configuring-npm/npmrc
	{".npmrc auth", "_auth={b32}=="},                                                            // docs.npmjs.com/cli/configuring-npm/npmrc
	{".pgpass", "db.site.io:5432:app:ann:{an14}"},                                               // www.postgresql.org/docs/current/libpq-pgpass.html
	{"my.cnf", "[client]\nuser=ann\npassword={an14}\n"},                                         // dev.mysql.com/doc/refman/8.4/en/option-files.html
	{"htpasswd", "ann:$apr1${an8}${an22}"},                                                      // httpd.apache.org/docs/current/misc/password_encryptions.html
	{"htpasswd bcrypt", "ann:$2y$05${an53}"},                                                    // httpd.apache.org/docs/current/misc/password_encryptions.html
	{"shadow", "ann:$6${an16}${an86}:19700:0:99999:7:::"},                                       // man7.org/linux/man-pages/man5/shadow.5.html
	{"shadow yescrypt", "ann:$y$j9T${an22}${an43}:19700:0:99999:7:::"},                          // man7.org/linux/man-pages/man5/crypt.5.html
	{".pypirc", "[pypi]\nusername = ann\npassword = {an18}\n"},                                  // packaging.python.org/en/latest/specifications/pypirc
	{".git-credentials", "https://ann:{an20}@git.site.io"},                                      // git-scm.com/docs/git-credential-store
	{"docker config", `{"auths": {"hub.site.io": {"auth": "{b40}"}}}`},                          // docs.docker.com/reference/cli/docker/login
	{"k8s secret", "kind: Secret\ndata:\n  password: {b24}\n"},                                  // kubernetes.io/docs/concepts/configuration/secret
	{"gradle", "signing.password={an16}"},                                                       // docs.gradle.org/current/userguide/signing_plugin.html
	{"maven", "<server><id>r</id><username>ann</username><password>{an16}</password></server>"}, // maven.apache.org/settings.html
	{"nuget.config", `<add key="ClearTextPassword" value="{an20}" />`},                          // learn.microsoft.com/nuget/reference/nuget-config-file
	{"cargo", "[registry]\ntoken = \"{an32}\""},                                                 // doc.rust-lang.org/cargo/reference/config.html
	{"wireguard", "[Interface]\nPrivateKey = {b43}="},                                           // www.wireguard.com/quickstart
	{"tfvars", `db_password = "{an16}"`},                                                        // developer.hashicorp.com/terraform/language/values/variables
	{"composer", `{"http-basic": {"site.io": {"username": "ann", "password": "{an20}"}}}`},      // getcomposer.org/doc/articles/authentication-for-private-packages.md
}

// valueForms are what persons and programs choose as passwords.
var valueForms = []pattern{
	{"8 mixed", "{an8}"},
	{"9 mixed", "{an9}"},
	{"10 mixed", "{an10}"},
	{"12 mixed", "{an12}"},
	{"16 mixed", "{an16}"},
	{"24 mixed", "{an24}"},
	{"32 mixed", "{an32}"},
	{"12 with signs", "{s12}"},
	{"16 with signs", "{s16}"},
	{"10 lower", "{al10}"},
	{"16 lower", "{al16}"},
	{"32 hex", "{h32}"},
	{"40 base64", "{b40}"},
	{"uuid", "{h8}-{h4}-4{h3}-a{h3}-{h12}"},
	{"12 letters", "{L12}"},
}

// keyKinds are private keys: the label, and how the data begins in base64.
var keyKinds = []pattern{
	{"RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA"},                                         // RFC 8017
	{"PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC"},          // RFC 5958
	{"EC PRIVATE KEY", "MHcCAQEEI"},                                                 // RFC 5915
	{"OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB"}, // github.com/openssh/openssh-portable, PROTOCOL.key
	{"ENCRYPTED PRIVATE KEY", "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQwwHAQI"},   // RFC 5958
	{"DSA PRIVATE KEY", "MIIBuwIBAAKBgQD"},                                          // github.com/openssl/openssl
	{"PGP PRIVATE KEY BLOCK", "lQOYBF"},                                             // RFC 9580
}
