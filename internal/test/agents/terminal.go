package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// socket is that of tmux, where no other one is.
const socket = home + "/tmux"

// readyTexts stand before the prompt of most programs.
var readyTexts = []string{"❯", "›", "> "}

// interactive plays a step on a terminal, which tmux is. At its end the program is asked to end.
func (p *Player) interactive(n int, s *Step) error {
	args := []string{"-S", socket, "-f", "/dev/null", "new-session", "-d", "-s", "kit", "-x", "160", "-y", "50", "-c",
		filepath.Join(project, s.Dir), "env", "-i"}
	cmd := p.command(context.Background(), s, nil)
	args = append(append(args, cmd.Env...), cmd.Args...)
	if said, err := exec.Command("tmux", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("tmux: %w: %s", err, said)
	}
	defer tmux("kill-server")
	ready := func() bool {
		now := screen()
		return p.Ready != "" && strings.Contains(now, p.Ready) ||
			p.Ready == "" && slices.ContainsFunc(readyTexts, func(t string) bool { return strings.Contains(now, t) })
	}
	if !await(ready) {
		return fmt.Errorf("it does not start; the screen:\n%s", screen())
	}
	for k, a := range s.Acts {
		if err := p.act(n, a); err != nil {
			return fmt.Errorf("act %d: %w; the screen:\n%s", k+1, err, screen())
		}
		p.events = append(p.events, object{"step": n, "act": k + 1, "screen": screen()})
	}
	return nil
}

// act does one thing at the keyboard.
func (p *Player) act(n int, a Act) error {
	if a.Answers != nil {
		p.server.Plan(n, a.Answers)
	}
	place(a.Files)
	if a.Text != "" {
		if err := tmux("send-keys", "-t", "kit", "-l", a.Text); err != nil {
			return err
		}
		await(func() bool { return strings.Contains(screen(), a.Text) })
		time.Sleep(300 * time.Millisecond)
	}
	for _, key := range a.Keys {
		if err := tmux("send-keys", "-t", "kit", key); err != nil {
			return err
		}
		time.Sleep(150 * time.Millisecond)
	}
	if a.Release {
		p.server.Release()
	}
	if !await(func() bool { return strings.Contains(screen(), a.See) }) {
		return fmt.Errorf("%q does not appear", a.See)
	}
	if a.Idle {
		if err := p.idle(a.Text != ""); err != nil {
			return err
		}
	}
	if a.MS > 0 {
		time.Sleep(a.MS.of(0))
	}
	return nil
}

// await waits until something is so, for a minute at most.
func await(is func() bool) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

// idle waits until all planned answers are given, and the screen stands still. What was typed may need another
// Enter, where the machine is so busy that the program took the first one for a part of a pasted text.
func (p *Player) idle(typed bool) error {
	was, since := "", time.Now()
	still := func(d time.Duration) bool { return time.Since(since) > d }
	done := await(func() bool {
		_, open, _ := p.server.State()
		now := screen()
		if now != was || open > 0 {
			was, since = now, time.Now()
		}
		if typed && p.server.Left() > 0 && still(4*time.Second) {
			typed, since = false, time.Now()
			tmux("send-keys", "-t", "kit", "Enter")
		}
		return p.server.Left() == 0 && still(800*time.Millisecond)
	})
	if !done {
		_, open, _ := p.server.State()
		return fmt.Errorf("not idle: %d requests are open, %d answers are left", open, p.server.Left())
	}
	return nil
}

func tmux(args ...string) error {
	if said, err := exec.Command("tmux", append([]string{"-S", socket}, args...)...).CombinedOutput(); err != nil {
		return errors.New(string(said))
	}
	return nil
}

// screen returns the text on the terminal.
func screen() string {
	said, _ := exec.Command("tmux", "-S", socket, "capture-pane", "-p", "-t", "kit").Output()
	return string(said)
}

// An output is what a process prints, while it does.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
