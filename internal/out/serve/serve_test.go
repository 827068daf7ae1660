package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
)

// A closer is a buffer that can be closed.
type closer struct{ bytes.Buffer }

func (*closer) Close() error { return nil }

// serveFrames returns what a server answers to frames. Its commands print their arguments.
func serveFrames(t *testing.T, frames io.Reader) []string {
	t.Helper()
	dir := t.TempDir()
	var out closer
	err := Run(context.Background(), frames, &out, Options{
		Version: "test", Folders: []string{dir}, Store: store.In(sessionfmt.Disk{}, dir), MaxTokens: 1000, Redact: strings.Clone,
		Run: func(_ context.Context, w io.Writer, args []string) (string, int) {
			fmt.Fprintf(w, "%q", args)
			return "", 0
		},
	})
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
}

// FuzzFrames: whatever a client sends, every line of the answer is JSON, and the server still
// answers what follows.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("rubbish\n\n{}\n[]\n[1]\nnull\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_context","arguments":{"source":"logs","last_n":-5}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":[]}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"\ud800","method":"\u0000"}`))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":\"\x90\x90\",\"method\":\"ping\"}\n" +
		`{"jsonrpc":"2.0","id":1,"id":"twice","ID":3,"method":"ping","Method":"x"}`))
	f.Fuzz(func(t *testing.T, frames []byte) {
		ping := `{"jsonrpc":"2.0","id":"the-last","method":"ping"}` + "\n"
		got := serveFrames(t, strings.NewReader(string(frames)+"\n"+ping))
		if !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, `"id":"the-last"`) }) {
			t.Error("the last request is not answered")
		}
		for _, line := range got {
			if !json.Valid([]byte(line)) {
				t.Errorf("not JSON: %q", line)
			}
		}
	})
}

