package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt/jsonl"
)

// A told is prompt, tools and messages as a form of replay tells them.
type told struct{ prompt, tools, messages string }

// TestFormsTellTheSame: at the leaf of every session every form of replay tells the same prompt,
// tools and messages; simulate counts as many tokens as it has before it, and an agent that asks
// gets the full form.
func TestFormsTellTheSame(t *testing.T) {
	t.Parallel()
	dir, compared, patched := t.TempDir(), 0, 0
	for _, c := range corpus.All(t) {
		if len(c.Data) > 300<<10 && !corpus.Whole() {
			continue
		}
		must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), c.Data, 0o600))
		all := map[string][]byte{}
		for _, form := range []string{"json", "full", "context", "llm", "native"} {
			r := ranIn(dir, "replay", "s.jsonl", "-f", form)
			if r.status == exitOK {
				all[form] = r.stdout.Bytes()
			}
		}
		if len(all) == 0 {
			continue // a replay that stops
		}
		want := toldByJSON(all["json"])
		compared++
		if bytes.Contains(c.Data, []byte(`"system_part`)) || bytes.Contains(c.Data, []byte(`"tools_re`)) {
			patched++
		}
		for _, form := range []string{"llm", "native"} {
			if got := toldByList(all[form]); got != want {
				t.Errorf("%s: %s tells\n%.600s, json\n%.600s", c.Name, form, got, want)
			}
		}
		context := toldByList([]byte(jsonl.Value(all["context"]).Get("messages")))
		if context.prompt != want.prompt || context.tools != want.tools {
			t.Errorf("%s: context tells\n%.600s, json\n%.600s", c.Name, context, want)
		}
		for p := range jsonl.Value(all["json"]).Get("system").Get("parts").Elements {
			if text := jsonl.UTF8(p.Get("text").Exact()); !strings.Contains(string(all["full"]), text) {
				t.Errorf("%s: full lacks the part %.100q", c.Name, text)
			}
		}
		for tool := range jsonl.Value(all["json"]).Get("tools").Elements {
			if name := tool.Get("name").Text(); !strings.Contains(string(all["full"]), name) {
				t.Errorf("%s: full lacks the tool %q", c.Name, name)
			}
		}
	}
	if compared < corpus.Least(t, 150, 80) || patched < corpus.Least(t, 15, 5) {
		t.Errorf("only %d sessions compared, %d with patches of prompt or tools", compared, patched)
	}
	t.Logf("%d sessions compared, %d with patches of prompt or tools", compared, patched)
}

func toldByJSON(data []byte) (all told) {
	v := jsonl.Value(data)
	for p := range v.Get("system").Get("parts").Elements {
		all.prompt += p.Get("text").Exact()
	}
	for tool := range v.Get("tools").Elements {
		all.tools += string(tool.AppendMinified(nil)) + "\n"
	}
	for _, list := range []string{"cached", "uncached"} {
		for m := range v.Get("messages").Get(list).Elements {
			all.messages += string(m) + "\n"
		}
	}
	return all
}

// toldByList folds the system messages of a list as pi does.
func toldByList(data []byte) (all told) {
	var f prompt.Fold
	for m := range jsonl.Value(bytes.TrimSpace(data)).Elements {
		if m.Get("role").Is("system") {
			f.Message(m, origin.Baseline)
			continue
		}
		all.messages += string(m) + "\n"
	}
	p := f.Prompt()
	for _, p := range p.Parts {
		all.prompt += p.Text
	}
	for _, tool := range p.Tools {
		raw := must.Get(json.Marshal(json.RawMessage(tool.Raw)))
		all.tools += string(jsonl.Value(raw).AppendMinified(nil)) + "\n"
	}
	return all
}
