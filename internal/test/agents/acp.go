package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// acp plays a step of several prompts over the Agent Client Protocol, in one session. The program starts with the
// option --acp.
func (p *Player) acp(ctx context.Context, n int, s *Step) error {
	c, err := startPeer(p.command(ctx, s, []string{"--acp"}), func(string, json.RawMessage) any {
		return object{"outcome": object{"outcome": "selected", "optionId": "proceed_once"}}
	})
	if err != nil {
		return err
	}
	_, err = c.call(ctx, "initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
	all := []error{err}
	params := object{"cwd": project, "mcpServers": []any{}}
	method := "session/new"
	if from := p.sessions[s.From]; from != "" {
		method, params["sessionId"] = "session/load", from
	}
	raw, err := c.call(ctx, method, params)
	var begun struct{ SessionID string }
	json.Unmarshal(raw, &begun)
	id := or(begun.SessionID, p.sessions[s.From])
	p.sessions[s.Session] = id
	all = append(all, err)
	for k, turn := range s.Turns {
		p.server.Plan(n, turn.Answers)
		var prompt any = turn.Prompt
		var text string
		if json.Unmarshal(turn.Prompt, &text) == nil {
			prompt = []any{object{"type": "text", "text": text}}
		}
		limited, cancel := context.WithTimeout(ctx, turn.MS.of(time.Minute))
		if _, err := c.call(limited, "session/prompt", object{"sessionId": id, "prompt": prompt}); err != nil {
			all = append(all, fmt.Errorf("turn %d: %w", k+1, err))
		}
		cancel()
		place(turn.Files)
	}
	return errors.Join(append(all, c.end())...)
}
