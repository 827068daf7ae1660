package conformance

import (
	"fmt"
	"strings"
	"testing"
)

// copilotEvents returns lines of events, each by its type, its data and, after a bar, its agent.
func copilotEvents(all ...string) (lines []string) {
	for n, of := range all {
		head, data, _ := strings.Cut(of, " ")
		typ, agent, _ := strings.Cut(head, "|")
		if agent != "" {
			agent = fmt.Sprintf(`,"agentId":%q`, agent)
		}
		lines = append(lines, fmt.Sprintf(`{"type":%q,"data":%s,"id":"e%d","timestamp":"2026-01-01T00:00:%02dZ",`+
			`"parentId":"e%d"%s}`, typ, data, n+1, n+1, n, agent))
	}
	return lines
}

// oddCopilot are events that are odd in each of their members.
var oddCopilot = copilotEvents(
	`session.start {"sessionId":"s1","copilotVersion":"1.0.102","selectedModel":"m","context":{"cwd":"/w"}}`,
	`session.binary_asset {"assetId":"sha256:a","mimeType":"image/png","data":"AA","description":"ü"}`,
	`user.message {"content":"\u00fc","transformedContent":"<t>x</t>\n\nü","attachments":[`+
		`{"type":"file","path":"/w/ü.png","assetId":"sha256:a","mimeType":"image/png"},{"type":"file","path":"b"},3]}`,
	`session.usage_record {"usage":{"model":"m","inputTokens":20,"outputTokens":2,"cacheReadTokens":10,`+
		`"cacheWriteTokens":4,"apiCallId":"r1","isByok":true,"providerType":"openai"}}`,
	`assistant.message {"model":"m","content":"","reasoningText":"\t","reasoningOpaque":"x","toolRequests":[`+
		`{"toolCallId":"c1","name":"n","arguments":{"a":"\""}},{"toolCallId":"c2","name":"n","arguments":"raw"},{"name":7}],`+
		`"apiCallId":"r1"}`,
	`tool.execution_complete {"toolCallId":"c2","success":false,"error":{"message":"gone"}}`,
	`tool.execution_complete {"toolCallId":"c1","success":true,"result":{"content":"é","binaryResultsForLlm":[{}]}}`,
	`user.message|x {"content":"find"}`,
	`assistant.message|x {"model":"k","content":"found","apiCallId":"r2"}`,
	`session.compaction_complete {"success":false,"compactionTokensUsed":{"model":"m","inputTokens":5,"outputTokens":1}}`,
	`session.compaction_complete {"success":true,"summaryContent":"sum","compactionTokensUsed":{"inputTokens":7}}`,
	`model.turn_started {}`,
	`session.resume {"selectedModel":"o"}`,
	`session.truncation {"content":0}`,
	`assistant.message {"model":3,"content":[],"toolRequests":{}}`,
	`session.usage_record {"usage":{"model":"m","inputTokens":3,"outputTokens":1,"apiCallId":"r9"}}`,
)

func TestCopilot(t *testing.T) {
	t.Parallel()
	lines := copilotEvents(
		`session.start {"sessionId":"s1","copilotVersion":"1.0.102","context":{"cwd":"/w"}}`,
		`user.message {"content":"List the files.","transformedContent":"List the files."}`,
		`assistant.message {"model":"m","content":"","toolRequests":[`+
			`{"toolCallId":"c1","name":"ls","arguments":{},"type":"function"}]}`,
		`tool.execution_complete {"toolCallId":"c1","success":true,"result":{"content":"a.go and b.go"}}`,
		`assistant.message {"model":"m","content":"There are two.","toolRequests":[],"apiCallId":"r2"}`,
		`user.message {"content":"And now?","transformedContent":"And now?"}`,
		`assistant.message {"model":"m","content":"Nothing is left.","toolRequests":[],"apiCallId":"r3"}`,
		`session.resume {}`,
		`user.message {"content":"Instead?","transformedContent":"Instead?"}`,
	)
	Run(t, Agent{
		Name: "copilot", Lines: lines[:7], Resume: lines[7:], More: []string{strings.Join(oddCopilot, "\n")},
		Usage: []string{"data.usage.inputTokens", "data.usage.outputTokens", "data.compactionTokensUsed.inputTokens",
			"data.compactionTokensUsed.outputTokens"},
		Found: map[string]string{
			"no header":       "+0",
			"a broken header": "1 malformed; +0",
			"a huge line":     "+0",
			"two files":       "9 time-backward; +6",
		},
	})
}
