// What pi would send to each kind of provider to go on with session files: node pisends.mjs
// PACKAGE FILE..., one JSON object a line. All of it is pi's code but the providers' own
// clients, which are stubs: a request is looked at before one would send it.
import { register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const client = `const any = new Proxy({}, { get: (_, name) => name });
export default class {}
export class GoogleGenAI {}
export { any as FinishReason, any as FunctionCallingConfigMode, any as ThinkingLevel };`;
const hooks = `const stub = "data:text/javascript," + ${JSON.stringify(encodeURIComponent(client))};
const clients = ["@anthropic-ai/sdk", "openai", "@google/genai"];
export const resolve = (name, context, next) =>
	clients.includes(name) ? { url: stub, shortCircuit: true } : next(name, context);`;
register("data:text/javascript," + encodeURIComponent(hooks));

const [root, ...files] = process.argv.slice(2);
const load = (...name) => import(pathToFileURL(join(root, ...name)).href);
const { SessionManager } = await load("dist", "core", "session-manager.js");
const { convertToLlm } = await load("dist", "core", "messages.js");
const { estimateContextTokens } = await load("dist", "core", "compaction", "compaction.js");
const { normalizeContext } = await load("..", "pi-ai", "dist", "index.js");

const apis = [
	["anthropic-messages", "anthropic", anthropic],
	["openai-responses", "openai", responses],
	["openai-completions", "openai", completions],
	["google-generative-ai", "google", google],
];
const streams = {};
for (const [api] of apis) streams[api] = (await load("..", "pi-ai", "dist", "api", `${api}.js`)).streamSimple;

// requestOf is the request that pi makes of messages.
function requestOf(api, provider, id, messages) {
	const model = {
		id, api, provider, name: id, baseUrl: "http://localhost", reasoning: true, input: ["text", "image"],
		contextWindow: 200000, maxTokens: 8000, cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
	};
	return new Promise((done, failed) => {
		const onPayload = (payload) => {
			done(JSON.parse(JSON.stringify(payload)));
			throw new Error("not sent");
		};
		(async () => {
			const stream = streams[api](model, normalizeContext({ messages }), { apiKey: "k", reasoning: "low", onPayload });
			for await (const event of stream) if (event.type === "error") failed(new Error(event.error.errorMessage));
		})().catch(failed);
	});
}

// A Checker collects what a provider would refuse. Calls are answered at once, each one once.
class Checker {
	wrong = [];
	open = new Set();
	expect(is, what, of) {
		if (!is) this.wrong.push(`${what}: ${JSON.stringify(of)?.slice(0, 200)}`);
	}
	call(id, name, input) {
		this.expect(typeof id === "string" && id && typeof name === "string" && name, "a call without id or name", [id, name]);
		this.expect(input && typeof input === "object" && !Array.isArray(input), "arguments are no object", input);
		this.expect(!this.open.has(id), "a call's id is not its own", id);
		this.open.add(id);
	}
	result(id) {
		this.expect(this.open.delete(id), "a result without a call", id);
	}
	other(of) {
		this.expect(this.open.size === 0, `calls without results: ${[...this.open]}`, of);
		this.open.clear();
	}
	text(text, of) {
		this.expect(typeof text === "string", "a text is no string", of);
	}
	image(mime, data) {
		this.expect(/^image\/[a-z.+-]+$/.test(mime) && typeof data === "string" && data, "no image", [mime, data]);
	}
	url(url) {
		const [, mime, data] = /^data:(.*?);base64,(.*)$/s.exec(url) ?? [];
		this.image(mime, data);
	}
}

function anthropic(check, { messages }) {
	for (const m of messages) {
		const blocks = typeof m.content === "string" ? [{ type: "text", text: m.content }] : m.content;
		check.expect(blocks.length > 0, "no content", m);
		let results = m.role === "user";
		for (const b of blocks) {
			results &&= b.type === "tool_result";
			if (!results) check.open.size > 0 && m.role === "user" && check.other(b);
			if (b.type === "text") check.text(b.text, b);
			else if (b.type === "image") check.image(b.source?.media_type, b.source?.data);
			else if (b.type === "tool_use" && m.role === "assistant") check.call(b.id, b.name, b.input);
			else if (b.type === "tool_result") {
				check.result(b.tool_use_id);
				for (const c of typeof b.content === "string" ? [] : b.content) {
					if (c.type === "image") check.image(c.source?.media_type, c.source?.data);
					else check.text(c.text, c);
				}
			} else if (b.type === "thinking") check.expect(b.thinking !== undefined && b.signature, "no signature", b);
			else if (b.type === "redacted_thinking") check.text(b.data, b);
			else check.expect(false, "unknown block", b);
		}
		if (m.role !== "assistant") check.other(m);
	}
}

function responses(check, { input }) {
	for (const it of input) {
		if (it.type === "function_call") {
			check.call(it.call_id, it.name, JSON.parse(it.arguments));
			continue;
		}
		if (it.type === "function_call_output") check.result(it.call_id);
		else if (it.role !== "assistant") check.other(it); // what an answer says after its calls is an item of its own
		const parts = it.type === "function_call_output" ? it.output : it.content;
		for (const c of Array.isArray(parts) ? parts : []) {
			if (c.type === "input_image") check.url(c.image_url);
			else check.text(c.text, c);
		}
	}
}

function completions(check, { messages }) {
	for (const m of messages) {
		if (m.role === "tool") check.result(m.tool_call_id);
		else check.other(m);
		for (const c of m.tool_calls ?? []) check.call(c.id, c.function.name, JSON.parse(c.function.arguments));
		for (const c of Array.isArray(m.content) ? m.content : []) {
			if (c.type === "image_url") check.url(c.image_url.url);
			else check.text(c.text, c);
		}
	}
}

function google(check, { contents }) {
	for (const { parts } of contents) {
		for (const p of parts) {
			if (p.inlineData) check.image(p.inlineData.mimeType, p.inlineData.data);
			else if (p.functionCall) check.expect(p.functionCall.name && p.functionCall.args, "no call", p);
			else if (p.functionResponse) check.text(p.functionResponse.name, p);
			else check.text(p.text, p);
		}
	}
}

// lone are halves of surrogate pairs, which pi leaves out.
const lone = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

// missing are texts, calls and images of messages that a request does not have.
function missing(messages, request) {
	const sent = JSON.stringify(request);
	const has = (text) => !text?.trim() || sent.includes(JSON.stringify(text.replace(lone, "")).slice(1, -1));
	const lost = [];
	for (const m of messages) {
		const blocks = typeof m.content === "string" ? [{ type: "text", text: m.content }] : m.content;
		for (const b of blocks) {
			if (b.type === "text" && !has(b.text)) lost.push(`${m.role}: ${b.text.slice(0, 200)}`);
			else if (b.type === "toolCall" && !has(b.name)) lost.push(`call ${b.name}`);
			else if (b.type === "image" && !sent.includes(b.data)) lost.push(`${m.role}: an image`);
		}
	}
	return lost;
}

async function sends(file) {
	const messages = SessionManager.open(file).buildSessionContext().messages;
	estimateContextTokens(messages);
	messages.push({ role: "user", content: [{ type: "text", text: "Go on." }], timestamp: Date.now() });
	const all = convertToLlm(messages);
	const wrong = [];
	for (const [api, provider, look] of apis) {
		const models = new Set(all.filter((m) => m.role === "assistant" && m.provider === provider).map((m) => m.model));
		for (const id of new Set([...models, "another"])) {
			try {
				const request = await requestOf(api, provider, id, structuredClone(all));
				const check = new Checker();
				look(check, request);
				check.other();
				wrong.push(...[...check.wrong, ...missing(all, request).map((w) => "not sent: " + w)].map((w) => `${api} ${id}: ${w}`));
			} catch (error) {
				wrong.push(`${api} ${id}: ${error?.stack ?? error}`);
			}
		}
	}
	return { messages: all.length, wrong };
}

for (const file of files) {
	const answer = await sends(file).catch((error) => ({ wrong: [error.stack] }));
	console.log(JSON.stringify({ file, ...answer }));
}
