#!/usr/bin/env bash
# Kilo CLI sends a picture of a prompt before the text that was posted before it.
#
# Version: npm @kilocode/cli-linux-x64 7.7.9, kilo serve, Chat Completions.
# Guess before: parts of a message are sent in the order in which they are posted, which is also that in which the
# database's table of events has them: text, picture.
# Seen: the request has picture, text. Parts get ids that begin with the time, and are read back in the order of these
# ids. That of a picture in a data URL is made before that of the text. The log of events has the text first.
set -euo pipefail
dir=$(mktemp -d)
pids=
trap 'test -z "$pids" || kill $pids 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @kilocode/cli-linux-x64@7.7.9 >/dev/null 2>&1
mkdir -p home/.config/kilo work
cat >stub.mjs <<'JS'
// Answers each prompt with a text, and keeps what the last request with tools had as its prompt.
import http from "node:http";
import fs from "node:fs";
http.createServer((req, res) => {
	let data = "";
	req.on("data", (d) => (data += d));
	req.on("end", () => {
		if (req.method !== "POST") return res.end('{"data":[]}');
		const { messages, tools } = JSON.parse(data);
		if (tools) fs.writeFileSync("last", messages.at(-1).content.map((p) => p.type).join(" "));
		res.setHeader("content-type", "text/event-stream");
		const send = (delta, reason) =>
			res.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "one", choices: [{ index: 0, delta, finish_reason: reason }], usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 } })}\n\n`);
		send({ content: "Seen." }, null);
		send({}, "stop");
		res.end("data: [DONE]\n\n");
	});
}).listen(0, "127.0.0.1", function () {
	fs.writeFileSync("port", String(this.address().port));
});
JS
node stub.mjs &
pids=$!
while [ ! -s port ]; do sleep 0.1; done
cat >home/.config/kilo/kilo.json <<JSON
{"provider":{"stub":{"npm":"@ai-sdk/openai-compatible","name":"Stub","options":{"baseURL":"http://127.0.0.1:$(cat port)/v1","apiKey":"dummy"},
"models":{"one":{"name":"one","attachment":true,"modalities":{"input":["text","image"],"output":["text"]},"limit":{"context":200000,"output":8000}}}}},
"model":"stub/one","small_model":"stub/one","autoupdate":false,"share":"disabled"}
JSON
(cd work && exec env -i HOME="$dir/home" PATH="$PATH" KILO_DISABLE_AUTOUPDATE=1 KILO_DISABLE_MODELS_FETCH=1 KILO_TELEMETRY_LEVEL=off \
	"$dir/node_modules/@kilocode/cli-linux-x64/bin/kilo" serve --port 0) >serve.log 2>&1 &
pids="$pids $!"
until grep -q listening serve.log; do sleep 0.2; done
cat >say.mjs <<'JS'
import fs from "node:fs";
const at = fs.readFileSync("serve.log", "utf8").match(/http:\/\/\S+/)[0];
const post = async (path, body) => (await fetch(at + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json();
const { id } = await post("/session", {});
const url = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
await post(`/session/${id}/message`, { model: { providerID: "stub", modelID: "one" }, parts: [
	{ type: "text", text: "Look." }, { type: "file", mime: "image/png", filename: "a.png", url },
	{ type: "file", mime: "text/plain", filename: "a.txt", url: "file://" + process.cwd() + "/work/a.txt" }] });
JS
echo "a note" >work/a.txt
node say.mjs
echo "posted: text image_url; sent: $(cat last)"
case "$(cat last)" in "image_url text "*) ;; *) exit 1 ;; esac
