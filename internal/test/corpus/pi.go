package corpus

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/testenv"
)

//go:embed pi.mjs
var piScript []byte

//go:embed pisends.mjs
var piSendsScript []byte

// A PiAnswer is the result of pi's own code for a session file.
type PiAnswer struct {
	Read struct { // without changing the file
		Refused bool
		Endless bool // a parent cycle: pi would not return, and is not called
		Throws  string
		Context json.RawMessage
		LLM     json.RawMessage
		System  struct { // what the system messages in the context say
			Prompt, Tools json.RawMessage
			Throws        string
		}
	}
	Open struct { // as the agent opens it
		Throws   string
		Messages json.RawMessage
		Leaf     string
		After    string // the file
	}
}

// Pi runs pi's own code to read and open copies of sessions, by name, or with "read" or "open" to
// do the one, with "open" without the messages of Read. See OfPi.
func Pi(t *testing.T, sessions map[string][]byte, asked ...string) map[string]PiAnswer {
	t.Helper()
	return OfPi[PiAnswer](t, piScript, sessions, asked...)
}

// A PiRequest is what pi would send to go on with a session.
type PiRequest struct {
	Messages int
	Wrong    []string // what pi throws, leaves out, or what providers would refuse; by provider
}

// PiSends runs pi's own code to make requests of sessions for several providers, by session name.
// See OfPi.
func PiSends(t *testing.T, sessions map[string][]byte) map[string]PiRequest {
	t.Helper()
	return OfPi[PiRequest](t, piSendsScript, sessions)
}

//go:embed pibodies.mjs
var piBodiesScript []byte

// A PiBody is a request that pi would send for an answer of a session.
type PiBody struct {
	File, Answer int    // numbers, from 0
	API          string // the interface
	Model        string // PROVIDER/ID, if it is not the path's
	Known        bool   // pi's catalogue has the model
	Body         json.RawMessage
	Error        string // why nothing was sent
}

// PiBodies runs pi's own code to make the requests of session files, by every interface, also of models
// that they do not name, or of "all" that pi knows (pibodies.mjs). It calls compare with each. See OfPi.
func PiBodies(t *testing.T, models []string, files []string, compare func(PiBody)) {
	t.Helper()
	root := piPackage(t)
	run := filepath.Join(t.TempDir(), "run.mjs")
	if err := os.WriteFile(run, piBodiesScript, 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("node", append([]string{run, root, strings.Join(models, ",")}, files...)...)
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for bodies := json.NewDecoder(out); err == nil; {
		var body PiBody
		if err = bodies.Decode(&body); err == nil {
			compare(body)
		}
	}
	if wait := cmd.Wait(); wait != nil || !errors.Is(err, io.EOF) {
		t.Fatalf("%v, %v: %s", err, wait, stderr.Bytes())
	}
}

// OfPi runs a script that calls pi's own code over copies of sessions, by name. The script prints a
// JSON object for each, on a line, in order. It skips the test without node or pi's package; make pi
// installs the package.
func OfPi[Answer any](t *testing.T, script []byte, sessions map[string][]byte, asked ...string) map[string]Answer {
	t.Helper()
	root := piPackage(t)
	dir := t.TempDir()
	run := filepath.Join(dir, "run.mjs")
	if err := os.WriteFile(run, script, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{run, root}
	names := slices.Sorted(maps.Keys(sessions))
	for k, name := range names {
		file := filepath.Join(dir, fmt.Sprintf("%d.jsonl", k))
		if err := os.WriteFile(file, sessions[name], 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("node", args...)
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), "PI_ASKED="+strings.Join(asked, ""))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	all := map[string]Answer{}
	for line := range bytes.Lines(out) {
		var a Answer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		if len(all) < len(names) {
			all[names[len(all)]] = a
		}
	}
	if lines := bytes.Count(out, []byte{'\n'}); lines != len(names) {
		t.Fatalf("pi answers for %d of %d sessions", lines, len(names))
	}
	return all
}

// piVersion is the version of pi that tests compare with. The Makefile reads it here.
const piVersion = "1.6.0"

// piPackage returns the folder of pi's npm package.
func piPackage(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		testenv.Skip(t, "no node to run pi's own code with")
	}
	dir := os.Getenv("CTXTOOL_PI")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			testenv.Skip(t, "%v", err)
		}
		dir = filepath.Join(cache, "ctxtool-pi")
	}
	dir = filepath.Join(dir, "node_modules", "@earendil-works", "pi-coding-agent")
	about, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		testenv.Skip(t, "no package of pi; make pi installs it")
	}
	var is struct{ Version string }
	if err := json.Unmarshal(about, &is); err != nil || is.Version != piVersion {
		testenv.Skip(t, "pi %s is installed; make pi installs %s", is.Version, piVersion)
	}
	return dir
}

