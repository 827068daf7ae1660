// What pi makes of session files: node pi.mjs PACKAGE FILE..., one JSON object a
// line. First it only reads; then it opens the file, and may rewrite it: hand it
// copies.
import crypto from "node:crypto";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// pi gives the entries of version 1 ids of 8 random digits, and does not look
// whether it has given them before: now and then that is a circle. Ours are
// numbers.
let ids = 0;
crypto.randomUUID = () => `${(++ids).toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
syncBuiltinESMExports();

const [root, ...files] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(root, "dist", "core", name)).href);
const { SessionManager, loadEntriesFromFile, migrateSessionEntries, buildSessionContext } = await load("session-manager.js");
const { convertToLlm } = await load("messages.js");
const { getCurrentSystemPrompt, getCurrentTools } = await import(pathToFileURL(join(root, "..", "pi-ai", "dist", "index.js")).href);

// endless says that the way up from the last entry has no end. pi would follow it
// until its memory is full.
function endless(entries) {
	const byId = new Map(entries.map((e) => [e.id, e]));
	const seen = new Set();
	for (let e = entries.at(-1); e; e = e.parentId ? byId.get(e.parentId) : undefined) {
		if (seen.has(e)) return true;
		seen.add(e);
	}
	return false;
}

// replayed is the prompt and the tools that the system messages say. pi overlooks them where
// none has a time.
function replayed(all) {
	const messages = all.map((m) => ({ timestamp: 0, ...m }));
	try {
		return { prompt: getCurrentSystemPrompt(messages), tools: getCurrentTools(messages) };
	} catch (error) {
		return { throws: String(error) };
	}
}

// What is asked for: "read" without opening, "open" without the messages as read, or all.
const asked = process.env.PI_ASKED ?? "";

function read(file) {
	const records = loadEntriesFromFile(file);
	if (records.length === 0) return { refused: true };
	migrateSessionEntries(records);
	const entries = records.filter((r) => r.type !== "session");
	if (endless(entries)) return { endless: true };
	const { messages, thinkingLevel, model } = buildSessionContext(entries);
	const llm = convertToLlm(messages);
	if (asked === "open") return {};
	return { context: { messages, thinkingLevel, model }, llm, system: replayed(messages) };
}

function open(file) {
	if (asked === "read") return {};
	const records = loadEntriesFromFile(file);
	migrateSessionEntries(records);
	if (endless(records.filter((r) => r.type !== "session"))) return { endless: true };
	const manager = SessionManager.open(file);
	return { messages: manager.buildSessionContext().messages, leaf: manager.getLeafId(), after: readFileSync(file, "utf8") };
}

// attempt is the JSON of what f makes of the file, or of what it throws.
function attempt(f, file) {
	try {
		return JSON.stringify(f(file));
	} catch (error) {
		return JSON.stringify({ throws: String(error) });
	}
}

for (const file of files) {
	console.log(`{"file":${JSON.stringify(file)},"read":${attempt(read, file)},"open":${attempt(open, file)}}`);
}
