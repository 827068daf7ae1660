package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"ctxtool/render"
	"ctxtool/sessionfmt"
)

// A remaking is what the commands share that make files anew: repair and migrate.
// Without -o and --write they say what they would do.
type remaking struct {
	answer
	name       string // of the command
	write      bool
	quarantine string
	// plan plans to make an open session anew; the second result frees what that holds.
	plan func(s *sessionfmt.Session) (*render.Remake, func(), error)
}

// remakeHelp says what remaking does, for help texts.
const remakeHelp = "Without -o or --write it prints the plan. -o writes the new file to FILE, to\n" +
	"standard output (-), or for several sessions into a folder. --write puts it in\n" +
	"place of the session, and keeps the original as NAME.orig-N. What is no entry\n" +
	"and cannot stay goes, byte for byte, to NAME.quarantine-N beside the new file.\n"

func (m *remaking) flags(cmd *cobra.Command) {
	var forms []string
	for _, f := range render.RemakeForms {
		forms = append(forms, f.Name)
	}
	m.answer.flags(cmd, forms...)
	f := cmd.Flags()
	f.Lookup("format").Usage = "`FORM` of the plan: text, json, diff"
	f.Lookup("output").Usage = "write the new session to `FILE`, - for standard output, or into a folder"
	f.BoolVar(&m.write, "write", false, "put the new file in place of the session, and keep the original")
	f.StringVar(&m.quarantine, "quarantine", "", "put what is no entry into this new `FILE`")
}

// run makes the sessions anew that the arguments name.
func (m *remaking) run(e *env, args []string) error {
	files, err := e.sessions(args)
	if err != nil {
		return usage(err)
	}
	folder := false
	if info, err := e.disk.Stat(m.output); err == nil {
		folder = info.IsDir()
	}
	many := len(files) != 1 || len(args) == 1 && e.isDir(args[0])
	switch {
	case m.write && m.output != "" && (many || !e.sameFile(m.output, files[0].path)):
		return usagef("--write puts the new file in the session's place, and -o elsewhere: choose one")
	case many && m.output != "" && !folder:
		return usagef("-o %s: several sessions go into a folder that is there", m.output)
	case many && m.quarantine != "":
		return usagef("--quarantine names a file for one session")
	case many && m.format == "diff":
		return usagef("-f diff is for one session")
	}
	if many && m.output != "" {
		if err := m.apart(e, files); err != nil {
			return usage(err)
		}
	}
	switch {
	case len(files) == 0:
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: args[0]}, Err: errors.New("there is no session in it")}
	case !many:
		return m.one(e, files[0], folder)
	}
	all := inParallel(e, files, func(f listedFile, _ func(done, size int64)) *render.Remake {
		return m.batch(e, f)
	})
	if err := e.report(m.output, func(w *bufio.Writer) error {
		if m.format == "json" {
			return render.WriteRemakesJSON(w, "ctxtool/"+m.name+"/1", all)
		}
		return render.WriteRemakes(w, all, e.width(""))
	}); err != nil {
		return err
	}
	return firstError(all, func(r *render.Remake) (file, text string) { return r.File, r.Error })
}

// firstError is the error of a batch: the first one of its sessions, and how many more
// there are. What each of them has is in the table.
func firstError[T any](all []T, of func(T) (file, text string)) error {
	failed := slices.DeleteFunc(slices.Clone(all), func(r T) bool { _, text := of(r); return text == "" })
	if len(failed) == 0 {
		return nil
	}
	more := ""
	if len(failed) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(failed)-1)
	}
	file, text := of(failed[0])
	return &sessionfmt.Error{Pos: sessionfmt.Pos{File: file}, Err: errors.New(text + more)}
}

// apart sees that the new files of several sessions do not meet in the folder that
// they go to, and that none of them is one of the sessions.
func (m *remaking) apart(e *env, files []listedFile) error {
	inputs, outs := map[string]string{}, map[string]string{}
	for _, f := range files {
		inputs[e.realName(f.path)] = f.given
	}
	for _, f := range files {
		out := e.realName(filepath.Join(m.output, f.out))
		switch in, other := inputs[out], outs[out]; {
		case in == f.given:
			return &sessionfmt.Error{
				Pos: sessionfmt.Pos{File: m.output}, Err: fmt.Errorf("-o names the folder of the session %s", sessionfmt.Clean(in)),
				Hint: "--write puts the new file in its place, and keeps the original",
			}
		case in != "":
			return fmt.Errorf("-o %s: the new %s would be written over the session %s", m.output, sessionfmt.Clean(f.given), sessionfmt.Clean(in))
		case other != "":
			return fmt.Errorf("-o %s: %s and %s would both become %s", m.output, sessionfmt.Clean(other), sessionfmt.Clean(f.given), sessionfmt.Clean(f.out))
		}
		outs[out] = f.given
	}
	return nil
}

// realName is a name by which a file is known again, whether it is there or only
// its folder is.
func (e *env) realName(name string) string {
	name = e.disk.Path(name)
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		if real, err = filepath.EvalSymlinks(filepath.Dir(name)); err != nil {
			real = filepath.Dir(name)
		}
		real = filepath.Join(real, filepath.Base(name))
	}
	if abs, err := filepath.Abs(real); err == nil {
		return abs
	}
	return real
}

func (e *env) isDir(name string) bool {
	info, err := e.disk.Stat(name)
	return err == nil && info.IsDir()
}

