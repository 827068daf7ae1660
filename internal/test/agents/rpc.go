package agents

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"ctxtool/internal/test/must"
)

// A peer is a program that speaks JSON-RPC on its standard input and output, a message a line.
type peer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	failed *output                                         // what it prints on its standard error
	reply  func(method string, params json.RawMessage) any // answers what the program asks

	mu   sync.Mutex
	sent int
	got  []rpcMessage
}

// An rpcMessage is a response, a notification, or a request of the program.
type rpcMessage struct {
	ID     *int            `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct{ Message string }
}

// startPeer starts a program.
func startPeer(cmd *exec.Cmd, reply func(method string, params json.RawMessage) any) (*peer, error) {
	c := &peer{cmd: cmd, failed: &output{}, reply: reply, in: must.Get(cmd.StdinPipe())}
	out := must.Get(cmd.StdoutPipe())
	cmd.Stderr = c.failed
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		sc := bufio.NewScanner(out)
		for sc.Buffer(nil, 1<<26); sc.Scan(); {
			c.read(sc.Bytes())
		}
	}()
	return c, nil
}

// read takes a message, and answers it if it is a request.
func (c *peer) read(line []byte) {
	var m rpcMessage
	if json.Unmarshal(line, &m) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.ID != nil && m.Method != "" {
		c.send(object{"id": *m.ID, "result": c.reply(m.Method, m.Params)})
	}
	c.got = append(c.got, m)
}

// send sends a message. The lock is held.
func (c *peer) send(message object) {
	message["jsonrpc"] = "2.0"
	c.in.Write(append(must.Get(json.Marshal(message)), '\n'))
}

// notify sends a notification.
func (c *peer) notify(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.send(object{"method": method})
}

// received returns the number of messages so far.
func (c *peer) received() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.got)
}

// call calls a method, and returns its result.
func (c *peer) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c.mu.Lock()
	c.sent++
	id, from := c.sent, len(c.got)
	c.send(object{"id": id, "method": method, "params": params})
	c.mu.Unlock()
	m, err := c.find(ctx, from, func(m rpcMessage) bool { return m.ID != nil && *m.ID == id && m.Method == "" })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	if m.Error != nil {
		return nil, fmt.Errorf("%s: %s", method, m.Error.Message)
	}
	return m.Result, nil
}

// find waits for a message among those from a number on.
func (c *peer) find(ctx context.Context, from int, is func(rpcMessage) bool) (rpcMessage, error) {
	for {
		c.mu.Lock()
		for ; from < len(c.got); from++ {
			if is(c.got[from]) {
				c.mu.Unlock()
				return c.got[from], nil
			}
		}
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return rpcMessage{}, errors.New("no answer: " + c.failed.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// end closes the input of the program, and waits until it ends.
func (c *peer) end() error {
	c.in.Close()
	late := time.AfterFunc(4*time.Second, func() { c.cmd.Process.Kill() })
	defer late.Stop()
	err := c.cmd.Wait()
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return nil
	}
	return err
}

// waitFor waits until something is so.
func waitFor(ctx context.Context, is func() bool) error {
	for !is() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
