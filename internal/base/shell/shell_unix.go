//go:build !windows

package shell

import (
	"context"
	"os/exec"
	"syscall"
)

// inShell returns a command that runs a line in sh, as the leader of a process group.
func inShell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// endGroup kills a command and its process group.
func endGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
