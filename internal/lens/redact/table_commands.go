package redact

// A program is a command, or several that take the same arguments, that is given a secret on its command line, or
// that reads or prints one.
type program struct {
	Names   string // as typed, in small letters, with spaces between them
	With    string // words of which one must be among the arguments, empty for none; ~ is a file named like a secret
	Options string // options whose value is the secret; with a * it may also follow without a space
	Logins  string // options whose value is a user and the secret, and as last character the sign between them
	Args    string // the arguments that are secrets: 2 the second without a dash, @/ a login with the sign, = NAME=VALUE
	Reads   bool   // it reads the secret from a here-string, a here-document or a pipe
	Prints  bool   // the first line that it prints is the secret
	Is      string // examples with and without a secret
	Not     string
	Source  string // where the arguments are documented
}

// programs are the commands that take secrets. Positions of arguments count those after the word of With.
var programs = []program{
	{Names: "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlsh mariadb mariadb-dump mariadb-admin mycli", Options: "-p* --password", Is: "mysql -u root -pxK9mQ2vT shop", Not: "mysql -u root -p$MYSQL_PWD", Source: "dev.mysql.com/doc/refman/8.4/en/connecting.html"},
	{Names: "redis-cli keydb-cli valkey-cli", Options: "-a --pass", Is: "redis-cli -h cache -a xK9mQ2vT ping", Not: "redis-cli -a $REDIS_PASSWORD ping", Source: "redis.io/docs/latest/develop/tools/cli"},
	{Names: "sshpass", Options: "-p*", Is: "sshpass -p 'xK9mQ2vT' ssh ann@build", Not: "sshpass -p password ssh ann@build", Source: "linux.die.net/man/1/sshpass"},
	{Names: "mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop cqlsh clickhouse-client cypher-shell influx arangosh psql-cli ycqlsh trino", Options: "-p --password -password -P --token -t", Is: "mongosh --host db -u app -p xK9mQ2vTw8", Not: "mongosh -p 27017", Source: "www.mongodb.com/docs/mongodb-shell/reference/options"},
	{Names: "sqlcmd bcp osql isql tsql usql mssql-cli", Options: "-P*", Is: "sqlcmd -S srv -U sa -P xK9mQ2vTw8", Not: "sqlcmd -S srv -P $SA_PASSWORD", Source: "learn.microsoft.com/sql/tools/sqlcmd/sqlcmd-utility"},
	{Names: "sqlplus sqlldr expdp impdp rman sqlcl tnsping dgmgrl", Args: "@/", Is: "sqlplus app/xK9mQ2vTw8@//ora:1521/X", Not: "sqlplus app/$PASSWORD@ora", Source: "docs.oracle.com/en/database/oracle/oracle-database/23/sqpug"},
	{Names: "snmpwalk snmpget snmpset snmpbulkwalk snmpbulkget snmpgetnext snmptable snmptrap snmpstatus snmpdf snmptranslate check_snmp snmptest onesixtyone", Options: "-c -C -A -X", Is: "snmpwalk -v2c -c xK9mQ2vTw8 10.0.0.1 ifDescr", Not: "snmpwalk -v2c -c public 10.0.0.1", Source: "net-snmp.sourceforge.io/docs/man/snmpcmd.html"},
	{Names: "net net.exe", With: "use user", Args: "2 3", Is: `net use Z: \\srv\share xK9mQ2vTw8 /user:ann`, Not: `net use Z: \\srv\share /user:ann`, Source: "learn.microsoft.com/windows-server/administration/windows-commands/net-use"},
	{Names: "schtasks at.exe sc psexec psexec64 winrs wmic runas winexe cmdkey msdeploy signtool certutil xfreerdp wfreerdp freerdp rdesktop rcedit mstsc paexec dsmod dsadd vncviewer x11vnc tightvnc pdbedit", Options: "/rp /p* -p /pass /password /pwd -pw -passwd password= -u:p", Is: "xfreerdp /v:host /u:ann /p:xK9mQ2vTw8 /cert:ignore", Not: "xfreerdp /v:host /u:ann /p:%PASS%", Source: "learn.microsoft.com/windows-server/administration/windows-commands"},
	{Names: "keytool jarsigner apksigner zipalign openssl", Options: "-storepass -keypass -srcstorepass -deststorepass -srckeypass -destkeypass -new -k -K -pass -passin -passout --ks-pass --key-pass", Is: "openssl enc -aes-256-cbc -in a.tar -out a.enc -k amber-violin-harbour42", Not: "openssl enc -aes-256-cbc -in a.tar -k $PASSPHRASE", Source: "docs.oracle.com/en/java/javase/25/docs/specs/man/keytool.html, docs.openssl.org/master/man1/openssl-enc"},
	{Names: "curl wget http https httpie xh hurl lftp ncftp ncftpget ncftpput ncftpls swaks aria2c axel curlie", Options: "--password --http-password --ftp-password --proxy-password --http-passwd --ftp-passwd --auth-password -ap -p", Logins: "-u: -u, --user: --proxy-user: -U: -a: --auth: --auth-user:", Is: "curl -u ann:xK9mQ2vT https://api.site.io", Not: "curl -u username:password https://example.com", Source: "curl.se/docs/manpage.html#-u, lftp.yar.ru/lftp-man.html"},
	{Names: "rabbitmqctl", With: "add_user change_password authenticate_user", Args: "2", Is: "rabbitmqctl add_user ann H8.F8sCPfxDGt", Not: "rabbitmqctl add_user ann $PASS", Source: "www.rabbitmq.com/docs/man/rabbitmqctl.8"},
	{Names: "rabbitmqadmin nats activemq mosquitto_pub mosquitto_sub mosquitto_rr ipmitool kafkacat kcat stomp", Options: "-p -P -E --password --pass", Is: "mosquitto_pub -h mq -u ann -P xK9mQ2vTw8 -t a -m b", Not: "mosquitto_pub -p 1883 -t a", Source: "mosquitto.org/man/mosquitto_pub-1.html"},
	{Names: "smbclient smbmap smbget rpcclient nmblookup smbcacls", Options: "-p", Logins: "-U% --user% -U:", Is: "smbclient //srv/share -U ann%xK9mQ2vTw8", Not: "smbclient //srv/share -U ann%$PASS", Source: "www.samba.org/samba/docs/current/man-html/smbclient.1.html"},
	{Names: "crackmapexec nxc netexec evil-winrm hydra medusa ncrack kerbrute bloodhound-python certipy impacket-psexec psexec.py wmiexec.py smbexec.py secretsdump.py", Options: "-p -P --password", Args: "@:", Is: "nxc smb 10.0.0.1 -u ann -p xK9mQ2vTw8", Not: "nxc smb 10.0.0.1 -u ann -p $PASS", Source: "www.netexec.wiki"},
	{Names: "htpasswd mosquitto_passwd", With: "-b -cb -bc -nb -nbB -bB -nbm -cbB -bnB", Args: "2 3", Is: "htpasswd -cb .htpasswd ann xK9mQ2vTw8", Not: "htpasswd -c .htpasswd ann", Source: "httpd.apache.org/docs/current/programs/htpasswd.html"},
	{Names: "docker podman nerdctl buildah skopeo helm oras crane az oc cf ibmcloud tkn bx kubectl kubelogin", With: "login", Options: "-p* --password -t --token", Is: "docker login -u ann -p xK9mQ2vT hub.site.io", Not: "docker login -u ann -p password", Source: "docs.docker.com/reference/cli/docker/login"},
	{Names: "skopeo buildah podman crane regctl", Logins: "--creds: --src-creds: --dest-creds:", Is: "skopeo copy --src-creds ann:xK9mQ2vTw8 docker://a docker://b", Not: "skopeo copy docker://a docker://b", Source: "github.com/containers/skopeo/blob/main/docs/skopeo-copy.1.md"},
	{Names: "kubectl oc", With: "secret", Options: "--docker-password", Args: "=", Is: "kubectl create secret generic db --from-literal=pw=xK9mQ2vTw8", Not: "kubectl create secret generic db --from-file=key.pem", Source: "kubernetes.io/docs/reference/kubectl/generated/kubectl_create/kubectl_create_secret_generic"},
	{Names: "fly flyctl heroku doppler supabase gh railway wrangler eas netlify firebase vercel render koyeb porter scalingo clever sst copilot convex modal deployctl", With: "set secrets secret env:set config:set env variables config:set config:add secrets:set functions:config:set env:add", Options: "--body -b --value -v --set", Args: "=", Reads: true, Is: "fly secrets set SESSION_HMAC=MQQ60-UBO41-LERGF-Q6IVQ-6G3UG -a shop", Not: "fly secrets set NAME=$VALUE", Source: "fly.io/docs/apps/secrets, devcenter.heroku.com/articles/config-vars, cli.github.com/manual/gh_secret_set"},
	{Names: "netlify", With: "env:set", Args: "2", Is: "netlify env:set API_HASH xK9mQ2vTw8q8Zr2L", Not: "netlify env:set NAME value", Source: "cli.netlify.com/commands/env"},
	{Names: "aws awslocal", With: "secretsmanager ssm configure rds cognito-idp iam", Options: "--secret-string --value --password --master-user-password --new-password --old-password --client-secret", Args: "3", Is: "aws secretsmanager create-secret --name a --secret-string xK9mQ2vTw8", Not: "aws ssm put-parameter --name /a --value 30", Source: "docs.aws.amazon.com/cli/latest/reference"},
	{Names: "vault bao", With: "kv write put login unseal", Args: "= 1 2", Reads: true, Is: "vault kv put secret/db passcode=xK9mQ2vTw8", Not: "vault kv get secret/db", Source: "developer.hashicorp.com/vault/docs/commands"},
	{Names: "pulumi", With: "set", Args: "2", Reads: true, Is: "pulumi config set --secret dbpass xK9mQ2vTw8", Not: "pulumi config set aws:region eu-central-1", Source: "www.pulumi.com/docs/iac/cli/commands/pulumi_config_set"},
	{Names: "circleci travis bundle composer poetry pip-config npm-cli cargo gem nuget dotnet twine conan pdm uv flit gradle mvn", With: "config login encrypt http-basic push publish upload setapikey sources source add context", Options: "-p --password -ApiKey --api-key -k --key --token --store-secret", Args: "2 3", Reads: true, Is: "poetry config pypi-token.pypi xK9mQ2vTw8q8Zr2LmX0vB7kd9", Not: "composer config repositories.foo vcs", Source: "python-poetry.org/docs/configuration, getcomposer.org/doc/articles/authentication-for-private-packages.md"},
	{Names: "cargo", With: "login", Args: "1", Is: "cargo login xK9mQ2vTw8q8Zr2LmX0vB7kd9", Not: "cargo login --registry crates", Source: "doc.rust-lang.org/cargo/commands/cargo-login.html"},
	{Names: "ngrok cloudflared tailscale zerotier-cli netbird stripe sentry-cli doctl hcloud databricks snowsql wandb huggingface-cli hf modal twilio", With: "authtoken add-authtoken run install up init login configure connect", Options: "--token -t --authkey --auth-key --api-key --auth-token --access-token --setup-key -p", Args: "1", Is: "ngrok authtoken xK9mQ2vTw8q8Zr2LmX0vB7kd9", Not: "ngrok authtoken $TOKEN", Source: "ngrok.com/docs/agent"},
	{Names: "kubeadm k3s k3d rke2 docker nomad consul etcdctl argocd flux terraform gitlab-runner buildkite-agent drone actions-runner config.sh", With: "join agent server swarm login register start acl", Options: "--token -token --discovery-token --password --registration-token -t", Logins: "--user:", Is: "kubeadm join 10.0.0.1:6443 --token q8zr2l.mx0vb7kd92pw7xjm", Not: "kubeadm join 10.0.0.1:6443", Source: "kubernetes.io/docs/reference/setup-tools/kubeadm/kubeadm-join"},
	{Names: "etcdctl", Logins: "--user:", Is: "etcdctl --user root:xK9mQ2vTw8 get a", Not: "etcdctl --user root get a", Source: "etcd.io/docs/latest/op-guide/authentication"},
	{Names: "bw rbw lpass keepassxc-cli op pass gopass passage", With: "login unlock insert generate edit create", Args: "1 2", Reads: true, Is: "bw unlock xK9mQ2vTw8", Not: "bw unlock --raw", Source: "bitwarden.com/help/cli"},
	{Names: "ansible-vault sops age gpg gpg2 secret-tool keyctl security", With: "encrypt_string add add-generic-password add-internet-password --passphrase store -p import unlock-keychain set-keychain-settings create-keychain --batch", Options: "--passphrase -w -p -P", Args: "1 3", Reads: true, Is: "security add-generic-password -a ann -s shop -w xK9mQ2vTw8", Not: "gpg --batch --import key.asc", Source: "docs.ansible.com/ansible/latest/cli/ansible-vault.html"},
	{Names: "zip unzip 7z 7za 7zz rar unrar unar pdftotext pdfimages qpdf zipcloak pdftk mutool john fcrackzip", Options: "-P* -p* -hp* -upw -opw --password user_pw owner_pw input_pw", Is: "unzip -P xK9mQ2vTw8 a.zip", Not: "unzip -P $ZIP_PASSWORD a.zip", Source: "linux.die.net/man/1/unzip, 7-zip.opensource.jp/chm/cmdline/switches/password.htm"},
	{Names: "ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami ldapmodrdn ldapcompare ldapexop slappasswd kadmin kadmin.local", Options: "-w -s -a", Is: "ldapsearch -x -D cn=admin -w xK9mQ2vTw8 -b dc=site", Not: "ldapsearch -x -b dc=site", Source: "www.openldap.org/software/man.cgi?query=ldapsearch"},
	{Names: "nmcli wpa_passphrase wpa_cli iwctl iwconfig iw", With: "password passphrase wpa_passphrase key psk --passphrase connect", Options: "password passphrase key psk --passphrase wifi-sec.psk 802-11-wireless-security.psk", Args: "9", Is: "nmcli dev wifi connect Home password xK9mQ2vTw8", Not: "nmcli dev wifi list", Source: "networkmanager.dev/docs/api/latest/nmcli.html"},
	{Names: "rclone", With: "obscure", Args: "1", Is: "rclone obscure rocket3661$", Not: "rclone obscure --help", Source: "rclone.org/commands/rclone_obscure"},
	{Names: "rootpw", Options: "--plaintext", Is: "rootpw --plaintext Hun@Sunshine112", Not: "rootpw --lock", Source: "docs.redhat.com, Kickstart commands"},
	{Names: "wpa_passphrase", Args: "2", Is: "wpa_passphrase Home xK9mQ2vTw8", Not: "wpa_passphrase Home", Source: "w1.fi/wpa_supplicant"},
	{Names: "pkcs11-tool pkcs15-tool softhsm2-util p11tool yubico-piv-tool ykman tpm2_create", Options: "--pin -p --so-pin --new-pin --set-pin --puk --new-puk -P --management-key -m -k", Is: "pkcs11-tool --login --pin 7294018365 -O", Not: "softhsm2-util --init-token --slot 0 --label shop", Source: "manpages.debian.org/stable/opensc/pkcs11-tool.1"},
	{Names: "erl iex elixir rabbitmqctl rabbitmq-diagnostics mix rebar3 remsh", Options: "-setcookie --cookie --erlang-cookie", Is: "erl -sname a -setcookie QKXJWVPZTGHBNRMDLFSY", Not: "erl -sname a -remsh b@c", Source: "www.erlang.org/doc/apps/erts/erl_cmd"},
	{Names: "plink pscp putty psftp winscp.com winscp kitty", Options: "-pw /password", Is: "plink -ssh ann@srv -pw xK9mQ2vTw8", Not: "plink -ssh ann@srv -i key.ppk", Source: "the.earth.li/~sgtatham/putty/0.83/htmldoc"},
	{Names: "ssh-keygen ssh-add", Options: "-N -P", Is: "ssh-keygen -t ed25519 -N xK9mQ2vTw8 -f key", Not: "ssh-keygen -t ed25519 -N '' -f key", Source: "man.openbsd.org/ssh-keygen"},
	{Names: "mc", With: "set add", Args: "4", Is: "mc alias set store https://s3.site.io ann xK9mQ2vTw8aB", Not: "mc alias set store https://s3.site.io $ID $KEY", Source: "min.io/docs/minio/linux/reference/minio-mc"},
	{Names: "useradd usermod mkpasswd grub-mkpasswd-pbkdf2 vncpasswd openssl", With: "-p passwd mkpasswd --password", Options: "-p --password", Args: "1", Is: "useradd -m ann -p xK9mQ2vTw8", Not: "useradd -m ann", Source: "man7.org/linux/man-pages/man8/useradd.8.html"},
	{Names: "samba-tool neo4j-admin wp drush occ rails-admin drupal artisan magento keycloak kcadm.sh kc.sh grafana-cli grafana superset airflow gitea forgejo", With: "create setpassword set-initial-password reset-admin-password user:password credentials reset-password change-password", Options: "--newpassword --password --new-password --user_pass -p --admin-password", Args: "2 3", Is: "grafana-cli admin reset-admin-password xK9mQ2vTw8", Not: "grafana-cli plugins install clock", Source: "grafana.com/docs/grafana/latest/cli"},
	{Names: "yt-dlp youtube-dl gallery-dl transmission-remote deluge-console qbittorrent-nox rclone msmtp sendemail fetchmail offlineimap imapsync", Options: "-p --password --video-password --password1 --password2 -xp -P", Logins: "-n: --auth:", Is: "yt-dlp -u ann -p xK9mQ2vTw8 https://site.io/v", Not: "yt-dlp -P downloads https://site.io/v", Source: "github.com/yt-dlp/yt-dlp"},
	{Names: "svn git hg p4 cvs perforce", Options: "--password -P", Is: "svn co https://svn.site.io --username ann --password xK9mQ2vTw8", Not: "git log -P --grep=a", Source: "svnbook.red-bean.com"},
	{Names: "chpasswd smbpasswd passwd sudo cryptsetup", Reads: true, Is: "echo 'ann:xK9mQ2vTw8' | sudo chpasswd", Not: "echo $LOGIN | chpasswd", Source: "man7.org/linux/man-pages/man8/chpasswd.8.html"},
	{Names: "gcloud", With: "secrets", Reads: true, Options: "--data", Is: "gcloud secrets create a --data-file=- <<< 'b3FKaNQyyLaMeffOhq4AUvy7VSLDCD1I'", Not: "gcloud secrets list", Source: "cloud.google.com/sdk/gcloud/reference/secrets"},
	{Names: "docker podman helm az npm aws gh oras nerdctl crane skopeo cosign kubectl firebase", With: "login secret --password-stdin keyvault secretsmanager auth registry --with-token functions:secrets:set", Options: "--value", Reads: true, Is: "echo xK9mQ2vT | docker login -u ann --password-stdin", Not: "echo hello-world | docker login --password-stdin", Source: "docs.docker.com/reference/cli/docker/login"},
	{Names: "gcloud", With: "access print-access-token print-identity-token", Prints: true, Is: "$ gcloud secrets versions access latest --secret=a\nhNUDtH-Yn2G-knuZYWkeqCd4APUUa1ke9EpBBvgtjsrp", Not: "$ gcloud secrets versions access latest\nERROR: not-found", Source: "cloud.google.com/sdk/gcloud/reference/secrets/versions/access"},
	{Names: "pwgen apg makepasswd xkcdpass diceware", Prints: true, Is: "$ pwgen -s 20 1\nxK9mQ2vTw8q8Zr2LmX0v", Not: "$ pwgen --help\nUsage: pwgen", Source: "linux.die.net/man/1/pwgen"},
	{Names: "convertto-securestring", Options: "-String -string", Is: "ConvertTo-SecureString -String 'Castle354!' -AsPlainText -Force", Not: "ConvertTo-SecureString -String $plain -AsPlainText", Source: "learn.microsoft.com/powershell"},
	{Names: "wg openssl pass keyctl gopass op bw lpass passage nak rbw secret-tool keyring keepassxc-cli doppler vault bao kubectl az aws heroku docker artisan rails mix consul sops age chamber teller infisical security argocd bitcoin-cli minikube oc flyctl fly supabase stripe railway cat echo printenv head base64 tailscale rclone", With: "genkey genpsk -base64 -hex get-secret-value show read get get-password item password key:generate secret phx.gen.secret get-value config:get join-token bootstrap -d find-generic-password initial-password dumpprivkey generate lookup access-token get-access-token get-login-password token print $PASSWORD $SECRET reveal secrets/initialAdminPassword /dev/urandom whoami create-token ecr", Prints: true, Is: "$ wg genkey\nbXzMHS+N5akCQJ2uaqUxl+f1It62yrebzKel5XQkbMg=", Not: "$ kubectl get pods\nshop-7d9f8c6b5d-x2x4z", Source: "www.wireguard.com/quickstart, www.passwordstore.org"},
	{Names: "cat bat cut xxd head tail gc get-content printenv", With: "~", Prints: true, Is: "$ cat /srv/shop/master.key\n4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", Not: "$ cat internal/tokens/count.txt\n4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c", Source: "man7.org/linux/man-pages/man1/cat.1.html"},
}

// A call is a function whose argument is a secret.
type call struct {
	Name   string // with the parenthesis, in small letters
	Arg    int    // which of its arguments, from 1
	Is     string // examples with and without a secret
	Not    string
	Source string
}

// calls are functions that take a login.
var calls = []call{
	{"pdo(", 3, "new PDO('mysql:host=db', 'ann', 'pI5|X@g2#tHbD2)d');", "new PDO($dsn, $user, $password)", "www.php.net/manual/en/pdo.construct.php"},
	{"__construct(", 3, "PDO->__construct('mysql:host=db', 'ann', 'oTbHw8zdGS9azGl')", "parent::__construct($id, $title, $definition)", "www.php.net/manual/en/pdo.construct.php"},
	{"connect(", 3, `DBI->connect("dbi:Pg:dbname=a", "ann", "V_aSK.HcIfan.86.9");`, `store.connect("a", "b", "on-change-of-value")`, "metacpan.org/pod/DBI"},
	{"getconnection(", 3, `DriverManager.getConnection("jdbc:a", "ann", "xK9mQ2vTw8");`, "getConnection(url, user, password)", "docs.oracle.com/en/java/javase/25/docs/api/java.sql"},
	{"mysqli(", 3, "new mysqli('localhost', 'ann', 'xK9mQ2vTw8', 'shop')", "new mysqli($h, $u, $p)", "www.php.net/manual/en/mysqli.construct.php"},
	{"_connect(", 3, "mysql_connect('localhost', 'ann', 'xK9mQ2vTw8')", "db_connect('a', 'b')", "www.php.net/manual/en/function.mysqli-connect.php"},
	{"oci_connect(", 2, "oci_connect('ann', 'xK9mQ2vTw8', 'db')", "oci_connect($a, $b)", "www.php.net/manual/en/function.oci-connect.php"},
	{"_bind(", 3, "ldap_bind($c, 'cn=admin', 'xK9mQ2vTw8')", "ldap_bind($c, $dn, $pw)", "www.php.net/manual/en/function.ldap-bind.php"},
	{"_login(", 3, "ftp_login($c, 'ann', 'xK9mQ2vTw8')", "ftp_login($c, $u, $p)", "www.php.net/manual/en/function.ftp-login.php"},
	{"auth_password(", 3, "ssh2_auth_password($c, 'ann', 'xK9mQ2vTw8')", "ssh2_auth_password($c, $u, $p)", "www.php.net/manual/en/function.ssh2-auth-password.php"},
	{"imap_open(", 3, "imap_open('{mail:993}', 'ann', 'xK9mQ2vTw8')", "imap_open($m, $u, $p)", "www.php.net/manual/en/function.imap-open.php"},
	{"login(", 2, "smtp.login('ann', 'xK9mQ2vTw8')", "smtp.login(user, password)", "docs.python.org/3/library/smtplib.html"},
	{"signin(", 2, "signIn('ann', 'xK9mQ2vTw8')", "signIn('google', { callbackUrl })", "docs.amplify.aws"},
	{"authenticate(", 2, "xmlrpc.authenticate('ann', 'xK9mQ2vTw8')", "authenticate('local', 'Invalid1')", "docs.djangoproject.com/en/stable/topics/auth"},
	{"basicauth(", 2, `req.SetBasicAuth("ann", "xK9mQ2vTw8")`, "SetBasicAuth(user, pass)", "pkg.go.dev/net/http#Request.SetBasicAuth"},
	{"auth=(", 2, "requests.get(url, auth=('ann', 'xK9mQ2vTw8'))", "auth=('user', 'password')", "requests.readthedocs.io"},
	{"plainauth(", 3, `smtp.PlainAuth("", "ann", "xK9mQ2vTw8", "mail")`, "smtp.PlainAuth(id, user, pass, host)", "pkg.go.dev/net/smtp#PlainAuth"},
	{"credential(", 2, `new NetworkCredential("ann", "xK9mQ2vTw8")`, "new NetworkCredential(user, pass)", "learn.microsoft.com/dotnet/api/system.net.networkcredential"},
	{"credentials(", 2, `new BasicAWSCredentials("q8Zr2L", "xK9mQ2vTw8q8Zr2LmX0vB7")`, "new Credentials(id, key)", "docs.aws.amazon.com/sdk-for-java/latest/developer-guide"},
	{"authentication(", 2, `new PasswordAuthentication("ann", "xK9mQ2vTw8".toCharArray())`, "new PasswordAuthentication(u, p)", "docs.oracle.com/en/java/javase/25/docs/api/java.net"},
	{"emailandpassword(", 3, "signInWithEmailAndPassword(auth, 'a', 'xK9mQ2vTw8')", "signInWithEmailAndPassword(auth, email, password)", "firebase.google.com/docs/auth/web/password-auth"},
	{".open ", 3, `cn.Open "Provider=MSDASQL;DSN=shop", "ann", "xK9mQ2vTw8"`, `f.Open "a.txt", "read", "shared-access"`, "learn.microsoft.com/sql/ado/reference/ado-api/open-method-ado-connection"},
	{"rest::client.new(", 2, "Twilio::REST::Client.new(ENV['SID'], '4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c')", "REST::Client.new(id, token)", "www.twilio.com/docs/libraries/ruby"},
	{"twilio(", 2, "const c = twilio(process.env.SID, '4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c')", "twilio(accountSid, authToken)", "www.twilio.com/docs/libraries/node"},
	{"client(", 2, `client = Client(os.environ["SID"], "4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c")`, "Client(host, 'service-name-2')", "www.twilio.com/docs/libraries/python"},
	{"hmac256(", 1, `Algorithm.HMAC256("q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1a")`, "Algorithm.HMAC256(secret)", "github.com/auth0/java-jwt"},
	{"hmac384(", 1, `Algorithm.HMAC384("q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1a")`, "Algorithm.HMAC384(secret)", "github.com/auth0/java-jwt"},
	{"hmac512(", 1, `Algorithm.HMAC512("q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1a")`, "Algorithm.HMAC512(secret)", "github.com/auth0/java-jwt"},
	{"createhmac(", 2, "crypto.createHmac('sha256', 'q8Zr2LmX0vB7kd92pW7x')", "createHmac('sha256', secret)", "nodejs.org/api/crypto.html#cryptocreatehmacalgorithm-key-options"},
	{"hash_hmac(", 3, "hash_hmac('sha256', $body, 'q8Zr2LmX0vB7kd92pW7x')", "hash_hmac('sha256', $body, $key)", "www.php.net/manual/en/function.hash-hmac.php"},
	{"hmac.new(", 1, "hmac.new('q8Zr2LmX0vB7kd92pW7x'.encode(), body, sha256)", "hmac.new(key, body, 'sha256')", "docs.python.org/3/library/hmac.html"},
	{"jwt.sign(", 2, "jwt.sign({ sub: id }, 'q8Zr2LmX0vB7kd92pW7x')", "jwt.sign(payload, key)", "github.com/auth0/node-jsonwebtoken"},
	{"jwt.verify(", 2, "jwt.verify(token, 'q8Zr2LmX0vB7kd92pW7x')", "jwt.verify(token, key)", "github.com/auth0/node-jsonwebtoken"},
	{"jwt.encode(", 2, "jwt.encode(claims, 'q8Zr2LmX0vB7kd92pW7x', algorithm='HS256')", "jwt.encode(claims, key, 'HS256')", "pyjwt.readthedocs.io"},
	{"jwt.decode(", 2, "jwt.decode(raw, 'q8Zr2LmX0vB7kd92pW7x')", "jwt.decode(raw, key)", "pyjwt.readthedocs.io"},
	{"hmacshakeyfor(", 1, `Keys.hmacShaKeyFor("q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1a".getBytes())`, "Keys.hmacShaKeyFor(bytes)", "github.com/jwtk/jjwt"},
	{"securestring ", 1, "ConvertTo-SecureString 'xK9mQ2vTw8' -AsPlainText -Force", "ConvertTo-SecureString $plain -AsPlainText", "learn.microsoft.com/powershell"},
	{"hmac.new(", 2, `hmac.New(sha256.New, []byte("q8Zr2LmX0vB7kd92pW7x"))`, "hmac.New(sha256.New, key)", "pkg.go.dev/crypto/hmac#New"},
	{"cipheriv(", 2, `createCipheriv("aes-256-gcm", "q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1a", iv)`, `createCipheriv("aes-256-gcm", key, iv)`, "nodejs.org/api/crypto.html"},
	{"aes.new(", 1, `AES.new(b"q8Zr2LmX0vB7kd92", AES.MODE_GCM)`, "AES.new(key, AES.MODE_GCM)", "pycryptodome.readthedocs.io"},
	{"secretkeyspec(", 1, `new SecretKeySpec("q8Zr2LmX0vB7kd92".getBytes(), "AES")`, `new SecretKeySpec(key, "HmacSHA256")`, "docs.oracle.com/en/java/javase/25/docs/api/java.base"},
	{"fernet(", 1, `Fernet(b"q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8=")`, "Fernet(key)", "cryptography.io/en/latest/fernet"},
	{"cookieparser(", 1, `app.use(cookieParser("q8Zr2LmX0vB7kd92pW7x"))`, "app.use(cookieParser())", "expressjs.com/en/resources/middleware/cookie-parser.html"},
	{"simple_bind_s(", 2, `conn.simple_bind_s("cn=admin,dc=x", "Winter1424!")`, "conn.simple_bind_s(dn, password)", "www.python-ldap.org"},
	{"wifi.begin(", 2, `WiFi.begin("home", "rocket2625$");`, "WiFi.begin(ssid, pass);", "docs.arduino.cc/libraries/wifi"},
	{"bcrypt.compare(", 1, `bcrypt.compare("Berlin8720!", hash)`, "bcrypt.compare(password, hash)", "github.com/kelektiv/node.bcrypt.js"},
	{".auth(", 2, `request(app).get("/").auth("svc", "q8Zr2LmX0vB7kd92")`, `api.auth("google", "authorization-code")`, "github.com/ladjs/supertest"},
	{"privatekeytoaccount(", 1, `privateKeyToAccount("0x4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c")`, "privateKeyToAccount(key)", "viem.sh/docs/accounts/local"},
	{"new wallet(", 1, `new Wallet("0x4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c")`, "new Wallet(key, provider)", "docs.ethers.org/v6/api/wallet"},
}
