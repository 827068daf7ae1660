package stats_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/stats"
)

// A tally sums usage over raw lines: input without what the cache served or took, output, cache
// reads, cache writes.
type tally struct {
	calls                      int64
	input, output, read, write int64
}

// A rawLine has what the rules of docs/session-format.md 15.3 and 16.3 look at.
type rawLine struct {
	Type string
	UUID string
	Data struct {
		Message rawSubAgent
	}
	Payload struct {
		Type       string
		ResponseID string `json:"response_id"`
		Usage      codexUsage
		Info       struct {
			Last  *codexUsage     `json:"last_token_usage"`
			Total json.RawMessage `json:"total_token_usage"`
		}
	}
	Message rawMessage
}

// A rawSubAgent is a line of a sub-agent in the progress of a tool.
type rawSubAgent struct {
	Type    string
	Message rawMessage
}

type rawMessage struct {
	ID, Model string
	Usage     struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		Read   int64 `json:"cache_read_input_tokens"`
		Write  int64 `json:"cache_creation_input_tokens"`
	}
}

func (m *rawMessage) tally() tally {
	return tally{1, m.Usage.Input, m.Usage.Output, m.Usage.Read, m.Usage.Write}
}

type codexUsage struct {
	Input  int64 `json:"input_tokens"`
	Cached int64 `json:"cached_input_tokens"`
	Write  int64 `json:"cache_write_input_tokens"`
	Output int64 `json:"output_tokens"`
}

func (u codexUsage) tally() tally {
	return tally{1, u.Input - u.Cached - u.Write, u.Output, u.Cached, u.Write}
}

// sumRaw sums the usage of files: of Codex once per response_id, in files without records of it
// the token_count lines whose total changed; of Claude Code the last line of each message.id, also in
// the progress of sub-agents.
func sumRaw(t *testing.T, files []string) (sum tally) {
	byID, aside := map[string]tally{}, map[string]tally{}
	for _, file := range files {
		lines := rawLines(t, file)
		recorded := false
		for _, l := range lines {
			recorded = recorded || l.Type == "token_usage_record"
		}
		total := ""
		for _, l := range lines {
			switch {
			case l.Type == "token_usage_record":
				byID[l.Payload.ResponseID] = l.Payload.Usage.tally()
			case l.Type == "event_msg" && l.Payload.Type == "token_count" && !recorded && l.Payload.Info.Last != nil && string(l.Payload.Info.Total) != total:
				total = string(l.Payload.Info.Total)
				byID[total] = l.Payload.Info.Last.tally()
			case l.Type == "assistant" && l.UUID != "" && l.Message.Model != "<synthetic>":
				byID[l.Message.ID] = l.Message.tally()
			case l.Type == "progress" && l.Data.Message.Type == "assistant":
				aside[l.Data.Message.Message.ID] = l.Data.Message.Message.tally()
			}
		}
	}
	for id, u := range aside { // unless the sub-agent's own file has it
		if _, own := byID[id]; !own {
			byID[id] = u
		}
	}
	for _, u := range byID {
		sum = tally{sum.calls + u.calls, sum.input + u.input, sum.output + u.output, sum.read + u.read, sum.write + u.write}
	}
	return sum
}

func rawLines(t *testing.T, file string) (lines []rawLine) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	data := must.Get(io.ReadAll(r))
	for raw := range bytes.Lines(data) {
		var l rawLine
		if json.Unmarshal(raw, &l) == nil {
			lines = append(lines, l)
		}
	}
	return lines
}

// uniqueCost is what the lens counts, each call once.
func uniqueCost(t *testing.T, files []string) tally {
	t.Helper()
	o := stats.Options{Lenses: lenses(t, "cost")}
	var all []*stats.Report
	for _, file := range files {
		one := must.Get(o.Read(file))
		one.File = file
		all = append(all, one)
	}
	sum := &stats.Report{}
	for _, one := range o.Gather(all) {
		o.Add(sum, one)
	}
	o.Finish(sum)
	c := sum.Cost
	return tally{c.Calls.Total, c.Tokens.Input, c.Tokens.Output, c.Tokens.CacheRead, c.Tokens.CacheWrite}
}

