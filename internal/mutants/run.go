//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A command is a program that is killed together with what it started.
type command struct {
	dir    string
	env    []string
	args   []string
	limit  time.Duration // 0: none
	memory int64         // bytes that each process may allocate, 0: any number
}

type outcome struct {
	out     []byte // both streams
	err     error
	expired bool  // the limit killed it
	memory  int64 // of the largest process, in bytes
}

func (c command) run(ctx context.Context) (r outcome) {
	inner := ctx
	if c.limit > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, c.limit)
		defer cancel()
	}
	args := c.args
	if c.memory > 0 {
		args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -d %d && exec "$@"`, c.memory/1024), "sh"}, args...)
	}
	cmd := exec.CommandContext(inner, args[0], args[1:]...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endAll := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = endAll
	cmd.WaitDelay = 10 * time.Second // for a process that left the group and holds the pipe
	r.err = cmd.Run()
	if cmd.Process != nil {
		endAll() // a test that panics leaves its children after
	}
	if cmd.ProcessState != nil {
		r.memory = largest(cmd.ProcessState)
	}
	r.out = out.Bytes()
	r.expired = ctx.Err() == nil && inner.Err() != nil
	return r
}

// largest returns the memory of the largest process that has ended, in bytes.
func largest(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}

// An event is a line of go test -json: the fields that matter here.
type event struct {
	Action, Package, Test, Output, FailedBuild string
	Elapsed                                    float64
}

// A testRun is the outcome of the tests of one package.
type testRun struct {
	passed, built, failed bool
	test                  string // the first that failed
	timing                timing // if it passed
	out                   string // of that test, or else all of it
}

// readEvents reads the output of go test -json for one package. Lines that are not
// events are errors of the go command.
func readEvents(out []byte) (r testRun) {
	r.built = true
	var all strings.Builder
	var last string // the test that printed last
	texts := map[string][]byte{}
	for line := range bytes.Lines(out) {
		var e event
		if json.Unmarshal(line, &e) != nil || e.Action == "" {
			all.Write(line)
			continue
		}
		all.WriteString(e.Output)
		texts[e.Test] = append(texts[e.Test], e.Output...)
		if e.Action == "build-fail" || e.FailedBuild != "" {
			r.built = false
		}
		switch {
		case e.Test != "":
			last = e.Test
			r.timing.add(e)
			if e.Action == "fail" && r.test == "" {
				r.test = e.Test
			}
		case e.Action == "pass":
			r.passed = true
			r.timing.add(e)
		case e.Action == "fail":
			r.failed = true
		}
	}
	r.out = all.String()
	switch {
	case strings.Contains(r.out, "\n"+timedOut):
		r.test = "timeout"
	case r.test != "":
		r.out = string(texts[r.test])
	case r.failed && r.built:
		r.test = strings.TrimSpace(last + " crashed") // nothing was left to report it
		r.out = string(texts[last]) + string(texts[""])
	}
	return r
}

// timedOut is what a test binary prints when -timeout ends it.
const timedOut = "panic: test timed out after"

// A runner tests the mutants of a module.
type runner struct {
	mod   *module
	times map[string]timing // of the unmutated packages
	// The tests of a mutant may take factor times as long, and grace.
	factor float64
	grace  time.Duration
}

// A unit is a run of go test: the tests of a package, or some of them.
type unit struct {
	pkg  string
	args []string
	time float64 // 0: not known
}

// units returns what to run for a mutant of pkg: its own tests first, then those of the
// packages that depend on it, each with the fastest first.
func (r *runner) units(pkg string) (all []unit) {
	for _, name := range r.mod.tests(pkg) {
		all = append(all, r.times[name].units(name)...)
	}
	slices.SortStableFunc(all, func(a, b unit) int {
		if own := (a.pkg == pkg); own != (b.pkg == pkg) {
			if own {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.time, b.time)
	})
	return all
}

func (r *runner) test(ctx context.Context, dir string, u unit, env ...string) (testRun, outcome) {
	limit, memory := 30*time.Minute, int64(0)
	if u.time > 0 {
		limit = r.grace + time.Duration(r.factor*u.time*float64(time.Second))
		known := r.times[u.pkg].Memory
		memory = max(6<<30, known+known/2)
	}
	args := []string{"go", "test", "-json", "-count=1", "-failfast", "-vet=off", "-timeout=" + limit.String()}
	res := command{
		dir: r.mod.root,
		// A killed test leaves its files in TMPDIR, which is removed.
		env:   append(env, "TMPDIR="+dir),
		args:  append(append(args, u.args...), u.pkg),
		limit: limit + 10*time.Minute, // -timeout does not cover compiling
		// A mutated loop may allocate without end.
		memory: memory,
	}.run(ctx)
	return readEvents(res.out), res
}

// time measures the tests of an unmutated package.
func (r *runner) time(ctx context.Context, pkg string) (timing, error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return timing{}, err
	}
	defer os.RemoveAll(dir)
	t, res := r.test(ctx, dir, unit{pkg: pkg})
	switch {
	case ctx.Err() != nil:
		return timing{}, ctx.Err()
	case t.passed && res.err == nil:
		t.timing.Memory = res.memory
		return t.timing, nil
	}
	return timing{}, fmt.Errorf("tests of %s fail unmutated: %s\n%s", pkg, t.test, tail(t.out))
}

// vet returns the first complaint of go vet, "" for none. It type-checks a package and
// its tests, so that what does not compile is told from what fails a test.
func (r *runner) vet(ctx context.Context, env []string, pkgs ...string) (string, error) {
	res := command{dir: r.mod.root, env: env, args: append([]string{"go", "vet"}, pkgs...)}.run(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if _, ok := res.err.(*exec.ExitError); res.err != nil && !ok {
		return "", res.err
	}
	if res.err == nil {
		return "", nil
	}
	for line := range strings.Lines(string(res.out)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line, nil
		}
	}
	return "go vet: " + res.err.Error(), nil
}

// try returns the verdict on a mutant. The work tree stays as it is: an overlay gives
// the go command the mutated file in place of the original.
func (r *runner) try(ctx context.Context, m *mutant) (result, error) {
	begin := time.Now()
	res := result{Key: m.key, At: fmt.Sprintf("%s:%d", m.file, m.line)}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return res, err
	}
	defer os.RemoveAll(dir)
	env, err := overlay(dir, r.mod.root, m)
	if err != nil {
		return res, err
	}
	complaint, err := r.vet(ctx, env, m.pkg)
	if err != nil {
		return res, err
	}
	if complaint != "" {
		res.Verdict, res.Detail = notViable, complaint
	} else if err := r.tests(ctx, m, dir, env, &res); err != nil {
		return res, err
	}
	res.Seconds = time.Since(begin).Round(time.Millisecond).Seconds()
	return res, nil
}

// overlay writes the mutated file, and returns the environment in which the go command
// compiles it. The option is in GOFLAGS because some tests run the go command.
func overlay(dir, root string, m *mutant) ([]string, error) {
	name := filepath.Join(root, filepath.FromSlash(m.file))
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(src, m.src) {
		return nil, fmt.Errorf("%s has changed since this run began", m.file)
	}
	changed := filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(changed, m.mutated(), 0o644); err != nil {
		return nil, err
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{name: changed}})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o644); err != nil {
		return nil, err
	}
	return []string{strings.TrimSpace("GOFLAGS=" + os.Getenv("GOFLAGS") + " '-overlay=" + file + "'")}, nil
}

// tests runs the tests that may notice a mutant until one of them fails.
func (r *runner) tests(ctx context.Context, m *mutant, dir string, env []string, res *result) error {
	for _, u := range r.units(m.pkg) {
		t, out := r.test(ctx, dir, u, env...)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case t.passed && out.err == nil:
			continue
		case !t.built:
			// For example a duplicate case in a package that uses a mutated constant.
			res.Verdict, res.Detail = notViable, tail(t.out)
		case out.expired:
			res.Verdict, res.By, res.Test = killed, u.pkg, "timeout"
		case t.failed:
			res.Verdict, res.By, res.Test, res.Detail = killed, u.pkg, t.test, head(t.out)
		default:
			return fmt.Errorf("%s: go test %s: %v: %s", m.key, u.pkg, out.err, tail(t.out))
		}
		return nil
	}
	res.Verdict = survived
	return nil
}

// head returns the beginning of a long output, or of the report of a crash in it.
func head(text string) string {
	text = "\n" + text
	for _, word := range []string{"\npanic: ", "\nfatal error: "} {
		if k := strings.Index(text, word); k >= 0 {
			text = text[k:]
			break
		}
	}
	const most = 400
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return strings.TrimSpace(text)
}

// tail returns the end of a long output.
func tail(text string) string {
	const most = 2000
	if len(text) > most {
		text = "… " + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return strings.TrimSpace(text)
}
