package origin

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A root is where a session has the repository: in a folder, or, of folders that are gone, below a folder with
// one of its names.
type root struct {
	dir   string   // slashes; empty if unknown
	cwd   string   // of the session, slashes
	names []string // of the repository's folder, if dir is unknown
}

// rootOf tells where a session that began in a folder has the repository; ok is false for a session of another
// one.
func (r *Repo) rootOf(cwd string) (in root, ok bool) {
	in = root{cwd: slashed(cwd), names: r.names()}
	dir := cwd
	for filepath.IsAbs(dir) && !isDir(dir) && filepath.Dir(dir) != dir { // it may have been removed
		dir = filepath.Dir(dir)
	}
	if filepath.IsAbs(cwd) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir
		}
		for _, p := range r.places {
			if below(p.real, real) {
				in.dir = p.name
				if !below(p.name, cwd) {
					in.dir = p.real
				}
				in.dir = slashed(in.dir)
			}
		}
		if in.dir != "" {
			return in, true
		}
		if dir == cwd { // another folder that still exists
			top := r.cloneAt(cwd)
			in.dir = slashed(top)
			return in, top != ""
		}
	}
	return in, cwd == "" || slices.ContainsFunc(strings.Split(in.cwd, "/"), in.named)
}

// named reports whether a folder has a name of the repository's, which folders of working trees often begin with.
func (in *root) named(part string) bool {
	return slices.ContainsFunc(in.names, func(name string) bool {
		return part == name || strings.HasPrefix(part, name+"-") || strings.HasPrefix(part, name+".")
	})
}

// names returns the names that the repository's folder may have.
func (r *Repo) names() (all []string) {
	for _, p := range r.places {
		all = append(all, filepath.Base(p.name))
	}
	for _, address := range r.remotes {
		all = append(all, path.Base(address))
	}
	return all
}

// cloneAt returns the folder of another clone of the repository: of a checkout that has a folder and shares a
// remote. It is empty for other folders.
func (r *Repo) cloneAt(dir string) string {
	r.lock.Lock()
	defer r.lock.Unlock()
	if top, known := r.clones[dir]; known {
		return top
	}
	top, _ := r.gitIn(dir, nil, "rev-parse", "--show-toplevel")
	top = filepath.FromSlash(strings.TrimSuffix(top, "\n"))
	ours := func(address string) bool { return slices.Contains(r.remotes, address) }
	if !slices.ContainsFunc(r.remotesOf(dir), ours) {
		top = ""
	}
	r.clones[dir] = top
	return top
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
	meant := func(rest string) string {
		if wanted == nil {
			return rest
		}
		return wanted[rest]
	}
	if in.dir != "" {
		rest, ok := strings.CutPrefix(name, in.dir+"/")
		if !ok {
			return ""
		}
		for _, folder := range nested {
			if after, ok := strings.CutPrefix(rest, folder); ok {
				_, rest, _ = strings.Cut(after, "/")
			}
		}
		return meant(rest)
	}
	if !isAbs(name) {
		return meant(name)
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if !in.named(part) {
			continue
		}
		for k := i + 1; k < min(len(parts), i+4); k++ {
			inside := slices.Contains(r.top, parts[k])
			if rest := meant(strings.Join(parts[k:], "/")); rest != "" && (wanted != nil || inside) {
				return rest
			}
			if inside { // and so is what follows
				break
			}
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

// below reports whether a name is a folder or in it.
func below(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
