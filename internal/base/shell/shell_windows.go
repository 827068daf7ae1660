package shell

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"
)

// inShell returns a command that runs a line in cmd, which uses the text between the outer
// quotes unchanged.
func inShell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + line + `"`}
	return cmd
}

// endGroup kills a command and the processes that it started.
func endGroup(cmd *exec.Cmd) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}
