// What pi makes of session files: node pi.mjs PACKAGE FILE..., one JSON object a
// line. First it only reads; then it opens the file, and may rewrite it: hand it
// copies.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [root, ...files] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(root, "dist", "core", name)).href);
const { SessionManager, loadEntriesFromFile, migrateSessionEntries, buildSessionContext } = await load("session-manager.js");
const { convertToLlm } = await load("messages.js");

function read(file) {
	const records = loadEntriesFromFile(file);
	if (records.length === 0) return { refused: true };
	migrateSessionEntries(records);
	const { messages, thinkingLevel, model } = buildSessionContext(records.filter((r) => r.type !== "session"));
	return { context: { messages, thinkingLevel, model }, llm: convertToLlm(messages) };
}

function open(file) {
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
