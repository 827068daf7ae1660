package sessionfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked is the error if another process holds the lock of a session.
var ErrLocked = errors.New("locked")

// lockPause is the time between two attempts.
const lockPause = 5 * time.Millisecond

// The lock of a session NAME is the kernel's lock on the file .NAME.lock next to it, so a
// process that dies releases it. The file exists while the lock is held, and its first line
// names the holder:
//
//	byte 0     nothing; Windows locks it, and lets no other process read it
//	byte 1...  ctxtool label (pid 123 on host) since 2026-01-01T00:00:00Z
//
// Further lines are from an earlier holder that died.
const lockText = 1

// Lock takes the lock of the named session. Only ctxtool uses it, pi does not. who is the
// command, shown to others who wait. Lock tries for the duration wait, at least once, and then
// returns an *Error with ErrLocked that names the holder. The lock is held until unlock is
// called or the process ends.
//
// Names that are symbolic links to the same file share one lock, hard links do not.
func (d Disk) Lock(name, who string, wait time.Duration) (unlock func(), err error) {
	real, err := d.resolveLinks(name)
	if err != nil {
		return nil, atFile(name, err)
	}
	mode := fs.FileMode(0o644)
	if info, err := d.Stat(real); err == nil {
		mode = info.Mode() & 0o666
	}
	path := d.Path(filepath.Join(filepath.Dir(real), "."+filepath.Base(real)+".lock"))
	for end := time.Now().Add(wait); ; time.Sleep(lockPause) {
		lock := flock.New(path, flock.SetPermissions(mode), flock.SetFlag(os.O_CREATE|noFollow|noWait))
		ok, err := false, plainLock(path, os.Lstat)
		if err == nil {
			ok, err = lock.TryLock()
		}
		switch {
		case err != nil && !beingRemoved(err):
			failed := &Error{Pos: Pos{File: name}, Err: fmt.Errorf("its lock %s: %w", filepath.Base(path),
				plainPathError(err))}
			if errors.Is(err, errNotLock) {
				failed.Hint = "ctxtool has not made it: remove it"
			}
			return nil, failed
		case ok && stillNamed(lock):
			writeHolder(lock, who)
			return func() { release(lock) }, nil
		case ok:
			lock.Unlock()
			continue
		}
		if !time.Now().Before(end) {
			return nil, &Error{Pos: Pos{File: name}, Err: fmt.Errorf("%w by %s", ErrLocked, readHolder(path)),
				Hint: "run the command again when the other one has finished"}
		}
	}
}

// stillNamed reports whether other processes will find the locked file. The previous holder
// removes it before it releases the lock, so it may have lost its name after we opened it. Such
// a lock excludes nobody.
func stillNamed(lock *flock.Flock) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(lock.Path())
	return err == nil && os.SameFile(locked, named)
}

var errNotLock = errors.New("must be a regular file with one name")

// plainLock returns an error if the file exists and Lock did not make it: others may be able to write to the
// folder, and the target of a link must not be overwritten.
func plainLock(path string, describe func(path string) (fs.FileInfo, error)) error {
	info, err := describe(path)
	if err == nil && (!info.Mode().IsRegular() || hardLinks(info) > 1) {
		return errNotLock
	}
	return nil
}

// release removes the lock's file, then releases the lock. Windows cannot remove an open file;
// there the reverse order is safe, since no other process can have opened it.
func release(lock *flock.Flock) {
	err := os.Remove(lock.Path())
	lock.Unlock()
	if err != nil && runtime.GOOS == "windows" {
		os.Remove(lock.Path())
	}
}

// beingRemoved reports whether the file could not be opened because its holder is removing it. That only
// happens on Windows.
func beingRemoved(err error) bool {
	return runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission)
}

// writeHolder writes the holder to the lock's file. The lock is valid even if that fails.
func writeHolder(lock *flock.Flock, who string) {
	f, err := openLock(lock.Path(), os.O_WRONLY)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if locked, failed := lock.Stat(); err != nil || failed != nil || !os.SameFile(info, locked) {
		return
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	since := time.Now().UTC().Format(time.RFC3339)
	f.WriteAt(fmt.Appendf(nil, "%s (pid %d on %s) since %s\n", who, os.Getpid(), host, since), lockText)
}

// openLock opens the file of a lock, and refuses any other file.
func openLock(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|noFollow|noWait, 0)
	if err != nil {
		return nil, err
	}
	if err := plainLock(path, func(string) (fs.FileInfo, error) { return f.Stat() }); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readHolder returns the holder that the lock's file names.
func readHolder(path string) string {
	f, err := openLock(path, os.O_RDONLY)
	if err == nil {
		defer f.Close()
		var text [256]byte
		n, _ := f.ReadAt(text[:], lockText)
		if line, _, ok := bytes.Cut(text[:n], []byte("\n")); ok && len(line) > 0 {
			return Clean(string(line))
		}
	}
	return "another process"
}
