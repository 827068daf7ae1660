package codex

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"
)

// asSent is an output as it was sent by an older version (docs/session-format.md 15.7): cut by the
// settings of its turn, and, where apply_patch takes a text, an object no longer. more are lines that
// say so: the turn's, and a call of that tool.
func asSent(it item, of *item, more []jsonl.Value) item {
	text := it.get(returned)
	sections := of.get(typ).Is("custom_tool_call") && of.get(name).Is("apply_patch")
	if !text.IsString() || len(more) == 0 && !sections {
		return it
	}
	out := text.Text()
	for _, line := range more {
		if typeOfLine(line).Is("turn_context") {
			out = cutOutput(out, line.First("payload", "truncation_policy"))
		} else {
			sections = true
		}
	}
	if sections {
		out = inSections(out)
	}
	if out == text.Text() {
		return it
	}
	sent := jsonl.Value(jsonl.AppendQuoted(nil, out))
	return readItem(it.raw.AppendEdited(nil, jsonl.Field{Name: "output", Value: sent}))
}

// room is how much longer than the limit of its turn an output may be.
const room = 1.2

// cutOutput is an output of which the ends were kept in memory, as much of both as the limit of the
// turn and a fifth more allow.
func cutOutput(text string, policy jsonl.Value) string {
	limit, known := policy.Get("limit").Float()
	inTokens := policy.Get("mode").Is("tokens")
	most := int(math.Ceil(limit * room))
	if inTokens {
		most *= bytesPerToken
	}
	if !known || len(text) <= most {
		return text
	}
	head, tail := ends(text, most)
	left := strconv.Itoa(utf8.RuneCountInString(text[head:tail])) + " chars"
	if inTokens {
		left = strconv.Itoa((len(text)-most+bytesPerToken-1)/bytesPerToken) + " tokens"
	}
	return text[:head] + "…" + left + " truncated…" + text[tail:]
}

// ends are where the middle of a text begins and ends, if so many bytes of its ends are kept.
func ends(text string, most int) (head, tail int) {
	head = most / 2
	tail = len(text) - (most - head)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return head, tail
}

// inSections is the output of a command as lines, which the file has as an object. Other outputs stay.
func inSections(out string) string {
	v, err := jsonl.ParseValue([]byte(out))
	if err != nil || !v.Get("output").IsString() || !v.Get("metadata").IsObject() {
		return out
	}
	meta := v.Get("metadata")
	seconds, _ := meta.Get("duration_seconds").Float()
	sections := []string{
		"Exit code: " + string(meta.Get("exit_code")),
		"Wall time: " + strconv.FormatFloat(seconds, 'f', -1, 32) + " seconds",
	}
	body := v.Get("output").Text()
	if header, rest, ok := strings.Cut(body, "\n\n"); ok && strings.HasPrefix(header, "Total output lines: ") {
		sections, body = append(sections, header), rest
	}
	return strings.Join(append(sections, "Output:", body), "\n")
}
