// Package search finds texts in sessions, in gsh's shell history and in logs.
//
// A search looks at the raw bytes of files first, and opens only those that can hold a match.
// What it keeps of a match is a few numbers; the sessions that are shown are opened again for
// their excerpts, redacted if that is asked for.
//
// # The gate
//
// Of each word, the gate takes the longest part whose characters JSON spells as themselves, and looks
// for its rarest two bytes, 32 at a time with AVX2 and 8 at a time without; the parts of a large file
// by all CPUs. Such a character can also be an escape (\u0065, \/); if an escape spells one of them,
// the gate is open. A file whose gate stays closed is not opened as a session, and a line whose gate
// stays closed is not decoded. A test compares the results with those without a gate.
//
// # Hits
//
// A hit is kept in 32 bytes: record, time, size, score, and a hash of the texts of the message. Hits
// with one hash are folded, an eighth of the hashes at a time; the earliest stays. So a common word in
// a store of 1 GB takes 64 MB. An excerpt is made of the redacted text, and a hit that redaction has
// removed is not shown.
//
// # Ranking
//
// Scores are BM25 over messages, with lengths in bytes. A word of a query matches where a word begins
// and at most three letters follow. If they are an ending such as -s or -ing, or none, the word itself
// is found. Both are counted while the texts are read; afterwards, a word that some message has itself
// is not found in longer words (pro in prompt), and messages with none of the words themselves come
// last. That costs no second pass, and a word that no message has itself is still found in longer
// ones.
//
// --rank hybrid compares the 1,024 messages that BM25 ranks first, and keeps the five best. Their
// texts are read again, redacted if that is asked for, and passed to the command 256 at a time.
// Vectors are compared by brute force, and kept in one file in the user's cache folder, by the hash of
// command and text.
package search

