package export

import (
	"bufio"
	"bytes"
	"ctxtool/internal/base/parallel"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

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

// writings returns the sessions of the shard, with the names of their files: by the id of each, with a number
// where another one has the same.
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

// read reads a session and writes its files. A session that cannot be read is named, without an error.
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
