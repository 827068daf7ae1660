package origin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxtool/sessionfmt"
)

// A Repo is a git checkout. It is only read, by commands of git that run none of the programs that its
// configuration may name: the checkout may be somebody else's.
type Repo struct {
	Top     string // its folder
	head    string // the id of its last commit
	environ []string
	top     []string // names in the folder of its last commit
	place            // see place.go
}

// quiet are the arguments of every command: no hook, monitor, pager or diff program runs.
var quiet = []string{"--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=" + os.DevNull, "-c", "diff.external=", "-c", "core.quotePath=false",
	"-c", "log.showSignature=false", "-c", "submodule.recurse=false"}

// patience is how long git may take.
const patience = 2 * time.Minute

// Open opens the checkout that has a folder. environ is the environment of the process.
func Open(dir string, environ []string) (*Repo, error) { return openWith("git", dir, environ) }

func openWith(program, dir string, environ []string) (*Repo, error) {
	r := &Repo{Top: dir}
	for _, v := range environ {
		if !strings.HasPrefix(v, "GIT_") {
			r.environ = append(r.environ, v)
		}
	}
	r.environ = append(r.environ, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
		"LC_ALL=C")
	fail := func(what, hint string) (*Repo, error) {
		return nil, sessionfmt.Errorf("%s: %s", sessionfmt.Quote(r.Top), what).Hinted(hint)
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil, sessionfmt.Errorf("git is needed to find the origin of lines").
			Hinted("install git, and run this in a checkout")
	}
	said, err := r.git("rev-parse", "--is-bare-repository", "--is-shallow-repository")
	switch facts := strings.Fields(said); {
	case err != nil:
		return fail("not in a git checkout", "name a file of a checkout, or change to its folder; "+err.Error())
	case facts[0] == "true":
		return fail("a bare repository has no files", "run this in a checkout: git worktree add DIR")
	case facts[1] == "true":
		return fail("a shallow clone lacks commits", "git fetch --unshallow")
	}
	if said, err = r.git("rev-parse", "--show-toplevel"); err != nil {
		return fail("not in the working tree of a checkout", "name a file of a checkout, or change to its folder")
	}
	r.Top = filepath.FromSlash(strings.TrimSuffix(said, "\n"))
	if r.head, err = r.commitID("HEAD"); err != nil {
		return fail("no commit yet", "commit the files first")
	}
	said, err = r.git("ls-tree", "--name-only", "-z", "HEAD")
	r.top = strings.Split(said, "\x00")
	r.locate()
	return r, err
}

// commitID returns the id of a commit.
func (r *Repo) commitID(revision string) (string, error) {
	id, err := r.git("rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	return strings.TrimSpace(id), err
}

// git runs a command in the checkout and returns what it prints.
func (r *Repo) git(args ...string) (string, error) { return r.gitIn(r.Top, "", args...) }

func (r *Repo) gitIn(dir, input string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	cmd := exec.CommandContext(ctx, "git", append(slices.Clone(quiet), args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, r.environ, time.Second
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		text := strings.TrimSpace(string(exit.Stderr))
		text = strings.TrimPrefix(text[strings.LastIndexByte(text, '\n')+1:], "fatal: ")
		err = fmt.Errorf("git %s: %s", args[0], sessionfmt.Clean(text))
	}
	return string(out), err
}

// A blamed is a line as git blames it.
type blamed struct {
	commit *Commit // nil of a line that is not committed
	path   string  // of its file in that commit
	number int     // of the line there
}

// blame returns the lines of a file in a commit, with the commits that they came with.
func (r *Repo) blame(commit, path string) (all []blamed, err error) {
	said, err := r.git("blame", "--no-ignore-revs-file", "--no-textconv", "--porcelain", "-w", "-M", commit, "--", path)
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
			now.authored = milliseconds(value)
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
	return all, err
}

// set sets the time of a commit, in seconds.
func (c *Commit) set(seconds string) {
	c.at = milliseconds(seconds)
	c.Time = time.UnixMilli(c.at).UTC().Format(time.RFC3339)
}

func milliseconds(seconds string) int64 {
	n, _ := strconv.ParseInt(seconds, 10, 64)
	return n * 1000
}

// commits lists commits, the oldest first, as the arguments of git log say.
func (r *Repo) commits(args ...string) (all []Commit, err error) {
	list, err := r.git(append([]string{"log", "--reverse", "--format=%H\t%an\t%ct\t%s"}, args...)...)
	for line := range strings.Lines(list) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		c := Commit{ID: parts[0], Author: parts[1], Subject: parts[3]}
		c.set(parts[2])
		all = append(all, c)
	}
	return all, err
}

// A version is a file as a commit left it.
type version struct {
	commit, path string
	at, authored int64
}

// history returns the versions of a file up to a commit, the newest first, also those under earlier names. That of a
// copy begins with the copy: what was written to the original was not written to it.
func (r *Repo) history(commit, path string) (all []version, err error) {
	said, err := r.git("log", "--follow", "--no-ext-diff", "--no-textconv", "-M", "--format=%x01%H %ct %at",
		"--name-status", "--diff-merges=first-parent", commit, "--", path)
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "\x01"); ok {
			parts := strings.Fields(head)
			all = append(all, version{commit: parts[0], at: milliseconds(parts[1]), authored: milliseconds(parts[2])})
		} else if names := strings.Split(line, "\t"); len(names) > 1 && len(all) > 0 {
			v := &all[len(all)-1]
			v.path = names[len(names)-1]
			if names[0][0] == 'C' {
				break
			}
			if len(names) > 2 { // before it was renamed
				all = append(all, version{v.commit + "^", names[1], v.at - 1, v.authored - 1})
			}
		}
	}
	return slices.DeleteFunc(all, func(v version) bool { return v.path == "" }), err
}

// renames returns the present names of files that were renamed on the way to the last commit.
func (r *Repo) renames() map[string]string {
	now := map[string]string{}
	said, _ := r.git("log", "--diff-filter=R", "-M", "--name-status", "--format=", "--no-ext-diff", r.head)
	for line := range strings.Lines(said) { // the newest first
		names := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(names) == 3 && now[names[1]] == "" {
			if now[names[1]] = names[2]; now[names[2]] != "" {
				now[names[1]] = now[names[2]]
			}
		}
	}
	return now
}

// text returns a file as a commit has it, with the line ends of Unix.
func (r *Repo) text(commit, path string) (string, error) {
	text, err := r.git("cat-file", "blob", commit+":"+path)
	return unixLines(text), err
}

func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

func isBinary(text string) bool { return strings.ContainsRune(text, 0) }
