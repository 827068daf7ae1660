package models

import "strings"

// vocabularies are the families of models whose tokenizer is public, by the beginning
// of their names, as tiktoken's own lists have them (tiktoken/model.py, and
// model_to_encoding.json of npm's tiktoken). The first that fits counts. Models that
// those lists do not name have none, however close their names are.
var vocabularies = [...]struct{ prefix, vocabulary string }{
	{"gpt-4o", "o200k"}, {"chatgpt-4o", "o200k"}, {"gpt-4.1", "o200k"}, {"gpt-4.5", "o200k"},
	{"gpt-5", "o200k"}, {"o1", "o200k"}, {"o3", "o200k"}, {"o4-mini", "o200k"}, {"gpt-oss", "o200k"},
	{"gpt-4", "cl100k"}, {"gpt-3.5-turbo", "cl100k"}, {"gpt-35-turbo", "cl100k"},
}

// Vocabulary is the public vocabulary that a model's tokenizer has: o200k, cl100k, or
// "" where nobody has published one. The id is taken without provider, region and
// revision, as for [Table.Lookup].
func Vocabulary(id string) string {
	name, _ := bareName(id)
	for _, v := range vocabularies {
		rest, ok := strings.CutPrefix(name, v.prefix)
		if ok && (rest == "" || rest[0] == '-' || rest[0] == ':') {
			return v.vocabulary
		}
	}
	return ""
}
