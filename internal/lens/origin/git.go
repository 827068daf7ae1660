package origin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ctxtool/sessionfmt"
)

// A Repo is a git checkout. It is only read, by commands of git that run none of the programs that its
// configuration may name: the checkout may be somebody else's.
type Repo struct {
	Top     string // its folder
	head    string // the id of its last commit
	environ []string
	remotes []string          // addresses of its remotes, without protocol and .git
	top     []string          // names in the folder of its last commit
	places  []place           // folders of its working trees
	clones  map[string]string // folders of other clones, by a folder in them; empty for other repositories
	lock    sync.Mutex        // of clones
}

// A place is a folder of a checkout. Real is its name without symbolic links.
type place struct{ name, real string }

// quiet are the arguments of every command: no hook, monitor, pager or diff program runs.
var quiet = []string{"--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=" + os.DevNull, "-c", "diff.external=", "-c", "blame.ignoreRevsFile=",
	"-c", "core.quotePath=false", "-c", "log.showSignature=false", "-c", "submodule.recurse=false"}

// patience is how long git may take.
const patience = 2 * time.Minute

// Open opens the checkout that has a folder. environ is the environment of the process.
func Open(dir string, environ []string) (*Repo, error) { return openWith("git", dir, environ) }

func openWith(program, dir string, environ []string) (*Repo, error) {
	r := &Repo{Top: dir, clones: map[string]string{}}
	for _, v := range environ {
		if !strings.HasPrefix(v, "GIT_") {
			r.environ = append(r.environ, v)
		}
	}
	r.environ = append(r.environ, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
		"LC_ALL=C")
	if _, err := exec.LookPath(program); err != nil {
		return nil, sessionfmt.Errorf("git is needed to find the origin of lines").
			Hinted("install git, and run this in a checkout")
	}
	said, err := r.git("rev-parse", "--is-bare-repository", "--is-shallow-repository")
	if err != nil {
		return nil, sessionfmt.Errorf("%s: not in a git checkout", sessionfmt.Quote(dir)).
			Hinted("name a file of a checkout, or change to its folder; git: " + lastLine(err))
	}
	switch facts := strings.Fields(said); {
	case facts[0] == "true":
		return nil, sessionfmt.Errorf("%s: a bare repository has no files", sessionfmt.Quote(dir)).
			Hinted("run this in a checkout: git worktree add DIR")
	case facts[1] == "true":
		return nil, sessionfmt.Errorf("%s: a shallow clone lacks commits", sessionfmt.Quote(dir)).
			Hinted("git fetch --unshallow")
	}
	if said, err = r.git("rev-parse", "--show-toplevel"); err != nil {
		return nil, sessionfmt.Errorf("%s: not in the working tree of a checkout", sessionfmt.Quote(dir)).
			Hinted("name a file of a checkout, or change to its folder")
	}
	r.Top = filepath.FromSlash(strings.TrimSuffix(said, "\n"))
	if r.head, err = r.commitID("HEAD"); err != nil {
		return nil, sessionfmt.Errorf("%s: no commit yet", sessionfmt.Quote(r.Top)).Hinted("commit the files first")
	}
	return r, r.describe()
}

// describe reads by what sessions of the repository are known.
func (r *Repo) describe() error {
	said, err := r.git("ls-tree", "--name-only", "-z", "HEAD")
	r.top = strings.Split(said, "\x00")
	list, _ := r.git("worktree", "list", "--porcelain")
	for line := range strings.Lines(list) {
		if dir, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "worktree "); ok {
			r.places = append(r.places, newPlace(filepath.FromSlash(dir)))
		}
	}
	r.remotes = r.remotesOf(r.Top)
	return err
}

// commitID returns the id of a commit.
func (r *Repo) commitID(revision string) (string, error) {
	id, err := r.git("rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	return strings.TrimSpace(id), err
}

func newPlace(dir string) place {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	return place{filepath.Clean(dir), real}
}

// remotesOf returns the addresses of the remotes of the checkout that has a folder.
func (r *Repo) remotesOf(dir string) (all []string) {
	said, _ := r.gitIn(dir, nil, "config", "--get-regexp", `^remote\..*\.url$`)
	for line := range strings.Lines(said) {
		if _, url, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all = append(all, bareAddress(url))
		}
	}
	return all
}

