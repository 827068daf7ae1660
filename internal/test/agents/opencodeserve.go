package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/jsonl"
)

const openCodePort = 4099

// An openCodeServer is a server of the program.
type openCodeServer struct {
	*Player
	ctx context.Context
}

// openCodeServe plays a step of calls to its server. A method is the end of an address of the session, or of the
// server where it begins with a slash; without one a turn is a prompt. See body for what its parameters stand for.
func openCodeServe(ctx context.Context, p *Player, n int, s *Step) error {
	cmd := p.command(ctx, s, []string{"serve"})
	said := &output{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return err
	}
	o := &openCodeServer{p, ctx}
	var all []error
	up := func() bool { // what it gets while it starts it may never answer
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		return (&openCodeServer{p, ctx}).call(http.MethodGet, "/session", nil, nil) == nil
	}
	if waitFor(ctx, up) != nil {
		all = append(all, fmt.Errorf("the server does not start: %s", said))
	}
	for k, turn := range s.Turns {
		for range max(1, turn.Repeat) {
			if turn.Answers != nil {
				p.server.Plan(n, turn.Answers)
			}
			if err := o.turn(&turn); err != nil && !turn.MayFail {
				all = append(all, fmt.Errorf("turn %d: %w", k+1, err))
			}
			place(turn.Files)
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		cmd.Process.Kill()
		<-ended
	}
	return errors.Join(all...)
}

// turn plays a prompt or a call, and waits until the server is idle. One that ends early is aborted once the stream
// stalls or the request is there, and some time after.
func (o *openCodeServer) turn(turn *Turn) error {
	label := or(turn.Session, "A")
	if _, begun := o.sessions[label]; !begun && turn.From == "" {
		var new struct{ ID string }
		if err := o.call(http.MethodPost, "/session", object{"title": "Scripted"}, &new); err != nil {
			return err
		}
		o.sessions[label] = new.ID
	}
	of := o.sessions[or(turn.From, label)]
	verb, end := http.MethodPost, or(turn.Method, "message")
	if rest, ok := strings.CutPrefix(end, "DELETE "); ok {
		verb, end = http.MethodDelete, rest
	}
	end, err := o.named(end, of)
	if err != nil {
		return err
	}
	url := "/session/" + of + "/" + end
	body, err := o.body(turn, of)
	if err != nil {
		return err
	}
	asked, _, hung := o.server.State()
	var got json.RawMessage
	done := make(chan error, 1)
	go func() { done <- o.call(verb, url, body, &got) }()
	if turn.Until != "" {
		err := waitFor(o.ctx, func() bool {
			all, _, now := o.server.State()
			return now > hung || turn.Until == "request" && all > asked
		})
		time.Sleep(turn.MS.of(600 * time.Millisecond))
		if err := errors.Join(err, o.call(http.MethodPost, "/session/"+of+"/abort", nil, nil)); err != nil {
			return err
		}
	}
	if err := <-done; err != nil && turn.Until == "" {
		return err
	}
	if turn.Method == "fork" {
		o.sessions[label] = jsonl.Value(got).Get("id").Text()
	}
	return o.idle()
}

// message matches what stands for an id: @N of message N of a session, counted from the newest where it is below 0,
// @user:N likewise of a prompt, @N.P of part P of a message.
var message = regexp.MustCompile(`@(user:)?(-?\d+)(?:\.(-?\d+))?`)

// named returns a text with the ids that stand for messages in it.
func (o *openCodeServer) named(text, session string) (string, error) {
	if !message.MatchString(text) {
		return text, nil
	}
	var all []struct {
		Info  struct{ ID, Role string }
		Parts []struct{ ID string }
	}
	err := o.call(http.MethodGet, "/session/"+session+"/message", nil, &all)
	if err != nil {
		return "", err
	}
	nth := func(ids []string, n string) string {
		k := must.Get(strconv.Atoi(n))
		if k < 0 {
			k += len(ids)
		}
		return ids[k]
	}
	return message.ReplaceAllStringFunc(text, func(found string) string {
		of := message.FindStringSubmatch(found)
		var ids []string
		parts := map[string][]string{}
		for _, m := range all {
			if of[1] == "" || m.Info.Role == "user" {
				ids = append(ids, m.Info.ID)
			}
			for _, p := range m.Parts {
				parts[m.Info.ID] = append(parts[m.Info.ID], p.ID)
			}
		}
		id := nth(ids, of[2])
		if of[3] != "" {
			id = nth(parts[id], of[3])
		}
		return id
	}), nil
}

// body returns the body of a call: of a prompt its parts, and the parameters, of which model is PROVIDER/MODEL.
// In texts numbers of messages stand for their ids; see message.
func (o *openCodeServer) body(turn *Turn, session string) (object, error) {
	params := object{}
	if turn.Params != nil {
		must.Do(json.Unmarshal(turn.Params, &params))
	}
	model := or(o.Script.Model, "stub/m1")
	if named, ok := params["model"].(string); ok {
		model = named
	}
	provider, id, _ := strings.Cut(model, "/")
	params["model"] = object{"providerID": provider, "modelID": id}
	switch turn.Method {
	case "summarize":
		params["providerID"], params["modelID"] = provider, id
	case "shell":
		params["agent"] = or(word(params, "agent"), "build")
	case "command":
		params["model"] = model
	}
	if params["agent"] == "build" && o.Name == "kilo" { // its name there
		params["agent"] = "code"
	}
	for name, v := range params {
		text, ok := v.(string)
		if !ok {
			continue
		}
		var err error
		if params[name], err = o.named(text, session); err != nil {
			return nil, err
		}
	}
	if turn.Method == "" || turn.Method == "message" {
		params["parts"] = promptParts(turn.Prompt)
	}
	return params, nil
}

// promptParts returns the parts of a prompt: a text, or a list of texts and parts.
func promptParts(prompt json.RawMessage) (all []any) {
	var list []any
	if json.Unmarshal(prompt, &list) != nil {
		list = []any{must.Get(decoded(prompt))}
	}
	for _, one := range list {
		if text, ok := one.(string); ok {
			one = object{"type": "text", "text": text}
		}
		all = append(all, one)
	}
	return all
}

func decoded(raw json.RawMessage) (v any, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

// idle waits until no session is busy, and nothing more is asked.
func (o *openCodeServer) idle() error {
	was := -1
	return waitFor(o.ctx, func() bool {
		var all map[string]struct{ Type string }
		now, open, hung := o.server.State()
		busy := o.call(http.MethodGet, "/session/status", nil, &all) != nil || open > 0 && hung == 0
		for _, s := range all {
			busy = busy || s.Type != "idle"
		}
		defer func() { was = now; time.Sleep(150 * time.Millisecond) }()
		return !busy && was == now
	})
}

// call makes a call to the server.
func (o *openCodeServer) call(method, url string, body, into any) error {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(must.Get(json.Marshal(body)))
	}
	url = fmt.Sprintf("http://127.0.0.1:%d%s", openCodePort, url)
	q := must.Get(http.NewRequestWithContext(o.ctx, method, url, content))
	q.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s: %.300s", method, url, got.Status, text)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return err
}
