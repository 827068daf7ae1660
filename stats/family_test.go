package stats_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	found "ctxtool/internal/read/store"
	"ctxtool/internal/test/gen/tables"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// A tree is a session with sub-agents: the files below a folder, which of them is the session, and what it and
// its sub-agents have of output tokens.
type tree struct {
	files   map[string]string
	session string
	own     int64
	all     int64
}

// claudeLine is a record of Claude Code, with an answer of that many output tokens.
func claudeLine(id, session, parent, more string, output int) string {
	return fmt.Sprintf(`{"parentUuid":%s,"sessionId":%q,"cwd":"/w","version":"2.1.330","type":"assistant","uuid":%q,`+
		`"timestamp":"2026-09-02T10:00:04.000Z",%s"message":{"id":"msg_%s","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":0,"output_tokens":%d}}}`+"\n",
		parent, session, id, more, id, output)
}

func claudeUser(id, session, more string) string {
	return fmt.Sprintf(`{"parentUuid":null,"sessionId":%q,"cwd":"/w","version":"2.1.330","type":"user","uuid":%q,"timestamp":"2026-09-02T10:00:02.000Z",%s"message":{"role":"user","content":"go"}}`+"\n", session, id, more)
}

// claudeProgress is a line of the progress of a sub-agent, with a part of an answer.
func claudeProgress(id, session, parent, agent string, output int) string {
	said := claudeLine(id, session, `"p"`, "", output)
	_, message, _ := strings.Cut(strings.TrimSuffix(said, "}\n"), `"message":`)
	return fmt.Sprintf(`{"parentUuid":%q,"isSidechain":false,"sessionId":%q,"cwd":"/w","type":"progress","uuid":"x%s%d","timestamp":"2026-09-02T10:00:03.000Z","data":{"type":"agent_progress","agentId":%q,"message":{"type":"assistant","requestId":"req_%s","uuid":"y%s","timestamp":"2026-09-02T10:00:03.000Z","message":%s}}}`+"\n",
		parent, session, id, output, agent, id, id, message)
}

const sidechain = `"isSidechain":true,`

func agentLine(agent string) string { return sidechain + `"agentId":"` + agent + `",` }

func threadFile(id, meta string, output int) string {
	return fmt.Sprintf(`{"timestamp":"2026-10-05T09:00:01.000Z","type":"session_meta","payload":{"id":%q,"cwd":"/w","cli_version":"0.160.0","model_provider":"openai",%s}}`+"\n"+
		`{"timestamp":"2026-10-05T09:00:02.000Z","type":"turn_context","payload":{"model":"gpt-5.4"}}`+"\n"+
		`{"timestamp":"2026-10-05T09:00:03.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Task %[1]s"}]}}`+"\n"+
		`{"timestamp":"2026-10-05T09:00:05.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok %[1]s"}]}}`+"\n"+
		`{"timestamp":"2026-10-05T09:00:07.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":0,"output_tokens":%[3]d,"total_tokens":%[3]d},"last_token_usage":{"input_tokens":0,"output_tokens":%[3]d,"total_tokens":%[3]d}}}}`+"\n",
		id, meta, output)
}

// childSession is the rows of a session of opencode, with an answer.
func childSession(id, parent string, output int) string {
	return fmt.Sprintf(`{"table":"session","id":%q,"parent_id":%q,"directory":"/w","title":"T","version":"1.18.33","time_created":1788256800000,"time_updated":1788256800000}`+"\n"+
		`{"table":"message","id":"msg_u%[1]s","session_id":%[1]q,"time_created":1788256800000,"data":{"role":"user","time":{"created":1788256800000}}}`+"\n"+
		`{"table":"message","id":"msg_v%[1]s","session_id":%[1]q,"time_created":1788256801000,"data":{"role":"assistant","cost":0,"tokens":{"input":0,"output":%[3]d,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"gpt-5.4","providerID":"openai","time":{"created":1788256801000,"completed":1788256801900},"finish":"stop"}}`+"\n"+
		`{"table":"part","id":"prt_s%[1]s","message_id":"msg_v%[1]s","session_id":%[1]q,"data":{"type":"step-start"}}`+"\n"+
		`{"table":"part","id":"prt_u%[1]s","message_id":"msg_u%[1]s","session_id":%[1]q,"data":{"type":"text","text":"go %[1]s"}}`+"\n"+
		`{"table":"part","id":"prt_v%[1]s","message_id":"msg_v%[1]s","session_id":%[1]q,"data":{"type":"text","text":"ok %[1]s"}}`+"\n",
		id, parent, output)
}

