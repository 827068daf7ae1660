package replay

import (
	"bytes"
	"iter"
	"runtime"
	"slices"
	"sync"

	"ctxtool/internal/parallel"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// A Weighed is a message of an envelope with what it takes, without its text.
type Weighed struct {
	Kind     sessionfmt.Kind // by its role in the session
	Origin   Origin
	Uncached bool
	Once     bool // logged for one request alone: a reader sets it
	Hidden   bool // a custom message that the user is not shown

	Tokens weight // of the counter
	Bytes  weight // of its blocks, as JSON
	Size   int    // bytes of the message as a provider gets it, as JSON

	Skill  skill  // a prompt that begins with the instructions of one
	Result result // of a tool result
	Reads  []read // of an answer
	Images []int  // bytes of base64 of each
}

// A skill is the instructions of a skill in a prompt (spec/pi-format.md 9.1), which
// are part of its text.
type skill struct {
	Name          string // empty where there are none
	Tokens, Bytes int
}

// A result says whose result a message is. Call is empty unless the tool reads files.
type result struct {
	Tool  string
	Call  string
	Error bool
}

// A read is a call of a tool that reads a file.
type read struct{ Call, Path string }

// readers are the tools that read files, by the names that agents give them, and the
// arguments that say which.
var readers, pathArguments = []string{"read", "Read", "FileRead", "read_file"}, [...]string{"path", "file_path", "filePath"}

// take takes down what is in a message.
func (w *weigher) take(out *Weighed, m *sessionfmt.Message) {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		size := len(b.Raw)
		switch b.Kind {
		case sessionfmt.TextBlock:
			if out.Bytes.Text == 0 && m.Kind == sessionfmt.User {
				out.Skill = w.skill(b.Says.Value)
			}
			out.Bytes.Text += size
		case sessionfmt.ThinkingBlock:
			out.Bytes.Thinking += size
		case sessionfmt.ImageBlock:
			out.Bytes.Images += size
			out.Images = append(out.Images, max(0, len(b.Data)-2))
		case sessionfmt.CallBlock:
			out.Bytes.Calls += size
			if path := ReadPath(b.Name, b.Args); path != "" {
				out.Reads = append(out.Reads, read{Call: b.ID.Text(), Path: path})
			}
		}
	}
	if m.Kind != sessionfmt.ToolResult {
		return
	}
	tool, ok := w.tools[string(m.Tool)]
	if !ok {
		tool = m.Tool.Text()
		w.tools[string(m.Tool)] = tool
	}
	out.Result = result{Tool: tool, Error: m.IsError.Truthy()}
	if slices.Contains(readers, tool) {
		out.Result.Call = m.CallID.Text()
	}
}

const skillTag, skillEnd = `"<skill `, `</skill>`

// skill is the skill that a text begins with.
func (w *weigher) skill(raw value) skill {
	if !bytes.HasPrefix(raw, []byte(skillTag)) {
		return skill{}
	}
	end := bytes.Index(raw, []byte(skillEnd))
	if end < 0 {
		return skill{}
	}
	end += len(skillEnd)
	text := value(append(bytes.Clone(raw[:end]), '"')).AppendText(nil)
	head, _, _ := bytes.Cut(text, []byte{'>'})
	_, name, _ := bytes.Cut(head, []byte(`name="`))
	name, _, _ = bytes.Cut(name, []byte{'"'})
	return skill{Name: string(name), Tokens: w.c.Of(TextLength(w.c, text)), Bytes: end - 1}
}

// ReadPath is the file that a tool call reads, empty where the tool, by its name, reads
// none.
func ReadPath(name, args sessionfmt.Value) string {
	if slices.ContainsFunc(readers, name.Is) {
		for _, argument := range pathArguments {
			if path := args.Get(argument); path.IsString() {
				return path.Text()
			}
		}
	}
	return ""
}

// Weighed is every message of the request, cached and uncached, with what it takes by
// a counter: together as much as Count says of them. They are weighed on all
// processors, and come in order. Each is valid until the next one is asked for.
func (e *Envelope) Weighed(c *tokens.Counter) iter.Seq2[*Weighed, error] {
	return func(yield func(*Weighed, error) bool) {
		msgs := &e.state.msgs
		chunks := (msgs.n + chunkSize - 1) / chunkSize
		var used sync.Pool // of chunks
		start := func() func(k int) weighedPart { return e.r.newWeigher(c).chunks(msgs, &used) }
		workers := runtime.GOMAXPROCS(0)
		for part := range parallel.InOrder(chunks, workers, 2*workers+1, start) {
			for i := range *part.all {
				if !yield(&(*part.all)[i], nil) {
					return
				}
			}
			if part.err != nil {
				yield(nil, part.err)
				return
			}
			used.Put(part.all)
		}
		w := e.r.newWeigher(c)
		for i := range e.state.uncached {
			m := Weighed{Uncached: true}
			err := w.one(&m, &e.state.uncached[i])
			if !yield(&m, err) || err != nil {
				return
			}
		}
	}
}

// A weighedPart is a chunk of a list, weighed up to an error.
type weighedPart struct {
	all *[]Weighed
	err error
}

// A weigher weighs messages one after the other.
type weigher struct {
	c     *tokens.Counter
	l     *loader
	tools map[string]string // names seen so far, by their JSON
}

func (r *Replay) newWeigher(c *tokens.Counter) *weigher {
	return &weigher{c, r.newLoader(), map[string]string{}}
}

// one weighs one message.
func (w *weigher) one(out *Weighed, m *message) (err error) {
	out.Kind, out.Origin = m.kind, m.origin()
	msg, size, err := w.l.read(m)
	if err != nil {
		return err
	}
	out.Size, out.Tokens = size, w.l.weigher(w.c).message(msg)
	w.take(out, msg)
	if m.kind == sessionfmt.Custom || m.kind == sessionfmt.HookMessage {
		var v value
		v, err = w.l.agent(m)
		out.Hidden = string(v.Get("display")) == "false"
	}
	return err
}

// chunks weighs the shown messages of a chunk of a list, in the place of a used one.
func (w *weigher) chunks(msgs *list, used *sync.Pool) func(k int) weighedPart {
	return func(k int) (part weighedPart) {
		if part.all, _ = used.Get().(*[]Weighed); part.all == nil {
			fresh := make([]Weighed, 0, min(chunkSize, msgs.n))
			part.all = &fresh
		}
		all := (*part.all)[:0]
		for i := k * chunkSize; i < min(msgs.n, (k+1)*chunkSize) && part.err == nil; i++ {
			if m := msgs.at(i); m.shown() {
				all = append(all, Weighed{})
				if part.err = w.one(&all[len(all)-1], m); part.err != nil {
					all = all[:len(all)-1]
				}
			}
		}
		*part.all = all
		return part
	}
}
