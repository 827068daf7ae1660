package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxtool/internal/test/must"
)

// codexServe plays a step of several calls to codex app-server.
func codexServe(ctx context.Context, p *Player, n int, s *Step) error {
	c, err := startPeer(p.command(ctx, s, []string{"app-server"}), func(method string, _ json.RawMessage) any {
		if own, ok := s.Replies[method]; ok {
			return own
		}
		return object{"decision": "accept"}
	})
	if err != nil {
		return err
	}
	_, err = c.call(ctx, "initialize", object{"capabilities": object{"experimentalApi": true},
		"clientInfo": object{"name": "bench", "title": "bench", "version": "1"}})
	c.notify("initialized")
	all := []error{err}
	for k, turn := range s.Turns {
		if turn.Method == "" && turn.Prompt == nil {
			time.Sleep(turn.MS.of(0))
			continue
		}
		if turn.Answers != nil {
			p.server.Plan(n, turn.Answers)
		}
		limited, cancel := context.WithTimeout(ctx, turn.MS.of(time.Minute))
		if err := p.codexTurn(limited, c, &turn); err != nil && !turn.MayFail {
			all = append(all, fmt.Errorf("turn %d: %w", k+1, err))
		}
		cancel()
		place(turn.Files)
	}
	return errors.Join(append(all, c.end())...)
}

// turning are the methods after which a turn goes on.
var turning = strings.Fields("turn/start turn/interrupt thread/compact/start thread/shellCommand review/start")

// codexTurn calls a method, and waits until what it begins has ended, or has got as far as the script says.
func (p *Player) codexTurn(ctx context.Context, c *peer, turn *Turn) error {
	from, label := or(turn.From, turn.Session), turn.Session
	method, params := or(turn.Method, "turn/start"), p.codexParams(turn)
	began := c.received()
	_, _, hung := p.server.State()
	raw, err := c.call(ctx, method, params)
	if err != nil {
		return err
	}
	var result struct{ Thread, Turn struct{ ID string } }
	json.Unmarshal(raw, &result)
	if method == "thread/start" || method == "thread/fork" {
		p.sessions[label] = result.Thread.ID
	}
	if method == "thread/fork" || method == "thread/revert" {
		upto := slices.Clone(p.turnIDs[from])
		if k := slices.Index(upto, fmt.Sprint(params["lastTurnId"])); k >= 0 {
			upto = upto[:k+1]
		} else if k := slices.Index(upto, fmt.Sprint(params["beforeTurnId"])); k >= 0 {
			upto = upto[:k]
		}
		p.turnIDs[label] = upto
	}
	if turn.Release {
		p.server.Release()
	}
	until, of, _ := strings.Cut(turn.Until, " ")
	if slices.Contains(turning, method) {
		until = or(until, "turn/completed")
	}
	id := result.Turn.ID
	switch until {
	case "":
		return nil
	case "held":
		err = waitFor(ctx, func() bool { return p.server.Held() > 0 })
	case "hung":
		err = waitFor(ctx, func() bool { _, _, now := p.server.State(); return now > hung })
	default:
		_, err = c.find(ctx, began, func(m rpcMessage) bool {
			var note struct {
				ThreadID   string
				Turn, Item struct{ ID, Type string }
			}
			json.Unmarshal(m.Params, &note)
			is := m.Method == until && note.ThreadID == p.sessions[label] && (of == "" || note.Item.Type == of)
			id = or(id, note.Turn.ID)
			return is
		})
	}
	if id != "" && !slices.Contains(p.turnIDs[label], id) {
		p.turnIDs[label] = append(p.turnIDs[label], id)
	}
	return err
}

// codexParams returns the parameters of a call. In those of a script @N stands for the id of the session's turn
// N, counted from the newest one where N is below 0.
func (p *Player) codexParams(turn *Turn) object {
	from := or(turn.From, turn.Session)
	params := object{"threadId": p.sessions[from]}
	switch turn.Method {
	case "thread/start":
		params = object{"cwd": project}
	case "thread/fork", "thread/resume":
		params["excludeTurns"] = true
	}
	if turn.Params != nil {
		must.Do(json.Unmarshal(turn.Params, &params))
	}
	for name, v := range params {
		if text, _ := v.(string); strings.HasPrefix(text, "@") {
			k := must.Get(strconv.Atoi(text[1:])) - 1
			if k < 0 {
				k += 1 + len(p.turnIDs[from])
			}
			if ids := p.turnIDs[from]; 0 <= k && k < len(ids) { // else the server refuses it
				params[name] = ids[k]
			}
		}
	}
	if turn.Prompt != nil {
		params["input"] = turn.Prompt
		var text string
		if json.Unmarshal(turn.Prompt, &text) == nil {
			params["input"] = []object{{"type": "text", "text": text, "text_elements": []any{}}}
		}
	}
	return params
}
