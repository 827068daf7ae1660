package agents

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/read/store"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// Where a program finds its home and its project: on a file system of their own, so that recordings have no path
// of this machine.
const (
	private = "/srv"
	home    = private + "/dev"
	project = home + "/project"
	address = "http://127.0.0.1:8791"
)

// A Player plays a script.
type Player struct {
	*Agent
	Script               *Script
	version, binary, out string
	server               *Server
	sessions             map[string]string   // by label
	turnIDs              map[string][]string // ids of a session's turns, by its label
	seen                 []string            // the sessions that steps before have left
	events               []object
}

// task names, in the environment of a child process of a test, what it plays.
const task = "CTXTOOL_PLAY"

// A job is what such a process plays.
type job struct {
	Agent, Version, Program, Script, Out, Model string
}

// Record plays a script through a version of the program, and writes what it sent and wrote to a folder, a recording.
// It returns what could not be done, and [ErrNamespaces] where the system has none. The test's own binary plays the
// script, in namespaces of its own: its TestMain calls [Main].
func (a *Agent) Record(version, script, out, model string) error {
	if exec.Command("unshare", "-n", "-m", "-u", "-p", "-f", "true").Run() != nil {
		return ErrNamespaces
	}
	full := must.Get(json.Marshal(job{a.Name, version, must.Get(filepath.Abs(a.Program(version))),
		must.Get(filepath.Abs(script)), must.Get(filepath.Abs(out)), model}))
	cmd := exec.Command("unshare", "-n", "-m", "-u", "-p", "-f", "--kill-child", "--mount-proc",
		must.Get(os.Executable()))
	cmd.Env = append(os.Environ(), task+"="+string(full))
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(script), err, said)
	}
	return nil
}

// ErrNamespaces reports a system on which no program can be shut off from the network.
var ErrNamespaces = errors.New("no namespaces: unshare needs Linux, and root")

// playJob plays the script that the environment names, and ends the process. Without one it returns.
func playJob(agents ...*Agent) {
	named := os.Getenv(task)
	if named == "" {
		return
	}
	var j job
	must.Do(json.Unmarshal([]byte(named), &j))
	at := slices.IndexFunc(agents, func(a *Agent) bool { return a.Name == j.Agent })
	if err := agents[at].play(j); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// play plays a script inside of the namespaces.
func (a *Agent) play(j job) error {
	for _, c := range []string{"ip link set lo up", "mount -t tmpfs none " + private, "hostname box"} {
		if said, err := exec.Command("sh", "-c", c).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", c, err, said)
		}
	}
	s, err := ReadScript(j.Script)
	if err != nil {
		return err
	}
	s.Model = or(j.Model, s.Model)
	must.Do(os.MkdirAll(project, 0o755))
	server, err := Serve(8791)
	if err != nil {
		return err
	}
	defer server.Close()
	p := &Player{Agent: a, Script: &s, version: j.Version, binary: j.Program, out: j.Out, server: server,
		sessions: map[string]string{}, turnIDs: map[string][]string{}}
	if a.Begin != nil {
		if err := a.Begin(p); err != nil {
			return err
		}
	}
	place(s.Files)
	var failed []error
	for k := range s.Steps {
		if err := p.step(k+1, &s.Steps[k]); err != nil {
			failed = append(failed, fmt.Errorf("step %d: %w", k+1, err))
		}
	}
	time.Sleep(300 * time.Millisecond)
	return errors.Join(append(failed, p.record(j.Out))...)
}

// step plays a step, and notes what came of it.
func (p *Player) step(n int, s *Step) (err error) {
	before, _, _ := p.server.State()
	event := object{"step": n, "do": s.Do}
	p.server.Plan(n, s.Answers)
	switch s.Do {
	case "print":
		var said string
		said, err = p.print(n, s)
		event["said"] = said[max(0, len(said)-300):]
	case "interactive":
		err = p.interactive(n, s)
	case "serve":
		ctx, cancel := context.WithTimeout(context.Background(), s.MS.of(5*time.Minute))
		defer cancel()
		err = p.Serve(ctx, p, n, s)
	case "run":
		err = p.run(s)
	case "files":
		place(s.Files)
	case "wait":
		time.Sleep(s.MS.of(time.Second))
	default:
		err = fmt.Errorf("no step %q", s.Do)
	}
	after, _, _ := p.server.State()
	p.label(s, p.server.Log()[before:])
	if p.Rewrites {
		err = errors.Join(err, p.copyHome(filepath.Join(p.out, stepsDir, fmt.Sprint(n), homeDir)))
	}
	event["requests"], event["unused"] = []int{before + 1, after}, p.server.Left()
	if err != nil {
		event["error"] = err.Error()
	}
	p.events = append(p.events, event)
	return err
}

// run runs a command of the shell.
func (p *Player) run(s *Step) error {
	cmd := exec.Command("sh", "-ec", s.Run)
	cmd.Dir, cmd.Env = home, p.env(s)
	for label, id := range p.sessions {
		cmd.Env = append(cmd.Env, label+"="+id)
	}
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return nil
}

// label finds the session of a step: by the first of its requests that names one in the store, or else by its file,
// which is new. Requests that name none get it.
func (p *Player) label(s *Step, requests []*Request) {
	if s.Session == "" || len(requests) == 0 {
		return
	}
	all, began := p.stored()
	names := func(q *Request) bool { return slices.Contains(all, q.ID) }
	if at := slices.IndexFunc(requests, names); at >= 0 { // later ones may be of sub-agents
		p.sessions[s.Session] = requests[at].ID
	} else if len(began) == 1 && (p.sessions[s.Session] == "" || s.Fork) {
		p.sessions[s.Session] = began[0]
	}
	for _, q := range requests {
		if !names(q) {
			q.ID = p.sessions[s.Session]
		}
	}
}

