package compact

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"
)

// inShell is a command line. Cmd takes what stands between the outer quotes as it is.
func inShell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + line + `"`}
	return cmd
}

// endGroup ends a command and what it has started.
func endGroup(cmd *exec.Cmd) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}
