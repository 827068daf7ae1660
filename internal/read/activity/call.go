// Package activity reads what happens in a session, whatever agent wrote it: what the call of a
// tool does, how it ended, and what prompts, answers and commands say.
package activity

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// An Action is what a call does.
type Action uint8

// The actions.
const (
	Other  Action = iota // unknown
	Read                 // shows a file
	Search               // lists or finds files, or lines in them
	Edit                 // changes a part of a file
	Write                // writes a whole file
	Run                  // runs a command
	Ask                  // asks the user
)

// String returns the name of the action, empty for Other.
func (a Action) String() string {
	return [...]string{"", "read", "search", "edit", "write", "run", "ask"}[a]
}

// Looks reports whether the call only looks at files.
func (a Action) Looks() bool { return a == Read || a == Search }

// Changes reports whether the call changes a file.
func (a Action) Changes() bool { return a == Edit || a == Write }

// tools are the tools of pi, Claude Code, Codex, Gemini CLI, gsh, SWE-CLI, OpenDev, y-agent, opencode
// and OpenClaw, in lower case and without what separates words.
var tools = func() map[string]Action {
	named := map[string]Action{}
	for action, names := range [...]string{
		Read: "read readfile fileread viewfile view viewimage notebookread readmanyfiles readpdf",
		Search: "ls list listdir listdirectory listfiles filelist grep multigrep grepsearch searchfilecontent " +
			"filesearch find glob search codesearch",
		Edit:  "edit editfile fileedit multiedit replace notebookedit applypatch patch strreplace",
		Write: "write writefile filewrite createfile",
		Run:   "bash shell localshell exec execcommand shellexec shellcommand runcommand runshellcommand run",
		Ask:   "askuserquestion askuser requestuserinput question",
	} {
		for name := range strings.FieldsSeq(names) {
			named[name] = Action(action)
		}
	}
	return named
}()

// Named returns the action of a tool by its name, which may begin with the name of an MCP server.
func Named(tool string) Action {
	if action, ok := tools[tool]; ok {
		return action
	}
	return tools[strings.ToLower(joined.Replace(tool[strings.LastIndex(tool, "__")+1:]))]
}

var joined = strings.NewReplacer("_", "", "-", "")

// subjects are the arguments that describe a call, the most specific first: a command line, a search term, a
// file, others.
var subjects = strings.Fields("command cmd script pattern patterns query " +
	"path file_path filePath absolute_path notebook_path dir_path filename file paths url name prompt description id")

const commands, searches, paths = 3, 6, 15 // numbers of leading subjects that are commands, searches and files

// A Call is the call of a tool.
type Call struct {
	ID      string
	Tool    string
	Args    jsonl.Value
	Status  jsonl.Value // of a call that a tool made itself
	Action  Action
	Command string   // command line that it runs
	Paths   []string // files and folders as the call names them; none for a command

	about         string      // name of the argument that describes the call, if it is shown unchanged
	subject, path jsonl.Value // the arguments that describe it, and that name the paths
}

// Calls yields the calls of an answer, or those that the tool of a result made itself.
func Calls(m *jsonl.Message) iter.Seq[Call] {
	return func(yield func(Call) bool) {
		for b := range m.Calls {
			if !yield(New(b.Name.Text(), b.ID.Text(), b.Args)) {
				return
			}
		}
		for v := range m.NestedCalls {
			if !yield(Nested(v)) {
				return
			}
		}
	}
}

// Nested reads a call that the tool of a result made itself.
func Nested(v jsonl.Value) Call {
	c := New(v.Get("name").Text(), v.Get("id").Text(), v.Get("arguments"))
	c.Status = v.Get("status")
	return c
}

// Typed returns a command that the user ran.
func Typed(command jsonl.Value) Call {
	return Call{Tool: "user", Action: Run, Command: command.Text(), subject: command}
}

// New reads the arguments of a call, and keeps them. They reveal the action of an unknown tool.
func New(tool, id string, args jsonl.Value) Call {
	c := Call{ID: id, Tool: tool, Args: args, Action: Named(tool)}
	if c.read(); c.Action != Run && c.path != nil {
		for v := range c.path.Strings {
			if path := v.Text(); path != "" {
				c.Paths = append(c.Paths, path)
			}
		}
	}
	return c
}

// read reads the arguments, except the paths that they name.
func (c *Call) read() {
	best, named := len(subjects), paths
	var edits, writes bool
	for key, v := range c.Args.Members {
		if c.subject == nil {
			c.about, c.subject = string(key), v
		}
		k := slices.Index(subjects, string(key))
		switch {
		case string(key) == "content":
			writes = v.IsString()
		case string(key) == "edits" && v.IsArray(), v.IsString() && slices.Contains(NewTexts, string(key)):
			edits = true
		case k < 0, !v.IsString() && !v.IsArray(), len(v) == len(`""`),
			k < commands && c.Action != Other && c.Action != Run:
			continue
		}
		if k >= 0 && k < best {
			best, c.about, c.subject = k, string(key), v
		}
		if k >= searches && k < named {
			named, c.path = k, v
		}
	}
	switch {
	case best < commands:
		c.Action, c.Command = Run, c.subject.Text()
		if c.subject.IsArray() {
			c.Command = script(c.subject)
			c.about, c.subject = "", jsonl.AppendQuoted(nil, c.Command)
		}
	case c.Action == Other && c.path != nil && edits:
		c.Action = Edit
	case c.Action == Other && c.path != nil && writes:
		c.Action = Write
	}
	if c.Action == Edit && c.path == nil {
		if c.Paths = patched(among(c.Args, patches).Text()); c.Paths != nil {
			c.about, c.subject = "", jsonl.AppendQuoted(nil, strings.Join(c.Paths, " "))
		}
	}
}

