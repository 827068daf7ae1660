#!/usr/bin/env bash
# Removing a tool rewrites the beginning of a request to Kimi, adding one does not.
#
# Version: npm @earendil-works/pi-ai 1.6.0 (Chat Completions, moonshotai/kimi-k3).
# Guess before: a model whose tools pi adds in place (a system message with "tools" in the conversation) has
# removals in place too, so no change of tools touches the cached prefix.
# Seen: only additions stand in place. After a removal pi folds all tools that are left into the list at the
# front, and drops the message that had added one: the prefix that the provider cached ends there, once.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --ignore-scripts --no-audit --no-fund @earendil-works/pi-ai@1.6.0 >/dev/null 2>&1
cat >run.mjs <<'JS'
import { normalizeContext } from "./node_modules/@earendil-works/pi-ai/dist/index.js";
import { MODELS } from "./node_modules/@earendil-works/pi-ai/dist/models.generated.js";
import { streamSimple } from "./node_modules/@earendil-works/pi-ai/dist/api/openai-completions.js";

const model = MODELS.moonshotai["kimi-k3"];
const tool = (name) => ({ name, description: name, parameters: { type: "object", properties: {} } });
const user = (content) => ({ role: "user", content, timestamp: 1 });
const first = { role: "system", content: "Be brief.", toolsAdded: [tool("read"), tool("edit")], timestamp: 1 };
const added = { role: "system", content: "", toolsAdded: [tool("grep")], timestamp: 1 };
const removed = { role: "system", content: "", toolsRemoved: [{ name: "edit" }], timestamp: 1 };
async function tools(...messages) {
	let body;
	const fetch = async (_url, init) => {
		body = JSON.parse(init.body);
		return new Response("{}", { status: 418 });
	};
	for await (const _ of streamSimple(model, normalizeContext({ messages }), { apiKey: "none", fetch, maxRetries: 0 }));
	const names = (list) => (list ?? []).map((t) => t.function.name).join("+");
	return `list ${names(body.tools)}, in place ${body.messages.map((m) => names(m.tools)).filter((n) => n).join(" ") || "none"}`;
}
console.log(await tools(first, user("a")));
console.log(await tools(first, user("a"), added, user("b")));
console.log(await tools(first, user("a"), added, user("b"), removed, user("c")));
JS
seen=$(node run.mjs)
echo "$seen"
[ "$seen" = "list read+edit, in place none
list read+edit, in place grep
list read+grep, in place none" ]
