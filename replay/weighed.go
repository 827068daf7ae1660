package replay

import (
	"bytes"
	"iter"
	"runtime"
	"slices"
	"sync"

	"ctxtool/internal/parallel"
	"ctxtool/internal/tokens"
	"ctxtool/sessionfmt"
)

// A Weighed is a message of an envelope with what it takes, without its text.
type Weighed struct {
	Kind     sessionfmt.Kind // by its role in the session
	Origin   Origin
	Uncached bool
	Once     bool // logged for one request alone: a reader sets it
	Hidden   bool // a custom message that the user is not shown

	Tokens Weight // of the counter
	Bytes  Weight // of its blocks, as JSON
	Size   int    // bytes of the message as a provider gets it, as JSON

	Skill  Skill  // a prompt that begins with the instructions of one
	Result Result // of a tool result
	Reads  []Read // of an answer
	Images []int  // bytes of base64 of each
}

// A Skill is the instructions of a skill in a prompt (spec/pi-format.md 9.1), which
// are part of its text.
type Skill struct {
	Name          string // empty where there are none
	Tokens, Bytes int
}

// A Result says whose result a message is. Call is empty unless the tool reads files.
type Result struct {
	Tool  string
	Call  string
	Error bool
}

// A Read is a call of a tool that reads a file.
type Read struct{ Call, Path string }

// readers are the tools that read files, by the names that agents give them, and the
// arguments that say which.
var readers, pathArguments = []string{"read", "Read", "FileRead", "read_file"}, [...]string{"path", "file_path", "filePath"}

// reset forgets what has been found in a message. All that finds is nothing on nil.
func (m *Weighed) reset() {
	if m != nil {
		m.Bytes, m.Skill, m.Result, m.Reads, m.Images = Weight{}, Skill{}, Result{}, nil, nil
	}
}

// result takes down a member of a tool result.
func (w *weighing) result(key []byte, at *sessionfmt.Cursor) {
	switch string(key) {
	case "toolName":
		name := at.Text()
		tool, ok := w.tools[string(name)]
		if !ok {
			tool = string(name)
			w.tools[tool] = tool
		}
		w.found.Result.Tool = tool
	case "toolCallId":
		w.answers = append(w.answers[:0], at.Text()...)
	case "isError":
		w.found.Result.Error = at.Value().Truthy()
	}
}

const skillTag, skillEnd = `"<skill `, `</skill>`

// text takes down a text of the message: raw is its JSON, size the bytes of its block.
func (m *Weighed) text(w *weighing, role sessionfmt.Kind, raw value, size int) {
	if m == nil {
		return
	}
	first := m.Bytes.Text == 0
	m.Bytes.Text += size
	if !first || role != sessionfmt.User || !bytes.HasPrefix(raw, []byte(skillTag)) {
		return
	}
	end := bytes.Index(raw, []byte(skillEnd))
	if end < 0 {
		return
	}
	end += len(skillEnd)
	text := value(append(bytes.Clone(raw[:end]), '"')).AppendText(nil)
	head, _, _ := bytes.Cut(text, []byte{'>'})
	_, name, _ := bytes.Cut(head, []byte(`name="`))
	name, _, _ = bytes.Cut(name, []byte{'"'})
	m.Skill = Skill{Name: string(name), Tokens: w.c.Of(w.of(text)), Bytes: end - 1}
}

func (m *Weighed) thinking(size int) {
	if m != nil {
		m.Bytes.Thinking += size
	}
}

func (m *Weighed) image(data value, size int) {
	if m != nil {
		m.Bytes.Images += size
		m.Images = append(m.Images, max(0, len(data)-2))
	}
}

// A callFound is a tool call's members, as JSON.
type callFound struct{ name, id, args value }

func (m *Weighed) call(c callFound, size int) {
	if m == nil {
		return
	}
	m.Bytes.Calls += size
	if path := ReadPath(c.name, c.args); path != "" {
		m.Reads = append(m.Reads, Read{Call: c.id.Text(), Path: path})
	}
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
	weighing
	l *loader
}

func (r *Replay) newWeigher(c *tokens.Counter) *weigher {
	return &weigher{weighing{c: c, tools: map[string]string{}}, r.newLoader()}
}

// one weighs one message.
func (w *weigher) one(out *Weighed, m *message) (err error) {
	out.Kind, out.Origin = m.kind, m.origin()
	w.found = out
	out.Tokens, out.Size, err = w.l.weigh(&w.weighing, m)
	if err == nil && (m.kind == sessionfmt.Custom || m.kind == sessionfmt.HookMessage) {
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