// piShapes are the members of pi's messages, by role, of their blocks, and of usages: what each is,
// after its name. A name with ? may be absent.
var piShapes = map[string]string{
	"system":     "role string, content said, timestamp number, sections? any, toolsAdded? any, toolsRemoved? any",
	"user":       "role string, content said, timestamp number",
	"custom":     "role string, content said, timestamp number, customType string, display bool, details? any",
	"toolResult": "role string, content blocks, timestamp number, toolCallId string, toolName string, isError bool, details? any, usage? usage",
	"assistant": "role string, content blocks, timestamp number, api string, provider string, model string, usage usage, stopReason stop, " +
		"responseId? string, responseModel? string, errorMessage? string, diagnostics? any",
	"usage":       "input number, output number, cacheRead number, cacheWrite number, totalTokens number, cost cost, cacheWrite1h? number, reasoning? number",
	"cost":        "input number, output number, cacheRead number, cacheWrite number, total number, totalFromProvider? bool",
	"text":        "type string, text string, textSignature? string",
	"image":       "type string, data string, mimeType string",
	"thinking":    "type string, thinking string, thinkingSignature? string, redacted? bool",
	"toolCall":    "type string, id string, name string, arguments object, thoughtSignature? string",
	"replacement": "content said",
}

// piBlocks are the types of blocks that messages have, by role; a replacement has those of any.
var piBlocks = map[string]string{
	"system": "text", "user": "text image", "custom": "text image", "toolResult": "text image",
	"assistant": "text thinking toolCall", "replacement": "text image thinking toolCall",
}

// NotPi lists what an entry of a session has that pi's have not, or the other way around: in its
// message, in its usage, and in what an edit sets as the content of another.
func NotPi(line []byte) (wrong []string) {
	var entry struct{ Message, Usage, Replacement map[string]any }
	if err := json.Unmarshal(line, &entry); err != nil {
		return []string{err.Error()}
	}
	if entry.Message != nil {
		role, _ := entry.Message["role"].(string)
		wrong = shaped(entry.Message, role, role)
	}
	if entry.Usage != nil {
		wrong = append(wrong, shaped(entry.Usage, "usage", "")...)
	}
	if entry.Replacement != nil {
		wrong = append(wrong, shaped(entry.Replacement, "replacement", "replacement")...)
	}
	return wrong
}

// shaped compares an object of a message of that role with its shape.
func shaped(v map[string]any, shape, role string) (wrong []string) {
	known := map[string]bool{}
	if piShapes[shape] == "" {
		return []string{fmt.Sprintf("unknown %q", shape)}
	}
	for member := range strings.SplitSeq(piShapes[shape], ", ") {
		name, kind, _ := strings.Cut(member, " ")
		name, optional := strings.CutSuffix(name, "?")
		known[name] = true
		if of, ok := v[name]; ok || !optional {
			for _, w := range isPi(of, kind, role) {
				wrong = append(wrong, shape+"."+name+": "+w)
			}
		}
	}
	for name := range v {
		if !known[name] {
			wrong = append(wrong, shape+"."+name+": not a member of pi's")
		}
	}
	return wrong
}

// isPi says what is wrong with a value of that kind.
func isPi(v any, kind, role string) (wrong []string) {
	ok := true
	switch of := v.(type) {
	case string:
		ok = kind == "string" || kind == "said" || kind == "any" ||
			kind == "stop" && slices.Contains([]string{"stop", "length", "toolUse"}, of)
	case float64:
		ok = kind == "number" || kind == "any"
	case bool:
		ok = kind == "bool" || kind == "any"
	case map[string]any:
		if kind == "usage" || kind == "cost" {
			return shaped(of, kind, role)
		}
		ok = kind == "object" || kind == "any"
	case []any:
		ok = kind == "any" || kind == "said" || kind == "blocks"
		for _, b := range of {
			if kind == "any" {
				break
			}
			block, _ := b.(map[string]any)
			typ, _ := block["type"].(string)
			if !slices.Contains(strings.Fields(piBlocks[role]), typ) {
				wrong = append(wrong, fmt.Sprintf("a block %q in a message %q", typ, role))
				continue
			}
			wrong = append(wrong, shaped(block, typ, role)...)
		}
	default:
		ok = kind == "any"
	}
	if !ok {
		wrong = append(wrong, fmt.Sprintf("no %s: %.100v", kind, v))
	}
	return wrong
}

// Requests returns the recorded requests of a folder of vectors.
func Requests[T any](t testing.TB, folder string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return Decoded[T](t, func(yield func([]byte, error) bool) {
		for line := range bytes.Lines(data) {
			if !yield(line, nil) {
				return
			}
		}
	})
}

// Decoded are JSON values as Go's own decoder reads them.
func Decoded[T any, V ~[]byte](t testing.TB, values iter.Seq2[V, error]) (all []T) {
	t.Helper()
	for value, err := range values {
		var one T
		if err == nil {
			err = json.Unmarshal(value, &one)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// Points selects numbers below n for a test: the first and the last of each kind, and others at
// even distances, at most most. If Whole it selects every step-th number.
func Points[Kind comparable](n, most, step int, kind func(i int) Kind) (points []int) {
	if Whole() {
		for i := 0; i < n; i += step {
			points = append(points, i)
		}
		return points
	}
	last := map[Kind]int{}
	for i := range n {
		last[kind(i)] = i
	}
	seen := map[Kind]bool{}
	for i := range n {
		k := kind(i)
		if !seen[k] || last[k] == i || i%(1+n/most) == 0 {
			points = append(points, i)
		}
		seen[k] = true
	}
	return points
}
