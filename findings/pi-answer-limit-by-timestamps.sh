#!/usr/bin/env bash
# pi's limit for an answer forgets the recorded usage if an earlier message has a later time.
#
# Version: npm @earendil-works/pi-ai 1.6.0 (Chat Completions, Groq's openai/gpt-oss-120b, window 131,072).
# Guess before: max_completion_tokens is what the window has left after the usage that the last answer
# records, whatever the times of the messages are.
# Seen: it is so only while no earlier message is newer than that answer. With one user message dated a second
# after the answer, the usage (120,000 tokens) is ignored, all texts are estimated anew at 3.5 UTF-16 units a
# token, and the request asks for 65,536 tokens instead of 6,973. So a session whose times are not in order
# (imported, merged, from machines with other clocks) can ask for more than the window has room for.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --ignore-scripts --no-audit --no-fund @earendil-works/pi-ai@1.6.0 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { normalizeContext } from "./node_modules/@earendil-works/pi-ai/dist/index.js";
import { MODELS } from "./node_modules/@earendil-works/pi-ai/dist/models.generated.js";
import { streamSimple } from "./node_modules/@earendil-works/pi-ai/dist/api/openai-completions.js";

const model = MODELS.groq["openai/gpt-oss-120b"];
async function limit(asked) {
	const answer = {
		role: "assistant", content: [{ type: "text", text: "Hello." }], api: model.api, provider: model.provider, model: model.id,
		usage: { input: 119990, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 120000 }, stopReason: "stop", timestamp: 2000,
	};
	const messages = [{ role: "user", content: "Hello?", timestamp: asked }, answer, { role: "user", content: "And now?", timestamp: 5000 }];
	let body;
	const fetch = async (_url, init) => {
		body = JSON.parse(init.body);
		return new Response("{}", { status: 418 });
	};
	for await (const _ of streamSimple(model, normalizeContext({ messages }), { apiKey: "none", fetch, maxRetries: 0 }));
	return body.max_completion_tokens;
}
console.log(`in order ${await limit(1000)}, out of order ${await limit(3000)}`);
JS
seen=$(node run.mjs)
echo "$seen"
[ "$seen" = "in order 6973, out of order 65536" ]