import (
	"bytes"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/lens/redact"
	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A File is a file to search.
type File struct {
	Name  string // to open it
	Given string // in results
	Ref   string // as a command takes it
}

// Options configure a search. The zero value finds everything.
type Options struct {
	Query  *Query // nil matches everything
	Source string // one of Sources; empty for each file what it is
	Filter Filter
	Open   sessionfmt.Options
	Rules  replay.Rules     // for Filter.InContext
	Redact *redact.Redactor // redacts results; nil for none
	Most   int              // events that are kept, the newest; 0 for all
	// Done, if set, is called with the number of files searched so far.
	Done func(files, of int64)

	task *wanted // of sessions that are looked for, instead of the hits of Query
}

// A Filter selects what is searched.
type Filter struct {
	Kinds     []string // of entries; see jsonl.KindNames
	Roles     []string // see Roles
	Tools     []string // calls and results of these tools
	Model     string   // answers of models whose name contains it
	Project   string   // where the name of the folder contains it
	CWD       string   // where the folder begins with it
	Since     int64    // entries, in milliseconds since 1970
	Until     int64    // the last millisecond; 0 for no limit
	Exit      *int     // commands with that exit status; AnyFailure for every one that failed
	Event     string   // one of Events
	PathOnly  bool     // only entries on the path to the leaf
	InContext bool     // only entries that a request had
}

// AnyFailure is the exit status that stands for all but 0.
const AnyFailure = -1

// exits reports whether a call with that exit status is selected: nil if it is not recorded.
func (f *Filter) exits(code *int, failed bool) bool {
	return f.Exit == nil || code != nil && *code == *f.Exit || *f.Exit == AnyFailure && failed
}

// at reports whether a time is selected. ok is false if it is not known.
func (f *Filter) at(ms int64, ok bool) bool {
	return f.Since == 0 && f.Until == 0 || ok && ms >= f.Since && (f.Until == 0 || ms <= f.Until)
}

// in reports whether what is in a folder is selected.
func (f *Filter) in(cwd string) bool {
	return strings.HasPrefix(cwd, f.CWD) && strings.Contains(cwd, f.Project)
}

// Schema is that of a Hit.
const Schema = "ctxtool/search/1"

// A Hit is an entry, a command or an event that matches, in schema ctxtool/search/1.
type Hit struct {
	Schema  string `json:"schema"`
	Source  string `json:"source"` // `sessions`, `shell_history`, `logs`
	File    string `json:"file"`
	Line    int    `json:"line"`              // in the file, from 1; in a document, number of the event or message
	Session string `json:"session,omitempty"` // its id
	ID      string `json:"id,omitempty"`      // of the entry
	Time    string `json:"time,omitempty"`    // of the entry, as in the file
	Kind    string `json:"kind,omitempty"`    // the role of a message, else the type of the entry
	// what the text is: `prompt`, `answer`, `thinking`, `call`, `result`, `summary`, `system`, `error`, `name`,
	// `label`, `patch`, `custom`
	Where  Where   `json:"where,omitempty"`
	Tool   string  `json:"tool,omitempty"`   // of a call or result
	CWD    string  `json:"cwd,omitempty"`    // the folder of the session or command
	Text   string  `json:"text,omitempty"`   // the words around the match
	From   int     `json:"from"`             // where the match begins in `text`, bytes
	To     int     `json:"to"`               // where it ends
	Score  float64 `json:"score,omitempty"`  // its rank; higher is better
	Copies int     `json:"copies,omitempty"` // entries with the same text that are not listed
	Event  *Event  `json:"event,omitempty"`  // a command of a shell history, or an event of a log

	CutBefore, CutAfter bool `json:"-"` // the text begins, ends with "..."

	longer bool // a word of the query is in longer words only
}

// A Session is a session with hits.
type Session struct {
	File          File
	outline.About        // its name and first prompt once its hits are read
	Time          string // of its last entry
	Messages      int    // prompts, answers and results
	Hits          []Hit
	More          int // hits that are not among them

	found     []found
	counts    []uint8     // of the matches of each term in each of found, if the query is ranked
	unindexed bool        // found are known by the offsets of their lines
	sound     os.FileInfo // of a file without damage, before it was searched; else nil
	texts     []string    // of found, while they are compared
	last      int64
	score     float32
}

// A found is a hit in a session, before its text is read again. There may be a million, so it is
// small.
type found struct {
	at     int64 // its record, or the offset of its line
	copies int32
	size   int32   // bytes of text
	score  float32 // see Results.rank
	time   int64   // milliseconds since 1970
	key    uint64  // a hash of the text
}

// A Broken is a file that could not be searched.
type Broken struct {
	File string
	Err  error
}

// Results are what a search found.
type Results struct {
	Query    string
	Sessions []*Session // the best or newest first; their Hits are not read yet
	Events   []Hit      // of histories and logs, the newest first
	Happened int        // events, also those that are not kept
	Found    int        // hits in sessions, without copies
	Copies   int        // hits that are folded into others
	Files    int        // that were searched
	Broken   []Broken

	Compared, Uncompared int // messages that Hybrid compared, and those that it left out since others fit better

	Shown int // hits that Read has yielded so far

	opt *Options
	idf []float64 // of each term
}

// A searched is what a file contributes.
type searched struct {
	session *Session
	events  events
	task    *TaskSession
	lines   int64
	err     error
}

// A searcher searches one file after the other.
type searcher struct {
	opt    *Options
	query  *Query
	buf    []byte
	header jsonl.Value // of the file; see currentHeader
	doc    doc
	ses    *sessionfmt.Session // of the doc, while its texts are read again
	begun  int64               // when the session began, the time of entries without one

	counts []uint8 // of the terms in the last message, if the query is ranked
}

func newSearcher(opt *Options) *searcher {
	s := &searcher{opt: opt, query: opt.Query}
	if s.query.Ranked {
		s.counts = make([]uint8, len(s.query.terms))
	}
	return s
}

// Run searches files, on all CPUs.
func Run(files []File, opt Options) *Results {
	if opt.Query == nil {
		opt.Query = &Query{}
	}
	out, lines, all := &Results{opt: &opt}, int64(0), events{most: opt.Most}
	for one := range out.each(files) {
		lines += one.lines
		all.add(&one.events)
		if one.session != nil && len(one.session.found) > 0 {
			out.Sessions = append(out.Sessions, one.session)
		}
	}
	out.Events, out.Happened = all.list()
	out.wholly()
	out.fold()
	out.rank(lines)
	return out
}

// each searches files, on all CPUs, and yields what each contributes, in their order.
func (r *Results) each(files []File) iter.Seq[*searched] {
	return func(yield func(*searched) bool) {
		opt, done, workers := r.opt, int64(0), runtime.GOMAXPROCS(0)
		r.Query, r.Files = opt.Query.Text, len(files)
		for one := range parallel.InOrder(len(files), workers, 4*workers, func() func(k int) *searched {
			s := newSearcher(opt)
			s.buf = make([]byte, windowSize)
			return func(k int) *searched { return s.file(files[k]) }
		}) {
			if one.err != nil {
				r.Broken = append(r.Broken, Broken{files[done].Given, one.err})
			}
			if done++; opt.Done != nil {
				opt.Done(done, int64(len(files)))
			}
			if !yield(one) {
				return
			}
		}
	}
}

// file searches a file by the first source of the table that it is.
func (s *searcher) file(f File) (out *searched) {
	out = &searched{events: events{most: s.opt.Most}}
	s.header, s.begun = nil, 0
	if f.Name == "-" {
		out.err = s.sessionOrEvents(f, out)
		return out
	}
	in, err := s.opt.Open.Disk.Open(f.Name)
	if err != nil {
		out.err = err
		if sessionfmt.IsDatabase(s.opt.Open.Disk, filepath.Dir(f.Name)) {
			out.err = nil // a session of it has no bytes to look at
			if src := &sources[len(sources)-1]; src.has(s.opt) {
				out.err = src.search(s, f, out)
			}
		}
		return out
	}
	defer in.Close()
	n, err := in.ReadAt(s.buf[:sniffSize], 0)
	if n == 0 {
		if err != io.EOF {
			out.err = err
		}
		return out
	}
	head := s.buf[:n]
	first := firstObject(head)
	s.header = currentHeader(first)
	for i := range sources {
		src := &sources[i]
		if !src.is(first) {
			continue
		}
		if !src.has(s.opt) {
			return out
		}
		compressed := bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
		if !compressed && s.opt.Source != InHistory {
			if look := s.look(in); look.err != nil || !look.may {
				out.lines, out.err = look.lines, look.err
				return out
			}
		}
		out.err = src.search(s, f, out)
		return out
	}
	return out
}

// sniffSize is how many bytes of a file tell what it is.
const sniffSize = 16 << 10

// firstObject returns the first line of a file that is an object, nil if there is none. For a document on
// several lines, or a single truncated line, it returns an object of the complete fields.
func firstObject(head []byte) jsonl.Value {
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		if v, err := jsonl.ParseValue(line); err == nil && v.IsObject() {
			return v
		}
		if line = bytes.TrimSpace(line); string(line) == "{" ||
			jsonl.Blank(rest) && bytes.HasPrefix(line, []byte{'{'}) {
			return beginning(head)
		}
		head = rest
	}
	return nil
}

