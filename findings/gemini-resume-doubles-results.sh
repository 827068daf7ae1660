#!/usr/bin/env bash
# Gemini CLI sends each tool result twice once its session was resumed, and the picture of a result with it.
#
# Version: npm @google/gemini-cli 0.61.0, print mode, Gemini API.
# Guess before: a result with a picture is sent once, as it is recorded, however often the session is resumed.
# Seen: the running process sends it once. The file has it twice, in `toolCalls` of the answer and as a message of the
# user, and a resume sends both, in one turn after the one call. More resumes add none. It is the same for a text:
# picture: pictures 1, results 1; pictures 2, results 2; pictures 2, results 2
# text: pictures 0, results 1; pictures 0, results 2; pictures 0, results 2
set -euo pipefail
dir=$(mktemp -d)
stub=
trap 'test -z "$stub" || kill "$stub" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @google/gemini-cli@0.61.0 >/dev/null 2>&1
mkdir -p home/.gemini work
echo iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC | base64 -d >work/red.png
echo "It is red." >work/red.txt
cat >home/.gemini/settings.json <<'JSON'
{"general":{"enableAutoUpdate":false},"telemetry":{"enabled":false},"privacy":{"usageStatisticsEnabled":false},
"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}}}
JSON
cat >stub.mjs <<'JS'
// Answers the prompt "Read FILE." with a call that reads it, and all else with a text. It keeps how many pictures and
// how many results the last request of the conversation had.
import http from "node:http";
import fs from "node:fs";
http.createServer((req, res) => {
	let data = "";
	req.on("data", (d) => (data += d));
	req.on("end", () => {
		if (!req.url.includes("enerateContent")) return res.end('{"totalTokens":9}');
		const { contents, tools, generationConfig } = JSON.parse(data);
		const parts = contents.flatMap((c) => c.parts);
		const count = (key) => parts.filter((p) => p[key]).length;
		if (tools) fs.writeFileSync("last", `pictures ${count("inlineData")}, results ${count("functionResponse")}`);
		const json = generationConfig?.responseMimeType === "application/json";
		const part = json ? { text: '{"reasoning":"It is done.","next_speaker":"user"}' }
			: /Read red/.test(parts.at(-1).text) ? { functionCall: { name: "read_file", args: { file_path: parts.at(-1).text.match(/red\.[a-z]+/)[0] } } }
			: { text: "Red." };
		const all = { candidates: [{ content: { role: "model", parts: [part] }, index: 0, finishReason: "STOP" }],
			usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 9, totalTokenCount: 18 } };
		const stream = req.url.includes("streamGenerateContent");
		res.setHeader("content-type", stream ? "text/event-stream" : "application/json");
		res.end(stream ? `data: ${JSON.stringify(all)}\n\n` : JSON.stringify(all));
	});
}).listen(0, "127.0.0.1", function () {
	fs.writeFileSync("port", String(this.address().port));
});
JS
node stub.mjs &
stub=$!
while [ ! -s port ]; do sleep 0.1; done
gemini() {
	(cd work && env -i HOME="$dir/home" PATH="$PATH" GEMINI_API_KEY=dummy GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$(cat ../port)" \
		GEMINI_CLI_NO_RELAUNCH=true GEMINI_TELEMETRY_ENABLED=false LANG=C.UTF-8 timeout 90 "$dir/node_modules/.bin/gemini" --skip-trust \
		--approval-mode yolo --model gemini-2.5-pro "$@" </dev/null >/dev/null 2>&1)
}
say() { # ID RESUMED PROMPT
	gemini "$2" "$1" -p "$3"
	cat last
}
picture=00000000-0000-4000-8000-000000000001
text=00000000-0000-4000-8000-000000000002
seen="picture: $(say $picture --session-id "Read red.png."); $(say $picture --resume "On."); $(say $picture --resume "And on.")
text: $(say $text --session-id "Read red.txt."); $(say $text --resume "On."); $(say $text --resume "And on.")"
echo "$seen"
test "$seen" = "picture: pictures 1, results 1; pictures 2, results 2; pictures 2, results 2
text: pictures 0, results 1; pictures 0, results 2; pictures 0, results 2"
