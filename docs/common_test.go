package docs_test

import (
	"regexp"
	"slices"
)

// A commonRow explains a key that many tables of formats.md have. A row whose comment is one of those listed
// has the one word "common" there.
type commonRow struct {
	key, what string
	comments  []string
}

// commonRows make the table of the section "Common keys" of formats.md.
var commonRows = []commonRow{
	{"id", "string: id of an entry", []string{
		"of the entry", "id of the entry", "of that entry", "of the entry that did it"}},
	{"entry", "string: id of an entry; of a request, of its answer", []string{
		"", "id of the answer", "of the message", "the entry's id"}},
	{"line", "number: line of that entry in its file, from 1", []string{
		"", "in the file, from 1", "of that entry", "of that entry, from 1", "line of that entry, from 1", "of the entry",
		"from 1"}},
	{"time", "string: timestamp of that entry, as in the file", []string{
		"", "of that entry", "of that entry, as in the file", "of the entry, as in the file",
		"the entry's timestamp as in the file", "as it stands in the file", "of the entry"}},
	{"kind", "string: the role of a message, else the type of its entry", []string{
		"the role of a message, else the type", "as in a tree", "the role of a message, else the type of the entry"}},
	{"written_at", "number?: that time in the tables of `export`", []string{
		"of the entry", "of that entry", "when its entry was written"}},
	{"on_path", "bool: the entry is on the path to the leaf", []string{
		"it is on the path to the leaf", "the entry is on the path to the leaf", "the answer is on the path to the leaf"}},
	{"active", "bool: the entry is on the path to the leaf", []string{"on the path to the leaf"}},
	{"op", "number: the operation of a patch", []string{
		"the op of its patch", "the operation of its patch", "the op of that transform"}},
	{"file", "string: the session's file, mostly if there are several", []string{"", "as in `files[]`", "of several"}},
	{"tool", "string: its name", []string{"its name"}},
	{"agent`, `certainty", "[Agent and certainty](#agent-and-certainty)", []string{""}},
	{"request", "number of a request, from 0", []string{"", "from 0"}},
	{"session", "string: id of the header; in the tables of `export`, the key that joins them", []string{"the header's id", ""}},
	{"project", "string: folder of the header", []string{"the header's folder"}},
	{"model", "`provider/id`", []string{"`provider/id`"}},
	{"window", "tokens of the model's window; absent if unknown", []string{
		"tokens of the model's window; absent where it is not known"}},
	{"prices", "string: date of the table of prices", []string{
		"date of the price table", "date of the table of prices", "the date of the table of prices", "the date of the table"}},
	{"context", "number: size of the context in tokens ([figures](figures.md))", []string{
		"size of the context in tokens ([figures](figures.md))",
		"size of the context at the leaf in tokens ([figures](figures.md))"}},
	{"estimated", "true: `context` is estimated at least in part", []string{
		"a part of `context`, or all of it", "no usage has told all of it"}},
	{"recorded", "number: the part of `cost` that is recorded", []string{"the part of it that is recorded"}},
	{"unpriced", "tokens without a known price, missing in `cost`", []string{
		"tokens without a known price, missing in `cost`"}},
	{"noSubagents", "true: calls of sub-agents are not in `cost`: `--no-subagents`", []string{
		"calls of sub-agents are not in `cost`: `--no-subagents`"}},
	{"unreadSubagents", "number of sub-agents that could not be read, and are not in `cost`", []string{
		"sub-agents that could not be read: they are not in `cost`"}},
	{"subagentOf", "id of the session whose sub-agent this one is", []string{
		"id of the session whose sub-agent this one is"}},
}

const commonKey = "common"

var commonMark = regexp.MustCompile(`(?m)^<!-- struct common -->\n(?:\|.*\n)*`)

// commonTable returns the table of the section "Common keys".
func commonTable() string {
	var rows []row
	for _, c := range commonRows {
		rows = append(rows, row{key: c.key, what: c.what})
	}
	return "<!-- struct common -->\n| key | what |\n|---|---|\n" + joined(rows)
}

// isCommon reports whether the section "Common keys" has all that a row says.
func isCommon(r row) bool {
	return slices.ContainsFunc(commonRows, func(c commonRow) bool {
		return c.key == r.key && slices.Contains(c.comments, r.what)
	})
}

// withCommon gives common keys of one object a row, where the first of them stands.
func withCommon(rows []row) (all []row) {
	first := map[string]int{} // by prefix: the index of that row
	for _, r := range rows {
		if !isCommon(r) {
			all = append(all, r)
		} else if at, ok := first[r.prefix]; ok {
			all[at].key += "`, `" + r.key
		} else {
			first[r.prefix] = len(all)
			all = append(all, row{prefix: r.prefix, key: r.key, typ: commonKey})
		}
	}
	return all
}
