package redact

import "strings"

// nameRoles are the roles of words in names, in small letters.
var nameRoles = func() map[string]role {
	all := map[string]role{}
	for _, list := range []struct {
		role  role
		words string
	}{
		{isPassword, `password passwords passwd passphrase passphrases passcode passcodes pwd pw pass psk passwort
			passwörter passwoerter mdp kennwort kennwörter passe parola parole contraseña contrasena contraseñas
			senha senhas пароль пароля паролем пароли паролю passord passordet lösenord lösenordet wachtwoord wachtwoorden heslo hesla
			hasło hasła haslo hasłem contrasenya palavrapasse adgangskode adgangskoden kodeord løsenord salasana salasanan
			jelszó jelszava şifre şifresi şifreniz sifre sifresi parolă lozinka lozinke zaporka geslo парола паролата
			sandi katasandi khẩu κωδικός κωδικόσ κωδικο συνθηματικό पासवर्ड รหัสผ่าน סיסמה סיסמא הסיסמה المرور
			السر passwörtern zugangscode assword assphrase schlüsselinhalt rocommunity rwcommunity losung`},
		{isSecret, `secret secrets token tokens credential credentials cred creds apikey apikeys apitoken authtoken
			accesstoken accesskey secretkey privatekey masterkey authkey appkey jwt pat bearer geheimnis
			geheimschlüssel zugangsschlüssel zugriffsschlüssel zugangsschluessel zugangsdaten jeton jetons
			secreto secretos segredo segredos segreto segreti токен токена секрет секретный секретная
			secrète secreta segreta sekret sekretny hemlighet hemlig geheim geheime gizli tajný titok salaisuus hemmelighed
			секретен sekretna tokenu tokenin tokenet tokenen żeton`},
		{isKeyWord, `key keys schlüssel schluessel clé clés cle clef clave claves chave chaves chiave chiavi ключ
			ключа ключи ключем sleutel nyckel nyckeln nøkkel nøkkelen nøgle nøglen avain avaimen klucz klucza klíč kľúč klic
			kulcs kulcsa cheie cheia anahtar anahtarı anahtari clau κλειδί кључ kunci khóa مفتاح מפתח`},
		{isMedium, `community auth authorization salt pepper seed otp totp license licence licensekey hmac sas
			keyphrase`},
		{isQualifier, `crypt crc ordine acesso acceso accès accesso secreta privada privée zugangs de d l api access secret private master account encryption encrypt decryption signing sign admin app
			application service shared hmac auth client webhook deploy unseal recovery storage subscription
			license consumer integration server rest write read live prod production root session cookie jwt
			oauth user bot ingest ingestion sdk speech search maps translator openai anthropic azure aws gcp
			stripe data management connection device activation mot de smtp imap pop3 mail email ftp sftp
			ssh sudo wifi wlan wpa db database redis mysql mariadb postgres postgresql mongo mongodb
			rabbitmq mqtt kafka ldap bind login vpn router nas sip snmp samba smb keystore truststore proxy
			system superuser product pre host function functions gateway dev developer partner merchant
			management cloud preshared`},
		{isPublic, `public publishable pub anon verifying verification validation measurement tracking foreign partition sort cache idempotency dedupe dedup query object s3 map react
			i18n index group row column routing message locale translation feature registry hot short
			accelerator known authorized natural surrogate composite unique candidate musical piano house
			candidate öffentlicher publique pública pubblica публичный открытый restore dictionary lookup
			hashed encrypted sealed sitekey hostkey etag shard hash sorting grouping keyboard ch checksum jwks publisher
			websocket socket`},
		{isProperty, `id ids name names type types file files path paths dir uri url endpoint ttl expiry expires
			expiration expired expire identifier identifiers count counts limit limits length len size sizes version versions
			algorithm alg algo header headers prefix suffix format policy provider hint field fields label
			placeholder min max budget bucket usage used last required enabled disabled strength rotation
			age days seconds minutes method methods mode class style manager vault arn ref reference spec
			selector mapping mappings binding bindings stop position pos index offset number created updated
			at status scope scopes env realm host port issuer audience claim claims regex pattern validator
			generator factory cost price per encryption encryptor encoder hasher hashing hash digest sha
			sha256 sha1 md md5 checksum fingerprint management schedule duration timeout lifetime limiter
			counter parser lexer stream handler service controller repository component input inputs button
			form page dialog modal reset change error errors exception invalid valid kind code codes typ
			typen tipo nom pair pairs pairname rate board down up press pressed event events frame frames
			stroke word words space spaces ring chain point points cloak note map color colour filter hint
			hints less free only store storage keeper bindings derivation derive usage uses constraint
			constraints helper util utils test tests spec specs mock provider providers description desc
			title text_input budget source sources comment comments verb noun names visibility visible
			identifier identifiers masked mask row rows column columns mint mints address addresses contract contracts balance balances
			supply holder holders decimals symbol standard transfer transfers swap pool deployer logo market marketing`},
		{isCount, `max min num total prompt completion input output cached eos bos pad unk sep cls stop next page
			pagination continuation sync cancellation cancel has is use show hide forgot missing invalid
			expired num_ used remaining special reasoning thinking context window per avg mean target source
			no without`},
	} {
		for word := range strings.FieldsSeq(list.words) {
			all[word] |= list.role
		}
	}
	return all
}()

