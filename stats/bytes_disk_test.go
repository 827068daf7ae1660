package stats_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// context is what the agent sends at the leaf of a session.
func context(t *testing.T, file string) string {
	t.Helper()
	s := must.Get(sessionfmt.Open(file, sessionfmt.Options{}))
	defer s.Close()
	e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf())))
	var b strings.Builder
	for m, err := range e.CachedMessages() {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", m.Raw)
	}
	return b.String()
}

// TestDisk: what fills the files of other agents, and that nothing which is called spare changes
// the context.
func TestDisk(t *testing.T) {
	data := strings.Repeat("QUJD", 500) // 2000 bytes
	twice := `,"toolUseResult":{"file":"` + data + `"}`
	display := `{"type":"file-history-snapshot","messageId":"m","snapshot":{}}` + "\n"
	transcript := func(display, twice string) string {
		return `{"type":"user","sessionId":"s1","uuid":"u1","parentUuid":null,"message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}]}}` + "\n" +
			display +
			`{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","role":"assistant","model":"claude","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]}}` + "\n" +
			`{"type":"user","uuid":"u2","parentUuid":"a1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"1"}]}` + twice + `}` + "\n"
	}
	copied := `{"type":"user","uuid":"u1","parentUuid":null,"forkedFrom":{"sessionId":"s0","messageUuid":"u0"},"message":{"role":"user","content":"a"}` + twice + "}\n"
	history := `[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,` + data + `"}]}]`
	event := `{"type":"event_msg","payload":{"type":"task_complete"}}` + "\n"
	rollout := func(event string) string {
		return `{"type":"session_meta","payload":{"id":"s1"}}` + "\n" + event +
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,` + data + `"}]}}` + "\n" +
			`{"type":"compacted","payload":{"message":"s","replacement_history":` + history + "}}\n"
	}
	result := len(twice) - len(`,"toolUseResult":`)
	for _, test := range []struct {
		name, content, less string
		want                []string
		spare               int
	}{
		{"claude", transcript(display, twice), transcript("", ""), []string{
			fmt.Sprintf("results stored twice %d 1 true", result), "base64 2000 1 false",
			fmt.Sprintf("lines for display %d 1 true", len(display)),
		}, result + len(display)},
		{"fork", copied, copied, []string{fmt.Sprintf("lines copied by a fork %d 1 false", len(copied))}, 0},
		{"codex", rollout(event), rollout(""), []string{
			fmt.Sprintf("histories in compactions %d 1 false", len(history)), "base64 2000 1 false",
			fmt.Sprintf("lines for display %d 1 true", len(event)),
		}, len(event)},
		{"pi", `{"type":"session","version":3,"id":"s"}` + "\n", `{"type":"session","version":3,"id":"s"}` + "\n", nil, 0},
	} {
		dir := t.TempDir()
		file, less := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
		os.WriteFile(file, []byte(test.content), 0o666)
		os.WriteFile(less, []byte(test.less), 0o666)
		o := stats.Options{Lenses: lenses(t, "bytes")}
		one := must.Get(o.Read(file))
		sum := &stats.Report{}
		o.Add(sum, one)
		var got []string
		for _, d := range sum.Bytes.Disk {
			got = append(got, fmt.Sprintf("%s %d %d %t", d.What, d.Bytes, d.Count, d.Spare))
		}
		if fmt.Sprint(got) != fmt.Sprint(test.want) || sum.Bytes.Spare != int64(test.spare) {
			t.Errorf("%s: %q, spare %d; want %q, %d", test.name, got, sum.Bytes.Spare, test.want, test.spare)
		}
		if a, b := context(t, file), context(t, less); a != b || test.name != "pi" && !bytes.Contains([]byte(a), []byte("user")) {
			t.Errorf("%s: without what is spare the context is\n%s\nnot\n%s", test.name, b, a)
		}
	}
}
