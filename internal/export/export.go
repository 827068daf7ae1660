// Package export writes sessions for other programs: as tables for engines that query them, and in
// formats of exchange. A form is a line in Targets.
//
// The rows of tables are made from the facts of the lenses (stats.Facts), and one mechanism writes
// them in all forms: a struct per table, of which tags name the columns.
package export

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/body"
	"ctxtool/internal/store"
	"ctxtool/replay/ledger"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
)

// A Target is a form in which sessions are exported.
type Target struct {
	Name  string
	About string // a line for help

	// Whole reports that whole messages are written, so that sessions are read as redacted.
	Whole bool
	// Export writes sessions.
	Export func(o *Options, sessions []Input) (*Result, error)
}

// Targets are all targets; the first is the default.
var Targets = []*Target{
	{"parquet", "tables in partitions agent=/date=, for DuckDB, Spark, Trino, ClickHouse", false,
		tablesAs(parquetForm)},
	{"sqlite", "the same tables in one database", false, tablesAs(sqliteForm)},
	{"csv", "the same tables, each a file", false, tablesAs(csvForm)},
	{"atif", "a trajectory for each branch of a session, in the Agent Trajectory Interchange Format", true,
		each(trajectories)},
	{"jsonl", "requests (--as chat) or turns (--as sft) with their answers, a line each, for " +
		"evaluation and fine-tuning", true, each(lines)},
}

// Find returns the target of a name.
func Find(name string) *Target {
	if i := slices.IndexFunc(Targets, func(t *Target) bool { return t.Name == name }); i >= 0 {
		return Targets[i]
	}
	return nil
}

// Options say how sessions are exported.
type Options struct {
	Dir      string // of the output
	Contents bool   // with the texts of messages
	Shard    Shard
	Disk     sessionfmt.Disk
	Stats    stats.Options            // how sessions are read
	Text     func(text string) string // redacts a text; nil to leave it
	Says     func(err error) string   // the reason why a session cannot be read
	As       string                   // chat or sft, of the target jsonl
	Search   func(line []byte) error  // fails if a line of whole messages has a secret; nil to look for none
	Note     func(format string, args ...any)
	Progress func(done, of int64) // may be nil
	Large    func(is bool)        // called before a large session is read for tables, and after it; may be nil
}

// An Input is a session to export.
type Input struct {
	Path string // by which it is opened
	Name string // as the command line or its folder names it
}

// A Result is what was exported. It is schema ctxtool/export/1.
type Result struct {
	Schema    string           `json:"schema"`
	Dir       string           `json:"dir"`
	Sessions  int              `json:"sessions"`         // of this shard that were named
	Exported  int              `json:"exported"`         // of these, those that were read: the others have not changed
	Unread    int              `json:"unread,omitempty"` // of those, the ones that cannot be read
	Files     int              `json:"files"`            // written
	Rows      map[string]int64 `json:"rows"`             // of the whole export, by table
	Unchanged bool             `json:"unchanged"`        // nothing was written
}

// A Shard is one of several disjoint parts of sessions, by a hash of their ids.
type Shard struct{ Index, Of int }

// ParseShard reads a shard: 1/4 to 4/4.
func ParseShard(text string) (s Shard, err error) {
	index, of, _ := strings.Cut(text, "/")
	s.Index, err = strconv.Atoi(index)
	n, wrong := strconv.Atoi(of)
	if s.Of = n; cmp.Or(err, wrong) != nil || n < 1 || n > mostShards || s.Index < 1 || s.Index > n {
		return s, fmt.Errorf("%q: must be I/N, with I from 1 to N, and N at most %d",
			sessionfmt.Quote(text), mostShards)
	}
	return s, nil
}

// mostShards is how many machines may export into one folder.
const mostShards = 999

// String returns the shard as file names have it.
func (s Shard) String() string { return fmt.Sprintf("%dof%d", max(1, s.Index), max(1, s.Of)) }

