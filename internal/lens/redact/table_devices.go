package redact

// deviceRules are those of devices, radios and wallets, whose keys only their place shows.
var deviceRules = []rule{
	{
		ID:     "network-key",
		About:  "The key of a wireless network in the configuration of OpenWrt, and as Windows prints it.",
		Source: "openwrt.org/docs/guide-user/network/wifi/basic, learn.microsoft.com/windows-server/networking/technologies/netsh",
		Judge:  judgeChosen,
		Regex:  `(?:option (?:key|sae_password|auth_secret|wpa_psk_file_key) ['"]?([^\s'"]{8,63})|(?i:key content|schlüsselinhalt|contenu de la clé|contenido de la clave|contenuto chiave|содержимое ключа)\s{1,20}: ([^\s]{8,63}))`,
		Is:     []string{"option key 'snegir-kalinka-pine-27'", "    Key Content            : K4rt0ff3l=4136"},
		Not:    []string{"option key '/etc/ssl/key.pem'", "Key Content : Present"},
	},
	{
		ID:     "wallet-key",
		About:  "The key of a keyset, of a signer of Cardano and of HomeKit, and a secret key by the name that libraries give it.",
		Source: "developers.google.com/tink, docs.cardano.org, github.com/homebridge/HAP-NodeJS, doc.libsodium.org",
		Judge:  judgeDigest,
		Regex:  `(?:crypto\.tink\.\w{4,40}\W{2,6}value\W{3,6}([A-Za-z0-9+/=]{20,})\W{2,6}keyMaterialType\W{3,6}A?SYMMETRIC(?:_PRIVATE)?\b|SigningKey[^}]{0,200}cborHex\W{3,6}([0-9a-f]{68,})|(?:\$sk|signSk|boxSk|secretSk)\W{1,4}(?:\w{3,24}\W{1,3})?([0-9a-f]{128}|[0-9a-f]{64})\b)`,
		Is:     []string{`$sk = sodium_hex2bin("49417457fdc1e0a19f1cd4300099f1e45d14c40ff2af19d8d61db629d1d3da4a");`, `"type": "PaymentSigningKeyShelley_ed25519", "cborHex": "58207ddb1845506cbe8c652dfee3948373c8574e8767540ddc9e813c0e98512f2685"`, `"signSk":"49417457fdc1e0a19f1cd4300099f1e45d14c40ff2af19d8d61db629d1d3da4a"`, `"typeUrl":"type.googleapis.com/google.crypto.tink.AesGcmKey","value":"GiCCXil7humb9QwO24h8gbD75ZTzv+2IfbMZQ8W9pY7IpA==","keyMaterialType":"SYMMETRIC"`},
		Not:    []string{`"signPk":"49417457fdc1e0a19f1cd4300099f1e45d14c40ff2af19d8d61db629d1d3da4a"`, `"type": "PaymentVerificationKeyShelley_ed25519", "cborHex": "58207ddb1845506cbe8c652dfee3948373c8574e8767540ddc9e813c0e98512f2685"`},
	},
	{
		ID:     "device-key",
		About:  "A secret in the partition of a device, as a table of its names, types and values.",
		Source: "docs.espressif.com/projects/esp-idf, NVS Partition Generator Utility",
		Regex:  `[\w-]{0,24}(?:key|secret|passw?|psk|token|pwd)[\w-]{0,12},data,(?:hex2bin|base64|string|binary),([^\s,]{8,})`,
		Is:     []string{"dac-key,data,hex2bin,a689a1176ce3058bea36f2d80b759ccddcaca1dd40143c6764049f951092c51f"},
		Not:    []string{"discriminator,data,u32,3423", "key,type,encoding,value"},
	},
	{
		ID:     "device-key",
		About:  "The code that unblocks a card, or opens the settings of an alarm.",
		Source: "3GPP TS 22.101, 6; manuals of alarms",
		Regex:  `(?:\bPUK2?\b[^\n\d]{1,20}(\d{8})\b|(?i:(?:installer|engineer|errichter)[ -]?code|code (?:installateur|installatore)|código (?:del )?instalador)\s?[:=]\s?(\d{4,8})\b)`,
		Is:     []string{"die PUK ist 88656810, APN", "Code installateur : 39701263"},
		Not:    []string{"the PUK has 8 digits", "installer code: none"},
	},
	{
		ID:     "steam-key",
		About:  "The key of a web API and the login of a game server.",
		Source: "partner.steamgames.com/doc/webapi_overview/auth, steamcommunity.com/dev/managegameservers",
		Regex:  `(?:steampowered\.com/[^\s"']{0,120}[?&]key=|sv_setsteamaccount\s{1,4}"?)([0-9A-F]{32})\b`,
		Is:     []string{"https://api.steampowered.com/ISteamUser/GetPlayerSummaries/v2/?key=A5F447A5C2850C1F139F332F7BF3C178&a=b", "sv_setsteamaccount ADB63D89FC32A319F349ED545BE5647E"},
		Not:    []string{"https://api.steampowered.com/ISteamApps/GetAppList/v2/", "sv_setsteamaccount TOKEN"},
	},
	{
		ID:     "kaggle-key",
		About:  "The file with which Kaggle's command signs in.",
		Source: "www.kaggle.com/docs/api",
		Regex:  `username\W{3,8}[\w.-]{1,40}\W{3,8}key\W{3,8}([0-9a-f]{32})\b`,
		Is:     []string{`{"username":"nimbus","key":"649064d7e89985cfe8c3a9a37533075d"}`},
		Not:    []string{`{"name":"nimbus","key":"649064d7e89985cfe8c3a9a37533075d"}`},
	},
}
