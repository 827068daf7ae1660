// The requests that pi sends for the answers of session files, by every interface: node pibodies.mjs
// PACKAGE FILE..., with the address of a stand-in for all providers in PI_SERVER. All of it is pi's code,
// with the clients of the providers. The header x-request names a request: FILE ANSWER INTERFACE MODEL,
// with numbers for file and answer, and "known" or "unknown" for a model that pi's catalogue has or has not.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [root, ...files] = process.argv.slice(2);
const load = (...name) => import(pathToFileURL(join(root, ...name)).href);
const { loadEntriesFromFile, migrateSessionEntries, buildSessionContext } = await load("dist", "core", "session-manager.js");
const { convertToLlm } = await load("dist", "core", "messages.js");
const { normalizeContext } = await load("..", "pi-ai", "dist", "index.js");
const { MODELS } = await load("..", "pi-ai", "dist", "models.generated.js");

const apis = ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"];
const streams = {};
for (const api of apis) streams[api] = (await load("..", "pi-ai", "dist", "api", `${api}.js`)).streamSimple;

// modelFor is a model as pi's catalogue has it. By another interface than its own it is the same model
// with nothing special.
function modelFor({ provider, modelId }, api, level, request) {
	const listed = MODELS[provider]?.[modelId];
	const unlisted = { reasoning: level !== "off", input: ["text", "image"], contextWindow: 0, maxTokens: 0 };
	const model = structuredClone(listed ?? unlisted);
	if (model.api !== api) model.compat = { forceAdaptiveThinking: model.compat?.forceAdaptiveThinking };
	return {
		...model, id: modelId, provider, api, name: modelId, baseUrl: process.env.PI_SERVER,
		headers: { "x-request": `${request} ${listed ? "known" : "unknown"}` },
		cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
	};
}

async function send(entries, header, answer, request, api) {
	const { messages, thinkingLevel, model } = buildSessionContext(entries, answer.parentId);
	if (!model || !entries.some((e) => e.id === answer.parentId)) return;
	const context = normalizeContext({ messages: convertToLlm(messages) });
	const stream = streams[api](modelFor(model, api, thinkingLevel, request), context, {
		apiKey: "sk-dummy", sessionId: header.id, maxRetries: 0, reasoning: thinkingLevel === "off" ? undefined : thinkingLevel,
	});
	for await (const event of stream) {
		// The stand-in answers 418 to all that it gets.
		if (event.type === "error" && !/418/.test(event.error.errorMessage)) console.log(`${request}: ${event.error.errorMessage}`);
	}
}

for (const [k, file] of files.entries()) {
	const records = loadEntriesFromFile(file);
	migrateSessionEntries(records);
	const entries = records.filter((r) => r.type !== "session");
	let n = 0;
	for (const e of entries) {
		if (e.type !== "message" || e.message?.role !== "assistant") continue;
		// The requests of a large session go by one interface each, in turn.
		const by = entries.length < 300 ? apis : [apis[n % apis.length]];
		for (const api of by) await send(entries, records[0], e, `${k} ${n} ${api}`, api);
		n++;
	}
}