// has reports whether the session of an id is in the shard.
func (s Shard) has(id string) bool {
	h := fnv.New64a()
	h.Write([]byte(id))
	return s.Of <= 1 || h.Sum64()%uint64(s.Of) == uint64(s.Index-1)
}

// program returns the version of the program that exports.
func program() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return cmp.Or(info.Main.Version, "unknown")
}

// errNone is the error if there is nothing to export.
var errNone = errors.New("no sessions to export")

// A writing writes the files of one session.
type writing struct {
	*Options
	in     Input
	name   string // of its files, without what ends them
	why    string // it cannot be read
	result Result
}

// each returns the function that exports every session to files of its own, each complete or not there.
func each(write func(w *writing, f *stats.Facts) error) func(o *Options, sessions []Input) (*Result, error) {
	return func(o *Options, sessions []Input) (*Result, error) {
		out := &Result{Schema: "ctxtool/export/1", Dir: o.Dir, Rows: map[string]int64{}}
		if err := o.Disk.MkdirAll(o.Dir); err != nil {
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: o.Dir}, Err: err}
		}
		done, all := int64(0), o.writings(sessions)
		err := parallel.Ordered(all, func(w *writing) (*writing, error) { return w, w.read(write) },
			func(w *writing, _ bool) error {
				if out.Sessions++; w.why != "" {
					w.Note("%s: %s", w.in.Name, w.why)
				}
				out.Exported += w.result.Exported
				out.Unread += w.result.Unread
				out.Files += w.result.Files
				for name, n := range w.result.Rows {
					out.Rows[name] += n
				}
				if done++; o.Progress != nil {
					o.Progress(done, int64(len(all)))
				}
				return nil
			})
		if err == nil && out.Exported == 0 && out.Unread > 0 {
			err = errors.New("no file could be read as a session")
		}
		out.Unchanged = out.Files == 0
		return out, err
	}
}

// writings are the sessions of the shard, with the names of their files: by the id of each, with a
// number where another one has the same.
func (o *Options) writings(sessions []Input) (all []*writing) {
	taken := map[string]int{}
	for _, in := range sessions {
		id := store.ReadHeader(o.Disk, in.Path).ID
		if id == "" {
			id = filepath.Base(in.Path)
		}
		if !o.Shard.has(id) {
			continue
		}
		name := strings.Map(func(c rune) rune {
			if strings.ContainsRune(`/\:*?"<>|`, c) || c < ' ' {
				return '_'
			}
			return c
		}, strings.TrimLeft(id, "."))
		key := strings.ToLower(name)
		if taken[key]++; taken[key] > 1 {
			name += fmt.Sprintf("~%d", taken[key])
		}
		all = append(all, &writing{Options: o, in: in, name: name})
	}
	return all
}

// read reads a session and writes its files. One that cannot be read is named, and is no error.
func (w *writing) read(write func(w *writing, f *stats.Facts) error) (failed error) {
	w.result.Rows = map[string]int64{}
	err := w.Stats.Facts(w.in.Path, func(f *stats.Facts) error {
		w.result.Exported++
		failed = write(w, f)
		return failed
	})
	if err != nil && failed == nil {
		w.why = w.Says(err)
		w.result.Unread++
	}
	return failed
}

// create writes a file of the session, and none if nothing is written.
func (w *writing) create(end string, write func(to *bufio.Writer) error) error {
	file, err := w.Disk.Create(filepath.Join(w.Dir, w.name+end), w.in.Path)
	if err != nil {
		return err
	}
	to := &searched{Writer: file, search: w.Search}
	out := bufio.NewWriter(to)
	err = write(out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil || to.size == 0 {
		file.Abort()
		if errors.Is(err, errNone) {
			err = nil
		}
		return err
	}
	w.result.Files++
	return file.Commit()
}

// A searched writer passes complete lines on once they have been searched.
type searched struct {
	io.Writer
	search func(line []byte) error
	line   []byte // that is not complete
	size   int64
}

func (s *searched) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	end := bytes.LastIndexByte(p, '\n') + 1
	if s.search == nil {
		return s.Writer.Write(p)
	}
	s.line = append(s.line, p...)
	if end == 0 {
		return len(p), nil
	}
	whole := s.line[:len(s.line)-len(p)+end]
	if err := s.search(whole); err != nil {
		return 0, err
	}
	_, err := s.Writer.Write(whole)
	s.line = append(s.line[:0], p[end:]...)
	return len(p), err
}

