package hook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestOps makes operations of texts, and names the first that is none.
func TestOps(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{hook.Op("options_set", "r", jsonl.Field{Name: "reasoning", Value: jsonl.Value(`"low"`)}), `{"op":"options_set","scope":"cached","reasoning":"low","invalidateCacheReason":"r"}`},
		{hook.Op("options_set", "", jsonl.Field{Name: "a", Value: jsonl.Value("1")}, jsonl.Field{Name: "b", Value: jsonl.Value("[]")}), `{"op":"options_set","scope":"cached","a":1,"b":[]}`},
		{hook.Op("messages_uncached_append", "r"), `{"op":"messages_uncached_append","scope":"uncached"}`}, {hook.Op("new", `"`), `{"op":"new","scope":"cached","invalidateCacheReason":"\""}`},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	for _, c := range []struct {
		all       []string
		want, err string
	}{
		{nil, "[]", ""}, {[]string{` { "a": [1,  2] } `, "7"}, `[{"a":[1,2]},7]`, ""}, {[]string{"{}", "x"}, "", "op 1: not JSON: "}, {[]string{""}, "", "op 0: not JSON: "},
	} {
		r, err := hook.Ops(c.all)
		if err != nil && (c.err == "" || !strings.HasPrefix(err.Error(), c.err)) || err == nil && (string(r.Patch) != c.want || c.err != "") {
			t.Errorf("%q: %s, %v", c.all, r.Patch, err)
		}
	}
}

// An asked hook gives an answer, and keeps what it was asked.
type asked struct {
	answer string
	err    error
	state  bytes.Buffer
}

func (h *asked) Ask(_ context.Context, write func(w io.Writer) error) ([]byte, error) {
	return []byte(h.answer), errors.Join(write(&h.state), h.err)
}

func (h *asked) Close() error { return nil }

// TestOnce asks a hook for the context at a record, and refuses what the running agent would refuse.
func TestOnce(t *testing.T) {
	lines := []string{
		`{"type":"session","version":3,"id":"s"}`, `{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"first"}}`,
		`{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"second"}}`,
	}
	s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(strings.Join(lines, "\n")+"\n"), sessionfmt.Options{}))
	r := replay.New(s, replay.Options{})
	failed := errors.New("failed")
	const op = `{"op":"options_set","scope":"cached","reasoning":"low"`
	for _, c := range []struct {
		answer string
		fails  error
		leaf   int
		names  string // of the results
		err    string
	}{
		{"", nil, 2, "[]", ""}, {`{"patch":[` + op + `,"invalidateCacheReason":"r"}]}`, nil, 2, "[command]", ""}, {`{"transformerName":"own","patch":[` + op + `,"invalidateCacheReason":"r"}]}`, nil, 1, "[own]", ""},
		{`{"patch":[` + op + `}]}`, nil, 2, "", "invalidateCacheReason"}, {`7`, nil, 2, "", "7"}, {"", failed, 2, "", "failed"},
	} {
		h := &asked{answer: c.answer, err: c.fails}
		all, err := hook.Once(t.Context(), h, "command", r, c.leaf)
		names := []string{}
		for _, one := range all {
			names = append(names, one.Name)
		}
		if c.err == "" && (err != nil || fmt.Sprint(names) != c.names) || c.err != "" && err == nil {
			t.Errorf("%s: %v, %v", c.answer, names, err)
		}
		if second := strings.Contains(h.state.String(), "second"); !strings.Contains(h.state.String(), "first") || second != (c.leaf == 2) || strings.Count(h.state.String(), "\n") != 1 {
			t.Errorf("asked %s", h.state.String())
		}
	}
	e := must.Get(r.At(sessionfmt.After(2)))
	for reason, want := range map[hook.Reason]string{
		hook.BeforeRequest: `{"op":"messages_cached_replace","scope":"cached","messages":[{"role":"user","content":"first"},{"role":"user","content":"second"},{"x":1},{"y":2}],"invalidateCacheReason":"r"}`,
		hook.Ephemeral:     `{"op":"messages_uncached_append","scope":"uncached","messages":[{"x":1},{"y":2}]}`,
	} {
		if got, err := hook.Append(e, reason, "r", []string{`{"x":1}`, `{"y":2}`}); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", reason, got, err, want)
		}
	}
}
