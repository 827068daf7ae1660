package export

import (
	"bufio"
	"cmp"
	"ctxtool/internal/out/body"
	"ctxtool/stats"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// trajectories writes a file for each branch of a session.
func trajectories(w *writing, f *stats.Facts) error {
	t := newStory(f)
	id := cmp.Or(f.Report.ID, w.name)
	leaves := t.branches()
	if len(leaves) > 0 { // what they share is the first one's
		path, _ := f.Session.Path(leaves[0])
		for _, rec := range path {
			t.told[rec] = 1
		}
	}
	for k, leaf := range slices.Backward(leaves) {
		end, name, subs := "", id, w.subAgents()
		if k > 0 {
			end, subs = fmt.Sprintf(".%d", k+1), nil
			name += "/" + f.Session.ID(leaf)
		}
		err := w.create(end+".json", func(out *bufio.Writer) error {
			if err := w.trajectory(out, t, leaf, int32(k+1), name, subs); err != nil {
				return err
			}
			w.result.Rows["trajectories"]++
			return out.WriteByte('\n')
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// subAgents returns the files of the sub-agents that Claude Code keeps beside a session.
func (w *writing) subAgents() []string {
	base := strings.TrimSuffix(w.Disk.Path(w.in.Path), filepath.Ext(w.in.Path)) // of .gz or .zst
	files, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(base, ".jsonl"), "subagents", "*.jsonl*"))
	return files
}

// trajectory writes the trajectory of a branch. Those of sub-agents follow its steps.
func (w *writing) trajectory(out *bufio.Writer, t *story, leaf int, number int32, id string, subs []string) error {
	t.subs = map[string]bool{}
	for _, file := range subs {
		t.subs[agentID(file)] = true
	}
	head, err := t.head(leaf, id)
	if err != nil {
		return err
	}
	start, err := body.JSON(head)
	if err != nil {
		return err
	}
	out.Write(start[:len(start)-1])
	out.WriteString(",\"steps\":[\n")
	total, err := t.tell(out, leaf, number)
	if err != nil {
		return err
	}
	if total.Steps == 0 {
		return errNone
	}
	if number == 1 {
		total.Extra = t.others()
	}
	end, err := body.JSON(total)
	if err != nil {
		return err
	}
	out.WriteString("\n],\"final_metrics\":")
	out.Write(end)
	before := ",\"subagent_trajectories\":[\n"
	for _, file := range subs {
		err := w.Stats.Facts(file, func(f *stats.Facts) error {
			sub := newStory(f)
			out.WriteString(before)
			before = ",\n"
			return w.trajectory(out, sub, f.Session.Leaf(), 1, agentID(file), nil)
		})
		if err != nil {
			return err
		}
	}
	if before == ",\n" {
		out.WriteString("]")
	}
	_, err = out.WriteString("}")
	return err
}

// agentID returns the id of a sub-agent by the name of its file.
func agentID(file string) string {
	id, _, _ := strings.Cut(filepath.Base(file), ".")
	return strings.TrimPrefix(id, "agent-")
}

// head returns what a trajectory begins with. Its tools are those of the last request.
func (t *story) head(leaf int, id string) (object, error) {
	agent := object{"name": cmp.Or(t.Report.Agent, "unknown"), "version": cmp.Or(t.Session.WrittenBy(), "unknown")}
	head := object{"schema_version": "ATIF-v1.8", "trajectory_id": id, "agent": agent,
		"extra": object{"leaf": t.Session.ID(leaf)}}
	if t.Report.ID != "" {
		head["session_id"] = t.Report.ID
	}
	path, _ := t.Session.Path(leaf)
	for _, rec := range slices.Backward(path) {
		k := t.Book.Answered(rec)
		if k < 0 || !t.Book.Requests[k].Known() {
			continue
		}
		q := &t.Book.Requests[k]
		agent["model_name"] = cmp.Or(t.Book.Models[q.Model].Ref.Name(), "unknown")
		p, err := t.l.Prompt(&t.Book.Prompts[q.Prompt].State)
		var tools []object
		for _, tool := range p.Tools {
			tools = append(tools, object{"type": "function", "function": json.RawMessage(tool.Append(nil))})
		}
		if tools != nil {
			agent["tool_definitions"] = tools
		}
		return head, err
	}
	return head, nil
}

// others returns what calls of models cost that no step tells: of tools, for titles, to keep a cache
// warm. It is nil without any.
func (t *story) others() object {
	calls, cost := 0, float64(0)
	for i := range t.Calls {
		if c := &t.Calls[i]; !t.done[i] {
			calls, cost = calls+1, cost+c.Cost
		}
	}
	if calls == 0 {
		return nil
	}
	return object{"other_calls": calls, "other_cost_usd": cost}
}