// stored returns the sessions in the store, and those that were not there at the last call. Sub-agents begin
// none.
func (p *Player) stored() (all, began []string) {
	disk := sessionfmt.Disk{}
	files, _ := store.Default(disk, func(string) string { return "" }, home).Parts() // an error is that of no folder
	for _, f := range files {
		h := store.ReadHeader(disk, f.Name)
		all = append(all, h.ID)
		if h.Owner == "" && !slices.Contains(p.seen, h.ID) {
			began = append(began, h.ID)
		}
	}
	p.seen = append(p.seen, began...)
	return all, began
}

// given returns the settings and the MCP servers of a step, else those of its script.
func (p *Player) given(s *Step) (settings, servers json.RawMessage) {
	if settings = s.Settings; settings == nil {
		settings = p.Script.Settings
	}
	if servers = s.MCP; servers == nil {
		servers = p.Script.MCP
	}
	return settings, servers
}

// of returns a duration, or another where it is not set.
func (d Duration) of(unset time.Duration) time.Duration {
	if d == 0 {
		return unset
	}
	return time.Duration(d) * time.Millisecond
}

// command returns a process of the program.
func (p *Player) command(ctx context.Context, s *Step, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.binary, append(args, p.Args(p, s)...)...)
	cmd.Dir = filepath.Join(project, s.Dir)
	cmd.Env = p.env(s)
	return cmd
}

func (p *Player) env(s *Step) []string {
	path := os.Getenv("PATH")
	if p.Runtime != nil {
		path = filepath.Dir(p.Runtime.Program(p.Runtime.Pinned())) + ":" + path
	}
	env := append([]string{"PATH=" + path, "HOME=" + home, "LANG=C.UTF-8", "TZ=UTC", "SHELL=/bin/bash",
		"TERM=xterm-256color"}, p.Env(p)...)
	for _, set := range []map[string]string{p.Script.Env, s.Env} {
		for name, v := range set {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// print plays a step without a terminal.
func (p *Player) print(n int, s *Step) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.MS.of(90*time.Second))
	defer cancel()
	if s.Turns != nil {
		return p.turns(ctx, n, s)
	}
	cmd := p.command(ctx, s, p.Print)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(s.Prompt), &said, &said
	if p.InArgs {
		cmd.Stdin = nil
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if s.Kill != "" {
		go p.kill(cmd, s)
	}
	err := cmd.Wait()
	if ctx.Err() != nil {
		return said.String(), fmt.Errorf("it takes too long: %s", said.Bytes())
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed { // it may have to: the events show it
		err = nil
	}
	return said.String(), err
}

// kill interrupts a process at its first request, or once a stream stalls.
func (p *Player) kill(cmd *exec.Cmd, s *Step) {
	before, _, hung := p.server.State()
	for {
		time.Sleep(20 * time.Millisecond)
		if all, _, now := p.server.State(); s.Kill == "stall" && now > hung || s.Kill == "request" && all > before {
			break
		}
	}
	time.Sleep(s.After.of(500 * time.Millisecond))
	signal, pid := strings.TrimPrefix(or(s.Signal, "INT"), "SIG"), fmt.Sprint(cmd.Process.Pid)
	if signal == "KILL" || p.Wrapped { // which a process does not pass on to one that it has started
		exec.Command("pkill", "-"+signal, "-P", pid).Run()
	}
	exec.Command("kill", "-s", signal, pid).Run()
}

func or(s, unset string) string {
	if s == "" {
		return unset
	}
	return s
}

// turns plays a step of several prompts to one process.
func (p *Player) turns(ctx context.Context, n int, s *Step) (string, error) {
	cmd := p.command(ctx, s, p.Stream)
	in := must.Get(cmd.StdinPipe())
	said := &output{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return "", err
	}
	for k, turn := range s.Turns {
		p.server.Plan(n, turn.Answers)
		var list []json.RawMessage
		if json.Unmarshal(turn.Prompt, &list) != nil {
			list = []json.RawMessage{turn.Prompt}
		}
		for _, content := range list {
			must.Do(json.NewEncoder(in).Encode(p.Turn(content)))
		}
		for strings.Count(said.String(), p.Turned) <= k && ctx.Err() == nil {
			time.Sleep(50 * time.Millisecond)
		}
		place(turn.Files)
	}
	in.Close()
	err := cmd.Wait()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said.String())
	}
	return said.String(), err
}

// place writes files.
func place(files Files) {
	for name, raw := range files {
		to := filepath.Join(project, name)
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			to = filepath.Join(home, rest)
		}
		must.Do(os.MkdirAll(filepath.Dir(to), 0o755))
		var text string
		switch {
		case string(raw) == "null":
			must.Do(os.RemoveAll(to))
			continue
		case json.Unmarshal(raw, &text) != nil:
			text = string(raw)
		}
		data, mode := []byte(text), fs.FileMode(0o644)
		if coded, ok := strings.CutPrefix(text, "base64:"); ok {
			data = must.Get(base64.StdEncoding.DecodeString(coded))
		}
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		must.Do(os.WriteFile(to, data, mode))
	}
}
