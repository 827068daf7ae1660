//go:build unix

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"ctxtool/internal/test/must"
)

// launchArgument, as the first argument, makes this program start a command and report
// its figure. The peak memory of a process includes what the process that started it
// held at that time; this one holds 2 MB.
const launchArgument = "launch"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == launchArgument {
		launch()
		return
	}
	os.Exit(m.Run())
}

// launch runs the command in the arguments and writes its figure to file descriptor 3.
func launch() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1) { // 1: something was found
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	memory := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "linux" { // elsewhere it is bytes already
		memory *= 1024
	}
	fmt.Fprintln(os.NewFile(3, "figure"), int64(wall), int64(cpu), memory)
}

// launched is the figure of a command that a launcher runs.
func launched(args []string) (f figure, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return f, err
	}
	defer read.Close()
	cmd := exec.Command(self, append([]string{launchArgument}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.ExtraFiles = []*os.File{write}
	err = errors.Join(cmd.Run(), write.Close())
	if err == nil {
		_, err = fmt.Fscan(read, (*int64)(&f.wall), (*int64)(&f.cpu), &f.memory)
	}
	if err != nil {
		err = fmt.Errorf("%w: %.300s", err, stderr.Bytes())
	}
	return f, err
}

// TestPeakMemory: the peak of a command is its own, whatever the bench holds.
func TestPeakMemory(t *testing.T) {
	held := bytes.Repeat([]byte{1}, 128<<20)
	for _, test := range []struct {
		name       string
		args       []string
		least, top int64 // MB
	}{
		{"small", []string{"true"}, 0, 16},
		{"large", []string{"sh", "-c", "x=$(head -c 40000000 /dev/zero | tr '\\0' x)"}, 40, 127},
	} {
		f := must.Get(launched(test.args))
		if mb := f.memory / 1e6; mb < test.least || mb > test.top {
			t.Errorf("%s: a peak of %d MB, want %d to %d", test.name, mb, test.least, test.top)
		}
		if f.wall <= 0 {
			t.Errorf("%s: took %v", test.name, f.wall)
		}
	}
	if _, err := launched([]string{"sh", "-c", "exit 2"}); err == nil {
		t.Error("a command that fails has a figure")
	}
	if held[0] != 1 {
		t.Fatal("unreachable: keeps held alive")
	}
}