// Forms of lines.
const (
	AsChat = "chat" // a request and its answer
	AsSFT  = "sft"  // a turn: the context at its end, of which only its own answers are to be learned
)

// lines writes the requests of a session, or the turns, of all branches in the order of the file. Those
// that failed are left out, and in turns those that call tools, which go on.
func lines(w *writing, f *stats.Facts) error {
	calls := map[int32]*stats.Call{}
	for i := range f.Calls {
		if c := &f.Calls[i]; c.Kind == "answer" {
			calls[int32(c.Record)] = c
		}
	}
	return w.create(".jsonl", func(out *bufio.Writer) error {
		reader := f.Replay.NewReader()
		for k := range f.Book.Requests {
			q := &f.Book.Requests[k]
			if !q.Known() || q.Warms || q.Failed {
				continue
			}
			own := f.Replay.Own(int(q.Record))
			raw, err := reader.Agent(own)
			if err != nil {
				return err
			}
			m := raw.Message()
			answer := body.ChatAnswer(m)
			if answer == nil || w.As == AsSFT && answer["tool_calls"] != nil {
				continue
			}
			about := object{
				"session": f.Report.ID, "entry": f.Session.ID(int(q.Record)), "request": q.Number, "model": modelOf(m),
				"stop_reason": m.Stop.Text(),
			}
			if c := calls[q.Record]; c != nil {
				about["prompt_tokens"], about["completion_tokens"] = c.Usage.Prompt(), c.Usage.Output
				if c.Source != "" {
					about["cost_usd"] = c.Cost
				}
			}
			if err := w.line(out, f, q, answer, about); err != nil {
				return err
			}
			w.result.Rows["lines"]++
		}
		return nil
	})
}

// line writes a line.
func (w *writing) line(out *bufio.Writer, f *stats.Facts, q *ledger.Request, answer, about object) error {
	e, err := f.Replay.At(sessionfmt.Before(int(q.Record)))
	if err != nil {
		return err
	}
	messages, tools, err := body.Chat(e)
	if err != nil {
		return err
	}
	turn := 0 // where what is to be learned begins
	if w.As == AsSFT {
		if turn, err = lastPrompt(messages); err != nil {
			return err
		}
	}
	out.WriteString(`{"messages":[`)
	at := 0
	for item, err := range messages {
		if err != nil {
			return err
		}
		m := item.(object)
		if w.As == AsSFT && at < turn && m["role"] == jsonl.Assistant.Role() {
			m["weight"] = 0
		}
		if err := put(out, m, ","); err != nil {
			return err
		}
		at++
	}
	if err := put(out, answer, "]"); err != nil {
		return err
	}
	if tools != nil {
		out.WriteString(`,"tools":`)
		if err := put(out, tools, ""); err != nil {
			return err
		}
	}
	out.WriteString(`,"metadata":`)
	return put(out, about, "}\n")
}

// lastPrompt returns the index of the last prompt of the user among messages.
func lastPrompt(messages func(yield func(any, error) bool)) (last int, failed error) {
	at := 0
	for item, err := range messages {
		if err != nil {
			return 0, err
		}
		if item.(object)["role"] == jsonl.User.Role() {
			last = at
		}
		at++
	}
	return last, nil
}

// put writes a value as JSON, and what follows it.
func put(out *bufio.Writer, v any, after string) error {
	b, err := body.JSON(v)
	if err != nil {
		return fmt.Errorf("as JSON: %w", err)
	}
	out.Write(b)
	_, err = out.WriteString(after)
	return err
}