// wholeNames are names that end in a word for secrets, written together with others: dbpassword.
var wholeNames = []string{
	"password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "secret", "token", "apikey", "accesskey", "secretkey",
	"privatekey", "licensekey", "schlüssel", "schluessel", "пароль", "ключ", "токен",
}

// userNames are the names of users.
var userNames = wordSet("u usr user username login id uid benutzer usuario utente utilisateur логин пользователь")

// particles are words between a name and its value in scripts without spaces between words.
var particles = wordSet("是 は が を 为 為 叫 就是 改成 改为 는 은 이 가 를 을")

// notPasswords are words that end in pass and name none.
var notPasswords = wordSet(`bypass compass trespass overpass underpass encompass surpass subpass multipass lastpass
	keepass renderpass onepass singlepass firstpass secondpass lowpass highpass bandpass allpass impass prepass postpass
	depthpass shadowpass testpass computepass blitpass geometrypass lightpass boardingpass daypass skipass buspass gamepass
	alpinepass mountainpass repass multipas`)

// harmlessPairs are words directly before the word key or token that make a name harmless: site key, resume token.
var harmlessPairs = wordSet(`site-key host-key verify-key resume-token lock-token change-token delta-token watch-token
	sync-token`)

// shortHeads precede pw in names: bindpw.
var shortHeads = wordSet(`bind root db user admin sudo ldap mail smtp ftp vnc vpn my sql http proxy login enable wifi wpa key
	store new old tmp temp the std plain app auth ssh svc sys sa pg os bot web local default master passwd dba net u`)

// nameWords are the words that show where names of secrets may be, in small letters. None has a character that JSON
// escapes. Two letters are common in base64: they count only where they end a name, see endsName.
var nameWords = []string{
	"pass", "pwd", "secret", "token", "key", "cred", "auth", "jwt", "salt", "pepper", "seed", "otp", "psk", "licen",
	"bearer", "mdp", "pw", " p: ", " p=", " p : ", "assword", "assphrase", "community", "sandi", "lozink", "zapork", "salasan", "avain", "haslo", "jelsz", "wachtwoord",
	"sleutel", "geheim", "l\u00f6seno", "L\u00d6SENO", "l\u00f8seno", "nyckel", "n\u00f8k", "n\u00f8g", "adgangsk", "kodeord", "hemlig",
	"has\u0142", "HAS\u0141", "heslo", "hesla", "klucz", "kl\u00ed\u010d", "k\u013e\u00fa\u010d", "kulcs", "cheie", "cheia", "anahtar",
	"\u015fifre", "\u015eifre", "\u015e\u0130FRE", "sifre", "parol", "gizli", "\u043b\u044e\u0447", "\u041b\u042e\u0427", "lozin", "clau", "kunci", "kh\u1ea9u", "kh\u00f3a",
	"\u03ba\u03c9\u03b4\u03b9\u03ba", "\u03ba\u03bb\u03b5\u03b9\u03b4", "\u0930\u094d\u0921", "\u0e23\u0e2b\u0e31\u0e2a",
	"\u05d9\u05e1\u05de", "\u05de\u05e4\u05ea\u05d7", "\u0627\u0644\u0645\u0631\u0648\u0631", "\u0627\u0644\u0633\u0631", "\u0645\u0641\u062a\u0627\u062d", "losung", "zugangsc", "kennwor", "schl\u00fcss", "schl\u00dcss", "schluess", "geheim", "zugangsd", "jeton", "segret", "segred", "parola", "parole",
	"cl\u00e9", "cl\u00c9", "clef", "contrase", "clave", "senha", "chave", "chiav", "\u043f\u0430\u0440\u043e", "\u041f\u0430\u0440\u043e",
	"\u041f\u0410\u0420\u041e", "\u043a\u043b\u044e\u0447", "\u041a\u043b\u044e\u0447", "\u041a\u041b\u042e\u0427", "\u0441\u0435\u043a\u0440",
	"\u0421\u0435\u043a\u0440", "\u0421\u0415\u041a\u0420", "\u0442\u043e\u043a\u0435", "\u0422\u043e\u043a\u0435", "\u0422\u041e\u041a\u0415",
	"密码", "密碼", "口令", "密钥", "密鑰", "秘钥", "秘鑰", "令牌", "凭证", "凭据", "パスワ", "パスフ", "パスコ", "秘密", "暗証", "合言葉", "トーク", "シーク", "キー", "비밀", "암호", "토큰", "비번", "패스워", "시크릿", "키", "인증키", "口令", "授权码", "授權碼", "私钥",
	"recovery code", "backup code", "scratch code", "rescue code", "emergency code", "código de recuperación",
	"code de secours", "codes de secours", "codes de récupération",
	"私鑰", "通行码", "通行碼", "凭證", "憑證", "鍵", "金鑰", "键",
}

