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

// ErrLocked is the answer where another process holds a session's lock.
var ErrLocked = errors.New("locked")

// Between two attempts to take a lock.
const lockPause = 5 * time.Millisecond

// The lock of a session NAME is the kernel's lock on the file .NAME.lock beside
// it, so a process that dies leaves none. That file is there while the lock is
// held, and says in its first line by whom:
//
//	byte 0     nothing; Windows locks it, and lets nobody else read it
//	byte 1...  ctxtool label (pid 123 on host) since 2026-01-01T00:00:00Z\n
//
// What follows the first line is of an earlier holder, who died.
const lockText = 1

// Lock takes the lock of the session called name, which only ctxtool heeds: pi
// knows nothing of it. who is the command, for those who have to wait. It tries
// until wait is over, at least once, and then returns an *Error with ErrLocked that
// names the holder. The lock is held until unlock is called, or the process ends.
//
// Names that lead to one file by symbolic links share one lock, hard links do not.
func (d Disk) Lock(name, who string, wait time.Duration) (unlock func(), err error) {
	real, err := d.behindLinks(name)
	if err != nil {
		return nil, &Error{Pos: Pos{File: name}, Err: plainPathError(err)}
	}
	path := d.Path(filepath.Join(filepath.Dir(real), "."+filepath.Base(real)+".lock"))
	for end := time.Now().Add(wait); ; time.Sleep(lockPause) {
		lock := flock.New(path, flock.SetPermissions(0o644))
		switch ok, err := lock.TryLock(); {
		case err != nil && !beingRemoved(err):
			return nil, &Error{Pos: Pos{File: name}, Err: fmt.Errorf("its lock %s: %w", filepath.Base(path), plainPathError(err))}
		case ok && stillNamed(lock):
			writeHolder(path, who)
			return func() { release(lock) }, nil
		case ok:
			lock.Unlock()
			continue
		}
		if !time.Now().Before(end) {
			return nil, &Error{Pos: Pos{File: name}, Err: fmt.Errorf("%w by %s", ErrLocked, readHolder(path)),
				Hint: "run the command again when the other is done"}
		}
	}
}

// stillNamed says that the locked file is the one that others will find. Its
// holder before us removes it before letting go, so it may have lost its name
// between our opening and our locking it; a lock on it would then keep nobody out.
func stillNamed(lock *flock.Flock) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(locked, named)
}

// release removes the lock's file and lets go, in this order. Windows does not
// remove a file that is open; there the other order is as safe, for the same
// reason: nobody can have opened it.
func release(lock *flock.Flock) {
	err := os.Remove(lock.Path())
	lock.Unlock()
	if err != nil && runtime.GOOS == "windows" {
		os.Remove(lock.Path())
	}
}

// beingRemoved says that the file could not be opened because its holder is just
// removing it, as happens on Windows.
func beingRemoved(err error) bool {
	return runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission)
}

// writeHolder says in the lock's file who we are. Where that fails, on a full disk
// perhaps, we hold the lock all the same.
func writeHolder(path, who string) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	since := time.Now().UTC().Format(time.RFC3339)
	f.WriteAt(fmt.Appendf(nil, "%s (pid %d on %s) since %s\n", who, os.Getpid(), host, since), lockText)
}

// readHolder says who holds the lock.
func readHolder(path string) string {
	f, err := os.Open(path)
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