// script returns a command line. Some versions of Codex record commands as lists of words, the last of which is
// the shell script.
func script(list jsonl.Value) string {
	var words []string
	for word := range list.Strings {
		words = append(words, word.Text())
	}
	if len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") {
		return words[2]
	}
	return strings.Join(words, " ")
}

// patched returns the files that a patch of apply_patch changes.
func patched(patch string) (files []string) {
	for line := range strings.Lines(patch) {
		for _, mark := range [...]string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			if file, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
				files = append(files, file)
			}
		}
	}
	return files
}

// among returns the first argument with one of these names.
func among(args jsonl.Value, names []string) jsonl.Value {
	for key, v := range args.Members {
		if slices.Contains(names, string(key)) {
			return v
		}
	}
	return nil
}

// A Deed is a call described in words.
type Deed struct {
	Action Action
	What   string // the last path, else the last command, else the tool
	Script        // that it runs
	Paths  []string
}

// Deed returns what a call does. clean returns the spelling of a path, empty if it is none.
func (c *Call) Deed(clean func(path string) string) Deed {
	d := Deed{Action: c.Action, What: c.Tool, Script: ReadScript(c.Command)}
	if n := len(d.Commands); n > 0 {
		d.What = d.Commands[n-1]
	}
	for _, path := range c.Paths {
		if path = clean(path); path != "" {
			d.Paths = append(d.Paths, path)
			d.What = path
		}
	}
	return d
}

// Failed returns what failed, given the output line with the error.
func (d *Deed) Failed(errorLine string) string {
	if len(d.Paths) > 0 {
		return d.What
	}
	return cmp.Or(d.Script.Failed(errorLine), d.What)
}

// Done yields what a call has done, if it succeeded.
func (d *Deed) Done(yield func(what string) bool) {
	for _, c := range d.Commands {
		if c != d.What && !yield(c) {
			return
		}
	}
	yield(d.What)
}

// Runs reports whether the call runs a command.
func (c *Call) Runs() bool { return c.Action == Run }

// Subject returns what describes the call best, empty if it has no arguments.
func (c *Call) Subject() string { return string(c.AppendSubject(nil)) }

// About returns the name of the argument that describes a call best, or a text in its place.
func About(tool string, args jsonl.Value) (name string, text jsonl.Value) {
	c := Call{Args: args, Action: Named(tool)}
	if c.read(); c.about != "" || c.subject == nil {
		return c.about, nil
	}
	return "", c.subject
}

// Path returns the first path, empty if there is none.
func (c *Call) Path() string {
	if len(c.Paths) == 0 {
		return ""
	}
	return c.Paths[0]
}

// Search returns what the call searches for, besides a path; nil for nothing.
func (c *Call) Search() jsonl.Value {
	if c.Action != Search {
		return nil
	}
	return among(c.Args, subjects[commands:searches])
}

// Reads returns the file that the call reads, and the part of it, empty for the whole file; both are empty for
// other calls.
func (c *Call) Reads() (file, part string) {
	if c.Action != Read || len(c.Paths) != 1 {
		return "", ""
	}
	file, part = File(c.Paths[0])
	for key, v := range c.Args.Members {
		if !v.IsNull() && &v[0] != &c.path[0] {
			part += " " + string(key) + " " + string(v)
		}
	}
	return file, part
}

// AppendSubject appends the argument that describes the call best.
func (c *Call) AppendSubject(dst []byte) []byte {
	if len(c.subject) > len(`""`) && c.subject.IsString() {
		return c.subject.AppendText(dst)
	}
	return append(dst, c.subject...)
}

// Beginning returns the first n bytes of what describes the call best, or a few less.
func (c *Call) Beginning(n int) string {
	if c.subject.IsString() {
		return c.subject.Beginning(n)
	}
	return string(c.subject[:min(len(c.subject), n)])
}

// Names of arguments: of a patch, of the option to replace each occurrence, of the replaced text, and of its
// replacement.
var (
	patches    = strings.Fields("input patch patchText")
	everywhere = strings.Fields("replace_all replaceAll")
	OldTexts   = strings.Fields("oldText old_string oldString old_str old_content old")
	NewTexts   = strings.Fields("newText new_string newString new_str new_content new")
)

// A Replacement is a text that an edit replaces, or with All, each occurrence of it.
type Replacement struct {
	Old, New string
	All      bool
}

// Replacements returns the replacements in the arguments of an edit.
func (c *Call) Replacements() (all []Replacement) {
	from := func(v jsonl.Value) {
		if was, is := among(v, OldTexts), among(v, NewTexts); was.IsString() || is.IsString() {
			all = append(all, Replacement{was.Text(), is.Text(), among(v, everywhere).Truthy()})
		}
	}
	from(c.Args)
	for edit := range c.Args.Get("edits").Elements {
		from(edit)
	}
	return all
}
