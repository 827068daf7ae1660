package codex

import (
	"strings"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestDetailed: how closely a picture is looked at is by the model that the request asks, in prompts and in
// results; of Codex 0.171.0.
func TestDetailed(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"": `"original"`, "gpt-5.5": `"original"`, "gpt-5.4": `"high"`, "gpt-9": `"high"`, "gpt-6-sol": "", "gpt-6-luna": "",
	} {
		for _, list := range []string{"content", "output"} {
			const picture = `:[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:x","detail":"original"}]}`
			it := detailed(jsonl.Value(`{"type":"x","`+list+`"`+picture), model)
			got := ""
			for p := range it.Get(list).Elements {
				got += string(p.Get("detail"))
			}
			if got != want || !strings.Contains(string(it), `"text":"a"`) {
				t.Errorf("%s to %q: %s", list, model, it)
			}
		}
	}
}
