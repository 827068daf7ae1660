package sessionfmt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"ctxtool/internal/test/must"
)

// roleVar names what the test binary does instead of testing, when a test starts it
// as another process. Its arguments follow the name.
const roleVar = "CTXTOOL_TEST_ROLE"

// roles are what such a process can be.
var roles = map[string]func(args []string) error{
	"hold":   holdLock,
	"append": appendForever,
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := roles[role](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A child is another process.
type child struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// emulator is what runs the test binary where it is one for another architecture, empty
// where the machine runs it.
var emulator = sync.OnceValue(func() string {
	if self, err := os.Executable(); err == nil && errors.Is(exec.Command(self, "-test.run=^$").Run(), syscall.ENOEXEC) {
		return "qemu-" + map[string]string{"arm64": "aarch64"}[runtime.GOARCH] + "-static"
	}
	return ""
})

// start starts the test binary in a role. It is killed at the end of the test, if
// it still runs.
func start(t *testing.T, role string, args ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if with := emulator(); with != "" {
		self, args = with, append([]string{self}, args...)
	}
	c := &child{Cmd: exec.Command(self, args...)}
	c.Env = append(os.Environ(), roleVar+"="+role)
	c.Stderr = os.Stderr
	if c.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out := must.Get(c.StdoutPipe())
	c.out = bufio.NewReader(out)
	must.Do(c.Start())
	t.Cleanup(c.kill)
	return c
}

// kill ends the process at once, as nothing but the kernel does.
func (c *child) kill() {
	c.Process.Kill()
	c.Wait()
}

// holdLock holds a file's lock until its standard input ends.
func holdLock(args []string) error {
	unlock, err := (Disk{}).Lock(args[0], "ctxtool hold", 10*time.Second)
	if err != nil {
		return err
	}
	defer unlock()
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
