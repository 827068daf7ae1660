package replay

import (
	"bytes"
	"iter"
	"runtime"
	"slices"
	"sync"

	"ctxtool/internal/parallel"
	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A Weighed is a message of an envelope with its size, without its text.
type Weighed struct {
	Kind      jsonl.Kind // by its role in the session
	Origin    origin.Origin
	Uncached  bool
	Ephemeral bool // logged for one request only; set by the caller
	Hidden    bool // a custom message that is not displayed

	Tokens weigh.Weight // by the counter
	Bytes  weigh.Weight // bytes of its blocks as JSON
	Size   int          // bytes of the message's JSON as the provider gets it

	index  int    // in the list of messages
	Skill  skill  // of a prompt that begins with a skill's instructions
	Result result // of a tool result
	Reads  []read // files that an answer reads
	Images []int  // bytes of base64 of each image
}

// A skill is the instructions of a skill at the start of a prompt (docs/session-format.md 4.6),
// which are part of its text.
type skill struct {
	Name          string // empty if there are none
	Tokens, Bytes int
}

// A result identifies the call of a tool result. Call is empty unless the tool reads files.
type result struct {
	Tool  string
	Call  string
	Error bool
}

// A read is a call of a tool that reads a file.
type read struct{ Call, Path string }

// readers are the names of tools that read files, in the agents that we know, and pathArguments
// the arguments that name the file.
var readers, pathArguments = []string{"read", "Read", "FileRead", "read_file"}, [...]string{"path", "file_path", "filePath"}

// read records the parts of a message.
func (w *weigher) read(out *Weighed, m *jsonl.Message) {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		size := len(b.Raw)
		switch b.Kind {
		case jsonl.TextBlock:
			if out.Bytes.Text == 0 && m.Kind == jsonl.User {
				out.Skill = w.skill(b.Text.Value)
			}
			out.Bytes.Text += size
		case jsonl.ThinkingBlock:
			out.Bytes.Thinking += size
		case jsonl.ImageBlock:
			out.Bytes.Images += size
			out.Images = append(out.Images, max(0, len(b.Data)-2))
		case jsonl.CallBlock:
			out.Bytes.Calls += size
			if path := ReadPath(b.Name, b.Args); path != "" {
				out.Reads = append(out.Reads, read{Call: b.ID.Text(), Path: path})
			}
		}
	}
	if m.Kind != jsonl.ToolResult {
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

// skill returns the skill that a text begins with.
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
	return skill{Name: string(name), Tokens: w.c.Of(weigh.Length(w.c, text)), Bytes: end - 1}
}

// ReadPath returns the file that a tool call reads, empty if the tool's name is not one of a
// reading tool.
func ReadPath(name, args jsonl.Value) string {
	if slices.ContainsFunc(readers, name.Is) {
		for _, argument := range pathArguments {
			if path := args.Get(argument); path.IsString() {
				return path.Text()
			}
		}
	}
	return ""
}

// Weighed returns every message of the request, cached and uncached, with its size by a
// counter. The sizes add up to those of Count. Messages are counted in parallel and returned in
// order. Each is valid until the next. What they count for is kept for ContextUsage.
func (e *Envelope) Weighed(c *tokens.Counter) iter.Seq2[*Weighed, error] {
	return func(yield func(*Weighed, error) bool) {
		msgs := &e.state.msgs
		chunks := (msgs.n + chunkSize - 1) / chunkSize
		var used sync.Pool // chunks for reuse
		start := func() func(k int) weighedPart { return e.r.newWeigher(c).chunks(msgs, &used) }
		workers := runtime.GOMAXPROCS(0)
		sizes := make([]int32, msgs.n)
		for part := range parallel.InOrder(chunks, workers, 2*workers+1, start) {
			for i := range *part.all {
				m := &(*part.all)[i]
				sizes[m.index] = int32(m.Tokens.Total())
				if !yield(m, nil) {
					return
				}
			}
			if part.err != nil {
				yield(nil, part.err)
				return
			}
			used.Put(part.all)
		}
		e.weighed = sizesBy{c, sizes}
		w := e.r.newWeigher(c)
		for i := range e.state.uncached {
			m := Weighed{Uncached: true}
			err := w.one(&m, e.Piece(e.Listed()+i))
			if !yield(&m, err) || err != nil {
				return
			}
		}
	}
}

// sizesBy are what the messages of a list count for by a counter, by their index; those that are
// not sent have 0.
type sizesBy struct {
	c     *tokens.Counter
	sizes []int32
}

// A weighedPart is a weighed chunk of a list, up to an error.
type weighedPart struct {
	all *[]Weighed
	err error
}

// A weigher weighs messages one after the other.
type weigher struct {
	c     *tokens.Counter
	l     *Reader
	tools map[string]string // names seen so far, by their JSON
}

func (r *Replay) newWeigher(c *tokens.Counter) *weigher {
	return &weigher{c, r.NewReader(), map[string]string{}}
}

func (w *weigher) one(out *Weighed, m *Piece) (err error) {
	out.Kind, out.Origin = m.kind, m.Origin()
	msg, size, err := w.l.Message(m)
	if err != nil {
		return err
	}
	out.Size, out.Tokens = size, w.l.weigher(w.c).Message(msg)
	w.read(out, msg)
	if m.kind == jsonl.Custom || m.kind == jsonl.HookMessage {
		var v value
		v, err = w.l.Agent(m)
		out.Hidden = string(v.Get("display")) == "false"
	}
	return err
}

// chunks weighs the shown messages of a chunk of a list, reusing memory from used.
func (w *weigher) chunks(msgs *list, used *sync.Pool) func(k int) weighedPart {
	return func(k int) (part weighedPart) {
		if part.all, _ = used.Get().(*[]Weighed); part.all == nil {
			fresh := make([]Weighed, 0, min(chunkSize, msgs.n))
			part.all = &fresh
		}
		all := (*part.all)[:0]
		for i := k * chunkSize; i < min(msgs.n, (k+1)*chunkSize) && part.err == nil; i++ {
			if m := msgs.at(i); m.Sent() {
				all = append(all, Weighed{index: i})
				if part.err = w.one(&all[len(all)-1], m); part.err != nil {
					all = all[:len(all)-1]
				}
			}
		}
		*part.all = all
		return part
	}
}

// Chunks returns the number of ranges in which Scan reads the messages.
func (e *Envelope) Chunks() int { return (e.state.msgs.n+chunkSize-1)/chunkSize + 1 }

// Scan calls read for the messages of the context by index, including those that no provider
// gets; the uncached ones come last. It processes ranges in parallel, and each range in order:
// calls for different ranges are concurrent. m is the message as a provider gets it, valid
// during the call, and nil if it is not sent. tokens is pi's estimate for a message that is not
// a user message, answer or result, counted as stored, not as sent (docs/session-format.md
// 8.3). It is 0 for those three, whose texts the caller counts.
func (e *Envelope) Scan(read func(chunk, index int, p *Piece, m *jsonl.Message, tokens int)) error {
	chunks, listed := e.Chunks(), e.Listed()
	return e.inChunks(chunks, func(l *Reader, k int) error {
		from, to := k*chunkSize, min(listed, (k+1)*chunkSize)
		if k == chunks-1 {
			from, to = listed, e.Len()
		}
		for i := from; i < to; i++ {
			if p := e.Piece(i); p.flags&omitted == 0 {
				if err := l.scan(k, i, p, read); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// inChunks calls do for each range, in parallel. Each worker has its own reader.
func (e *Envelope) inChunks(chunks int, do func(l *Reader, k int) error) error {
	return parallel.Each(chunks, func() func(int) error {
		l := e.r.NewReader()
		return func(k int) error { return do(l, k) }
	})
}

func (l *Reader) scan(chunk, index int, p *Piece, read func(int, int, *Piece, *jsonl.Message, int)) (err error) {
	estimate := 0
	if !p.kind.IsTurn() {
		if estimate, err = l.Estimate(&tokens.Pi, p); err != nil {
			return err
		}
	}
	var m *jsonl.Message
	if p.Sent() {
		m, _, err = l.Message(p)
	}
	if err == nil {
		read(chunk, index, p, m, estimate)
	}
	return err
}

// Listed returns the number of messages without the uncached ones.
func (e *Envelope) Listed() int { return e.state.msgs.n }

// Differs returns the indexes of cached messages that differ from an earlier envelope of the
// replay, including those that only one of them has. A nil earlier envelope has no messages.
func (e *Envelope) Differs(earlier *Envelope) iter.Seq[int] {
	if earlier == nil {
		return e.state.msgs.differs(&list{})
	}
	return e.state.msgs.differs(&earlier.state.msgs)
}

// Len returns the number of messages, including omitted ones; the uncached ones come last.
func (e *Envelope) Len() int { return e.state.msgs.n + len(e.state.uncached) }

// Piece returns the message at an index.
func (e *Envelope) Piece(index int) *Piece {
	if n := e.state.msgs.n; index >= n {
		return e.state.msgs.pool.at(e.state.uncached[index-n])
	}
	return e.state.msgs.at(index)
}
