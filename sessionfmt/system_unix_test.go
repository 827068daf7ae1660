//go:build unix

package sessionfmt

import (
	"io/fs"
	"syscall"
)

func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }

func ownerOf(info fs.FileInfo) [2]uint32 {
	s := info.Sys().(*syscall.Stat_t)
	return [2]uint32{s.Uid, s.Gid}
}
