package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// An Agent is a program that plays scripts.
type Agent struct {
	Name    string // also that of its folder in the cache
	Package string // on npm
	Binary  string // in the folder of a version
	Runtime *Agent // the program that runs it, of which the pinned version is used; nil for none
	Scripts bool   // npm runs the scripts of its packages, without which the program does not start
	// Versions are those that are played, the oldest first: the last one plays all scripts, others those in Common.
	Versions []string
	Common   []string

	// Fetch puts a version into a folder, instead of npm install.
	Fetch func(dir, version string) error

	// Wrapped reports that the binary starts the program as a process of its own, which has to get signals too.
	Wrapped bool

	// Store are the folders of the home that hold its sessions: they are copied. A skeleton has those of their files
	// that are sessions, and those whose names match Beside.
	Store  []string
	Beside []string
	// Whole reports that sessions have all of a request, so that skeletons keep the shape of schemas and how long texts
	// are.
	Whole bool
	// Frames are texts that the agent puts before or after others in a line, which replay knows.
	Frames []string
	// Rewrites reports that the program rewrites its files, so that they are copied after each step.
	Rewrites bool

	// Begin writes the configuration into the home. It is nil if there is none.
	Begin func(p *Player) error
	// Env is the environment of every step.
	Env func(p *Player) []string
	// Args are the arguments of a step, with the session that it resumes.
	Args func(p *Player, s *Step) []string
	// Print are the arguments of a step that prints, before these; Stream those of one that reads several prompts.
	Print, Stream []string
	InArgs        bool                              // Args have the prompt too, and standard input is empty
	Turn          func(content json.RawMessage) any // the line that is one of several prompts
	Turned        string                            // what the program prints at the end of a turn
	// Ready is a text on the screen of a program that waits for a prompt. Unset it is one of those in readyTexts.
	Ready string
	// Serve plays a step of calls to its server. It is nil for most.
	Serve func(ctx context.Context, p *Player, n int, s *Step) error

	// Native is the interface whose form its messages have in a replay, as package body names it, where the dialect
	// does not tell.
	Native string
	// AnswerID is the id of an answer in a line of its session; nil for the fields that several agents have.
	AnswerID func(line jsonl.Value) string
	// Clean takes out of a body in the form of an interface what no file holds. It is called with what was sent and
	// with what is replayed. It reports whether the request asks for a summary; then it takes out the question too.
	Clean func(form string, body map[string]any) (summary bool)
}

// Dir returns the folder with the packages of all agents: CTXTOOL_AGENTS, or ctxtool-agents in the user's
// cache.
func Dir() string {
	if dir := os.Getenv("CTXTOOL_AGENTS"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "ctxtool-agents")
}

// Program returns the binary of a version.
func (a *Agent) Program(version string) string {
	return filepath.Join(Dir(), a.Name, version, a.Binary)
}

// Has reports whether a version is installed.
func (a *Agent) Has(version string) bool {
	_, err := os.Stat(a.Program(version))
	return err == nil
}

// Install installs a version with npm, unless it is installed.
func (a *Agent) Install(version string) error {
	if a.Has(version) {
		return nil
	}
	if a.Runtime != nil {
		if err := a.Runtime.Install(a.Runtime.Pinned()); err != nil {
			return err
		}
	}
	dir := filepath.Join(Dir(), a.Name, version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	args := []string{"install", "--prefix", dir, "--no-audit", "--no-fund"}
	if !a.Scripts {
		args = append(args, "--ignore-scripts")
	}
	if a.Fetch != nil {
		if err := a.Fetch(dir, version); err != nil {
			return err
		}
	} else if said, err := exec.Command("npm", append(args, a.Package+"@"+version)...).CombinedOutput(); err != nil {
		return fmt.Errorf("npm install %s@%s: %w\n%s", a.Package, version, err, said)
	}
	if !a.Has(version) {
		return fmt.Errorf("%s@%s has no %s", a.Package, version, a.Binary)
	}
	return nil
}

// Newest returns the newest version on npm.
func (a *Agent) Newest() (string, error) {
	out, err := exec.Command("npm", "view", "--silent", "--fetch-retries", "0", a.Package, "version").Output()
	if version := strings.TrimSpace(string(out)); err == nil && version != "" {
		return version, nil
	}
	return "", errors.Join(errors.New("npm does not answer"), err)
}

// Pinned returns the newest of the versions that are played.
func (a *Agent) Pinned() string { return a.Versions[len(a.Versions)-1] }

// plays reports whether a version plays a script.
func (a *Agent) plays(version, script string) bool {
	return !slices.Contains(a.Versions[:len(a.Versions)-1], version) || slices.Contains(a.Common, script)
}

// answerID returns the id of an answer in a line of a session.
func (a *Agent) answerID(line jsonl.Value) string {
	if a.AnswerID != nil {
		return a.AnswerID(line)
	}
	return jsonl.FirstText(line.First("message", "id"), line.First("data", "apiCallId"), line.First("message",
		"responseId")).Text()
}

// summarizes reports whether a request that was just sent asks for a summary.
func (a *Agent) summarizes(q *Request) bool {
	var body object
	return json.Unmarshal(q.Body, &body) == nil && a.clean(or(q.Interface, messagesForm), body)
}

// clean is Clean of an agent that may have none.
func (a *Agent) clean(form string, body object) bool { return a.Clean != nil && a.Clean(form, body) }
