package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

// done is what the provider of TestPiGoesOn answers: events of Anthropic's interface.
var done = []string{
	`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],` +
		`"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done."}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
	`{"type":"message_stop"}`,
}

// TestPiGoesOn: pi itself resumes what import writes of other agents' sessions, and what reduce appends to
// its own, and sends the messages that replay prints for that request.
func TestPiGoesOn(t *testing.T) {
	program, err := exec.LookPath("pi")
	if err != nil {
		testenv.Skip(t, "pi is not on the PATH; npm install -g @earendil-works/pi-coding-agent brings it")
	}
	var sent []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = must.Get(io.ReadAll(r.Body))
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range done {
			var of struct{ Type string }
			must.Do(json.Unmarshal([]byte(event), &of))
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", of.Type, event)
		}
	}))
	defer server.Close()
	home, n := t.TempDir(), 0
	must.Do(os.MkdirAll(filepath.Join(home, ".pi", "agent"), 0o700))
	must.Do(os.WriteFile(filepath.Join(home, ".pi", "agent", "models.json"),
		fmt.Appendf(nil, `{"providers":{"anthropic":{"baseUrl":%q,"apiKey":"none"}}}`, server.URL), 0o600))
	resume := func(file string) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		return goesOn(home, file, &sent, exec.CommandContext(ctx, program, "--session", file, "--model",
			"anthropic/claude-sonnet-4-5", "-p", "Go on."))
	}
	for _, c := range corpus.All(t) {
		if strings.Contains(c.Name, "bad/") || n >= corpus.Pick(6, 1000) {
			continue
		}
		name, out := filepath.Join(home, filepath.Base(c.Name)), filepath.Join(home, fmt.Sprint(n, ".jsonl"))
		must.Do(os.WriteFile(name, c.Data, 0o600))
		own := ranIn("", "import", name, "-o", out).status != exitOK
		if own && ranIn("", "reduce", name, "-o", out, "--policy", "pi", "--window", "4000", "--rules",
			"pi").status != exitOK {
			continue
		}
		if err := resume(out); err != nil && (!own || resume(name) == nil) { // else pi fails on what it wrote, too
			t.Errorf("%s: %v", c.Name, err)
		}
		n++
	}
	t.Logf("%d sessions resumed", n)
}

// goesOn runs pi in a session, and compares what it sends with what replay prints.
func goesOn(home, file string, sent *[]byte, pi *exec.Cmd) error {
	head, rest, _ := bytes.Cut(must.Get(os.ReadFile(file)), []byte("\n"))
	var members map[string]any
	must.Do(json.Unmarshal(head, &members))
	members["cwd"] = home // pi wants the folder to be there
	must.Do(os.WriteFile(file, append(append(must.Get(json.Marshal(members)), '\n'), rest...), 0o600))
	*sent = nil
	pi.Dir, pi.Env = home, append(os.Environ(), "HOME="+home, "PI_OFFLINE=1")
	if out, err := pi.CombinedOutput(); err != nil || *sent == nil {
		return fmt.Errorf("pi does not go on: %v: %.500s", err, out)
	}
	printed := ranIn("", "replay", file+"@request:-1", "--rules", "pi", "-f", "anthropic")
	var want, got struct{ Messages []any }
	must.Do(json.Unmarshal(*sent, &want))
	if err := json.Unmarshal(printed.stdout.Bytes(), &got); err != nil || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("pi sends\n%.2000s\nreplay prints\n%.2000s%s", *sent, printed.stdout.Bytes(),
			printed.stderr.Bytes())
	}
	return nil
}
