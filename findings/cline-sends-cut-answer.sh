#!/usr/bin/env bash
# Cline CLI sends the beginning of an answer whose stream broke off with the next request.
#
# Version: npm cline 3.0.65, Chat Completions, a run that prints and then a terminal that resumes its session.
# Guess before: a request that failed leaves a message for display in the file, and nothing of its answer is sent again.
# Seen: the file has the beginning as an ordinary answer, before the error for display, and the next request has it
# between the prompts: user: Begin a tale. | assistant: Once there | user: Go on.
set -euo pipefail
dir=$(mktemp -d)
stub=
trap 'test -z "$stub" || kill "$stub" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cline@3.0.65 >/dev/null 2>&1
mkdir -p home/.cline/data/settings work
cat >stub.mjs <<'JS'
// Breaks off its first answer, and keeps what the last request with tools had.
import http from "node:http";
import fs from "node:fs";
let n = 0;
http.createServer((req, res) => {
	let data = "";
	req.on("data", (d) => (data += d));
	req.on("end", () => {
		if (req.method !== "POST") return res.end('{"data":[]}');
		const { messages, tools } = JSON.parse(data);
		const text = (m) => (typeof m.content === "string" ? m.content : m.content.map((p) => p.text).join("|"));
		const list = messages.filter((m) => m.role !== "system").map((m) => `${m.role}: ${text(m)}`);
		if (tools) fs.appendFileSync("requests", list.join(" | ") + "\n");
		const cut = tools && n++ === 0;
		res.setHeader("content-type", "text/event-stream");
		const send = (delta, reason) =>
			res.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "one", choices: [{ index: 0, delta, finish_reason: reason }], usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 } })}\n\n`);
		send({ role: "assistant", content: cut ? "Once there" : "Whole." }, null);
		if (cut) return setTimeout(() => res.destroy(), 300);
		send({}, "stop");
		res.end("data: [DONE]\n\n");
	});
}).listen(0, "127.0.0.1", function () {
	fs.writeFileSync("port", String(this.address().port));
});
JS
node stub.mjs &
stub=$!
while [ ! -s port ]; do sleep 0.1; done
cat >home/.cline/data/settings/providers.json <<JSON
{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":{"updatedAt":"2026-01-01T00:00:00.000Z",
"tokenSource":"manual","settings":{"provider":"openai-compatible","apiKey":"dummy","baseUrl":"http://127.0.0.1:$(cat port)/v1"}}}}
JSON
cline() {
	(cd work && env -i HOME="$dir/home" PATH="$PATH" CLINE_TELEMETRY_DISABLED=1 CLINE_NO_AUTO_UPDATE=1 CLINE_DISABLE_CLINE_PASS_NOTICE=1 \
		LANG=C.UTF-8 TERM=xterm-256color timeout 90 "$@" 2>&1)
}
program="$dir/node_modules/.bin/cline -P openai-compatible -m one"
cline $program "Begin a tale." </dev/null >printed || true
id=$(ls home/.cline/data/sessions)
await() { for _ in $(seq 150); do if grep -qs "$1" "$2"; then return; fi; sleep 0.2; done; }
touch screen
{
	await Auto-approve screen
	sleep 1
	printf 'Go on.'
	sleep 1
	printf '\r'
	await 'Go on' requests
	sleep 1
	printf '\003'
	sleep 1
	printf '\003'
} | cline script -qec "stty rows 40 cols 120; $program --id $id -i" /dev/null >screen || true
cat requests
test "$(cat requests)" = "user: Begin a tale.
user: Begin a tale. | assistant: Once there | user: Go on."