// bareAddress returns an address of a repository in one spelling: host/path.
func bareAddress(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	host, path, ok := strings.Cut(url, ":")
	if ok && !strings.Contains(host, "/") {
		url = host + "/" + path
	}
	if user, rest, ok := strings.Cut(url, "@"); ok && !strings.Contains(user, "/") {
		url = rest
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimRight(url, "/"), ".git"))
}

// git runs a command in the checkout and returns what it prints.
func (r *Repo) git(args ...string) (string, error) { return r.gitIn(r.Top, nil, args...) }

func (r *Repo) gitIn(dir string, input []byte, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	cmd := exec.CommandContext(ctx, "git", append(slices.Clone(quiet), args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, r.environ, time.Second
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("git %s: %s", args[0], lastLine(errors.New(strings.TrimSpace(string(exit.Stderr)))))
	}
	return string(out), err
}

// lastLine returns the last line of an error of git.
func lastLine(err error) string {
	text := strings.TrimSpace(err.Error())
	return sessionfmt.Clean(strings.TrimPrefix(text[strings.LastIndexByte(text, '\n')+1:], "fatal: "))
}

// A Commit is what a line has of the commit that last changed it.
type Commit struct {
	ID      string `json:"id"`
	Author  string `json:"author"`
	Time    string `json:"time"` // when it was committed
	Subject string `json:"subject"`

	at, authored int64 // milliseconds since 1970
}

// A blamed is a line as git blames it.
type blamed struct {
	commit *Commit
	path   string // of its file in that commit
	number int    // of the line there
}

// blame returns the lines of a file in a commit, with the commits that they came with.
func (r *Repo) blame(commit, path string) (all []blamed, err error) {
	said, err := r.git("blame", "--no-textconv", "--porcelain", "-w", "-M", commit, "--", path)
	if err != nil {
		return nil, err
	}
	known, paths := map[string]*Commit{}, map[string]string{}
	var now *Commit
	number := 0
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "\t") {
			all = append(all, blamed{now, paths[now.ID], number})
			continue
		}
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "author":
			now.Author = value
		case "author-time":
			n, _ := strconv.ParseInt(value, 10, 64)
			now.authored = n * 1000
		case "committer-time":
			now.set(value)
		case "summary":
			now.Subject = value
		case "filename":
			paths[now.ID] = value
		}
		if len(key) >= 40 {
			if now = known[key]; now == nil {
				now = &Commit{ID: key}
				known[key] = now
			}
			number, _ = strconv.Atoi(strings.Fields(value)[0])
		}
	}
	return all, nil
}

// set sets the time of a commit, in seconds.
func (c *Commit) set(seconds string) {
	n, _ := strconv.ParseInt(seconds, 10, 64)
	c.at, c.Time = n*1000, time.Unix(n, 0).UTC().Format(time.RFC3339)
}

// A version is a file as a commit left it.
type version struct {
	commit, path string
	at, authored int64 // a rebase keeps the second one
}

// history returns the versions of a file up to a commit, the newest first, also those under earlier names.
func (r *Repo) history(commit, path string) (all []version, err error) {
	said, err := r.git("log", "--follow", "--no-ext-diff", "--no-textconv", "-M", "--format=%x01%H %ct %at",
		"--name-status", "--diff-merges=first-parent", commit, "--", path)
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "\x01"); ok {
			var v version
			fmt.Sscan(head, &v.commit, &v.at, &v.authored)
			v.at, v.authored = v.at*1000, v.authored*1000
			all = append(all, v)
		} else if names := strings.Split(line, "\t"); len(names) > 1 && len(all) > 0 {
			all[len(all)-1].path = names[len(names)-1]
			if len(names) > 2 { // before it was renamed
				v := all[len(all)-1]
				all = append(all, version{v.commit + "^", names[1], v.at - 1, v.authored - 1})
			}
		}
	}
	return slices.DeleteFunc(all, func(v version) bool { return v.path == "" }), err
}

// text returns a file as a commit has it.
func (r *Repo) text(commit, path string) (string, error) {
	return r.git("cat-file", "blob", commit+":"+path)
}
