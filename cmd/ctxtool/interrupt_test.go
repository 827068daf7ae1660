//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"ctxtool/internal/test/must"
)

// TestInterrupted: a signal leaves no temporary file, and ends the process as ever.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	self := must.Get(os.Executable())
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE} {
		if signal.Ignored(s) {
			t.Logf("%v is not tried: it is ignored here, as under nohup", s)
			continue
		}
		dir := t.TempDir()
		cmd := exec.Command(self, filepath.Join(dir, "out"))
		cmd.Env = append(os.Environ(), "CTXTOOL_WRITES_FOREVER=1")
		stdout := must.Get(cmd.StdoutPipe())
		must.Do(cmd.Start())
		must.Get(io.ReadFull(stdout, make([]byte, len("begun\n"))))
		names := func() (names []string) {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		}
		if len(names()) != 1 {
			t.Errorf("while it is written there are %q", names())
		}
		cmd.Process.Signal(s)
		cmd.Wait()
		if len(names()) != 0 {
			t.Errorf("%v leaves %q", s, names())
		}
		w := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !(w.Signaled() && w.Signal() == s) && !(s == syscall.SIGPIPE && w.ExitStatus() == 128+int(s)) {
			t.Errorf("%v: it ended with %v", s, cmd.ProcessState)
		}
	}
}
