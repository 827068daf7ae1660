package body

import (
	"encoding/json"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// reasoningDetails returns the reasoning that a signature holds in the form of OpenRouter: a list of details, nil
// if one of them is not known.
func reasoningDetails(signature string) (details []jsonl.Value) {
	list := jsonl.Value(signature)
	if !strings.HasPrefix(signature, "[") || !json.Valid(list) {
		return nil
	}
	for d := range list.Elements {
		if !isDetail(d) {
			return nil
		}
		details = append(details, d)
	}
	return details
}

// isDetail reports whether a value is a detail of a known type, with the fields of that type.
func isDetail(d jsonl.Value) bool {
	is := func(v jsonl.Value, kind func(jsonl.Value) bool) bool { return !v.Exists() || kind(v) }
	isText := func(v jsonl.Value) bool { return v.IsString() || v.IsNull() }
	if !d.IsObject() || !is(d.Get("id"), isText) || !is(d.Get("format"), jsonl.Value.IsString) ||
		!is(d.Get("index"), jsonl.Value.IsNumber) {
		return false
	}
	switch d.Get("type").Text() {
	case "reasoning.summary":
		return d.Get("summary").IsString()
	case "reasoning.encrypted":
		return d.Get("data").IsString()
	case "reasoning.text":
		return d.Get("text").IsString() && is(d.Get("signature"), isText)
	}
	return false
}

// isSealed reports whether the signature of a call is a sealed detail of its own, as older versions of pi kept it.
func isSealed(d jsonl.Value) bool {
	return strings.HasPrefix(string(d), "{") && json.Valid(d) && isDetail(d) && d.Get("type").Is("reasoning.encrypted") &&
		d.Get("id").Text() != "" && d.Get("data").Text() != ""
}

// rawList returns values as a list of JSON.
func rawList(of []jsonl.Value) json.RawMessage {
	list := []byte{'['}
	for k, v := range of {
		if k > 0 {
			list = append(list, ',')
		}
		list = append(list, v...)
	}
	return append(list, ']')
}
