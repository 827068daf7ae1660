// The requests that pi sends for the answers of session files: node pibodies.mjs PACKAGE MODELS FILE...
// All of it is pi's code, with the clients of the providers; what they would send is taken before it
// leaves, so that the addresses are the providers' own. MODELS names models of pi's catalogue, as
// PROVIDER/ID, separated by commas, or is "all". Each answer is asked of the model that gave it, by its own interface and
// by every other, and of one of MODELS, in turn. For each request a line is printed:
// {file, answer, api, model: "PROVIDER/ID" or "", known, body} or {..., error}.
import { writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [root, models, ...files] = process.argv.slice(2);
const load = (...name) => import(pathToFileURL(join(root, ...name)).href);
const { loadEntriesFromFile, migrateSessionEntries, buildSessionContext } = await load("dist", "core", "session-manager.js");
const { convertToLlm } = await load("dist", "core", "messages.js");
const { normalizeContext, clampThinkingLevel } = await load("..", "pi-ai", "dist", "index.js");
const { MODELS } = await load("..", "pi-ai", "dist", "models.generated.js");

const apis = ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai", "openai-codex-responses"];
const streams = {};
for (const api of apis) streams[api] = (await load("..", "pi-ai", "dist", "api", `${api}.js`)).streamSimple;
const all = () => Object.values(MODELS).flatMap((of) => Object.values(of)).filter((m) => apis.includes(m.api) && m.type === "chat");
const named = models === "all" ? all().map((m) => `${m.provider}/${m.id}`) : models.split(",").filter((name) => name);
const others = named.map((name) => {
	const [provider, ...id] = name.split("/");
	return { provider, modelId: id.join("/") };
});

// modelFor is a model as pi's catalogue has it. By another interface than its own it is the same model
// with nothing special, at no known address.
function modelFor({ provider, modelId }, api, level) {
	const listed = MODELS[provider]?.[modelId];
	const unlisted = { reasoning: level !== "off", input: ["text", "image"], contextWindow: 0, maxTokens: 0 };
	const model = structuredClone(listed ?? unlisted);
	if (model.api !== api) {
		model.compat = { forceAdaptiveThinking: model.compat?.forceAdaptiveThinking };
		model.baseUrl = "http://127.0.0.1:1";
	}
	return { ...model, id: modelId, provider, api, name: modelId, cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } };
}

async function send(entries, header, answer, model, api, about) {
	const { messages, ...path } = buildSessionContext(entries, answer.parentId);
	const thinkingLevel = answer.message.thinkingLevel ?? path.thinkingLevel;
	const context = normalizeContext({ messages: convertToLlm(messages) });
	const asked = modelFor(model, api, thinkingLevel);
	const level = about.model && thinkingLevel !== "off" ? clampThinkingLevel(asked, thinkingLevel) : thinkingLevel;
	const out = { ...about, api, known: !!MODELS[model.provider]?.[model.modelId] };
	const wire = globalThis.fetch;
	const take = async (_url, init) => {
		out.body ??= JSON.parse(typeof init.body === "string" ? init.body : new TextDecoder().decode(init.body));
		return new Response("{}", { status: 418, headers: { "content-type": "application/json" } });
	};
	globalThis.fetch = take;
	try {
		const jwt = `x.${btoa(JSON.stringify({ "https://api.openai.com/auth": { chatgpt_account_id: "a" } }))}.x`;
		const stream = streams[api](asked, context, {
			apiKey: api === "openai-codex-responses" ? jwt : "sk-dummy", sessionId: header.id, maxRetries: 0, fetch: take,
			transport: "sse", disableContinuation: true,
			cacheRetention: api === "anthropic-messages" && !about.model && answer.message.usage?.cacheWrite1h > 0 ? "long" : "short", reasoning: level === "off" ? undefined : level,
		});
		for await (const event of stream) if (event.type === "error") out.error = event.error.errorMessage;
	} catch (error) {
		out.error = String(error);
	}
	globalThis.fetch = wire;
	if (out.body) delete out.error;
	// Written at once: what console.log keeps for a slow reader would be all bodies.
	for (let rest = Buffer.from(`${JSON.stringify(out)}\n`); rest.length > 0; ) {
		try {
			rest = rest.subarray(writeSync(1, rest));
		} catch (error) {
			if (error.code !== "EAGAIN") throw error;
		}
	}
}

let turn = 0;
for (const [k, file] of files.entries()) {
	const records = loadEntriesFromFile(file);
	migrateSessionEntries(records);
	const entries = records.filter((r) => r.type !== "session");
	let n = -1;
	for (const e of entries) {
		if (e.type !== "message" || e.message?.role !== "assistant") continue;
		n++;
		const path = buildSessionContext(entries, e.parentId).model;
		// An answer names the model that was asked, which a router chose.
		const model = e.message.provider && e.message.model ? { provider: e.message.provider, modelId: e.message.model } : path;
		if (!entries.some((parent) => parent.id === e.parentId)) continue;
		const about = { file: k, answer: n, model: "" };
		// The requests of a large session go by one interface each, in turn.
		const by = entries.length < 300 ? apis.slice(0, 4) : [apis[n % 4]];
		const own = MODELS[model?.provider]?.[model?.modelId]?.api;
		if (model && apis.includes(own) && !by.includes(own)) by.push(own);
		if (model) for (const api of by) await send(entries, records[0], e, model, api, about);
		if (others.length === 0) continue;
		const other = others[turn++ % others.length];
		const api = MODELS[other.provider][other.modelId].api;
		await send(entries, records[0], e, other, api, { ...about, model: `${other.provider}/${other.modelId}` });
	}
}
