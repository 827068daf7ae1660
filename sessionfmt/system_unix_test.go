//go:build unix

package sessionfmt

import (
	"io/fs"
	"os/exec"
	"syscall"
)

func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }

func ownerOf(info fs.FileInfo) [2]uint32 {
	s := info.Sys().(*syscall.Stat_t)
	return [2]uint32{s.Uid, s.Gid}
}

// asUser lets a command run as another user and reports whether that is possible.
func asUser(cmd *exec.Cmd, id uint32) bool {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	return true
}
