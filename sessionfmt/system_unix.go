//go:build unix

package sessionfmt

import (
	"io/fs"
	"os"
	"syscall"
)

// Flags for opening files that others may have put in place: no symbolic links, and no waiting for the other
// end of a pipe.
const noFollow, noWait = syscall.O_NOFOLLOW, syscall.O_NONBLOCK

// hardLinks returns the number of names of a file.
func hardLinks(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// isSparse reports whether a file takes less than a hundredth of its size on disk, which compressing file
// systems do not reach.
func isSparse(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Size() > mostInMemory && s.Blocks*512 < info.Size()/100
}

// keepOwner gives a file the owner and group of another, and reports which of the two succeeded.
func keepOwner(f *os.File, like fs.FileInfo) (owner, group bool) {
	now, err := f.Stat()
	if err != nil {
		return false, false
	}
	is, ok := now.Sys().(*syscall.Stat_t)
	want, also := like.Sys().(*syscall.Stat_t)
	if !ok || !also {
		return true, true
	}
	group = is.Gid == want.Gid || f.Chown(-1, int(want.Gid)) == nil
	owner = is.Uid == want.Uid || f.Chown(int(want.Uid), -1) == nil
	return owner, group
}

// hold locks a file until it is closed or the process ends, and reports whether no other process had locked it.
func hold(f *os.File) bool { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }
