package origin

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ctxtool/internal/read/store"
)

// A place is where sessions of a repository may have run.
type place struct {
	remotes []string // addresses of its remotes, see bareAddress
	names   []string // that its folder may have
	trees   []tree   // its working trees

	lock   sync.Mutex
	others map[string]string // folders of other clones, by a folder in them; empty for other repositories
}

// A tree is a working tree: its folder, also without symbolic links.
type tree struct{ dir, real string }

// locate reads where sessions of the repository may have run.
func (r *Repo) locate() {
	r.others = map[string]string{}
	list, _ := r.git("worktree", "list", "--porcelain")
	for line := range strings.Lines(list) {
		if dir, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "worktree "); ok {
			dir = filepath.Clean(filepath.FromSlash(dir))
			r.trees = append(r.trees, tree{dir, realName(dir)})
			r.names = append(r.names, filepath.Base(dir))
		}
	}
	r.remotes = r.remotesOf(r.Top)
	for _, address := range r.remotes {
		r.names = append(r.names, path.Base(address))
	}
}

// remotesOf returns the addresses of the remotes of the checkout that has a folder.
func (r *Repo) remotesOf(dir string) (all []string) {
	said, _ := r.gitIn(dir, "", "config", "--get-regexp", `^remote\..*\.url$`)
	for line := range strings.Lines(said) {
		if _, url, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all = append(all, bareAddress(url))
		}
	}
	return all
}

// bareAddress returns the address of a repository in one spelling: host/path.
func bareAddress(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	if host, path, ok := strings.Cut(url, ":"); ok && !strings.Contains(host, "/") {
		url = host + "/" + path
	}
	if user, rest, ok := strings.Cut(url, "@"); ok && !strings.Contains(user, "/") {
		url = rest
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimRight(url, "/"), ".git"))
}

// A root is where a session has the repository: in a folder, or, if that is not known, below a folder with one of
// the names.
type root struct {
	dir, cwd string // with slashes; cwd is that of the session
	names    []string
}

// rootOf returns where a session has the repository; ok is false for a session of another one. Where its folder is
// gone, it is known by its remote or its commit if the session has them, else by the folder's name.
func (r *Repo) rootOf(h *store.HeaderInfo) (in root, ok bool) {
	in = root{cwd: slashed(h.CWD), names: r.names}
	dir := h.CWD
	for filepath.IsAbs(dir) && !isDir(dir) && filepath.Dir(dir) != dir { // it may have been removed
		dir = filepath.Dir(dir)
	}
	if filepath.IsAbs(h.CWD) {
		real := realName(dir)
		for _, t := range r.trees {
			switch {
			case !below(t.real, real):
			case below(t.dir, h.CWD):
				in.dir = slashed(t.dir)
			default:
				in.dir = slashed(t.real)
			}
		}
		if in.dir == "" && dir == h.CWD { // another folder that exists
			in.dir = slashed(r.cloneAt(dir))
			return in, in.dir != ""
		}
	}
	named := h.CWD == "" || slices.ContainsFunc(strings.Split(in.cwd, "/"), in.named)
	if in.dir != "" || h.Remote == "" {
		return in, in.dir != "" || named
	}
	if !named {
		in.names = append(slices.Clip(in.names), path.Base(in.cwd))
	}
	return in, slices.Contains(r.remotes, bareAddress(h.Remote)) || r.has(h.Commit)
}

// once returns what a function returned for a key the first time.
func (p *place) once(key string, find func() string) string {
	p.lock.Lock()
	defer p.lock.Unlock()
	found, known := p.others[key]
	if !known {
		found = find()
		p.others[key] = found
	}
	return found
}

// has reports whether the repository has a commit.
func (r *Repo) has(commit string) bool {
	return commit != "" && r.once("commit "+commit, func() string {
		id, _ := r.commitID(commit)
		return id
	}) != ""
}

// cloneAt returns the folder of another clone of the repository: of a checkout that has a folder and shares a
// remote. It is empty for other folders.
func (r *Repo) cloneAt(dir string) string {
	return r.once(dir, func() string {
		top, _ := r.gitIn(dir, "", "rev-parse", "--show-toplevel")
		ours := func(address string) bool { return slices.Contains(r.remotes, address) }
		if !slices.ContainsFunc(r.remotesOf(dir), ours) {
			return ""
		}
		return filepath.FromSlash(strings.TrimSuffix(top, "\n"))
	})
}

// named reports whether a folder has a name of the repository's, which folders of working trees often begin with.
func (in *root) named(part string) bool {
	return slices.ContainsFunc(in.names, func(name string) bool {
		return part == name || strings.HasPrefix(part, name+"-") || strings.HasPrefix(part, name+".")
	})
}

// nested are folders in which agents keep working trees, each in a folder of its own.
var nested = []string{".claude/worktrees/", ".worktrees/", "worktrees/"}

// file returns which of the wanted files of the repository a call means by a path, empty for none; if wanted is nil,
// any file. dir is where a command has gone.
func (in *root) file(r *Repo, name, dir string, wanted map[string]string) string {
	name = slashed(name)
	for _, base := range []string{slashed(dir), in.cwd} {
		if !isAbs(name) && base != "" {
			name = path.Join(base, name)
		}
	}
	name = path.Clean(name)
	if in.dir != "" {
		rest, ok := strings.CutPrefix(name, in.dir+"/")
		for _, folder := range nested {
			if after, ok := strings.CutPrefix(rest, folder); ok {
				rest = r.inTree(strings.Split(after, "/"), 1, in.deep(name), wanted)
			}
		}
		if !ok || wanted == nil {
			return rest
		}
		return wanted[rest]
	}
	parts := strings.Split(name, "/")
	if !isAbs(name) {
		return r.inTree(parts, 0, 0, wanted)
	}
	for i, part := range parts {
		if in.named(part) {
			if rest := r.inTree(parts, i+1, max(i+3, in.deep(name)), wanted); rest != "" {
				return rest
			}
		}
	}
	return ""
}

// deep returns how many folders of the session's folder a path has, 0 if it is elsewhere.
func (in *root) deep(name string) int {
	if !strings.HasPrefix(name, in.cwd+"/") {
		return 0
	}
	return strings.Count(in.cwd, "/") + 1
}

// inTree returns the wanted file that a path means by its last parts, of which first to last begin the tree. What is
// in the folder of the repository's last commit tells where it begins.
func (r *Repo) inTree(parts []string, first, last int, wanted map[string]string) string {
	for k := first; k < len(parts) && k <= last; k++ {
		rest := strings.Join(parts[k:], "/")
		inside := slices.Contains(r.top, parts[k])
		switch {
		case wanted != nil && wanted[rest] != "":
			return wanted[rest]
		case wanted == nil && (inside || first == 0):
			return rest
		case inside: // and so is what follows
			return ""
		}
	}
	return ""
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

func isAbs(name string) bool {
	return strings.HasPrefix(name, "/") || len(name) > 2 && name[1] == ':' && name[2] == '/'
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func realName(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// below reports whether a name is a folder or in it.
func below(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
