package export

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
)

// The version of tables: of their columns and of what these mean.
const schemaVersion = 2

// manifestDir has the manifests of an export, one for each shard: engines skip what begins so.
const manifestDir = "_ctxtool"

// A Manifest is the first line of a manifest, which says what the tables are.
type Manifest struct {
	Schema   string `json:"schema"`   // ctxtool/export.manifest/1
	Version  int    `json:"version"`  // of the tables
	Program  string `json:"program"`  // the version of ctxtool that wrote them first
	Form     string `json:"form"`     // `parquet`, `sqlite` or `csv`
	Shard    string `json:"shard"`    // `1of1` for all sessions
	Contents bool   `json:"contents"` // there are texts
	Redacted bool   `json:"redacted"` // texts are redacted
}

// A Part is a further line of a manifest: the files of a partition that are written together, and the
// sessions in them. A later line replaces an earlier one.
type Part struct {
	Part string `json:"part"` // its name
	// still being written, or never finished, unless another line follows
	Begun  bool             `json:"begun,omitempty"`
	Inputs []Source         `json:"inputs,omitempty"` // the sessions
	Rows   map[string]int64 `json:"rows,omitempty"`   // by table
	Bytes  map[string]int64 `json:"bytes,omitempty"`  // of its files

	dirty bool // it was begun and not finished, or its files are not as they were written
}

// A Source is a session as it was when it was exported.
type Source struct {
	Session string `json:"session,omitempty"` // the key of its rows
	Path    string `json:"path"`              // absolute
	Size    int64  `json:"size"`              // bytes
	Time    int64  `json:"time,omitempty"`    // of its file, nanoseconds since 1970
	Tail    string `json:"tail,omitempty"`    // a hash of its last 4 KB

	Bases []Source `json:"bases,omitempty"` // the files that it continues, likewise
}

// keyOf returns the key of a session's rows.
func keyOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// tailSize is how much of the end of a file its hash is of, bytes.
const tailSize = 4 << 10

// look returns a session as it is now, with the hash that it had if its file has not been written to.
func look(disk sessionfmt.Disk, path string, was *Source) (now Source, err error) {
	file := path
	info, err := disk.Stat(file)
	if err != nil { // of a database
		file = filepath.Dir(path)
		if info, err = disk.Stat(file); err != nil {
			return now, err
		}
	}
	now = Source{Path: path, Size: info.Size(), Time: info.ModTime().UnixNano()}
	if was != nil && was.Size == now.Size && was.Time == now.Time {
		now.Tail = was.Tail
		return now, nil
	}
	f, err := disk.OpenRegular(file)
	if err != nil {
		return now, err
	}
	defer f.Close()
	tail := make([]byte, min(now.Size, tailSize))
	if _, err := f.ReadAt(tail, now.Size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return now, err
	}
	sum := sha256.Sum256(tail)
	now.Tail = hex.EncodeToString(sum[:8])
	return now, nil
}

// based reports whether a file that a session continues is not as it was.
func (in *Source) based(disk sessionfmt.Disk) bool {
	return slices.ContainsFunc(in.Bases, func(was Source) bool {
		now, err := look(disk, was.Path, &was)
		return err != nil || now.Size != was.Size || now.Tail != was.Tail
	})
}

// A journal is a manifest that is open for writing.
type journal struct {
	o     *Options
	name  string
	head  Manifest
	parts map[string]*Part
	names []string // of the parts, in the order in which they were made
	lines int      // in the file
	file  *os.File
}

// manifestName returns the file of a shard's manifest.
func (o *Options) manifestName() string {
	return filepath.Join(o.Dir, manifestDir, o.Shard.String()+".jsonl")
}

// readJournal reads the manifest of this shard. stale says why it is of no use, empty if it is.
func (o *Options) readJournal(head Manifest) (j *journal, stale string, err error) {
	j = &journal{o: o, name: o.manifestName(), head: head, parts: map[string]*Part{}}
	if err := o.otherShards(head); err != nil {
		return nil, "", err
	}
	data, err := o.Disk.ReadFile(j.name)
	if errors.Is(err, fs.ErrNotExist) {
		return j, "", nil
	}
	if err != nil {
		return nil, "", &sessionfmt.Error{Pos: sessionfmt.Pos{File: j.name}, Err: err}
	}
	lines := bufio.NewReader(bytes.NewReader(data))
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil { // what follows the last newline was not written to its end
			return j, "", nil
		}
		if j.lines++; j.lines == 1 {
			var was Manifest
			if json.Unmarshal(line, &was) != nil {
				return nil, "", j.fault(errors.New("not a manifest of ctxtool export"))
			}
			if stale, err = j.compare(was); stale != "" || err != nil {
				return j, stale, err
			}
			continue
		}
		var p Part
		if json.Unmarshal(line, &p) != nil {
			return nil, "", j.fault(fmt.Errorf("line %d is damaged", j.lines))
		}
		j.take(&p)
	}
}

