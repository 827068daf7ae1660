// What npm's tiktoken counts: node reference.mjs FOLDER, where npm has installed it.
// Each line in is a text as JSON; each line out its tokens in cl100k_base and in
// o200k_base, special tokens being text as any other.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(process.argv[2], "node_modules") + "/");
const { get_encoding } = require("tiktoken");
const encodings = ["cl100k_base", "o200k_base"].map((name) => get_encoding(name));

let out = [];
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
	const text = JSON.parse(line);
	out.push(encodings.map((e) => e.encode_ordinary(text).length).join(" "));
	if (out.length === 1000) {
		process.stdout.write(out.join("\n") + "\n");
		out = [];
	}
}
if (out.length > 0) process.stdout.write(out.join("\n") + "\n");
