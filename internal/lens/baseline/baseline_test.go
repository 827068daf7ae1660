package baseline

import (
	"strings"
	"testing"
)

// TestBaselineFromFull: where parts and the descriptions of tools end in the text of
// /context --full.
func TestBaselineFromFull(t *testing.T) {
	const parts, tools = "# Context Envelope\n\n## System (parts)\n\n", "# Context Envelope\n\n## Tools\n\n"
	for _, test := range []struct{ name, text, want string }{
		{"at the next tool", tools + "- **a**: one\n- **b**: two\nthree\n\nfour\n- **c**: five\n", "a=one|b=two\nthree\n\nfour|c=five"},
		{"at the next section", tools + "- **a**: one\ntwo\n## Messages\n\n- **b**: three\n", "a=one\ntwo"},
		{"at the next section, one line", tools + "- **a**: one\n## Messages\n\n- **b**: two\n", "a=one"},
		{"at the end of the text", tools + "- **a**: one\ntwo", "a=one\ntwo"},
		{"at the fence before an empty line", parts + "### p\n```text\none\n```\ntwo\n```\n\n### q\n```text\nthree\n```\n\n", "p=one\n```\ntwo|q=three"},
		{"not at a fence before the last line", parts + "### p\n```text\none\n```\ntwo", "p=one\n```\ntwo"},
		{"at the fence before the end of the text", parts + "### p\r\n```text\r\none\r\n```", "p=one"},
		{"without a fence, at the end of the text", parts + "### p\n```text\none\ntwo", "p=one\ntwo"},
	} {
		b, err := baselineFromFull(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, p := range b.Parts {
			got = append(got, p.Name+"="+p.Text)
		}
		for _, tool := range b.Tools {
			got = append(got, tool.Name+"="+tool.Raw.Get("description").Text())
		}
		if got := strings.Join(got, "|"); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
