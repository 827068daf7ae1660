package stats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/gen/tables"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
)

// A thread writes a rollout of Codex: turns that ask and say the same, with the same usage.
type thread struct {
	id, begun string // begun are minutes and seconds
	head      string // more members of the first line
	// Lines begin with those of another thread under new times.
	copied []string
	// Of responses and items, which a gateway gives all; empty for none.
	response, item string
	turns, total   int
	bare           bool // no record of usage names the thread
}

// lines are those of the turns, without times.
func (c *thread) lines() (all []string) {
	all = append(all, fmt.Sprintf(`"type":"session_meta","payload":{"id":%q,"cwd":"/w","cli_version":"0.130.0"%s}`, c.id, c.head))
	all = append(all, c.copied...)
	for n := range c.turns {
		total := fmt.Sprintf(`{"input_tokens":10,"output_tokens":1,"total_tokens":%d}`, c.total+11*(n+1))
		used := fmt.Sprintf(`"type":"token_usage_record","payload":{"thread_id":%q,"response_id":%q,"usage":{"input_tokens":10,"output_tokens":1},"thread_token_usage":%s}`, c.id, c.response, total)
		if c.bare {
			used = `"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":` + total + `,"last_token_usage":{"input_tokens":10,"output_tokens":1}}}`
		}
		all = append(all,
			`"type":"turn_context","payload":{"model":"gpt-5.4"}`,
			`"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"ping"}]}`,
			fmt.Sprintf(`"type":"response_item","payload":{"type":"message","id":%q,"role":"assistant","content":[{"type":"output_text","text":"pong"}]}`, c.item),
			used)
	}
	return all
}

func (c *thread) file() string {
	var b strings.Builder
	for _, line := range c.lines() {
		fmt.Fprintf(&b, "{\"timestamp\":\"2026-01-01T00:%sZ\",%s}\n", c.begun, line)
	}
	return b.String()
}

// gateway is a transcript of Claude Code whose answers all have one id, and where it is given one request. Times
// are those of the turns.
func gateway(session, id, request, more string, turns int) string {
	var b strings.Builder
	up := "null"
	for n := range turns {
		head := func(kind string) string {
			own := fmt.Sprintf("%s-%s%d", session, kind, n)
			s := fmt.Sprintf(`{"parentUuid":%s,"uuid":%q,"sessionId":%q,"timestamp":"2026-01-01T00:00:%02d.000Z"`, up, own, session, 2*n)
			up = `"` + own + `"`
			return s + strings.ReplaceAll(more, "%", fmt.Sprintf("%s%d", kind, n))
		}
		fmt.Fprintf(&b, "%s,\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"q\"}}\n", head("u"))
		by := ""
		if request != "" {
			by = fmt.Sprintf(`,"requestId":"%s%d"`, request, n)
		}
		fmt.Fprintf(&b, "%s%s,\"type\":\"assistant\",\"message\":{\"id\":%q,\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n",
			head("a"), by, id)
	}
	return b.String()
}

// calls is how many calls each session owns, in the order of the files, and how many are copies.
func calls(t *testing.T, files []string, only stats.Only) string {
	t.Helper()
	o := stats.Options{Lenses: lenses(t, "cost"), By: []string{"session"}, Only: only}
	sum, ids := &stats.Report{}, []string{}
	for _, file := range files {
		if one := must.Get(o.Read(file)); one.Fits() {
			ids = append(ids, one.ID)
			o.Add(sum, one)
		}
	}
	o.Finish(sum)
	var own []string
	for _, id := range ids {
		n := int64(0)
		for _, row := range sum.Cost.Rows {
			if row.Session == id {
				n = row.Calls.Total
			}
		}
		own = append(own, fmt.Sprint(n))
	}
	return strings.Join(own, " ") + fmt.Sprintf(" copies %d", sum.Cost.Copies)
}