func trees() map[string]tree {
	const s = "5e551011-0000-4000-8000-000000000001"
	agent := func(name string, output int) string {
		more := agentLine(name)
		return claudeUser(name+"1", s, more) + claudeLine(name+"2", s, `"`+name+`1"`, more, output)
	}
	own := claudeUser("u", s, "") + claudeLine("a", s, `"u"`, "", 1)
	day := "sessions/2026/10/05/rollout-2026-10-05T09-00-0"
	const thread = "01a10000-0000-7000-8000-00000000080"
	spawned := func(session, by int) string {
		return fmt.Sprintf(`"session_id":"%s%d","source":{"subagent":{"thread_spawn":{"parent_thread_id":"%[1]s%[3]d","depth":1}}}`, thread, session, by)
	}
	gemini := func(id string, output int) string {
		return fmt.Sprintf(`{"sessionId":%q,"projectHash":"h","startTime":"2026-09-02T10:00:00.000Z"}`+"\n"+
			`{"id":"u%[1]s","timestamp":"2026-09-02T10:00:01.000Z","type":"user","content":"go"}`+"\n"+
			`{"id":"a%[1]s","timestamp":"2026-09-02T10:00:02.000Z","type":"gemini","model":"gemini-2.5-pro","content":"ok","tokens":{"input":0,"output":%d,"cached":0,"thoughts":0,"tool":0,"total":%[2]d}}`+"\n", id, output)
	}
	return map[string]tree{
		"claude, three levels": {session: "p/" + s + ".jsonl", own: 1, all: 1111, files: map[string]string{
			"p/" + s + ".jsonl":                                  own,
			"p/" + s + "/subagents/agent-k.jsonl":                agent("k", 10),
			"p/" + s + "/subagents/agent-l.jsonl":                agent("l", 100),
			"p/" + s + "/subagents/workflows/wf_1/agent-m.jsonl": agent("m", 1000),
			"p/" + s + "/subagents/workflows/wf_1/journal.jsonl": `{"event":"started"}` + "\n",
			"p/other.jsonl":                                      claudeUser("o", "other", "") + claudeLine("p", "other", `"o"`, "", 5),
		}},
		"claude, beside the session": {session: s + ".jsonl", own: 1, all: 11, files: map[string]string{
			s + ".jsonl":    own,
			"agent-k.jsonl": agent("k", 10),
			"agent-l.jsonl": strings.ReplaceAll(agent("l", 100), s, "another"),
		}},
		"claude, in the session's file": {session: s + ".jsonl", own: 1, all: 101, files: map[string]string{
			s + ".jsonl": own + claudeUser("v", s, sidechain) + claudeLine("w", s, `"v"`, sidechain, 100),
		}},
		// The answer k2 grows, and its file has what it ended with; q has no file.
		"claude, in progress records": {session: s + ".jsonl", own: 1, all: 21, files: map[string]string{
			s + ".jsonl": own + claudeProgress("k2", s, "a", "k", 3) + claudeProgress("k2", s, "a", "k", 4) +
				claudeProgress("q", s, "a", "q", 9) + claudeProgress("q", s, "a", "q", 10),
			s + "/subagents/agent-k.jsonl": agent("k", 10),
		}},
		"codex": {session: day + "0-" + thread + "0.jsonl", own: 1, all: 1111, files: map[string]string{
			day + "0-" + thread + "0.jsonl": threadFile(thread+"0", `"session_id":"`+thread+`0","source":"cli"`, 1),
			day + "1-" + thread + "1.jsonl": threadFile(thread+"1", spawned(0, 0), 10),
			// An older version names the thread that started it alone.
			day + "2-" + thread + "2.jsonl":                                       threadFile(thread+"2", `"parent_thread_id":"`+thread+`1","thread_source":"subagent"`, 100),
			"archived_sessions/rollout-2026-10-05T09-00-03-" + thread + "3.jsonl": threadFile(thread+"3", spawned(0, 2), 1000),
			day + "4-" + thread + "4.jsonl":                                       threadFile(thread+"4", `"forked_from_id":"`+thread+`0","source":"cli"`, 7),
		}},
		"gemini": {session: "chats/session-2026-09-02T10-00-aaaa.jsonl", own: 1, all: 11, files: map[string]string{
			"chats/session-2026-09-02T10-00-aaaa.jsonl": gemini("aaaa-1", 1),
			"chats/aaaa-1/sub.jsonl":                    gemini("bbbb-1", 10),
			"chats/cccc-1/sub.jsonl":                    gemini("dddd-1", 100),
		}},
	}
}

