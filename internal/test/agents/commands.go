package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/test/must"
)

// piServe plays a step of a program that reads commands, a line each, and answers on its output: the rpc mode of pi and
// of oh-my-pi. A turn is a prompt, or a command as it stands.
func piServe(ctx context.Context, p *Player, n int, s *Step) error {
	cmd := p.command(ctx, s, []string{"--mode", "rpc"})
	in := must.Get(cmd.StdinPipe())
	said := &output{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return err
	}
	c := &commander{p: p, ctx: ctx, said: said, send: func(line object) { must.Do(json.NewEncoder(in).Encode(line)) }}
	var failed error
	for k, turn := range s.Turns {
		if turn.Answers != nil {
			p.server.Plan(n, turn.Answers)
		}
		if err := c.turn(turn, s.Session); err != nil {
			failed = fmt.Errorf("turn %d: %w", k+1, err)
			break
		}
		place(turn.Files)
	}
	in.Close()
	if err := cmd.Wait(); failed == nil {
		failed = err
	}
	if failed != nil {
		failed = fmt.Errorf("%w: %s", failed, tail(said.String(), 300))
	}
	return failed
}

func tail(text string, n int) string { return text[max(0, len(text)-n):] }

// A commander sends commands to a process.
type commander struct {
	p    *Player
	ctx  context.Context
	said *output
	send func(command object)
	sent int // commands
}

// turn sends a command, and waits for its end: for a text that the program prints, for a stream that stalls, or else
// until the program is idle and all planned answers are given.
func (c *commander) turn(turn Turn, label string) error {
	var text string
	command := object{}
	if json.Unmarshal(turn.Prompt, &text) == nil {
		command = object{"type": "prompt", "message": text}
	} else if err := json.Unmarshal(turn.Prompt, &command); err != nil {
		return err
	}
	from := len(c.said.String())
	_, _, hung := c.p.server.State()
	answer, err := c.ask(command, turn.Until != "")
	if err != nil {
		return err
	}
	if answer["success"] == false && !turn.MayFail {
		return fmt.Errorf("%v fails: %v", command["type"], answer["error"])
	}
	switch {
	case turn.Until == "hung":
		err = c.await(func() bool { _, _, now := c.p.server.State(); return now > hung })
	case turn.Until != "":
		err = c.await(func() bool { return strings.Contains(c.said.String()[from:], turn.Until) })
	default:
		err = c.idle(label)
	}
	return err
}

// ask sends a command with an id, and returns the response. One that need not end yet gets none.
func (c *commander) ask(command object, sendOnly bool) (object, error) {
	c.sent++
	id := fmt.Sprintf("kit-%d", c.sent)
	command = maps.Clone(command)
	command["id"] = id
	c.send(command)
	if sendOnly {
		return nil, nil
	}
	var answer object
	return answer, c.await(func() bool {
		for line := range strings.Lines(c.said.String()) {
			var one object
			if strings.Contains(line, id) && json.Unmarshal([]byte(line), &one) == nil && one["type"] == "response" &&
				one["id"] == id {
				answer = one
				return true
			}
		}
		return false
	})
}

func (c *commander) await(is func() bool) error {
	for !is() {
		if c.ctx.Err() != nil {
			return errors.New("it takes too long")
		}
		time.Sleep(30 * time.Millisecond)
	}
	return nil
}

// idle waits until the program is at rest, and notes the session that it is in. Planned answers that it does not ask
// for are waited for, for a while: what a prompt causes begins after the response to it.
func (c *commander) idle(label string) error {
	still, patience := 0, time.Now().Add(8*time.Second)
	for still < 2 {
		answer, err := c.ask(object{"type": "get_state"}, false)
		if err != nil {
			return err
		}
		state, _ := answer["data"].(object)
		works := func(name string) bool { return state[name] == true }
		busy := slices.ContainsFunc([]string{"isStreaming", "isCompacting", "hasPendingAsyncWork"}, works)
		_, open, _ := c.p.server.State()
		if busy || open > 0 || c.p.server.Left() > 0 && time.Now().Before(patience) {
			still = 0
		} else {
			still++
		}
		if id, ok := state["sessionId"].(string); ok && label != "" {
			c.p.sessions[label] = id
		}
		time.Sleep(60 * time.Millisecond)
	}
	return nil
}