// take takes a line of the manifest.
func (j *journal) take(p *Part) {
	was, ok := j.parts[p.Part]
	if !ok {
		j.names = append(j.names, p.Part)
	}
	if p.Begun {
		if ok {
			was.dirty = true
			return
		}
		p.dirty = true
	}
	j.parts[p.Part] = p
}

// fault returns an error about the manifest.
func (j *journal) fault(err error) error {
	return sessionfmt.Errorf("%w", err).In(j.name).Hinted("name another folder with -o, or remove this one")
}

// compare compares the first line of a manifest with that of this export. stale says what differs, so
// that all has to be exported again.
func (j *journal) compare(was Manifest) (stale string, err error) {
	now := j.head
	switch {
	case !strings.HasPrefix(was.Schema, "ctxtool/export.manifest/"):
		return "", j.fault(errors.New("not a manifest of ctxtool export"))
	case was.Form != now.Form:
		return "", j.fault(fmt.Errorf("the folder has tables as %s", sessionfmt.Quote(was.Form)))
	case was.Version > now.Version:
		return "", j.fault(
			fmt.Errorf("version %d of the tables, written by ctxtool %s, is newer than this program's %d",
				was.Version, sessionfmt.Quote(was.Program), now.Version))
	case was.Version < now.Version:
		stale = fmt.Sprintf("version %d of the tables is now %d", was.Version, now.Version)
	case was.Contents != now.Contents:
		stale = "it was exported " + with(was.Contents) + " --contents"
	case was.Redacted != now.Redacted:
		stale = "it was exported " + with(was.Redacted) + " redaction"
	}
	return stale, nil
}

func with(is bool) string {
	if is {
		return "with"
	}
	return "without"
}

// otherShards returns an error if the folder was exported to in another number of shards: sessions
// would be in two of them.
func (o *Options) otherShards(head Manifest) error {
	names, _ := filepath.Glob(filepath.Join(o.Disk.Path(o.Dir), manifestDir, "*of*.jsonl"))
	for _, name := range names {
		shard := strings.TrimSuffix(filepath.Base(name), ".jsonl")
		_, was, _ := strings.Cut(shard, "of")
		if _, of, _ := strings.Cut(head.Shard, "of"); was != of {
			return sessionfmt.Errorf("was exported in shards of %s, not of %s", was, of).In(o.Dir).
				Hinted("use --shard I/" + was + ", or another folder")
		}
	}
	return nil
}

// begin opens the manifest for writing, with the parts that will be written marked as begun. It is
// written again as a whole if it has many lines that others replace.
func (j *journal) begin(parts []string) error {
	if err := j.o.Disk.MkdirAll(filepath.Dir(j.name)); err != nil {
		return err
	}
	if j.lines == 0 || j.lines > 2*len(j.parts)+16 {
		f, err := j.o.Disk.Create(j.name)
		if err != nil {
			return err
		}
		defer f.Abort()
		lines := []any{j.head}
		for _, name := range j.names {
			if p := j.parts[name]; !p.Begun {
				lines = append(lines, p)
			}
			if j.parts[name].dirty {
				lines = append(lines, &Part{Part: name, Begun: true})
			}
		}
		if err := writeLines(f, lines...); err != nil {
			return err
		}
		if err := f.Commit(); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(j.o.Disk.Path(j.name), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	j.file = file
	if err := j.dropTorn(); err != nil {
		return err
	}
	for _, name := range parts {
		if err := writeLines(file, &Part{Part: name, Begun: true}); err != nil {
			return err
		}
	}
	return j.sync()
}

// dropTorn cuts off a last line that was not written to its end.
func (j *journal) dropTorn() error {
	data, err := j.o.Disk.ReadFile(j.name)
	if err != nil || bytes.HasSuffix(data, []byte{'\n'}) {
		return err
	}
	return j.file.Truncate(int64(bytes.LastIndexByte(data, '\n') + 1))
}

// finished records that a part is written.
func (j *journal) finished(p *Part) error {
	p.dirty = false
	if !slices.Contains(j.names, p.Part) {
		j.names = append(j.names, p.Part)
	}
	j.parts[p.Part] = p
	return writeLines(j.file, p)
}

// sync makes what was written durable.
func (j *journal) sync() error {
	if j.o.Disk.Sync != nil {
		return j.o.Disk.Sync(j.file)
	}
	return j.file.Sync()
}

// close closes the manifest once all is durable.
func (j *journal) close() error {
	return errors.Join(j.sync(), j.file.Close())
}

// writeLines writes values as lines of JSON, each at once.
func writeLines(w io.Writer, lines ...any) error {
	for _, v := range lines {
		line, err := json.Marshal(v)
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
