//go:build !windows

package shell

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// ask asks a process a question of one line.
func ask(p *Process, question string) (string, error) {
	answer, err := p.Ask(context.Background(), func(w io.Writer) error {
		_, err := io.WriteString(w, question+"\n")
		return err
	})
	return string(answer), err
}

// TestProcess: one process answers all questions, and one for each only its own. One that fails
// is started again.
func TestProcess(t *testing.T) {
	for _, test := range []struct {
		line string
		each bool
		want []string // answers, or errors after !
	}{
		{`n=0; while read -r line; do n=$((n+1)); echo "$n $line"; done`, false, []string{"1 a", "2 b", "3 c"}},
		{`n=0; while read -r line; do n=$((n+1)); echo "$n $line"; done`, true, []string{"1 a", "1 b", "1 c"}},
		{`cat >/dev/null`, true, []string{"!it ended without an answer"}},
		{`printf answer; cat >/dev/null`, true, []string{"answer"}},
		{`read -r line; echo "$line"`, false, []string{"a", "!it ended without an answer", "c"}},
		{`read -r line; echo broken >&2; exit 4`, false, []string{"!exit status 4: broken", "!exit status 4: broken"}},
		{`read -r line; echo answer; exit 4`, true, []string{"!exit status 4"}},
		{`read -r line; printf 'one\ntwo\n'; cat`, false, []string{"!it printed more than one line"}},
		{`read -r line; printf 'one\ntwo\n'`, true, []string{"!it printed more than one line"}},
		{`read -r line; printf 'a\377\n'; cat`, false, []string{"!its output is not UTF-8"}},
		{`head -c 5000 /dev/zero; cat`, false, []string{"!it printed more than 1000 bytes"}},
		{`exit 0`, false, []string{"!it ended without an answer"}},
	} {
		p := &Process{Command: Command{Line: test.line, Limit: time.Minute, Most: 1000}, Each: test.each}
		for k, want := range test.want {
			got, err := ask(p, string(rune('a'+k)))
			if wrong, fails := strings.CutPrefix(want, "!"); fails {
				if err == nil || !strings.HasSuffix(err.Error(), ": "+wrong) {
					t.Errorf("%s: %q, %v, want %s", test.line, got, err, want)
				}
			} else if err != nil || got != want {
				t.Errorf("%s: %q, %v, want %s", test.line, got, err, want)
			}
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: %v", test.line, err)
		}
	}
}

// TestProcessLimit: an answer that takes too long ends the process, and a question that nobody
// reads does not block.
func TestProcessLimit(t *testing.T) {
	p := &Process{Command: Command{Line: "sleep 60", Limit: 50 * time.Millisecond, Most: 1000}}
	defer p.Close()
	for _, size := range []int{1, 10 << 20} {
		start := time.Now()
		if _, err := ask(p, strings.Repeat("x", size)); err == nil || !strings.Contains(err.Error(), "it took longer than 50ms") {
			t.Errorf("%v", err)
		}
		if time.Since(start) > 30*time.Second {
			t.Error("it was not ended")
		}
	}
}
