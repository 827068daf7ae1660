#!/bin/sh
# Claude Code 2.1.332 (npm @anthropic-ai/claude-code) records its requests (`api-request` lines in the transcript), for the
# main thread and for sub-agents, each in its own file. A sub-agent that forks the conversation (`subagent_type: "fork"`)
# has none: neither in its file nor in its parent's.
#
# Guessed before: every call of a sub-agent has an `api-request` in the sub-agent's file, whatever its type.
# Seen: 5 requests, 3 of the main thread, 1 of the fork and 1 of a general-purpose agent. The main file has 3 records, the
# file of the general-purpose agent 1, and that of the fork none: {'main': 3, 'fork': 0, 'agent': 1}.
#
# Needs npm, node and Python 3. Only npm is reached; the program talks to a server on 127.0.0.1, with a home of its own, a
# dummy key and telemetry off.
set -eu
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-fund --no-audit --prefix "$dir/pkg" @anthropic-ai/claude-code@2.1.332 >/dev/null
mkdir -p home project
echo alpha > project/one.txt
cat > stub.py <<'P'
import http.server, json, sys
n = 0
def blocks(body):
    last = json.dumps(body["messages"][-2:])
    call = lambda name, **i: {"type": "tool_use", "id": f"toolu_{n:04d}", "name": name, "input": i}
    job = lambda kind, prompt: call("Agent", description="Help", prompt=prompt, subagent_type=kind, run_in_background=False)
    if "fork did it" in last: return [job("general-purpose", "Job of an agent.")]
    if "agent did it" in last: return [{"type": "text", "text": "Done."}]
    if "Job of a fork." in last and "tool_result" in last: return [{"type": "text", "text": "The fork did it."}]
    if "Job of an agent." in last: return [{"type": "text", "text": "The agent did it."}]
    return [job("fork", "Job of a fork.")]
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def do_POST(self):
        global n
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        n += 1
        content = blocks(body) if body.get("tools") else [{"type": "text", "text": "ok"}]
        usage = {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        stop = "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
        m = {"id": f"msg_{n:04d}", "type": "message", "role": "assistant", "model": body["model"], "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        ev = [("message_start", {"message": m})]
        for k, b in enumerate(content):
            start = dict(b, text="") if b["type"] == "text" else dict(b, input={})
            d = {"type": "text_delta", "text": b["text"]} if b["type"] == "text" else {"type": "input_json_delta", "partial_json": json.dumps(b["input"])}
            ev += [("content_block_start", {"index": k, "content_block": start}), ("content_block_delta", {"index": k, "delta": d}), ("content_block_stop", {"index": k})]
        ev += [("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}), ("message_stop", {})]
        out = "".join(f"event: {t}\ndata: {json.dumps(dict(d, type=t))}\n\n" for t, d in ev).encode()
        self.send_response(200); self.send_header("content-type", "text/event-stream"); self.send_header("content-length", str(len(out))); self.end_headers()
        self.wfile.write(out)
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
open("port", "w").write(str(s.server_port))
s.serve_forever()
P
python3 stub.py & stub=$!
trap 'kill $stub; rm -rf "$dir"' EXIT
while [ ! -s port ]; do sleep 0.1; done
(cd project && env -i PATH="$PATH" HOME="$dir/home" ANTHROPIC_BASE_URL="http://127.0.0.1:$(cat ../port)" ANTHROPIC_API_KEY=dummy \
	CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 \
	"$dir/pkg/node_modules/.bin/claude" -p --allowedTools Agent Read -- "Begin." </dev/null)
python3 - <<'P'
import glob, json, sys
records = lambda f: sum(json.loads(l)["type"] == "api-request" for l in open(f))
files = {("fork" if "fork-context-ref" in open(f).readline() else "agent" if "subagents" in f else "main"): records(f)
         for f in glob.glob("home/.claude/projects/**/*.jsonl", recursive=True)}
print(files)
sys.exit(not (files.get("main") and files.get("agent") and files.get("fork") == 0))
P
