//go:build !windows

package compact

import (
	"context"
	"os/exec"
	"syscall"
)

// inShell is a command line, at the head of a process group.
func inShell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// endGroup ends a command and what it has started.
func endGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
