package sessionfmt

import (
	"bytes"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// Sizes for finding an answer that pi did not request, bytes: the longest such line, and how much is read
// before it.
const (
	mostUnsent = 4 << 10
	mostBefore = 64 << 10
)

// unsent reports whether a line of pi is an answer for which no request was sent. When the user aborts a batch
// of calls, pi ends the turn with an empty answer after the results (seen in 1.6.0). After anything else, an
// empty answer was aborted while its request was under way.
func (x *indexer) unsent(line []byte, off int64) bool {
	// In pi's spelling; the bytes that fewer lines have come first.
	if len(line) > mostUnsent || !bytes.Contains(line, []byte("[]")) || !bytes.Contains(line, []byte(`"aborted"`)) {
		return false
	}
	m := jsonl.Value(line).Get("message").All("stopReason", "responseId", "content", "usage")
	u := m[3].Usage()
	if !m[0].Is("aborted") || m[1].IsString() || u.Context() != 0 || u.Cost.Total != 0 || !m[2].IsArray() {
		return false
	}
	for range m[2].Elements {
		return false
	}
	before := make([]byte, min(off, mostBefore))
	if readFullAt(x.src.bytes, before, off-int64(len(before))) != nil {
		return false
	}
	before = bytes.TrimSpace(before)
	cut := bytes.LastIndexByte(before, '\n')
	if cut < 0 && off > mostBefore {
		return false
	}
	last, err := jsonl.ParseValue(before[cut+1:])
	if err != nil {
		return false
	}
	r := last.Get("message").All("role", "isError", "content")
	text := strings.TrimSpace(r[2].ContentText())
	note := text[strings.LastIndexByte(text, '\n')+1:]
	return r[0].Is("toolResult") && r[1].Truthy() && (note == "Operation aborted" || note == "Command aborted")
}