// TestCopiesByRelation: a call is a copy by its relation to another session, never by what it says and used; the original owns it.
func TestCopiesByRelation(t *testing.T) {
	t.Parallel()
	parent := thread{id: "t1", begun: "01:00.000", response: "resp_1", item: "msg_1", turns: 2}
	bare := parent
	bare.bare = true
	copies := func(of thread) []string { return of.lines() }
	fork := func(of thread, id, begun, head string) *thread {
		return &thread{id: id, begun: begun, head: head, copied: copies(of), response: "resp_1", item: "msg_1", turns: 1,
			total: 22, bare: of.bare}
	}
	second := fork(bare, "t2", "02:00.000", `,"forked_from_id":"t1"`)
	gatewayed := func(session string) string { return gateway(session, "x", "", "", 3) }
	for _, test := range []struct {
		name  string
		files []string // by their names a, b, c
		only  stats.Only
		want  string
	}{
		{"threads of a stub, with ids, texts, usages and times that are equal", []string{
			(&thread{id: "t1", begun: "01:00.000", response: "resp_1", item: "msg_1", turns: 3}).file(),
			(&thread{id: "t2", begun: "01:00.000", response: "resp_1", item: "msg_1", turns: 3}).file(),
			(&thread{id: "t3", begun: "01:00.000", turns: 2, bare: true}).file(),
			(&thread{id: "t4", begun: "01:00.000", turns: 2, bare: true}).file(),
		}, stats.Only{}, "3 3 2 2 copies 0"},
		{"sub-agents of one thread that say the same", []string{
			(&thread{id: "t1", begun: "01:00.000", turns: 1, bare: true}).file(),
			(&thread{id: "t2", begun: "01:01.000", head: `,"parent_thread_id":"t1"`, turns: 1, bare: true}).file(),
			(&thread{id: "t3", begun: "01:01.000", head: `,"parent_thread_id":"t1"`, turns: 1, bare: true}).file(),
		}, stats.Only{}, "1 1 1 copies 0"},
		{"a record that is written again", []string{
			parent.file() + parent.file()[strings.LastIndex(parent.file()[:len(parent.file())-1], "\n")+1:],
		}, stats.Only{}, "2 copies 0"},
		{"a fork before its original", []string{second.file(), bare.file()}, stats.Only{}, "1 2 copies 2"},
		{"a fork of a fork", []string{
			fork(*second, "t3", "03:00.000", `,"forked_from_id":"t2"`).file(), second.file(), bare.file(),
		}, stats.Only{}, "1 1 2 copies 5"},
		{"forks that go on in the same way", []string{
			bare.file(), second.file(), fork(bare, "t3", "02:00.000", `,"forked_from_id":"t1"`).file(),
		}, stats.Only{}, "2 1 1 copies 4"},
		{"an original that goes on as its fork does", []string{
			bare.file() + (&thread{id: "t1", begun: "04:00.000", turns: 1, item: "msg_1", total: 22, bare: true}).file(), second.file(),
		}, stats.Only{}, "3 1 copies 2"},
		{"usages that name the thread", []string{fork(parent, "t2", "02:00.000", "").file()}, stats.Only{}, "3 copies 0"},
		{"the same, and another fork", []string{
			fork(parent, "t2", "02:00.000", "").file(), fork(parent, "t3", "03:00.000", "").file(),
		}, stats.Only{}, "3 1 copies 2"},
		{"a sub-agent with the history of its parent", []string{
			parent.file(), strings.ReplaceAll(fork(parent, "t2", "02:00.000",
				`,"parent_thread_id":"t1","subagent_history_start_ordinal":10`).file(), "token_usage_record", "token_usage_record"),
		}, stats.Only{}, "2 1 copies 2"},
		{"copies with the time of the fork, in a period without the original", []string{bare.file(), second.file()},
			stats.Only{Since: time.Date(2026, 1, 1, 0, 1, 30, 0, time.UTC).UnixMilli()}, "1 copies 2"},

		{"a gateway that gives all answers one id", []string{
			gatewayed("s1"), gatewayed("s2"), gateway("s3", "x", "r", "", 3), gateway("s4", "", "", "", 3),
		}, stats.Only{}, "3 3 3 3 copies 0"},
		{"a fork of such a session under new ids", []string{
			gateway("s0", "x", "", `,"forkedFrom":{"sessionId":"s9","messageUuid":"s9-%"}`, 2), gatewayed("s9"),
		}, stats.Only{}, "0 3 copies 2"},
		{"a fork that keeps the ids", []string{
			gatewayed("s1"), strings.ReplaceAll(gatewayed("s1"), `"sessionId":"s1"`, `"sessionId":"s2"`),
		}, stats.Only{}, "3 0 copies 3"},
		{"forks of a session that is gone", []string{
			gateway("s1", "x", "", `,"forkedFrom":{"sessionId":"s9","messageUuid":"s9-%"}`, 2),
			gateway("s2", "x", "", `,"forkedFrom":{"sessionId":"s9","messageUuid":"s9-%"}`, 2),
		}, stats.Only{}, "2 0 copies 2"},
		{"a sub-agent with a copy of its parent's context", []string{
			gateway("s1", "m", "r", "", 2),
			strings.ReplaceAll(gateway("s1", "m", "r", `,"isSidechain":true,"agentId":"a"`, 2), `"uuid":"s1`, `"uuid":"s2`) +
				`{"parentUuid":null,"uuid":"f","sessionId":"s1","isSidechain":true,"type":"user","message":{"role":"user","content":"<fork-boilerplate>\nyour part"}}` + "\n",
		}, stats.Only{}, "2 2 copies 2"}, // of one session

		{"forks of pi under the ids of the original", []string{
			`{"type":"session","version":3,"id":"p2","timestamp":"2026-01-02T00:00:00.000Z","cwd":"/","parentSession":"/gone/p1.jsonl"}` + "\n" +
				string(text(answer("a", "", `"responseId":"r","usage":{"input":1,"cost":{"total":1}}`))),
			`{"type":"session","version":3,"id":"p1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n" +
				string(text(answer("a", "", `"responseId":"r","usage":{"input":1,"cost":{"total":1}}`))),
		}, stats.Only{}, "0 1 copies 1"},
		{"sessions of pi with one response id", []string{
			string(text(answer("a", "", `"responseId":"r","usage":{"input":1}`), answer("b", "a", `"responseId":"r","usage":{"input":1}`))),
			strings.ReplaceAll(string(text(answer("c", "", `"responseId":"r","usage":{"input":1}`))), `"id":"s1"`, `"id":"s2"`),
		}, stats.Only{}, "2 1 copies 0"},
	} {
		dir := t.TempDir()
		var files []string
		for k, content := range test.files {
			files = append(files, filepath.Join(dir, string(rune('a'+k))+".jsonl"))
			must.Do(os.WriteFile(files[k], []byte(content), 0o600))
		}
		if got := calls(t, files, test.only); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestCopiesInDatabase: a fork of opencode copies messages with their times under new ids, and newer sessions have ids
// that come first in the alphabet. Answers with equal times and tokens are not copies by that.
func TestCopiesInDatabase(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	session := func(id string, begun int) {
		fmt.Fprintf(&rows, `{"table":"session","id":%q,"parent_id":null,"directory":"/w","title":"t","version":"1.18.33","time_created":%d,"time_updated":9000}`+"\n", id, begun)
	}
	said := func(session, id string, at int) {
		fmt.Fprintf(&rows, `{"table":"message","id":%q,"session_id":%q,"time_created":%[3]d,"time_updated":%[3]d,"data":{"role":"assistant","time":{"created":%[3]d,"completed":%[3]d},"providerID":"openai","modelID":"gpt-5.4","cost":0.5,"tokens":{"input":10,"output":1,"reasoning":0,"cache":{"read":0,"write":0}},"finish":"stop"}}`+"\n", id, session, at)
		fmt.Fprintf(&rows, `{"table":"part","id":"p%s","message_id":%[1]q,"session_id":%q,"time_created":%d,"time_updated":0,"data":{"type":"step-start"}}`+"\n", id, session, at)
	}
	session("ses_c", 1000) // the original
	said("ses_c", "m1", 1001)
	said("ses_c", "m2", 1001)
	session("ses_b", 2000) // its fork
	said("ses_b", "m3", 1001)
	said("ses_b", "m4", 2001)
	session("ses_a", 1000) // another one, at the same time
	said("ses_a", "m5", 1001)
	name := filepath.Join(t.TempDir(), "opencode.db")
	must.Do(must.Get(tables.Database(name, []byte(rows.String()), false))())
	var files []string
	must.Do(sessionfmt.InDatabase(sessionfmt.Disk{}, name, func(session string, _ jsonl.Value, _ *dialect.Dialect, _ bool) {
		files = append(files, session)
	}))
	if got, want := calls(t, files, stats.Only{}), "2 1 1 copies 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
