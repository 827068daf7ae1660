#!/usr/bin/env bash
# Qwen Code has a model continue an answer that broke off, and records the two halves as one answer.
#
# Version: npm @qwen-code/qwen-code 0.24.4, print mode, Chat Completions.
# Guess before: a request whose stream broke off is sent again as it was, and the answer in the file is the one that the
# second request got.
# Seen: the second request has the beginning as an answer, and a prompt that asks for what follows it. This prompt is not
# in the file, nor in a later request: these have one answer, "Once there" and "was a king." joined without a space.
set -euo pipefail
dir=$(mktemp -d)
stub=
trap 'test -z "$stub" || kill "$stub" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @qwen-code/qwen-code@0.24.4 >/dev/null 2>&1
mkdir -p home/.qwen work
cat >home/.qwen/settings.json <<'JSON'
{"general":{"enableAutoUpdate":false},"telemetry":{"enabled":false},"privacy":{"usageStatisticsEnabled":false},
"security":{"auth":{"selectedType":"openai"},"folderTrust":{"enabled":false}}}
JSON
cat >stub.mjs <<'JS'
// Breaks off its first answer to a request with tools, and keeps the messages of those that are not about memory.
import http from "node:http";
import fs from "node:fs";
let n = 0;
http.createServer((req, res) => {
	let data = "";
	req.on("data", (d) => (data += d));
	req.on("end", () => {
		if (req.method !== "POST") return res.end('{"data":[]}');
		const { messages, tools } = JSON.parse(data);
		const text = (m) => (typeof m.content === "string" ? m.content : (m.content ?? []).map((p) => p.text).join("")).trim();
		const list = messages.filter((m) => m.role !== "system")
			.map((m) => `${m.role}: ${text(m).replace(/<system-reminder>[^]*?<.system-reminder>\s*/g, "").slice(0, 40)}`);
		if (tools && !/Managed memory/.test(list.at(-1))) fs.appendFileSync("requests", list.join(" | ") + "\n");
		const cut = tools && n++ === 0;
		res.setHeader("content-type", "text/event-stream");
		const send = (delta, reason) =>
			res.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "qwen3-coder-plus", choices: [{ index: 0, delta, finish_reason: reason }], usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 } })}\n\n`);
		send({ role: "assistant", content: cut ? "Once there" : n === 2 ? "was a king." : "Fine." }, null);
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
qwen() {
	(cd work && env -i HOME="$dir/home" PATH="$PATH" OPENAI_API_KEY=dummy OPENAI_BASE_URL="http://127.0.0.1:$(cat ../port)/v1" \
		QWEN_CODE_NO_RELAUNCH=1 QWEN_TELEMETRY_ENABLED=false QWEN_CODE_SUPPRESS_YOLO_WARNING=1 LANG=C.UTF-8 timeout 120 \
		"$dir/node_modules/.bin/qwen" --yolo --auth-type openai --model qwen3-coder-plus --output-format json "$@" </dev/null >>../log 2>&1)
}
id=00000000-0000-4000-8000-000000000001
qwen --session-id "$id" -p "Begin a tale." || true
qwen --resume "$id" -p "Go on."
cat requests
file=$(find home/.qwen -name "$id.jsonl")
answers=$(grep -h '"type":"assistant"' "$file" | grep -o '"parts":\[[^]]*\]')
echo "$answers"
test "$(cat requests)" = "user: Begin a tale.
user: Begin a tale. | assistant: Once there | user: The connection dropped mid-response. Res
user: Begin a tale. | assistant: Once therewas a king. | user: Go on."
test "$answers" = '"parts":[{"text":"Once therewas a king."}]
"parts":[{"text":"Fine."}]'
if grep -q "connection dropped" "$file"; then exit 1; fi
