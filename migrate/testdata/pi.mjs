// What pi makes of session files when it opens them: node pi.mjs PACKAGE FILE...,
// one JSON object a line. pi rewrites old files: hand it copies.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [root, ...files] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(join(root, "dist", "core", "session-manager.js")).href);

for (const file of files) {
	let line;
	try {
		const { messages } = SessionManager.open(file).buildSessionContext();
		line = JSON.stringify({ file, messages, after: readFileSync(file, "utf8") });
	} catch (error) {
		line = JSON.stringify({ file, throws: String(error) });
	}
	console.log(line);
}
