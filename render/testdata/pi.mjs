// What pi makes of session files: node pi.mjs PACKAGE FILE..., one JSON object a
// line. Files are read only.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [root, ...files] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(root, "dist", "core", name)).href);
const { loadEntriesFromFile, migrateSessionEntries, buildSessionContext } = await load("session-manager.js");
const { convertToLlm } = await load("messages.js");

for (const file of files) {
	let line;
	try {
		let out = { file };
		const records = loadEntriesFromFile(file);
		if (records.length === 0) {
			out.refused = true;
		} else {
			migrateSessionEntries(records);
			const context = buildSessionContext(records.filter((r) => r.type !== "session"));
			const { messages, thinkingLevel, model } = context;
			out = { file, context: { messages, thinkingLevel, model }, llm: convertToLlm(messages) };
		}
		line = JSON.stringify(out);
	} catch (error) {
		line = JSON.stringify({ file, throws: String(error) });
	}
	console.log(line);
}
