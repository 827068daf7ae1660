package main

import (
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"ctxtool/sessionfmt"
)

// A listedFile is a session file.
type listedFile struct {
	path  string
	name  string // that it is listed by: below its folder, or as it was given
	given string // what finds it from the current folder, or as it was given
	out   string // that a new file made of it has in another folder
}

// sessions are the files that the arguments of a command over many name. Without
// any it is, on a terminal, the newest session of the current folder.
func (e *env) sessions(args []string) ([]listedFile, error) {
	if len(args) > 0 {
		return e.listed(args)
	}
	file, _, err := e.session(nil)
	return []listedFile{{file, file, file, outName(file)}}, err
}

// listed are the files that the arguments name: the sessions of folders, and
// files; without any, those of the store.
func (e *env) listed(args []string) (files []listedFile, err error) {
	if len(args) == 0 {
		args = []string{e.store().Dir}
	}
	for _, arg := range args {
		info, err := e.disk.Stat(arg)
		if err != nil || !info.IsDir() {
			name, err := e.store().Locate(arg)
			if err != nil {
				return nil, err
			}
			files = append(files, listedFile{name, filepath.ToSlash(arg), filepath.ToSlash(arg), outName(name)})
			continue
		}
		names, err := sessionfmt.Store{Dir: arg, Disk: e.disk}.Files()
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			below, err := filepath.Rel(arg, n)
			if err != nil {
				below = n
			}
			files = append(files, listedFile{n, filepath.ToSlash(below), filepath.ToSlash(n), below})
		}
	}
	return files, nil
}

// outName is the name that what is made of a single file has in a folder: never one
// that leads out of it.
func outName(name string) string {
	if name == "-" {
		return "stdin.jsonl"
	}
	return filepath.Base(name)
}

// realName is a name by which a file is known again, whether it is there or only
// its folder is.
func (e *env) realName(name string) string {
	name = e.disk.Path(name)
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		if real, err = filepath.EvalSymlinks(filepath.Dir(name)); err != nil {
			real = filepath.Dir(name)
		}
		real = filepath.Join(real, filepath.Base(name))
	}
	if abs, err := filepath.Abs(real); err == nil {
		return abs
	}
	return real
}

func (e *env) isDir(name string) bool {
	info, err := e.disk.Stat(name)
	return err == nil && info.IsDir()
}

// paths are the names of files.
func paths(files []listedFile) (names []string) {
	for _, f := range files {
		names = append(names, f.path)
	}
	return names
}

// workersPerProcessor is how many files are worked on at a time for each processor:
// while one waits for the disk another computes.
const workersPerProcessor = 2

// batchGC is how much garbage there may be for what is in use, percent, where many
// files come and go: little is in use at a time, so that much is not a lot.
const batchGC = 200

// inParallel works on files on all processors, and returns what work made of each,
// in their order. How far it is, it shows to whoever watches.
func inParallel[T any](e *env, files []listedFile, work func(f listedFile, show func(done, size int64)) T) []T {
	debug.SetGCPercent(batchGC)
	all := make([]T, 0, len(files))
	inOrder(e, files, work, func(one T) { all = append(all, one) })
	return all
}

// inOrder is inParallel that hands over what work made of each file as soon as
// those before it are done, so that it need not be kept.
func inOrder[T any](e *env, files []listedFile, work func(f listedFile, show func(done, size int64)) T, take func(T)) {
	inOrderBy(e, 0, files, work, take)
}

// inOrderBy is inOrder with so many files worked on at a time, 0 for as many as is good.
func inOrderBy[T any](e *env, workers int, files []listedFile, work func(f listedFile, show func(done, size int64)) T, take func(T)) {
	if len(files) == 1 {
		e.frugal(files[0].path)
		show, end := e.progress(files[0].name)
		defer end()
		take(work(files[0], show))
		return
	}
	show, end := e.progress("sessions")
	defer end()
	waiting := map[int]T{}
	taken := 0
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	if workers == 0 {
		workers = workersPerProcessor * runtime.GOMAXPROCS(0)
	}
	for range min(workers, len(files)) {
		wg.Go(func() {
			for k := int(next.Add(1)) - 1; k < len(files); k = int(next.Add(1)) - 1 {
				one := work(files[k], nil)
				mu.Lock()
				waiting[k] = one
				for one, ok := waiting[taken]; ok; one, ok = waiting[taken] {
					delete(waiting, taken)
					take(one)
					taken++
				}
				if show != nil {
					show(int64(taken), int64(len(files)))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}
