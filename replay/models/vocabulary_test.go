package models

import "testing"

func TestVocabulary(t *testing.T) {
	for id, want := range map[string]string{
		"gpt-4o": "o200k", "gpt-4o-mini-2024-07-18": "o200k", "openai/gpt-4.1-nano": "o200k", "gpt-5-chat-latest": "o200k",
		"o3": "o200k", "o4-mini": "o200k", "us.openai.gpt-oss-120b-1:0": "o200k", "openai/gpt-oss-20b:free": "o200k",
		"gpt-4": "cl100k", "gpt-4-0613": "cl100k", "gpt-4-turbo": "cl100k", "gpt-3.5-turbo-16k": "cl100k",
		"gpt-5.6-sol": "", "gpt-4-": "cl100k", "gpt-45": "", "o30": "", "o1x": "", "claude-opus-4-1": "", "": "",
	} {
		if got := Vocabulary(id); got != want {
			t.Errorf("%q has %q, want %q", id, got, want)
		}
	}
}
