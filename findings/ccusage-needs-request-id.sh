#!/bin/sh
# ccusage counts an answer of Claude Code once for each of its lines where the server sends no `request-id` header.
#
# Versions: npm @anthropic-ai/claude-code 2.1.332, npm ccusage 20.0.24 (its native program).
# Guessed before: Claude Code writes a line for each block of an answer, each with the answer's usage; a reader that adds
# usage up knows them by the answer's id, which every server sends.
# Seen: it knows them by the id and `requestId` together. Claude Code takes `requestId` from the `request-id` header, and
# writes none where a gateway does not send it. One session against two servers that differ in nothing but this header: an
# answer of three blocks (1,000 tokens of input) and one of one. ccusage: 2000 tokens of input with the header, 4000
# without.
#
# Needs npm, node and Python 3. Only npm is reached; the program talks to a server on 127.0.0.1, with a home of its own, a
# dummy key and telemetry off.
set -eu
dir=$(mktemp -d)
stub=
trap 'test -z "$stub" || kill $stub 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-fund --no-audit --prefix "$dir/pkg" @anthropic-ai/claude-code@2.1.332 ccusage@20.0.24 >/dev/null
mkdir project
echo alpha >project/one.txt
echo beta >project/two.txt
cat >stub.py <<'P'
import http.server, json, os, sys
n = 0
work = os.path.abspath("project")
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def do_POST(self):
        global n
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        n += 1
        read = lambda f: {"type": "tool_use", "id": f"toolu_{n}{f}", "name": "Read", "input": {"file_path": f"{work}/{f}.txt"}}
        asks = body.get("tools") and "tool_result" not in json.dumps(body["messages"][-1])
        content = [{"type": "text", "text": "Done."}]
        if asks: content = [{"type": "text", "text": "I look."}, read("one"), read("two")]
        usage = {"input_tokens": 1000, "output_tokens": 10, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        m = {"id": f"msg_{n:04d}", "type": "message", "role": "assistant", "model": body["model"], "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        ev = [("message_start", {"message": m})]
        for k, b in enumerate(content):
            start = dict(b, text="") if b["type"] == "text" else dict(b, input={})
            d = {"type": "text_delta", "text": b["text"]} if b["type"] == "text" else {"type": "input_json_delta", "partial_json": json.dumps(b["input"])}
            ev += [("content_block_start", {"index": k, "content_block": start}), ("content_block_delta", {"index": k, "delta": d}), ("content_block_stop", {"index": k})]
        ev += [("message_delta", {"delta": {"stop_reason": "tool_use" if asks else "end_turn", "stop_sequence": None}, "usage": usage}), ("message_stop", {})]
        out = "".join(f"event: {t}\ndata: {json.dumps(dict(d, type=t))}\n\n" for t, d in ev).encode()
        self.send_response(200)
        if sys.argv[1] == "header": self.send_header("request-id", f"req_{n:04d}")
        self.send_header("content-type", "text/event-stream"); self.send_header("content-length", str(len(out))); self.end_headers()
        self.wfile.write(out)
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
open("port", "w").write(str(s.server_port))
s.serve_forever()
P
# run header|none: prints the lines of answers, those with a requestId, and the tokens of input that ccusage counts.
run() {
	rm -f port
	python3 stub.py "$1" & stub=$!
	while [ ! -s port ]; do sleep 0.1; done
	mkdir "home-$1"
	(cd project && env -i PATH="$PATH" HOME="$dir/home-$1" ANTHROPIC_BASE_URL="http://127.0.0.1:$(cat ../port)" ANTHROPIC_API_KEY=dummy \
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 \
		"$dir/pkg/node_modules/.bin/claude" -p --allowedTools Read -- "Begin." </dev/null >/dev/null)
	kill $stub; stub=
	lines=$(cat home-"$1"/.claude/projects/*/*.jsonl | grep '"type":"assistant"')
	input=$(env -i PATH="$PATH" HOME="$dir/home-$1" TZ=UTC "$dir/pkg/node_modules/.bin/ccusage" claude daily --json --offline |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["totals"]["inputTokens"])')
	echo "$1: $(echo "$lines" | wc -l) lines, $(echo "$lines" | grep -c '"requestId"' || true) with requestId, $input tokens"
}
seen="$(run header)
$(run none)"
echo "$seen"
test "$seen" = "header: 4 lines, 4 with requestId, 2000 tokens
none: 4 lines, 0 with requestId, 4000 tokens"
