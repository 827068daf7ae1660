// What pi would have summarised to compact session files and keep 200 tokens:
// node pitexts.mjs PACKAGE FILE..., one JSON object a line.
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// See pi.mjs.
let ids = 0;
crypto.randomUUID = () => `${(++ids).toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
syncBuiltinESMExports();

const [root, ...files] = process.argv.slice(2);
const load = (...name) => import(pathToFileURL(join(root, "dist", "core", ...name)).href);
const { loadEntriesFromFile, migrateSessionEntries } = await load("session-manager.js");
const { prepareCompaction } = await load("compaction", "compaction.js");
const { computeFileLists, formatFileOperations, serializeConversation } = await load("compaction", "utils.js");
const { convertToLlm } = await load("messages.js");

// pathOf goes up from the last entry, null where there is no end to it.
function pathOf(file) {
	const records = loadEntriesFromFile(file);
	migrateSessionEntries(records);
	const entries = records.filter((r) => r.type !== "session");
	const byId = new Map(entries.map((e) => [e.id, e]));
	const path = [];
	for (let e = entries.at(-1); e; e = e.parentId ? byId.get(e.parentId) : undefined) {
		if (path.includes(e)) return null;
		path.unshift(e);
	}
	return path;
}

// written is a conversation as pi writes it.
const written = (messages) => serializeConversation(convertToLlm(messages));

// texts are what pi shows to who writes the summaries, and the files that it appends.
function texts(path) {
	try {
		const p = prepareCompaction(path, { enabled: true, reserveTokens: 16384, keepRecentTokens: 200 });
		if (!p) return {};
		const { readFiles, modifiedFiles } = computeFileLists(p.fileOps);
		return {
			history: written(p.messagesToSummarize),
			prefix: written(p.turnPrefixMessages),
			appended: formatFileOperations(readFiles, modifiedFiles),
		};
	} catch (error) {
		return { throws: String(error) };
	}
}

for (const file of files) console.log(JSON.stringify({ file, ...texts(pathOf(file) ?? []) }));
