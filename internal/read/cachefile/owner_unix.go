//go:build unix

package cachefile

import (
	"io/fs"
	"os"
	"syscall"
)

// own reports whether a file is the user's, and nobody else may write to it.
func own(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}