// unspaced are names in scripts without spaces between words, by how they begin.
var unspaced = map[string]strength{
	"密码": passName, "密碼": passName, "口令": passName, "密钥": strongName, "密鑰": strongName, "秘钥": strongName, "秘鑰": strongName,
	"令牌": strongName, "凭证": strongName, "凭据": strongName, "パスワード": passName, "秘密鍵": strongName, "秘密": strongName,
	"暗証番号": passName, "暗証": passName, "トークン": strongName, "비밀번호": passName, "비밀키": strongName, "비밀": strongName,
	"암호": passName, "토큰": strongName, "비번": passName, "패스워드": passName, "시크릿": strongName, "인증키": strongName,
	"パスフレーズ": passName, "パスコード": passName, "合言葉": passName, "シークレット": strongName, "授权码": strongName, "授權碼": strongName,
	"私钥": strongName, "私鑰": strongName, "通行码": passName, "通行碼": passName, "憑證": strongName, "金鑰": strongName,
}

// unspacedKeys name secrets only after one of keyHeadings: a key.
var (
	unspacedKeys = wordSet("キー 키 键 鍵")
	keyHeadings  = strings.Fields(`api アクセス シークレット 認証 暗号化 ライセンス マスター 署名 비밀 액세스 접근 인증 시크릿 서명 암호화
		访问 私有 签名 加密 授权 secret access 秘密`)
)

// neutralWords follow the name of a secret and leave it one: API_KEY_PROD.
var neutralWords = wordSet(`value val text plain string str b64 base64 hex raw old new current previous prev primary secondary backup
	live prod production staging stage test testing dev develop development local default main master base data int ext for
	of my in and the to hash64 encoded decoded clear cleartext plaintext env temp tmp initial first second next`)

func init() {
	for name := range unspacedKeys {
		nameRoles[name] = isKeyWord
	}
	for name, is := range unspaced {
		nameRoles[name] = isSecret
		if is == passName {
			nameRoles[name] = isPassword
		}
	}
}

// nameKeys precede names that are values themselves, and valueKeys their values.
var (
	nameKeys = wordSet(`name key id field variable var param parameter option property env attribute header setting item
			nom nombre nome имя 名前 名称 변수 schlüssel k n secret_name secretname label entry identifier code
			keyname title`)
	valueKeys = wordSet(`value val values content contents data default text string v wert valeur valor valore значение 值
			値 값 secretvalue plaintext raw current stringvalue secretstring secret_string new newvalue
			defaultvalue content_value securevalue initialvalue initial_value token secret password key body
			literal with`)
	// referKeys precede the name of a place where the value is.
	referKeys = wordSet("valuefrom secretkeyref secretref")
	// fillers are words between a name and its value that say nothing.
	fillers = wordSet(`is was are now to as be set set: string -join str text char varchar const let var val the a an for new
			value values default secure securestring secretstr plain send sendline string? optional option any bytes
			byte box &str &'static static env literal ist war lautet auf heißt est sont es era è e' foi é
			becomes became equals changed used here below following this it get field basic bearer digest
			apikey type secret print printf echo raw f b r u then with enter using and pass-through vector
			std::string nsstring bstr cstring är er on je e jest là adalah ialah είναι это luidt 0 5 7 8 9`)
	// fillCalls are methods that write a value into the field that a name has selected.
	fillCalls = wordSet(`fill type sendkeys send_keys setvalue set_value settext set_text typetext type_text
			entertext enter_text inputtext input_text replacetext clearandtype presssequentially clear_and_type
			fill_in with setkeyvalue val value typeslowly addvalue`)
	// wrapCalls are constructors and conversions around a value.
	wrapCalls = wordSet(`string str some ok of from new bytes bytearray secretstr secretstring securestring strdup text
			stringbuilder stringbuffer secret sensitive b bin hex2bin unhexlify fromhex sodium_hex2bin decode b64decode
			atob trim strings.trim tostring stringvalue concat join lit literal value const quote`)
	// linkWords are those of them that say that a value follows.
	linkWords = wordSet(`is was to as be set now ist lautet est es è foi é becomes equals are send string value bearer
			basic är er on je e este jest là adalah ialah είναι это luidt è era was war sont jetzt maintenant désormais
			ahora adesso agora теперь сейчас nu nun teraz şimdi`)
)
