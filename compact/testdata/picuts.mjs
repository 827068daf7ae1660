// Where pi would cut session files to compact them: node picuts.mjs PACKAGE FILE...,
// one JSON object a line, with a cut for each number of tokens to keep.
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
const { computeFileLists } = await load("compaction", "utils.js");
const { prepareCompaction } = await load("compaction", "compaction.js");

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

function cut(path, keepRecentTokens) {
	try {
		const p = prepareCompaction(path, { enabled: true, reserveTokens: 16384, keepRecentTokens });
		if (!p) return { keep: keepRecentTokens };
		return {
			keep: keepRecentTokens, kept: String(p.firstKeptEntryId), history: p.messagesToSummarize.length, prefix: p.turnPrefixMessages.length,
			tokens: p.tokensBefore, previous: p.previousSummary ?? "", ...computeFileLists(p.fileOps),
		};
	} catch (error) {
		return { keep: keepRecentTokens, throws: String(error) };
	}
}

for (const file of files) {
	const path = pathOf(file) ?? [];
	const keeps = [0, 1, 10, 20, 50, 200, 1000, 5000, 20000];
	console.log(JSON.stringify({ file, cuts: path.length > 0 ? keeps.map((k) => cut(path, k)) : [] }));
}
