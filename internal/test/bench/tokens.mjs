// Counting a file's tokens with another library: node tokens.mjs FOLDER PACKAGE
// ENCODING FILE, where npm has installed the package in FOLDER. It prints their
// number.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, name, encoding, file] = process.argv.slice(2);
const require = createRequire(join(folder, "node_modules") + "/");
const text = readFileSync(file, "utf8");
if (name === "tiktoken") {
	console.log(require("tiktoken").get_encoding(encoding).encode_ordinary(text).length);
} else {
	console.log(require(`gpt-tokenizer/encoding/${encoding}`).countTokens(text, { disallowedSpecial: new Set() }));
}