// TestFamily: a session has one cost, with its sub-agents at any depth, whether it is read alone or with all files
// of its folder, and without them if that is asked for.
func TestFamily(t *testing.T) {
	t.Parallel()
	for name, tree := range trees() {
		dir := t.TempDir()
		for file, text := range tree.files {
			file = filepath.Join(dir, filepath.FromSlash(file))
			must.Do(os.MkdirAll(filepath.Dir(file), 0o755))
			must.Do(os.WriteFile(file, []byte(text), 0o600))
		}
		oneCost(t, name, dir, filepath.Join(dir, filepath.FromSlash(tree.session)), tree.own, tree.all)
	}
	dir := t.TempDir()
	db := filepath.Join(dir, "opencode.db")
	rows := childSession("ses_a", "", 1) + childSession("ses_b", "ses_a", 10) + childSession("ses_c", "ses_b", 100) +
		childSession("ses_d", "", 1000)
	must.Do(must.Get(tables.Database(db, []byte(rows), false))())
	oneCost(t, "opencode", dir, filepath.Join(db, "ses_a"), 1, 111)
}

// oneCost checks what all ways of reading a session say of its output tokens.
func oneCost(t *testing.T, name, dir, session string, own, all int64) {
	t.Helper()
	o := stats.Options{Lenses: lenses(t, "cost"), By: []string{"session", "branch"},
		Family: func(name string) []string { return found.Family(sessionfmt.Disk{}, name) }}
	got := map[string]int64{}
	r := must.Get(o.Read(session))
	got["Read"] = r.Cost.Tokens.Output
	got["of sub-agents"] = r.Cost.Kinds.SubAgents.Tokens.Output + own
	got["Summarize"] = func() int64 { c := must.Get(o.Summarize(session)).Calls.Sum(); return c.Tokens.Output }()
	s := must.Get(sessionfmt.Open(session, sessionfmt.Options{}))
	delegated := r.Cost.Kinds.SubAgents.Tokens.Output - must.Get(o.SubAgents(s)).Tokens.Output
	s.Close()
	if want := map[bool]int64{true: all - own}[name == "claude, in the session's file"]; delegated != want {
		t.Errorf("%s: %d tokens of sub-agents are in entries, want %d", name, delegated, want)
	}
	without := o
	without.NoSubAgents = true
	if r := must.Get(without.Read(session)); r.Cost.Tokens.Output != own || !r.Cost.NoSubAgents {
		t.Errorf("%s: %d tokens without sub-agents, want %d; it says so: %v", name, r.Cost.Tokens.Output, own, r.Cost.NoSubAgents)
	}

	// All files together, in both orders.
	files := must.Get(found.In(sessionfmt.Disk{}, dir).Families())
	for _, reversed := range []bool{false, true} {
		together := o
		together.Family = nil
		var reports []*stats.Report
		var sums []*stats.Summary
		for k := range files {
			if reversed {
				k = len(files) - 1 - k
			}
			one, err := together.Read(files[k].Name)
			if err != nil {
				continue // no session
			}
			reports = append(reports, one)
			sums = append(sums, must.Get(together.Summarize(files[k].Name)))
		}
		sum := &stats.Report{}
		for _, one := range together.Gather(reports) {
			if one.ID == r.ID {
				got[fmt.Sprint("Gather ", reversed)] = one.Cost.Tokens.Output
			}
			together.Add(sum, one)
		}
		rows := int64(0)
		for _, row := range sum.Cost.Rows {
			if row.Session == r.ID {
				rows += row.Tokens.Output
			}
		}
		got[fmt.Sprint("rows ", reversed)] = rows
		for _, one := range together.GatherSummaries(sums) {
			if one.ID == r.ID {
				c := one.Calls.Sum()
				got[fmt.Sprint("GatherSummaries ", reversed)] = c.Tokens.Output
			}
		}
	}
	if len(got) != 9 {
		t.Errorf("%s: %d figures: %v", name, len(got), got)
	}
	for way, n := range got {
		if n != all {
			t.Errorf("%s: %d tokens by %s, want %d", name, n, way, all)
		}
	}
}

