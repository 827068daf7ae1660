package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/rule"
)

// A Script is a conversation: what is typed, and what the model answers.
type Script struct {
	About string
	// Expect is what the author of the script expected to be sent, written before it was played first.
	Expect []string
	Least  Least
	// Hidden is what changes requests here and leaves no trace in any file: what is claimed of them is not held.
	Hidden   string
	Model    string
	Files    Files           // of the project; names that begin with ~/ are of the home
	Settings json.RawMessage // of the program
	MCP      json.RawMessage // servers, by name
	Agents   json.RawMessage // sub-agents, by name
	Allow    []string        // tools that need no permission
	Args     []string        // of the program, besides those that steps need
	Env      map[string]string
	Since    string // the oldest version that has what the script needs, empty for any
	Until    string // the newest
	Steps    []Step
}

// Least is how many requests a script makes at least, and how many compactions the session has with most of them.
type Least struct{ Requests, Compactions int }

// Files are texts by name. An object is written as JSON, null removes the file.
type Files map[string]json.RawMessage

// A Step is one process of the program, or a change around it.
type Step struct {
	Do      string // print, interactive, serve, run, files, wait
	Session string // a label for the session that the step begins or continues
	From    string // the label of the session that it resumes
	Fork    bool   // into a session of its own

	Continue bool // the newest session
	At       string
	Dir      string          `json:"cwd"` // in the project
	Model    string          // instead of the script's; so are the next five
	Settings json.RawMessage // as of a Script
	MCP      json.RawMessage
	Agents   json.RawMessage
	Allow    []string
	Args     []string
	Env      map[string]string

	Prompt  string
	Answers []Answer
	Turns   []Turn                     // several prompts in one process
	Run     string                     // a command of the shell, in the home; labels are variables
	Replies map[string]json.RawMessage // to what the server asks, by method
	Acts    []Act                      // of an interactive step
	Files   Files                      // of a files step
	Kill    string                     // interrupt the process at a request, or once a stream stalls
	Signal  string                     // INT unless set
	After   Duration                   // the time between that and the signal
	MS      Duration                   // the time that the step may take, or of a wait
}

// A Turn is a prompt to a process that gets several, or a call of a method of its server.
type Turn struct {
	Prompt  json.RawMessage // a text, or a list of messages: texts or blocks
	Answers []Answer
	Files   Files // are written once it has ended

	Session string // of a server: a label
	From    string // the label of the session that it forks
	Method  string // instead of a prompt
	Params  json.RawMessage
	Release bool   // held answers are sent after the call
	Until   string // what ends it: held, hung, or an event, and its kind of item, unless the method tells
	MayFail bool   // some versions do not have the method
	Repeat  int    // how many times it is played, 1 unless set
	MS      Duration
}

// An Act is what somebody does at the keyboard. What is set is done in the order of the fields.
type Act struct {
	Answers []Answer // are planned
	Files   Files    // are written
	Text    string   // is typed
	Keys    []string // are pressed, as tmux names them
	Release bool     // held answers are sent
	See     string   // a text that has to appear on the screen
	Idle    bool     // waits until all planned answers are given, and the screen stands still
	MS      Duration // a pause
}

// A Duration is a number of milliseconds.
type Duration int

// An Answer is what the model says to one request.
type Answer struct {
	Text     Texts
	Thinking *string // before everything else, with a made-up signature
	Calls    []Call
	Blocks   []json.RawMessage // as they stand: blocks, items or parts, or fields of a message of Chat Completions
	Usage    Usage             // instead of the count of characters / 4
	Stop     string            // instead of the reason that follows from the calls
	Failed   *Failed           // an error in place of the end of a stream

	Status  int // an HTTP error
	Body    json.RawMessage
	Headers map[string]string

	Cut  bool   // the stream ends early
	Hang bool   // it stays open after the blocks
	Hold bool   // it begins only after a release
	When string // only to a request whose last message, or system prompt, has this text
	// Agent is the only sub-agent that gets it, by its name.
	Agent string
	// Extra are more fields of the message (in the Responses API of each one), Delta of its end.
	Extra, Delta map[string]json.RawMessage
}

// A Failed is an error that a provider streams.
type Failed struct{ Code, Message string }

// A Call is a call of a tool.
type Call struct {
	Name      string
	Namespace string          // of the name, in the Responses API
	Input     json.RawMessage // a text is that of a freeform tool there
	Raw       *string         // instead of it, where arguments are a text: as they stand
}

// Usage is in tokens; what is nil is counted. Interfaces that count what a cache read and wrote as part of the prompt
// get the sum of the first three.
type Usage struct{ Input, Read, Write, Output *int }

// Texts is a text, or several.
type Texts []string

// UnmarshalJSON reads a text or a list of texts.
func (t *Texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = Texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// ReadScript reads a script. In it {{N*text}} stands for N times that text. An object in a list that has "repeat": N
// stands for N of it, in whose texts {{i}} is the number, from 1; and if it has "of", a list, for N times the objects
// in that. In a repetition within a repetition {{ii}} is the number of the outer one.
func ReadScript(name string) (s Script, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return s, err
	}
	data = repeated.ReplaceAllFunc(data, func(m []byte) []byte {
		sub := repeated.FindSubmatch(m)
		n, _ := strconv.Atoi(string(sub[1]))
		return []byte(strings.Repeat(string(sub[2]), n))
	})
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	d := json.NewDecoder(strings.NewReader(encoded(expanded(v))))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

var repeated = regexp.MustCompile(`\{\{(\d+)\*([^}]*)\}\}`)

// expanded returns a value with repetitions written out, the inner ones first.
func expanded(v any) any {
	switch v := v.(type) {
	case object:
		for name, e := range v {
			v[name] = expanded(e)
		}
	case []any:
		all := []any{}
		for _, e := range v {
			e = expanded(e)
			o, _ := e.(object)
			n, ok := o["repeat"].(float64)
			if !ok {
				all = append(all, e)
				continue
			}
			delete(o, "repeat")
			of := []any{o}
			if list, ok := o["of"].([]any); ok {
				of = list
			}
			for k := range int(n) {
				numbered := strings.NewReplacer("{{i}}", strconv.Itoa(k+1), "{{ii}}", "{{i}}").Replace(encoded(of))
				var more []any
				must.Do(json.Unmarshal([]byte(numbered), &more))
				all = append(all, more...)
			}
		}
		return all
	}
	return v
}

// Interactive reports whether a step needs a terminal.
func (s *Script) Interactive() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Do == "interactive" })
}

// Runs reports whether a version has what the script needs.
func (s *Script) Runs(version string) bool {
	return rule.Versions(s.Since, version) <= 0 && (s.Until == "" || rule.Versions(version, s.Until) <= 0)
}
