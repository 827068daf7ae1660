package report

import (
	"bytes"
	"slices"
	"strconv"

	"ctxtool/sessionfmt/jsonl"
)

// A rower makes rows of entries.
type rower struct {
	facts
	at   jsonl.Cursor
	deep jsonl.Cursor
}

// longest is how many bytes of a string a page holds: of a longer one its beginning and
// its end.
const longest = 8 << 20

// facts are what the index has of an entry.
type facts struct {
	has          int
	time         int64
	target, text string
	output       int     // tokens
	cost         float64 // dollars
}

// entry appends an entry as a page has it, values as they are spelled: without what the
// index has, what only a provider can read, and what is there twice.
func (w *rower) entry(dst []byte, kind jsonl.Kind, line value) []byte {
	w.facts = facts{has: noTime}
	if !line.IsObject() {
		return append(dst, line...)
	}
	w.at.Reset(line)
	dst = append(dst, '{')
	start := len(dst)
	for key := range w.at.Members {
		switch string(key) {
		case "type":
			if kind != jsonl.Unknown {
				continue
			}
		case "id", "parentId", "fromHook", "schemaVersion":
			if kind != jsonl.Header {
				continue
			}
		case "timestamp":
			if ms, ok := w.at.Value().Millis(); ok {
				w.has, w.time = w.has&^noTime, ms
			}
			continue
		}
		dst = member(dst, start, key)
		switch {
		case string(key) == "message" && kind.IsMessage():
			dst = w.message(dst)
		case string(key) == "patch" && kind == jsonl.Transform:
			dst = w.patch(dst)
		default:
			v := w.at.Value()
			dst = w.other(dst, kind, string(key), v)
		}
	}
	return append(dst, '}')
}

// member appends the name of an object's member.
func member(dst []byte, start int, key []byte) []byte {
	if len(dst) > start {
		dst = append(dst, ',')
	}
	return append(jsonl.AppendQuoted(dst, string(key)), ':')
}

// other appends what is neither message nor patch, and records what the index
// wants of it.
func (w *rower) other(dst []byte, kind jsonl.Kind, key string, v value) []byte {
	switch {
	case key == "targetId":
		w.target = v.Text()
	case key == "label" && kind == jsonl.Label, key == "name" && kind == jsonl.SessionInfo, key == "cwd" && kind == jsonl.Header:
		w.text = v.Text()
	case key == "content" && kind == jsonl.CustomMessage:
		return w.content(dst, v)
	case key == "systemMessage": // the steps have the prompt that it makes
		return append(dst, "true"...)
	case key == "usage":
		return w.paid(dst, v)
	case key == "summary":
		w.has |= hasText
	}
	return v.AppendShort(dst, longest)
}

// message appends the message that comes next.
func (w *rower) message(dst []byte) []byte {
	if w.at.Peek() != '{' {
		return w.at.Value().AppendShort(dst, longest)
	}
	dst = append(dst, '{')
	start := len(dst)
	for key := range w.at.Members {
		switch string(key) {
		case "timestamp", "api", "responseId", "responseModel":
			continue
		case "stopReason":
			v := w.at.Value()
			if v.Is("error") || v.Is("aborted") {
				w.has |= hasError
			}
			dst = v.AppendShort(member(dst, start, key), longest)
			continue
		case "isError":
			v := w.at.Value()
			if v.Truthy() {
				w.has |= hasError
			}
			dst = v.AppendShort(member(dst, start, key), longest)
			continue
		case "details":
			dst = details(dst, start, key, w.at.Value())
			continue
		case "usage":
			dst = w.paid(member(dst, start, key), w.at.Value())
			continue
		}
		dst = member(dst, start, key)
		if string(key) == "content" {
			dst = w.content(dst, w.at.Value())
		} else {
			dst = w.at.Value().AppendShort(dst, longest)
		}
	}
	return append(dst, '}')
}

// paid appends what a provider recorded, and takes it down.
func (w *rower) paid(dst []byte, usage value) []byte {
	u := usage.Usage()
	w.output, w.cost = int(u.Output), u.Cost.Total
	return append(dst, usage...)
}

// details appends what a tool says besides its result, where a page shows it: the
// change that an edit made.
func details(dst []byte, start int, key []byte, v value) []byte {
	diff := v.Get("diff")
	if !diff.IsString() {
		return dst
	}
	dst = append(member(dst, start, key), `{"diff":`...)
	return append(diff.AppendShort(dst, longest), '}')
}

// content appends the content of a message: a text, or blocks without signatures.
func (w *rower) content(dst []byte, v value) []byte {
	if !v.IsArray() {
		if v.IsString() && len(v) > 2 {
			w.has |= hasText
		}
		return v.AppendShort(dst, longest)
	}
	dst = append(dst, '[')
	first := true
	for block := range v.Elements {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = w.block(dst, block)
	}
	return append(dst, ']')
}

func (w *rower) block(dst []byte, block value) []byte {
	if !block.IsObject() {
		return block.AppendShort(dst, longest)
	}
	dst = append(dst, '{')
	start := len(dst)
	w.deep.Reset(block)
	for key := range w.deep.Members {
		v := w.deep.Value()
		switch {
		case string(key) == "type":
			w.see(v)
		case bytes.HasSuffix(key, []byte("ignature")) || bytes.HasPrefix(key, []byte("encrypted")):
			continue
		}
		dst = v.AppendShort(member(dst, start, key), longest)
	}
	return append(dst, '}')
}

// see records that there is a block of a type.
func (w *rower) see(typ value) {
	switch {
	case typ.Is("text"):
		w.has |= hasText
	case typ.Is("thinking"):
		w.has |= hasThinking
	case typ.Is("toolCall"):
		w.has |= hasCalls
	case typ.Is("image"):
		w.has |= hasImages
	}
}

// heavy are the members of an op whose place in a page is the context that it makes.
var heavy = []string{"messages", "tools", "parts", "systemMessage"}

// patch appends the ops of a transform that come next, lists in them by their length.
func (w *rower) patch(dst []byte) []byte {
	if w.at.Peek() != '[' {
		return w.at.Value().AppendShort(dst, longest)
	}
	dst = append(dst, '[')
	first := true
	for range w.at.Elements {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = w.op(dst, w.at.Value())
	}
	return append(dst, ']')
}

func (w *rower) op(dst []byte, op value) []byte {
	if !op.IsObject() {
		return op.AppendShort(dst, longest)
	}
	dst = append(dst, '{')
	start := len(dst)
	for key, v := range op.Members {
		dst = member(dst, start, key)
		if v.IsArray() && slices.Contains(heavy, string(key)) {
			n := 0
			for range v.Elements {
				n++
			}
			dst = appendInt(dst, n)
			continue
		}
		dst = v.AppendShort(dst, longest)
	}
	return append(dst, '}')
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
