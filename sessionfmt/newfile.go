package sessionfmt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"ctxtool/internal/base/lazy"
)

var (
	errNotRegular = errors.New("not a regular file")
	errDangling   = errors.New("dangling symlink")
)

// A NewFile is written atomically: it appears under its name complete, or not at all. Until Commit its data is
// in a buffer and in a temporary file in the same folder.
type NewFile struct {
	name string // as given, for messages
	real string // with symbolic links resolved
	mode fs.FileMode
	old  fs.FileInfo // the file that it replaces; nil if the name is free
	time time.Time   // modification time to set; the zero time means now
	temp *os.File
	disk Disk
	buf  *bufio.Writer
}

// Create starts a file with that name. An existing file must be a regular file. Symbolic links are followed;
// mode and owner are kept as far as the process may. A new file gets 0644 minus the umask, and grants others no
// more than the existing files of do, from which it is made. The error is an *Error.
func (d Disk) Create(name string, of ...string) (*NewFile, error) {
	f := &NewFile{name: name, mode: 0o644, disk: d}
	info, err := d.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, atFile(f.name, errNotRegular)
	case err == nil:
		f.old, f.mode = info, info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, atFile(f.name, err)
	}
	for _, in := range of {
		if info, err := d.Stat(in); f.old == nil && err == nil && filepath.Dir(in) == filepath.Dir(name) {
			f.mode &= info.Mode().Perm() | 0o600
		}
	}
	if f.real, err = d.resolveLinks(name); err != nil {
		return nil, atFile(f.name, err)
	}
	sweep(filepath.Dir(d.Path(f.real)), "."+filepath.Base(f.real)+".", justMade)
	if f.temp, err = createTemp(d.Path(f.real), f.mode); err != nil {
		return nil, atFile(f.name, err)
	}
	d.temporary(f.temp.Name(), true)
	f.buf = bufio.NewWriterSize(f.temp, 64<<10)
	return f, nil
}

// resolveLinks returns the target of name, since a rename would replace a symbolic link instead of its target,
// and two names of one file must share a lock.
func (d Disk) resolveLinks(name string) (string, error) {
	info, err := d.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return name, nil
	}
	real, err := filepath.EvalSymlinks(d.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		err = errDangling
	}
	return real, err
}

