package ops

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/jsonl"
)

// TestExamples: the example of each operation is one that can be applied, has all fields that
// are required, and is in the documentation.
func TestExamples(t *testing.T) {
	for _, o := range All {
		v, err := jsonl.ParseValue([]byte(o.Example))
		if err != nil {
			t.Fatalf("%s: %v", o.Name, err)
		}
		if Find(v.Get("op")) == nil || Check(0, v) != nil || !v.Get("scope").Is(o.Scope()) || (Scope(0, v) == nil) != o.Cached {
			t.Errorf("%s: %v %v", o.Name, Check(0, v), Scope(0, v))
		}
		for _, f := range o.Fields {
			if without := v.AppendEdited(nil, jsonl.Field{Name: f.Name}); f.Required && Check(0, without) == nil {
				t.Errorf("%s is not required: %s", f.Name, without)
			}
		}
	}
}

// TestCheck tries what is wrong with operations.
func TestCheck(t *testing.T) {
	for _, test := range []struct{ op, code, text string }{
		{`5`, "patch-op", "op 3 (missing): unknown op"},
		{`{"op":"x"}`, "patch-op", `op 3 ("x"): unknown op`},
		{`{"op":"tools_remove","toolNames":[]}`, "patch-reason", "op 3 (tools_remove): invalidateCacheReason is required"},
		{`{"op":"tools_remove","toolNames":[],"invalidateCacheReason":" \n"}`, "patch-reason", "op 3 (tools_remove): invalidateCacheReason is required"},
		{`{"op":"tools_remove","toolNames":"a","invalidateCacheReason":"r"}`, "patch-shape", "op 3 (tools_remove): toolNames must be an array"},
		{`{"op":"tools_replace","tools":[{"name":"a"},{"name":1}],"invalidateCacheReason":"r"}`, "patch-shape", "op 3 (tools_replace): tools 1: name must be a string"},
		{`{"op":"system_part_set","partName":"a","text":1,"invalidateCacheReason":"r"}`, "patch-shape", "op 3 (system_part_set): text must be a string"},
		{`{"op":"system_part_set","partName":"a","text":null,"invalidateCacheReason":"r"}`, "", ""},
		{`{"op":"options_set","maxTokens":"1","invalidateCacheReason":"r"}`, "patch-shape", "op 3 (options_set): maxTokens must be a number"},
		{`{"op":"messages_uncached_append","messages":[1]}`, "patch-shape", "op 3 (messages_uncached_append): messages 0: must be a message"},
		{`{"op":"compaction_apply","summary":"s","firstKeptMessageIndex":"1","invalidateCacheReason":"r"}`, "patch-shape", "op 3 (compaction_apply): firstKeptMessageIndex must be a number"},
	} {
		f := Check(3, jsonl.Value(test.op))
		if f == nil {
			f = &Fault{}
		}
		if f.Code != test.code || f.Text != test.text {
			t.Errorf("%s: %+v", test.op, f)
		}
	}
}

// TestSchema: the schema is JSON, and it and the help have every operation.
func TestSchema(t *testing.T) {
	text := must.Get(json.Marshal(ResultSchema()))
	for _, o := range All {
		if !strings.Contains(string(text), `"const":"`+o.Name+`"`) || !strings.Contains(Help(), "\n  "+o.Name+"  ") && !strings.HasPrefix(Help(), "  "+o.Name+"  ") {
			t.Errorf("%s is not in the schema, or not in help", o.Name)
		}
	}
}

var update = flag.Bool("update", false, "write the operations into session-format.md")

// TestDocumented holds the table and the examples of session-format.md to the operations.
func TestDocumented(t *testing.T) {
	const name, begin, end = "../../../docs/session-format.md", "<!-- ops -->\n", "<!-- /ops -->\n"
	was, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(was), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatal("it has no place for the operations")
	}
	table, examples := "| `op` | fields | what it does |\n|---|---|---|\n", ""
	for _, o := range All {
		table += fmt.Sprintf("| `%s` | `%s` | %s |\n", o.Name, o.Signature(), o.About)
		examples += o.Example + "\n"
	}
	is := before + begin + table + "\nAn example of each:\n\n```jsonl\n" + examples + "```\n\n" + end + after
	if *update {
		err = os.WriteFile(name, []byte(is), 0o644)
	} else if is != string(was) {
		t.Error("the operations are not as session-format.md has them; go test ./internal/read/ops -update")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestCompacts: of several operations that compact, the last one decides.
func TestCompacts(t *testing.T) {
	for patch, want := range map[string]string{
		`[]`:                     "",
		`[{"op":"options_set"}]`: "",
		`[{"op":"compaction_apply","summary":"a"},{"op":"options_set"}]`:                    "a",
		`[{"op":"compaction_apply","summary":"a"},{"op":"compaction_apply","summary":"b"}]`: "b",
	} {
		op, ok := Compacts(jsonl.Value(`{"patch":` + patch + `}`))
		if got := op.Get("summary").Text(); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", patch, got, ok)
		}
	}
}
