package redact

// A marker is a kind of token that has a fixed text in its middle or at its end, by which it is found.
type marker struct {
	ID     string
	Marker string // with its case
	Set    string // characters of the token on either side, as in an expression
	Before int    // how many of them precede the marker at least
	After  int    // how many follow it at least
	Head   string // what the token begins with, empty for anything
	Is     string // an example
	Not    string // what only looks alike
	Source string // documentation of the format
}

// azureMarkers is where Microsoft documents the texts that identify the keys of Azure's services.
const azureMarkers = "learn.microsoft.com/purview/sit-defn-azure-*; github.com/microsoft/security-utilities"

// markers are the kinds of tokens with a marker.
var markers = []marker{
	{"azure-key", "AZDO", alnum, 60, 4, "", "yL0MYhD9GLtLrshLzBjBIwJ0I7ReRhz7CIFAPxScczHWuSbyh3S6Wlo1Aa2A156h0RBizI3QFDrAZDO8l5x", "the AZDO4You team", azureMarkers},
	{"azure-key", "AStA", base64Set, 60, 4, "", "8vtoEh8eRj+9g0aYIAHvhyT3t9sM1/X7EMs1U6QyhfFs27dIoSBzmgcgb15gpfRS4xVI19YcoD7AStAy8lVJzJ==", "FAStAPI99", azureMarkers},
	{"azure-key", "ACDb", base64Set, 60, 4, "", "8vtoEh8eRj9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs27dIoSBzmgcgb15gpfRS4xVI19YcoD7ACDby8lVJzJ==", "ACDbase9876", azureMarkers},
	{"azure-key", "ABAR", base64Set, 60, 4, "", "8vtoEh8eRj+9g0aYIAHvhyT3t9sM1/X7EMs1U6QyhfFs27dIoSBzmgcgb15gpfRS4xVI19YcoD7ABARy8lVJzJ==", "CABARET2024", azureMarkers},
	{"azure-key", "AzSe", alnum, 40, 6, "", "9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs27dIoSBzmgAzSeCq7pLm", "AzSearch2024", azureMarkers},
	{"azure-key", "AzFu", dotted, 40, 6, "", "9g0aYIAHvhyT3t9sM1_X7EMs1U6QyhfFs27dIoSBzmgcAzFuCq7pLm==", "AzFunctions2024", azureMarkers},
	{"azure-key", "AzCa", base64Set, 30, 6, "", "9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs2AzCaCq7pLmN=", "AzCache2024", azureMarkers},
	{"azure-key", "AZAC", base64Set, 40, 6, "", "9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs27dIoSBzmgAZACCq7pLm", "AZACompute24", azureMarkers},
	{"azure-key", "AZEG", base64Set, 30, 6, "", "9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs2AZEGCq7pLm=", "AZEGrid2024", azureMarkers},
	{"azure-key", "AIoT", base64Set, 30, 5, "", "9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs2AIoTCq7pL=", "AIoTHub2024", azureMarkers},
	{"azure-key", "+ASb", base64Set, 30, 5, "", "9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs2+ASbCq7pL=", "a+ASb12345", azureMarkers},
	{"azure-key", "+AEh", base64Set, 30, 5, "", "9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs2+AEhCq7pL=", "a+AEh12345", azureMarkers},
	{"azure-key", "+ARm", base64Set, 30, 5, "", "9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs2+ARmCq7pL=", "a+ARm12345", azureMarkers},
	{"azure-key", "+ACR", base64Set, 40, 6, "", "9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs27dIoSBzmg+ACRCq7pLm", "a+ACR123456", azureMarkers},
	{"azure-key", "APIM", alnum, 60, 4, "", "yL0MYhD9GLtLrshLzBjBIwJ0I7ReRhz7CIFAPxScczHWuSbyh3S6Wlo1Aa2A156h0RBizI3QFDrAPIM8l5x", "the APIM2024 team", azureMarkers},
	{"azure-key", "JQQJ99", alnum, 40, 16, "", "9g0aYIAHvhyT3t9sM1X7EMs1U6QyhfFs27dIoSBzmgcgb15gpfRSJQQJ99BKACYeBjFXJ3w3AAABACOGq7pL", "JQQJ99", azureMarkers},
	{"twitter-token", "%3D", "A-Za-z0-9%", 40, 30, "AAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB1oIXobOVUCzpBKFU9x5KPSi%3DmevCk8IjS9BFPQjORpXzRmu7ZfPUWjoxByP23FzNS2sHIlSIJY", "?q=a%3Db", "docs.x.com/fundamentals/authentication/oauth-2-0/bearer-tokens"},
	{"google-key", ":APA91b", urlSafe, 7, 40, "", "AAAAq8Zr2Lm:APA91bX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8b7c6a1e2f4", "a:APA91b", "firebase.google.com/docs/cloud-messaging"},
	{"newrelic-key", "FFFFNRAL", hexadecimal, 20, 0, "", "4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9cFFFFNRAL", "FFFFNRAL", "docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys"},
	{"newrelic-key", "-NRMA", "0-9a-fAux", 30, 0, "", "AA4f0c0fe2c4d8aa2ba0b4f1a7c33f3d9c4f0c0fe2-NRMA", "the-NRMA", "docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys"},
	{"maxmind-key", "_mmk", wordSigns, 30, 0, "", "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", "to_mmk", "dev.maxmind.com/geoip/release-notes/2023"},
	{"line-token", "w1cDnyilFU=", base64Set, 60, 0, "", "q8Zr2LmX0vB7kd92pW7xJm4TnY6sHc1aUeLfKoPi9d8b7c6a1e2f4d3c8b7aX9/1O/w1cDnyilFU=", "w1cDnyilFU=", "developers.line.biz/en/docs/basics/channel-access-token"},
}