// TestSubAgentAlone: a sub-agent that is read by itself has its own cost, and names its session; one that cannot be
// read is named.
func TestSubAgentAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const s = "5e551011-0000-4000-8000-000000000001"
	write := func(name, text string) string {
		name = filepath.Join(dir, filepath.FromSlash(name))
		must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	session := write(s+".jsonl", claudeUser("u", s, "")+claudeLine("a", s, `"u"`, "", 1))
	agent := write(s+"/subagents/agent-k.jsonl", claudeUser("k1", s, agentLine("k"))+claudeLine("k2", s, `"k1"`, agentLine("k"), 10))
	o := stats.Options{Lenses: lenses(t, "cost"), Family: func(name string) []string { return found.Family(sessionfmt.Disk{}, name) }}
	r := must.Get(o.Read(agent))
	if r.Owner != s || r.Cost.Tokens.Output != 10 || r.Cost.Kinds.Answers.Calls.Total != 1 {
		t.Errorf("a sub-agent of %q with %d tokens, %d answers", r.Owner, r.Cost.Tokens.Output, r.Cost.Kinds.Answers.Calls.Total)
	}
	if got := o.Gather([]*stats.Report{r}); len(got) != 1 {
		t.Errorf("alone it is no session: %v", got)
	}
	o.Family = func(string) []string { return []string{agent, filepath.Join(dir, "gone.jsonl")} }
	if r := must.Get(o.Read(session)); r.Cost.Tokens.Output != 11 || len(r.Cost.Unread) != 1 || r.Cost.Unread[0].Error == "" {
		t.Errorf("%d tokens, not read: %v", r.Cost.Tokens.Output, r.Cost.Unread)
	}
}

// TestFamilyOfReports: the figures of the sessions in the shared reports.
func TestFamilyOfReports(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]float64{
		"vectors/reports/r20-nested/*/*.jsonl":                            1.68318,
		"vectors/reports/r08-codex-tree/sessions/2026/10/05/*00800.jsonl": 0.1065,
		"corpus/claude-code/lost-lines-2.1.29.jsonl.gz":                   28.985278,
		"corpus/claude-code/subagents-2.1.39/*.jsonl.gz":                  12.2257312,
	} {
		for _, file := range testenv.Shared(t, pattern) {
			o := stats.Options{Family: func(name string) []string { return found.Family(sessionfmt.Disk{}, name) }}
			if got := must.Get(o.Cost(file)).Cost.Total; math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: $%v, want $%v", file, got, want)
			}
		}
	}
}