// TestEnd: what was read is answered after the end of the input, also if the client has cancelled
// it or uses an id twice; a client that no longer reads ends the server.
func TestEnd(t *testing.T) {
	call := `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"list_sessions","arguments":{"limit":%s}}}` + "\n"
	frames := `{"jsonrpc":"2.0","id":"\u0061","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + fmt.Sprintf(call, "1", "1") + fmt.Sprintf(call, "2", "2") +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n" + fmt.Sprintf(call, "1", "3") + strings.TrimRight(fmt.Sprintf(call, "-0", "4"), "\n")
	got := strings.Join(serveFrames(t, strings.NewReader(frames)), "\n")
	for _, id := range []string{`"a"`, "1", "2", "0"} {
		if !strings.Contains(got, `"id":`+id+`,`) {
			t.Errorf("%s is not answered: %s", id, got)
		}
	}
	err := Run(context.Background(), strings.NewReader(frames), gone{}, Options{Redact: strings.Clone, Run: func(context.Context, io.Writer, []string) (string, int) { return "", 0 }})
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// TestCancel: a cancelled call ends while it runs, its answer is not kept, and the next one runs.
func TestCancel(t *testing.T) {
	in, frames := io.Pipe()
	running, dir := make(chan bool), t.TempDir()
	var out closer
	ended := make(chan error)
	runs := 0
	go func() {
		ended <- Run(t.Context(), in, &out, Options{Folders: []string{dir}, Store: store.In(sessionfmt.Disk{}, dir), MaxTokens: 1000, Redact: strings.Clone, Run: func(ctx context.Context, w io.Writer, _ []string) (string, int) {
			if runs++; runs == 1 {
				running <- true
				<-ctx.Done()
				return "stopped", 3
			}
			fmt.Fprint(w, "second run")
			return "", 0
		}})
	}()
	call := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_sessions"}}` + "\n"
	io.WriteString(frames, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	fmt.Fprintf(frames, call, 2)
	<-running
	io.WriteString(frames, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`+"\n")
	fmt.Fprintf(frames, call, 3)
	frames.Close()
	if err := <-ended; err != nil && err != io.EOF {
		t.Error(err)
	}
	if got := out.String(); !strings.Contains(got, "second run") || strings.Contains(got, "stopped") {
		t.Errorf("answers %s", got)
	}
}

// A gone is a client that does not read.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (gone) Close() error              { return nil }

// TestJudge: what is no message of JSON-RPC is refused, and a long line is skipped whole.
func TestJudge(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("y", mostFrame) + `"}}`
	for _, test := range []struct {
		frame, answer string
	}{
		{"rubbish", "not JSON"},
		{"[1,2]", "not a message of JSON-RPC 2.0"},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "not a message of JSON-RPC 2.0"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "id: must be a string or a whole number"},
		{`{"jsonrpc":"2.0","id":1}`, "neither a request nor a response"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, "params: must be an object"},
		{long, "longer than 4194304 bytes"},
	} {
		got := serveFrames(t, strings.NewReader(test.frame+"\n"))
		if len(got) != 1 || !strings.Contains(got[0], test.answer) {
			t.Errorf("%.80s: %.200q, want %q", test.frame, got, test.answer)
		}
	}
}

// TestArguments: the command lines of calls, and their errors.
func TestArguments(t *testing.T) {
	for _, test := range []struct{ tool, arguments, want string }{
		{"search_context", `{"source":"shell_history","exit_code":-1,"last_n":10}`, `["search" "-f" "markdown" "--source" "shell_history" "--limit" "10" "--exit-code=-1" "--" ""]`},
		{"search_context", `{"source":"sessions","query":"-x"}`, `["search" "-f" "markdown" "--source" "sessions" "--limit" "20" "-i" "--fixed=-x"]`},
		{"search_context", `{"source":"logs","last_n":0}`, `["search" "-f" "markdown" "--source" "logs" "--limit" "1" "--" ""]`},
		{"search_context", `{"source":"logs","last_n":500}`, `["search" "-f" "markdown" "--source" "logs" "--limit" "50" "--" ""]`},
		{"search_context", `{"source":"logs","last_n":-5}`, `["search" "-f" "markdown" "--source" "logs" "--limit" "20" "--" ""]`},
		{"search_context", `{"source":"logs","last_n":"7"}`, `["search" "-f" "markdown" "--source" "logs" "--limit" "20" "--" ""]`},
		{"search_context", `{"source":"web"}`, "Invalid source 'web'. Must be one of: shell_history, sessions, logs"},
		{"search_context", `{"source":"logs","colour":"red"}`, `unknown argument "colour": expected one of source, query, cwd, exit_code, event_type, last_n, max_tokens`},
		{"search_context", `[]`, "the arguments must be a JSON object"},
		{"list_sessions", `{"limit":3,"since":"7d"}`, `["ls" "--limit" "3" "--since=7d"]`},
		{"list_sessions", `{"limit":"x"}`, "limit: must be a whole number"},
		{"diff", `{"session":3,"from":"leaf"}`, "session: must be a string"},
	} {
		s := &server{Options: Options{MaxTokens: 1000, Redact: strings.Clone, Run: func(_ context.Context, w io.Writer, args []string) (string, int) {
			fmt.Fprintf(w, "%q", args)
			return "", 0
		}}, cached: map[string]answer{}}
		for i := range toolTable().Tools {
			if one := &toolTable().Tools[i]; one.Name == test.tool {
				if got := s.call(t.Context(), one, json.RawMessage(test.arguments)); got.text != test.want {
					t.Errorf("%s %s: %s, want %s", test.tool, test.arguments, got.text, test.want)
				}
			}
		}
	}
}

// TestWithin: an answer keeps to its budget.
func TestWithin(t *testing.T) {
	for _, budget := range []int64{50, 100, 1000} {
		out := &limited{most: int(budget) * mostBytesPerToken}
		for range 2000 {
			io.WriteString(out, "a line of text, ü\n")
		}
		got := out.within(budget)
		if n := int64(utf8.RuneCountInString(got)) / 4; n > budget || !strings.Contains(got, "bytes, at ") {
			t.Errorf("budget %d: %d tokens: …%s", budget, n, got[max(0, len(got)-90):])
		}
	}
}
