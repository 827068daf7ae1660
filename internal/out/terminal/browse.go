package terminal

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// Browse opens a file in the browser: that of BROWSER, else the one that the system has
// for pages. It returns once that command has ended; out gets what it prints.
func Browse(file string, environ []string, out io.Writer) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	for _, v := range environ {
		if words, ok := strings.CutPrefix(v, "BROWSER="); ok && strings.TrimSpace(words) != "" {
			command = strings.Fields(words)
		}
	}
	cmd := exec.Command(command[0], append(slices.Clone(command[1:]), file)...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environ, os.Stdin, out, out
	return cmd.Run()
}
