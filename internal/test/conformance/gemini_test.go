package conformance

import (
	"strings"
	"testing"
)

// oddGemini are lines that are odd in each of their members.
var oddGemini = []string{
	`{"sessionId":"s1","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z"}`,
	`{"id":"a","type":"user","content":[{"text":"ü\n"},"\t",{"inlineData":{"data":"AA","mimeType":"image/png"}},{"other":"\""},{"functionResponse":{"id":"c","name":"n","response":{"output":"\n"}}}]}`,
	`{"id":"b","type":"gemini","content":"\\","thoughts":[{"subject":"s\"","description":"d\n"},{"subject":"s"},{"description":"ü"},5],"toolCalls":[{"id":"c","name":"n","args":{},"status":"error","result":[{"functionResponse":{"response":{"output":"\u00e9"}}}]},{"id":"d","name":"n","result":"r\n"},{"id":"e","result":[{"text":"\t"},{"functionResponse":{"response":{"error":"e"}}},{"functionResponse":{"response":["\n"]}}]}],"tokens":{"input":5,"cached":2,"output":1},"model":"m"}`,
	`{"id":"c","type":"gemini","content":[{"text":"t","thought":true},{"functionCall":{"id":"x","name":"n","args":3}},{"inlineData":{"mimeType":"image/png"}}],"model":null}`,
	`{"id":"d","type":"user","content":"/help"}`, `{"id":"e","type":"user","content":0}`, `{"id":"f","type":"info","content":"i"}`,
}

func TestGemini(t *testing.T) {
	t.Parallel()
	const used = `,"tokens":{"input":20,"cached":10,"output":2,"thoughts":1,"tool":4}}`
	Run(t, Agent{
		Name: "gemini",
		Lines: []string{
			`{"sessionId":"s1","projectHash":"h","startTime":"2026-01-01T00:00:00Z","kind":"main"}`,
			`{"id":"u1","type":"user","content":"List the files."}`,
			`{"id":"a1","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"ls","args":{},"result":"a.go and b.go"}]` + used,
			`{"id":"i1","type":"info","content":"Updated"}`,
			`{"id":"a2","type":"gemini","content":"There are two."` + used,
			`{"id":"u2","type":"user","content":"And now?"}`,
			`{"id":"a3","type":"gemini","content":"Nothing is left."` + used,
		},
		Resume: []string{`{"id":"u3","type":"user","content":"Instead?"}`},
		Fork:   []string{`{"$rewindTo":"u2"}`, `{"id":"u3","type":"user","content":"Instead?"}`},
		Usage:  []string{"tokens.input", "tokens.output", "tokens.thoughts", "tokens.tool"},
		Once:   "id",
		More:   []string{strings.Join(oddGemini, "\n"), Document(oddGemini[0], oddGemini[1:])},
		Found: map[string]string{
			"a line twice":            "+0",
			"two files":               "+0",
			"a call without a result": "+0",
		},
	})
}