// TestForeignCost: the usage of other agents' sessions is the sum over their raw lines, each
// call once, also in forks and files of sub-agents.
func TestForeignCost(t *testing.T) {
	seen := 0
	for _, pattern := range []string{"vectors/codex/*", "corpus/codex/*.jsonl", "corpus/claude-code", "corpus/claude-code/subagents*"} {
		for _, folder := range testenv.Shared(t, pattern) {
			var files []string
			filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
				name := filepath.Base(path)
				if err == nil && strings.Contains(name, ".jsonl") && name != "requests.jsonl" && name != "events.jsonl" {
					files = append(files, path)
				}
				return err
			})
			seen += len(files)
			got, want := uniqueCost(t, files), sumRaw(t, files)
			if pattern == "corpus/codex/*.jsonl" {
				got.calls = want.calls // made by hand: not every answer has a usage
			}
			if got != want {
				t.Errorf("%s, %d files: %+v, by the lines %+v", filepath.Base(folder), len(files), got, want)
			}
		}
	}
	if seen == 0 {
		t.SkipNow()
	}
}

// TestForeignCopies: calls that several files have count once, whatever a fork changed of their
// lines; an answer that no model gave is no call.
func TestForeignCopies(t *testing.T) {
	codex := func(second string, lines ...string) (all string) {
		for _, line := range lines {
			all += `{"timestamp":"2026-01-01T00:00:` + second + `Z",` + line + "}\n"
		}
		return all
	}
	meta := func(id string) string { return `"type":"session_meta","payload":{"id":"` + id + `"}` }
	user := `"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}`
	said := `"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"1"}]}`
	count := func(total string) string {
		return `"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":` + total + `},"last_token_usage":{"input_tokens":10,"output_tokens":1}}}`
	}
	summary := `"type":"response_item","metadata":{"compaction_output":true},"payload":{"type":"message","role":"assistant","content":[]}`
	used := `"type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":10,"output_tokens":1}}`
	compacted := `"type":"compacted","payload":{"message":"s","replacement_history":[]}`

	claude := func(session, from string, lines ...string) (all string) {
		for _, line := range lines {
			all += `{"sessionId":"` + session + `",` + from + line + "}\n"
		}
		return all
	}
	ask := func(id string) string {
		return `"type":"user","uuid":"` + id + `","parentUuid":null,"message":{"role":"user","content":"a"}`
	}
	answer := func(id, up, model string) string {
		return `"type":"assistant","uuid":"` + id + `","parentUuid":"` + up + `","message":{"id":"msg` + model + `","role":"assistant","model":"` + model + `","stop_reason":"end_turn","content":[{"type":"text","text":"1"}],"usage":{"input_tokens":10,"output_tokens":1}}`
	}
	for _, test := range []struct {
		name  string
		files []string
		want  tally
	}{
		{"a fork of an old version has the lines of its parent under new times", []string{
			codex("01", meta("s1"), user, said, count("11")),
			codex("02", meta("s2"), meta("s1"), user, said, count("11"), user, said, count("22")),
		}, tally{2, 20, 2, 0, 0}},
		{"a copied call for a summary", []string{
			codex("01", meta("s1"), user, summary, used, compacted),
			codex("02", meta("s2"), meta("s1"), user, summary, used, compacted),
		}, tally{1, 10, 1, 0, 0}},
		{"an answer that broke off", []string{
			codex("01", meta("s1"), user, said, used, user, said),
		}, tally{1, 10, 1, 0, 0}},
		{"a fork with new uuids", []string{
			claude("s1", "", ask("u1"), answer("a1", "u1", "claude")),
			claude("s2", `"forkedFrom":{"sessionId":"s1","messageUuid":"u1"},`, ask("u2"), answer("a2", "u2", "claude")),
		}, tally{1, 10, 1, 0, 0}},
		{"an answer that no model gave", []string{
			claude("s1", "", ask("u1"), answer("a1", "u1", "claude"), answer("a2", "a1", "<synthetic>")),
		}, tally{1, 10, 1, 0, 0}},
	} {
		var files []string
		dir := t.TempDir()
		for k, content := range test.files {
			files = append(files, filepath.Join(dir, string(rune('a'+k))+".jsonl"))
			must.Do(os.WriteFile(files[k], []byte(content), 0o666))
		}
		if got := uniqueCost(t, files); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}
