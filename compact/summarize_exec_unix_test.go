//go:build !windows

package compact

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctxtool/internal/test/must"
)

func TestSummarizeExec(t *testing.T) {
	r := wholeOf(of(t, user("count me"), answer("1, 2")), StylePi, historyPart)
	for _, test := range []struct{ line, want, err string }{
		{`grep '^\[User\]'`, "[User]: count me", ""},
		{`printf '\n a summary \n\n'`, "a summary", ""},
		{`true`, "", "the summary is empty"},
		{`printf ' \n'`, "", "the summary is empty"},
		{`echo half; echo first >&2; echo 'no such model' >&2; exit 3`, "", `command "echo half; echo first >&2; echo 'no such model' >&2; exit 3": exit status 3: no such model`},
		{`exit 4`, "", `command "exit 4": exit status 4`},
		{`printf 'a\377'`, "", `command "printf 'a\\377'": its output is not UTF-8`},
		{`head -c 2000000 /dev/zero`, "", `command "head -c 2000000 /dev/zero": it printed more than 1048576 bytes`},
	} {
		summarize := must.Get(OpenSummarizer("exec:"+test.line, SummaryOptions{}))
		got, err := summarize(r)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if got != test.want || said != test.err {
			t.Errorf("%s: %q, %q, want %q, %q", test.line, got, said, test.want, test.err)
		}
	}
}

// TestSummarizeExecLimit: at the limit, or when the caller gives up, the command ends
// and with it what it has started.
func TestSummarizeExecLimit(t *testing.T) {
	r := wholeOf(of(t, user("wait")), StyleGSH, historyPart)
	for _, test := range []struct {
		name, want string
		limit      time.Duration
	}{
		{"limit", "it took longer than ", 300 * time.Millisecond},
		{"stop", "context canceled", time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pid := filepath.Join(t.TempDir(), "pid")
			if test.name == "stop" {
				go func() { // once the command has started something
					for ctx.Err() == nil && len(written(pid)) == 0 {
						time.Sleep(5 * time.Millisecond)
					}
					cancel()
				}()
			}
			text := ""
			for limit := test.limit; text == ""; limit *= 4 { // a busy machine may take longer to start it
				summarize := must.Get(OpenSummarizer("exec:sleep 60 & echo $! > "+pid+"; wait", SummaryOptions{Context: ctx, Limit: limit}))
				if _, err := summarize(r); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Fatalf("%v", err)
				}
				if text = written(pid); limit > time.Minute {
					t.Fatal("the command does not start")
				}
			}
			child, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				t.Fatal(err)
			}
			for range 500 { // it ends soon after its group has been told to
				if err = syscall.Kill(child, 0); err != nil || state(child) == "Z" {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Error("what the command started still runs")
		})
	}
}

// written is what a file has in it, nothing where there is none.
func written(name string) string {
	text, _ := os.ReadFile(name)
	return string(text)
}

// state is that of a process, "Z" for one that has ended and that nobody has asked for;
// empty where the system does not say.
func state(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest[:1]
}