// A source is a kind of file.
type source struct {
	is     func(first jsonl.Value) bool // by its first object
	views  []string                     // the sources that it is searched as
	search func(s *searcher, f File, out *searched) error
}

// The names of sources.
const (
	InSessions = "sessions"
	InHistory  = "shell_history"
	InLogs     = "logs"
)

// Sources are the names of the sources, for help.
var Sources = []string{InSessions, InHistory, InLogs, "all"}

// sources tell files apart by their content. The first that fits counts.
var sources = []source{
	{isHistory, []string{InHistory}, (*searcher).history},
	{isLog, []string{InLogs}, (*searcher).log},
	{isDocument, []string{InLogs}, (*searcher).document},
	{func(jsonl.Value) bool { return true }, []string{InSessions, InHistory, InLogs}, (*searcher).sessionOrEvents},
}

func (src *source) has(opt *Options) bool {
	return opt.Source == "" || slices.Contains(src.views, opt.Source)
}

// Read yields the sessions with hits, at most limit of them, each with at most each hits; 0
// for all. It opens their files again. Hits that redaction has removed are left out.
func (r *Results) Read(limit, each int) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		all := r.Sessions
		if limit > 0 {
			all = all[:min(len(all), limit)]
		}
		for _, s := range r.Sessions[len(all):] {
			s.found = nil
		}
		for g, err := range r.again(all, func(s *searcher, g *Session) error { return s.read(g, each, r) }) {
			r.Shown += len(g.Hits)
			if !yield(g, err) || err != nil {
				return
			}
			g.Hits = nil
		}
	}
}

// again reads sessions again, on all CPUs, and yields them in order.
func (r *Results) again(all []*Session, read func(s *searcher, g *Session) error) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		workers, k := runtime.GOMAXPROCS(0), 0
		for err := range parallel.InOrder(len(all), workers, workers, func() func(int) error {
			s := newSearcher(r.opt)
			return func(k int) error { return read(s, all[k]) }
		}) {
			if !yield(all[k], err) {
				return
			}
			k++
		}
	}
}