// batch makes one session of several anew. Its error is in the result.
func (m *remaking) batch(e *env, f listedFile) *render.Remake {
	r := &render.Remake{Schema: "ctxtool/" + m.name + "/1", File: f.given}
	err := m.session(e, f, 1, func(s *sessionfmt.Session, plan *render.Remake) error {
		r = plan
		out := ""
		if m.output != "" {
			out = filepath.Join(m.output, f.out)
			if err := e.disk.MkdirAll(filepath.Dir(out)); err != nil {
				return err
			}
		}
		return m.put(e, s, r, f.path, out, true)
	})
	if err != nil {
		r.Error = reason(err)
	}
	r.Changes, r.ID = nil, nil // they hold the session
	return r
}

// one makes a single session anew, and prints the plan or what was done.
func (m *remaking) one(e *env, f listedFile, folder bool) error {
	return m.session(e, f, 0, func(s *sessionfmt.Session, r *render.Remake) error {
		out := m.output
		if folder {
			out = filepath.Join(out, f.out)
		}
		if err := m.put(e, s, r, f.path, out, folder); err != nil {
			return err
		}
		k := slices.IndexFunc(render.RemakeForms, func(f render.RemakeForm) bool { return f.Name == m.format })
		return e.report(m.output, func(w *bufio.Writer) error { return render.RemakeForms[k].Write(w, r) })
	})
}

// session opens a session, plans, and hands both to use.
func (m *remaking) session(e *env, f listedFile, workers int, use func(*sessionfmt.Session, *render.Remake) error) error {
	s, err := sessionfmt.Open(f.path, sessionfmt.Options{Stdin: e.stdin, Disk: e.disk, Workers: workers, Times: true})
	if err != nil {
		return err
	}
	defer s.Close()
	r, free, err := m.plan(s)
	if err != nil {
		return err
	}
	defer free()
	r.Schema, r.File = "ctxtool/"+m.name+"/1", f.given
	r.ID = func(rec int) string {
		if !s.Kind(rec).IsEntry() {
			return ""
		}
		return s.ID(rec)
	}
	return use(s, r)
}

// put writes the new file where the flags want it: to out, packed as the session
// is where out is in a folder, or in the session's place.
func (m *remaking) put(e *env, s *sessionfmt.Session, r *render.Remake, in, out string, pack bool) error {
	if out == "" && !m.write || m.write && r.Same {
		for _, err := range r.Counted {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if !m.write && out != "-" && e.sameFile(out, in) {
		return &usageError{&sessionfmt.Error{Pos: sessionfmt.Pos{File: out}, Err: errors.New("-o names the session itself"), Hint: "--write puts the new file in its place, and keeps the original"}}
	}
	q, err := m.quarantineFor(e, in, out)
	if err != nil {
		return err
	}
	defer q.abort()
	write := func(w io.Writer) error { return sessionfmt.Rewrite(r.Counted, w, q) }
	switch {
	case m.write:
		r.Kept, err = s.Replace(sessionfmt.AppendOptions{Who: "ctxtool " + m.name}, q.before(write))
		r.Written = in
	case out == "-":
		w := bufio.NewWriterSize(e.stdout, 64<<10)
		err = errors.Join(q.before(write)(w), w.Flush())
	default:
		err = e.place(out, func(w io.Writer) error {
			if pack {
				return s.Pack(w, q.before(write))
			}
			return q.before(write)(w)
		})
		r.Written = out
	}
	if err != nil {
		r.Written = ""
		return err
	}
	if q.file != nil {
		r.Quarantine = q.name
	}
	q.keep()
	return nil
}

// place writes a file, whole or not at all.
func (e *env) place(name string, write func(w io.Writer) error) error {
	f, err := e.disk.Create(name)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// A quarantine is the file of what is no entry. It is made when the first of that
// comes.
type quarantine struct {
	disk sessionfmt.Disk
	name string
	file *sessionfmt.NewFile
	done bool
}

// quarantineFor is the quarantine of a session, beside the new file.
func (m *remaking) quarantineFor(e *env, in, out string) (*quarantine, error) {
	if m.quarantine != "" {
		if out != "" && out != "-" && e.realName(m.quarantine) == e.realName(out) {
			return nil, &usageError{&sessionfmt.Error{Pos: sessionfmt.Pos{File: m.quarantine}, Err: errors.New("--quarantine names the new session, which would take its place")}}
		}
		if _, err := e.disk.Lstat(m.quarantine); err == nil {
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: m.quarantine}, Err: errors.New("is there already: the quarantine is a new file")}
		}
		return &quarantine{disk: e.disk, name: m.quarantine}, nil
	}
	beside := out
	switch {
	case m.write:
		beside = in
	case out == "-" && in == "-":
		beside = "stdin"
	case out == "-":
		beside = filepath.Base(in)
	}
	return &quarantine{disk: e.disk, name: e.disk.FreeName(beside, "quarantine")}, nil
}

// Write adds to the quarantine.
func (q *quarantine) Write(p []byte) (n int, err error) {
	if q.file == nil {
		if q.file, err = q.disk.Create(q.name); err != nil {
			return 0, err
		}
	}
	return q.file.Write(p)
}

// before is a writer of the new file that has the quarantine on the disk when it
// is done: what leaves the session is elsewhere before the session is replaced.
func (q *quarantine) before(write func(w io.Writer) error) func(w io.Writer) error {
	return func(w io.Writer) error {
		if err := write(w); err != nil || q.file == nil {
			return err
		}
		return q.file.Commit()
	}
}

func (q *quarantine) keep() { q.done = true }

// abort removes the quarantine of a file that was not written.
func (q *quarantine) abort() {
	if q.file != nil && !q.done {
		q.file.Abort()
		q.disk.Remove(q.name)
	}
}
