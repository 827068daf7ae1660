#!/bin/sh
# ccusage reads no Claude Code line that has a space after a colon, and says nothing; pi's lines it reads either way.
#
# Version: npm ccusage 20.0.24 (its native program).
# Guessed before: a line is read if it is JSON. (Claude Code writes none with spaces, but what filters, anonymises or moves
# sessions with Python's json.dumps does.)
# Seen: the same answer of 1,000 tokens of input as `{"type":"assistant",...}` counts 1000, as `{"type": "assistant", ...}`
# 0, with exit status 0 and nothing on standard error; a pi answer counts 1000 both ways.
#
# Needs npm, node and Python 3. Only npm is reached.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-fund --no-audit ccusage@20.0.24 >/dev/null
cat >write.py <<'P'
import json, os
time = "2026-11-01T10:00:02.000Z"
claude = [{"type": "assistant", "uuid": "00000000-0000-4000-8000-000000000002", "parentUuid": None, "sessionId": "00000000-0000-4000-8000-000000000001",
    "timestamp": time, "version": "2.1.332", "cwd": "/w", "isSidechain": False, "requestId": "req_1", "message": {"id": "msg_1", "type": "message",
    "role": "assistant", "model": "claude-sonnet-5", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn", "stop_sequence": None,
    "usage": {"input_tokens": 1000, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}}]
cost = {"input": 0.1, "output": 0.1, "cacheRead": 0, "cacheWrite": 0, "total": 0.2}
pi = [{"type": "session", "version": 3, "id": "00000000-0000-4000-8000-000000000003", "timestamp": time, "cwd": "/w"},
    {"type": "message", "id": "0000000a", "parentId": None, "timestamp": time, "message": {"role": "assistant",
    "content": [{"type": "text", "text": "Hi."}], "api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-5",
    "usage": {"input": 1000, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1010, "cost": cost}, "stopReason": "stop", "timestamp": 1793527202000}}]
for home, separators in [("compact", (",", ":")), ("spaced", None)]:
    for name, lines in [(".claude/projects/-w/00000000-0000-4000-8000-000000000001.jsonl", claude),
                        (".pi/agent/sessions/--w--/2026-11-01T10-00-00-000Z_00000000-0000-4000-8000-000000000003.jsonl", pi)]:
        os.makedirs(os.path.dirname(f"{home}/{name}"))
        with open(f"{home}/{name}", "w") as f:
            for line in lines:
                f.write(json.dumps(line, separators=separators) + "\n")
P
python3 write.py
for home in compact spaced; do
	for agent in claude pi; do
		env -i PATH="$PATH" HOME="$dir/$home" TZ=UTC node_modules/.bin/ccusage $agent daily --json --offline 2>>errors |
			python3 -c 'import json, sys; print(json.load(sys.stdin)["totals"]["inputTokens"])'
	done
done >seen
test ! -s errors
tr '\n' ' ' <seen
test "$(tr '\n' ' ' <seen)" = "1000 1000 0 1000 "
