package conformance

import (
	"strings"
	"testing"
)

// oddGSH are lines that are odd in each of their members.
var oddGSH = []string{
	`{"id":"s1","created_at":"x","last_activity":"y","cwd":"/p"}`,
	`{"role":"user","content":"a\"\u00e9\ud83d\ude00ü\n"}`,
	`{"role":"user","content":[{"type":"text","text":null},{"type":"text"},{"type":"text","text":5},{"type":"image","data":"AA","mimeType":"image/png"},7,"x",{"type":"thinking","thinking":"t"}]}`,
	`{"role":"user","content":[{"type":"tool_use","id":"c","name":"n","input":{}}]}`,
	`{"role":"assistant","content":[{"type":"text","text":"ü\t"},{"type":"tool_use","id":"c1","name":"n","input":{"a":1}},{"type":"tool_use"},{"type":"thinking","thinking":"\u0041"},{"type":"toolCall","id":"c","name":"n","arguments":[]}]}`,
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"\ud800","is_error":true},{"type":"tool_result","tool_use_id":"c9","content":[{"type":"text","text":"a"},{"type":"image","data":"A","mimeType":"m"}],"is_error":null},{"type":"tool_result"}]}`,
	`{"role":"assistant","content":"text \\ only"}`, `{"role":"assistant","content":null}`, `{"role":"other"}`,
}

func TestGSH(t *testing.T) {
	t.Parallel()
	Run(t, Agent{
		Name: "gsh",
		Lines: []string{
			`{"id":"s1","created_at":"2026-01-01T00:00:00Z","last_activity":"2026-01-01T00:00:00Z","message_count":0,"cwd":"/work","title":null}`,
			`{"role":"user","content":"List the files."}`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"bash","input":{}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a.go and b.go"}]}`,
			`{"role":"assistant","content":"There are two."}`,
			`{"role":"user","content":"And now?"}`,
			`{"role":"assistant","content":"Nothing is left."}`,
		},
		Resume: []string{`{"role":"user","content":"Instead?"}`},
		Found:  map[string]string{"a huge line": "+0"},
		More:   []string{strings.Join(oddGSH, "\n")},
	})
}