// createTemp makes a temporary file in the folder of name. os.CreateTemp would use the mode
// 0600, and the umask, which a new file has to respect, can only be learned by creating a file.
func createTemp(name string, mode fs.FileMode) (*os.File, error) {
	for {
		temp := fmt.Sprintf("%s.%08x", filepath.Join(filepath.Dir(name), "."+filepath.Base(name)), rand.Uint32())
		f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			hold(f) // a lock tells other processes that the file is in use
		}
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Files younger than this may be in use although no process holds them: a temporary file is held only after it
// is created, the copy of a database only once SQLite opens it.
const justMade, justCopied = 2 * time.Second, time.Minute

// sweep removes temporary files of processes that were killed: files whose names begin with prefix and continue
// with 8 hex digits or a suffix of copies, that are old enough, and that no process holds.
func sweep(dir, prefix string, young time.Duration) {
	for _, entry := range temporaries(dir) {
		rest, ok := strings.CutPrefix(entry.Name(), prefix)
		if !ok || !entry.Type().IsRegular() || temporaryEnd().FindString(rest) != rest {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < young {
			continue
		}
		f, err := os.OpenFile(name, os.O_RDWR|noFollow|noWait, 0)
		if err != nil {
			continue
		}
		if now, err := f.Stat(); err == nil && os.SameFile(info, now) && hold(f) {
			os.Remove(name)
		}
		f.Close()
	}
}

// listed caches the temporary files of the last folder, for callers that create many files in it.
var listed struct {
	sync.Mutex
	dir string
	at  time.Time
	all []os.DirEntry
}

// temporaries returns the files of a folder whose names are those of temporary files, without some that are
// young.
func temporaries(dir string) []os.DirEntry {
	listed.Lock()
	defer listed.Unlock()
	if now := time.Now(); listed.dir != dir || now.Sub(listed.at) > justMade {
		all, _ := os.ReadDir(dir)
		listed.dir, listed.at = dir, now
		listed.all = slices.DeleteFunc(all, func(f os.DirEntry) bool { return !temporaryEnd().MatchString(f.Name()) })
	}
	return listed.all
}

// temporaryEnd is the name suffix of temporary files.
var temporaryEnd = lazy.Regexp(`(?:[0-9a-f]{8}|[0-9]+\.db(?:-wal|-shm)?)$`)

// Write adds to the file. Commit returns any earlier error.
func (f *NewFile) Write(p []byte) (int, error) {
	n, err := f.buf.Write(p)
	return n, atFile(f.name, err)
}

// Like gives the file the modification time of another one, and grants nobody more than that one does.
func (f *NewFile) Like(info fs.FileInfo) {
	f.narrow(info.Mode().Perm())
	f.time = info.ModTime()
}

// Private grants the file to nobody but its owner.
func (f *NewFile) Private() { f.narrow(0) }

// narrow grants others no more than a mode, from now on. What the umask removed stays removed.
func (f *NewFile) narrow(mode fs.FileMode) {
	f.mode &= mode | 0o600
	if info, err := f.temp.Stat(); err == nil {
		f.temp.Chmod(info.Mode().Perm() & f.mode)
	}
}

// Written returns a reader of what was written so far, from the disk.
func (f *NewFile) Written() (*io.SectionReader, error) {
	err := f.buf.Flush()
	if err != nil {
		return nil, atFile(f.name, err)
	}
	info, err := f.temp.Stat()
	if err != nil {
		return nil, atFile(f.name, err)
	}
	return io.NewSectionReader(f.temp, 0, info.Size()), nil
}

// Temporary returns the name of the file before Commit, for libraries that write to a file by name.
func (f *NewFile) Temporary() string { return f.temp.Name() }

// Commit gives the file its name, synced to disk. After an error the name refers to the previous file, unless
// only the last step failed, syncing the folder: then the new file is in place. The error is an *Error.
func (f *NewFile) Commit() error {
	defer f.Abort()
	if err := f.finish(); err != nil {
		return atFile(f.name, err)
	}
	return atFile(f.name, f.rename())
}

// CommitKeeping is like Commit, but keeps the existing file next to the new one as NAME.orig-N
// (see FreeName). kept is empty if there was none. The name always refers to a file, and
// processes that have the old one open continue with kept.
func (f *NewFile) CommitKeeping() (kept string, err error) {
	defer f.Abort()
	if err = f.finish(); err != nil {
		return "", atFile(f.name, err)
	}
	switch kept, err = f.disk.keep(f.real); {
	case errors.Is(err, fs.ErrNotExist):
		kept = ""
	case err != nil:
		return "", atFile(f.name, err)
	}
	if err = f.rename(); err != nil && f.temp != nil && kept != "" {
		f.disk.Remove(kept)
		kept = ""
	}
	return kept, atFile(f.name, err)
}

// Abort removes the temporary file. After Commit it does nothing.
func (f *NewFile) Abort() {
	if f.temp != nil {
		f.temp.Close()
		os.Remove(f.temp.Name())
		f.disk.temporary(f.temp.Name(), false)
		f.temp = nil
	}
}

// finish flushes and syncs the temporary file. It stays open, and thus held, until it has its name, except on
// Windows, which cannot rename an open file.
func (f *NewFile) finish() error {
	err := f.buf.Flush()
	if err == nil && f.old != nil {
		if owner, group := keepOwner(f.temp, f.old); !owner || !group {
			if !group { // another file has that name now
				f.mode &^= 0o070 &^ (f.mode << 3)
			}
			if f.disk.Taken != nil {
				f.disk.Taken(f.name)
			}
		}
		err = f.temp.Chmod(f.mode) // undoes the umask
	}
	if err == nil && !f.time.IsZero() {
		err = os.Chtimes(f.temp.Name(), f.time, f.time)
	}
	if err == nil {
		err = f.disk.sync(f.temp)
	}
	if runtime.GOOS == "windows" {
		err = errors.Join(err, f.temp.Close())
	}
	return err
}

// rename gives the file its name, after which Abort does nothing.
func (f *NewFile) rename() error {
	if err := os.Rename(f.temp.Name(), f.disk.Path(f.real)); err != nil {
		return err
	}
	f.disk.temporary(f.temp.Name(), false)
	f.temp.Close() // everything is synced
	f.temp = nil
	return f.disk.syncDir(filepath.Dir(f.real))
}

// syncDir makes a rename in that folder durable. Windows cannot open a folder for that, and
// some file systems do not support it.
func (d Disk) syncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := d.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err = d.sync(dir); errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// keep gives the old file a second name that is free, or copies it if the file system has no links. It never
// overwrites: if another process takes the name, it tries the next one.
func (d Disk) keep(name string) (kept string, err error) {
	for {
		kept = d.FreeName(name, "orig")
		if err = os.Link(d.Path(name), d.Path(kept)); err != nil && !errors.Is(err, fs.ErrExist) {
			err = d.copyFile(d.Path(kept), d.Path(name))
		}
		if !errors.Is(err, fs.ErrExist) {
			return kept, err
		}
	}
}

// copyFile copies a file to a free name, with its mode and time.
func (d Disk) copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	d.temporary(to, true) // removed unless complete
	defer d.temporary(to, false)
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			os.Remove(to)
			return
		}
		os.Chtimes(to, info.ModTime(), info.ModTime()) // best effort: the copy is complete without it
	}()
	if _, err = io.Copy(out, in); err != nil {
		return err
	}
	return errors.Join(out.Chmod(info.Mode().Perm()), d.sync(out))
}

// FreeName returns NAME.suffix-N with the smallest N, from 1, that no file has.
func (d Disk) FreeName(name, suffix string) string {
	for n := 1; ; n++ {
		free := fmt.Sprintf("%s.%s-%d", name, suffix, n)
		if _, err := d.Lstat(free); err != nil {
			return free
		}
	}
}
