package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ctxtool/internal/read/store"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	_ "ctxtool/sessionfmt/sqlite" // agents that keep their sessions in databases
)

// A recording is a folder:
//
//	agent.json      the agent and its version
//	requests.jsonl  what it sent, a [Request] a line
//	events.jsonl    what each step came to
//	home            its home, with its store alone
//	steps/N/home    the same after step N, of an agent that rewrites its files
const (
	agentFile    = "agent.json"
	requestsFile = "requests.jsonl"
	eventsFile   = "events.jsonl"
	homeDir      = "home"
	stepsDir     = "steps"
)

// A played is the agent of a recording, and its version.
type played struct {
	Agent, Version string
	// Parts are those that the recording has, empty for all. Some that were made by earlier kits kept messages alone.
	Parts  []string `json:",omitempty"`
	Hidden string   `json:",omitempty"` // of its script
}

// record writes what was sent and written.
func (p *Player) record(out string) error {
	must.Do(os.MkdirAll(out, 0o755))
	labels := map[string]string{}
	for label, id := range p.sessions {
		labels[id] = label
	}
	var requests, events bytes.Buffer
	for _, q := range p.server.Log() {
		q.Session, q.Summary = or(labels[q.ID], q.Session), p.summarizes(q)
		must.Do(encode(&requests, q))
	}
	for _, e := range p.events {
		must.Do(encode(&events, e))
	}
	about := must.Get(json.Marshal(played{Agent: p.Name, Version: p.version, Hidden: p.Script.Hidden}))
	return errors.Join(os.WriteFile(filepath.Join(out, requestsFile), requests.Bytes(), 0o644),
		os.WriteFile(filepath.Join(out, eventsFile), events.Bytes(), 0o644),
		os.WriteFile(filepath.Join(out, agentFile), about, 0o644), p.copyHome(filepath.Join(out, homeDir)))
}

// copyHome copies the store of the agent. Of a database it copies what SQLite reads, in one file.
func (p *Player) copyHome(to string) error {
	for _, folder := range p.Store {
		err := filepath.WalkDir(filepath.Join(home, folder), func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // nothing is written yet, or a file of the moment
			}
			if err != nil || !d.Type().IsRegular() || isLog(name) {
				return err
			}
			at := filepath.Join(to, must.Get(filepath.Rel(home, name)))
			must.Do(os.MkdirAll(filepath.Dir(at), 0o755))
			return copyFile(name, at)
		})
		if err != nil {
			return err
		}
	}
	return os.MkdirAll(to, 0o755)
}

// isLog reports whether a file is that of a transaction, beside a database.
func isLog(name string) bool {
	return strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") || strings.HasSuffix(name, "-journal")
}

func copyFile(name, to string) error {
	var from io.ReadCloser
	if disk := (sessionfmt.Disk{}); sessionfmt.IsDatabase(disk, name) {
		if b, err := disk.BackUp(name, ""); err == nil { // else it is one of another program
			from = b
		}
	}
	if from == nil {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		from = f
	}
	defer from.Close()
	f := must.Get(os.Create(to))
	_, err := io.Copy(f, from)
	return errors.Join(err, f.Close())
}

func encode(w *bytes.Buffer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// ReadRecording returns the requests of a recording. Those of a skeleton build on earlier ones.
func ReadRecording(dir string) (all []*Request) {
	f := must.Get(os.Open(filepath.Join(dir, requestsFile)))
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Buffer(nil, 1<<26); sc.Scan(); {
		var q Request
		must.Do(json.Unmarshal(sc.Bytes(), &q))
		q.unpack(all)
		all = append(all, &q)
	}
	must.Do(sc.Err())
	return all
}

// playedBy returns the agent of a recording. Old ones do not tell.
func playedBy(dir string) (p played) {
	if data, err := os.ReadFile(filepath.Join(dir, agentFile)); err == nil {
		must.Do(json.Unmarshal(data, &p))
	}
	return p
}

// homes returns the homes of a recording: the last, and those after its steps.
func homes(dir string) []string {
	steps := must.Get(filepath.Glob(filepath.Join(dir, stepsDir, "*", homeDir)))
	return append([]string{filepath.Join(dir, homeDir)}, steps...)
}

// homeAt returns the home after a step.
func homeAt(dir string, step int) string {
	at := filepath.Join(dir, stepsDir, fmt.Sprint(step), homeDir)
	if _, err := os.Stat(at); err != nil {
		return filepath.Join(dir, homeDir)
	}
	return at
}

// sessionsIn returns the sessions in a home, those of sub-agents too, as ctxtool ls finds them. In a skeleton,
// sessions of a database are files where the database was. Programs leave empty files too.
func sessionsIn(home string) (all []string) {
	disk := sessionfmt.Disk{}
	files, err := store.Default(disk, func(string) string { return "" }, home).Parts()
	if err != nil || len(files) == 0 {
		files, _ = store.In(disk, home).Parts()
	}
	for _, f := range files {
		if info, err := os.Stat(f.Name); err != nil || info.Size() > 0 {
			all = append(all, f.Name)
		}
	}
	return all
}

// WithoutRecords copies a recording without the lines by which the program records its requests. It reports whether
// there are any; without, it copies nothing.
func WithoutRecords(dir, to string) bool {
	const record = `{"type":"api-request`
	var with []string
	for _, file := range sessionsIn(filepath.Join(dir, homeDir)) {
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte(record)) {
			with = append(with, must.Get(filepath.Rel(dir, file)))
		}
	}
	if with == nil {
		return false
	}
	must.Do(os.CopyFS(to, os.DirFS(dir)))
	for _, file := range with {
		var kept []byte
		for line := range bytes.Lines(must.Get(os.ReadFile(filepath.Join(to, file)))) {
			if !bytes.HasPrefix(line, []byte(record)) {
				kept = append(kept, line...)
			}
		}
		must.Do(os.WriteFile(filepath.Join(to, file), kept, 0o644))
	}
	return true
}

// reached returns what a recording lacks of what its script does at least.
func (least Least) reached(dir string) error {
	var errs []error
	if n := len(ReadRecording(dir)); n < least.Requests {
		errs = append(errs, fmt.Errorf("%d requests, at least %d were to be made", n, least.Requests))
	}
	if least.Compactions == 0 {
		return errors.Join(errs...)
	}
	most := 0
	for _, file := range sessionsIn(filepath.Join(dir, homeDir)) {
		s, err := sessionfmt.Open(file, sessionfmt.Options{})
		if err != nil {
			continue
		}
		n := 0
		for rec := range s.Len() {
			if kind := s.Kind(rec); kind == jsonl.Compaction || kind == jsonl.Transform {
				n++
			}
		}
		most = max(most, n)
		s.Close()
	}
	if most < least.Compactions {
		errs = append(errs, fmt.Errorf("%d compactions, at least %d were to be made", most, least.Compactions))
	}
	return errors.Join(errs...)
}
