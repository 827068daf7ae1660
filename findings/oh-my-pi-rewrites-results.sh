#!/usr/bin/env bash
# oh-my-pi rewrites a tool result in the session file after requests had it, at the next read of the same file.
#
# Version: npm @oh-my-pi/pi-coding-agent 18.2.3, run by Bun 1.4.5, print mode, Chat Completions.
# Guess before: a session file is append-only: what a line says of a result is what each later request had, and a
# result that the agent shortens is shortened in requests alone (as Claude Code and opencode do).
# Seen: after a second read of a.txt the line of the first result says "[Superseded by a newer read of this file]"
# and has prunedAt. Two requests had its text, which is nowhere in the file any more. So a file tells what its last
# requests had, and not what earlier ones had.
set -euo pipefail
dir=$(mktemp -d)
stub=
trap 'test -z "$stub" || kill "$stub" 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @oh-my-pi/pi-coding-agent@18.2.3 bun@1.4.5 >/dev/null 2>&1
mkdir -p home/.omp/agent work sessions
echo "alpha" >work/a.txt
cat >stub.mjs <<'JS'
// Answers a prompt with a call that reads a.txt, and what follows the result with a text. It prints the results
// that the last request had.
import http from "node:http";
import fs from "node:fs";
http.createServer((req, res) => {
	let data = "";
	req.on("data", (d) => (data += d));
	req.on("end", () => {
		if (req.method !== "POST") return res.end('{"data":[]}');
		const { messages, tools } = JSON.parse(data);
		if (tools) fs.writeFileSync("last.json", JSON.stringify(messages.filter((m) => m.role === "tool").map((m) => m.content)));
		const call = tools && messages.at(-1).role === "user";
		const delta = call
			? { tool_calls: [{ index: 0, id: `call_${messages.length}`, type: "function", function: { name: "read", arguments: '{"path":"a.txt"}' } }] }
			: { content: "Read." };
		res.setHeader("content-type", "text/event-stream");
		const send = (delta, reason) =>
			res.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "one", choices: [{ index: 0, delta, finish_reason: reason }], usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 } })}\n\n`);
		send(delta, null);
		send({}, call ? "tool_calls" : "stop");
		res.end("data: [DONE]\n\n");
	});
}).listen(0, "127.0.0.1", function () {
	fs.writeFileSync("port", String(this.address().port));
});
JS
node stub.mjs &
stub=$!
while [ ! -s port ]; do sleep 0.1; done
cat >home/.omp/agent/models.yml <<YAML
providers:
  stub:
    baseUrl: http://127.0.0.1:$(cat port)/v1
    apiKey: dummy
    api: openai-completions
    models:
      - id: one
        name: one
        reasoning: false
        input: [text]
        cost: {input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0}
        contextWindow: 200000
        maxTokens: 8000
YAML
printf 'setupVersion: 99\nstartup:\n  checkUpdate: false\n  setupWizard: false\n' >home/.omp/agent/config.yml
omp() {
	(cd work && env -i HOME="$dir/home" PATH="$PATH" PI_NO_TELEMETRY=1 OMP_NO_TELEMETRY=1 LANG=C.UTF-8 timeout 90 \
		"$dir/node_modules/.bin/bun" "$dir/node_modules/@oh-my-pi/pi-coding-agent/dist/cli.js" -p --model stub/one --system-prompt "Be brief." \
		--tools read --no-lsp --no-skills --no-rules --no-extensions --no-title --session-dir "$dir/sessions" "$@" </dev/null >/dev/null 2>&1)
}
results() { grep -h '"role":"toolResult"' $(find sessions -name '*.jsonl') | sed 's/.*"content":\[{"type":"text","text":"\([^"]*\)".*/\1/' | tr '\n' '|'; }
omp "Read it."
first=$(results)
omp -c "Read it again."
second=$(results)
echo "after one read: $first"
echo "after two reads: $second"
case "$first" in *Superseded*) exit 1 ;; alpha*) ;; *) exit 1 ;; esac
case "$second" in "[Superseded by a newer read of this file]|alpha"*) ;; *) exit 1 ;; esac
