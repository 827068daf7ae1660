package report

import (
	"bytes"
	"slices"
	"strconv"

	"ctxtool/internal/read/activity"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A rower makes rows of entries.
type rower struct {
	facts
	table *models.Table
	c     jsonl.Cursor // of the line, which it reads once
	buf   []byte
}

// longest is the maximum number of bytes of a string in a page. A longer one is reduced to its
// beginning and end.
const longest = 8 << 20

// facts are the columns of the index for an entry.
type facts struct {
	has    int
	time   int64
	usage  value // of a call, nil for none
	call   [len(callFields)]value
	output int     // tokens
	cost   float64 // dollars, as recorded or by the table
	id     models.CallID
}

// callFields are what a call is known by, besides its usage: fields of the entry, and fields of
// its message, or of the entry if it is none.
var callFields = [...]string{
	"id", "timestamp", dialect.SharedID, "provider", "model", "responseModel", "responseId",
}

const ofEntry = 3 // the number of those of the entry

// called records a field of a call, if it is one of callFields[first:end].
func (f *facts) called(key []byte, v value, first, end int) {
	if k := slices.Index(callFields[first:end], string(key)); k >= 0 {
		f.call[first+k] = v
	}
}

// entry appends an entry for a page, values unchanged, without what the index has, what only a
// provider can read, and duplicates.
func (w *rower) entry(dst []byte, kind jsonl.Kind, line value) []byte {
	w.facts = facts{has: noTime}
	if !line.IsObject() {
		return append(dst, line...)
	}
	fields := len(callFields)
	if kind.IsMessage() {
		fields = ofEntry
	}
	w.c.Reset(line)
	dst = w.object(dst, func(dst, key []byte) []byte {
		switch name := string(key); {
		case name == "message" && kind.IsMessage():
			return w.message(dst)
		case name == "patch" && kind == jsonl.Transform:
			return w.list(dst, w.op)
		case name == "content" && kind == jsonl.CustomMessage:
			return w.content(dst)
		}
		v := w.c.Value()
		w.called(key, v, 0, fields)
		switch string(key) {
		case "type":
			if kind != jsonl.Unknown {
				return dst
			}
		case "id", "parentId", "fromHook", "schemaVersion":
			if kind != jsonl.Header {
				return dst
			}
		case dialect.SharedID:
			return dst
		case "timestamp":
			if ms, ok := v.Millis(); ok {
				w.has, w.time = w.has&^noTime, ms
			}
			return dst
		case "systemMessage": // the steps contain the resulting prompt
			return append(dst, "true"...)
		case "usage":
			return w.paid(dst, v)
		case "summary":
			w.has |= hasText
		}
		return v.AppendShort(dst, longest)
	})
	if w.usage.IsObject() {
		w.price()
	}
	return dst
}

// object appends the next object with what write appends for each field, whose value is next. It skips
// fields for which write appends nothing.
func (w *rower) object(dst []byte, write func(dst, key []byte) []byte) []byte {
	if w.c.Peek() != '{' {
		return w.c.Value().AppendShort(dst, longest)
	}
	dst = append(dst, '{')
	start := len(dst)
	for key := range w.c.Members {
		before := len(dst)
		if before > start {
			dst = append(dst, ',')
		}
		dst = append(jsonl.AppendQuoted(dst, string(key)), ':')
		named := len(dst)
		if dst = write(dst, key); len(dst) == named {
			dst = dst[:before]
		}
	}
	return append(dst, '}')
}

// list appends the next array with what write appends for each element, which is next.
func (w *rower) list(dst []byte, write func(dst []byte) []byte) []byte {
	if w.c.Peek() != '[' {
		return w.c.Value().AppendShort(dst, longest)
	}
	dst = append(dst, '[')
	start := len(dst)
	for range w.c.Elements {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = write(dst)
	}
	return append(dst, ']')
}

func (w *rower) message(dst []byte) []byte {
	failed, stopped := false, false
	dst = w.object(dst, func(dst, key []byte) []byte {
		switch string(key) {
		case "content":
			return w.content(dst)
		case "nestedCalls":
			return w.object(dst, func(dst, key []byte) []byte {
				if string(key) == "calls" {
					return w.list(dst, w.asCall)
				}
				return w.c.Value().AppendShort(dst, longest)
			})
		}
		v := w.c.Value()
		w.called(key, v, ofEntry, len(callFields))
		switch string(key) {
		case "timestamp", "api", "responseId", "responseModel":
			return dst
		case "details": // of a tool result's details only the diff is kept
			if diff := v.Get("diff"); diff.IsString() {
				dst = append(diff.AppendShort(append(dst, `{"diff":`...), longest), '}')
			}
			return dst
		case "usage":
			return w.paid(dst, v)
		case "isError":
			failed = v.Truthy()
		case "stopReason":
			stopped = v.Is("error") || v.Is("aborted")
		}
		return v.AppendShort(dst, longest)
	})
	if failed || stopped {
		w.has |= hasError
	}
	return dst
}

// paid appends a usage, and records it.
func (w *rower) paid(dst []byte, usage value) []byte {
	w.usage = usage
	return append(dst, usage...)
}

// price records what a row's call used and cost.
func (w *rower) price() {
	u, c := w.usage.Usage(), &w.call
	call := models.CallRecord{ID: c[0], Time: c[1], Shared: c[2], Response: c[6], Usage: &u}
	w.id, w.buf = call.Identify(w.buf)
	w.output = int(u.Output)
	cost, recorded := w.table.Paid(&u, c[3], c[4], c[5])
	w.cost = cost
	if !recorded {
		w.has |= computed
	}
}

// content appends a content: text, or blocks without signatures.
func (w *rower) content(dst []byte) []byte {
	start := len(dst)
	dst = w.list(dst, func(dst []byte) []byte {
		if typed := w.c; typed.Enter("type") && typed.Value().Is("toolCall") {
			return w.asCall(dst)
		}
		return w.object(dst, func(dst, key []byte) []byte {
			v := w.c.Value()
			switch {
			case bytes.HasSuffix(key, []byte("ignature")), bytes.HasPrefix(key, []byte("encrypted")):
				return dst
			case string(key) == "type" && v.Is("text"):
				w.has |= hasText
			}
			return v.AppendShort(dst, longest)
		})
	})
	if len(dst) > start+len(`""`) && dst[start] == '"' {
		w.has |= hasText
	}
	return dst
}

// asCall appends a call with what it is about: the name of an argument, or a text.
func (w *rower) asCall(dst []byte) []byte {
	if w.c.Peek() != '{' {
		return w.c.Value().AppendShort(dst, longest)
	}
	var tool, args value
	dst = w.object(dst, func(dst, key []byte) []byte {
		v := w.c.Value()
		switch string(key) {
		case "about", "subject":
			return dst
		case "name":
			tool = v
		case "arguments":
			args = v
		}
		if bytes.HasSuffix(key, []byte("ignature")) {
			return dst
		}
		return v.AppendShort(dst, longest)
	})
	name, text := activity.About(tool.Text(), args)
	dst = append(bytes.TrimSuffix(dst, []byte("}")), `,"about":`...)
	dst = jsonl.AppendQuoted(dst, name)
	if text != nil {
		dst = text.AppendShort(append(dst, `,"subject":`...), longest)
	}
	return append(dst, '}')
}

// heavy are the fields of an op that are shown as part of the resulting context.
var heavy = []string{"messages", "tools", "parts", "systemMessage"}

// op appends an op of a transform, with lists replaced by their length.
func (w *rower) op(dst []byte) []byte {
	return w.object(dst, func(dst, key []byte) []byte {
		v := w.c.Value()
		if !v.IsArray() || !slices.Contains(heavy, string(key)) {
			return v.AppendShort(dst, longest)
		}
		n := 0
		for range v.Elements {
			n++
		}
		return strconv.AppendInt(dst, int64(n), 10)
	})
}
