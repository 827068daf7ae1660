//go:build unix

// Command mutants changes one operator or constant of the code at a time, and runs the
// tests: those of the package, and if they pass, those of the packages that depend on
// it. It reports the changes that no test notices. See make mutants.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

type options struct {
	folders             []string
	dir                 string // the module's root
	n, seed, jobs       int
	least               float64
	list                bool
	state, times, equal string
	equalAsked          bool
	only                *regexp.Regexp
	factor              float64
	grace               time.Duration
	out, log            io.Writer
}

// errLeast reports whether a run killed fewer mutants than -least requires.
var errLeast = errors.New("too few mutants were killed")

func main() {
	o := options{dir: ".", grace: time.Minute, out: os.Stdout, log: os.Stderr}
	flag.IntVar(&o.n, "n", 60, "`number` of mutants to test")
	flag.IntVar(&o.seed, "seed", 1, "`number` that selects the sample")
	flag.IntVar(&o.jobs, "j", 1, "`number` of mutants to test at a time")
	flag.Float64Var(&o.least, "least", 0, "exit 1 if less than this `percent` of the viable mutants were killed")
	flag.Float64Var(&o.factor, "factor", 3, "`times` that the tests of a mutant may take as long as unmutated, and a minute")
	flag.BoolVar(&o.list, "list", false, "print the sample and exit")
	flag.StringVar(&o.state, "state", "", "`file` to append results to; mutants whose result is in it are skipped")
	flag.StringVar(&o.times, "times", "", "`file` with the output of go test -json ./..., to take times from")
	flag.StringVar(&o.equal, "equivalent", "internal/mutants/equivalent.txt", "`file` of equivalent mutants: lines of a key, a tab and the reason")
	only := flag.String("only", "", "sample only mutants whose key matches `regexp`, and test them even if their result is known")
	flag.Parse()
	o.folders = flag.Args()
	flag.Visit(func(f *flag.Flag) { o.equalAsked = o.equalAsked || f.Name == "equivalent" })
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if *only != "" {
		o.only, err = regexp.Compile(*only)
	}
	if err == nil {
		err = o.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func (o *options) run(ctx context.Context) (err error) {
	if len(o.folders) == 0 {
		return errors.New("at least one folder is required")
	}
	mod, err := readModule(ctx, o.dir)
	if err != nil {
		return err
	}
	all, err := mod.mutants(o.folders)
	if err != nil {
		return err
	}
	reasons, err := readEquivalents(o.equal, o.equalAsked)
	if err != nil {
		return err
	}
	stale := o.stale(all, reasons)
	sample := o.sample(all)
	fmt.Fprintf(o.log, "%d mutants, sample of %d\n", len(all), len(sample))
	if o.list {
		for _, m := range sample {
			fmt.Fprintf(o.out, "%s:%d\t%s\n", m.file, m.line, m.key)
		}
		return nil
	}
	st, err := openState(o.state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.close()) }()
	if o.times != "" {
		if err := st.readTimes(o.times); err != nil {
			return err
		}
	}
	if err := o.test(ctx, mod, st, sample, reasons); err != nil {
		return err
	}
	return o.report(sample, st, reasons, stale)
}

// sample returns the first n mutants in the order of their ranks.
func (o *options) sample(all []mutant) []mutant {
	if o.only != nil {
		all = slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !o.only.MatchString(m.key) })
	}
	draw(all, o.seed)
	return all[:min(o.n, len(all))]
}

// stale returns the keys of equivalent mutants that do not exist, as far as they are in
// the folders of this run.
func (o *options) stale(all []mutant, reasons map[string]string) (keys []string) {
	known := map[string]bool{}
	for _, m := range all {
		known[m.key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(reasons)) {
		here := slices.ContainsFunc(o.folders, func(f string) bool { return within(key, f) })
		if here && !known[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

// test tests the mutants of the sample that have no result yet.
func (o *options) test(ctx context.Context, mod *module, st *state, sample []mutant, reasons map[string]string) error {
	var todo []mutant
	for _, m := range sample {
		if _, done := st.results[m.key]; (!done || o.only != nil) && reasons[m.key] == "" {
			todo = append(todo, m)
		}
	}
	r := &runner{mod: mod, times: st.times, factor: o.factor, grace: o.grace}
	if err := o.prepare(ctx, r, st, todo); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan *mutant)
	var wg sync.WaitGroup
	var done int
	for range max(1, o.jobs) {
		wg.Go(func() {
			for m := range next {
				res, err := r.try(ctx, m)
				if err == nil {
					err = st.add(res)
				}
				if err != nil {
					cancel(err)
					return
				}
				st.mu.Lock()
				done++
				fmt.Fprintf(o.log, "%s %d/%d %s %.0fs %s:%d %s | %s %s\n", time.Now().Format(time.TimeOnly), done, len(todo), res.Verdict, res.Seconds, m.file, m.line, m.key, res.By, res.Test)
				st.mu.Unlock()
			}
		})
	}
	for i := range todo {
		select {
		case next <- &todo[i]:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// prepare checks that the unmutated packages pass, since a test that fails anyway kills
// every mutant, and times their tests.
func (o *options) prepare(ctx context.Context, r *runner, st *state, todo []mutant) error {
	mutated, tested := map[string]bool{}, map[string]bool{}
	for _, m := range todo {
		if !mutated[m.pkg] {
			mutated[m.pkg] = true
			for _, pkg := range r.mod.tests(m.pkg) {
				tested[pkg] = true
			}
		}
	}
	if len(todo) == 0 {
		return nil
	}
	complaint, err := r.vet(ctx, nil, slices.Sorted(maps.Keys(mutated))...)
	if err != nil {
		return err
	}
	if complaint != "" {
		return fmt.Errorf("go vet complains unmutated: %s", complaint)
	}
	for _, pkg := range slices.Sorted(maps.Keys(tested)) {
		if st.times[pkg].Time > 0 {
			continue
		}
		t, err := r.time(ctx, pkg)
		if err != nil {
			return err
		}
		fmt.Fprintf(o.log, "%s takes %.1fs\n", pkg, t.Time)
		if err := st.addTime(t); err != nil {
			return err
		}
	}
	return nil
}

// report prints the results of the sample as Markdown.
func (o *options) report(sample []mutant, st *state, reasons map[string]string, stale []string) error {
	verdicts := []string{killed, survived, equivalent, notViable}
	counts := map[string]map[string]int{"all": {}}
	lists := map[string][]string{}
	for _, m := range sample {
		verdict, reason := st.results[m.key].Verdict, reasons[m.key]
		if reason != "" {
			verdict = equivalent
			reason = ": " + reason
		}
		if counts[m.folder()] == nil {
			counts[m.folder()] = map[string]int{}
		}
		counts[m.folder()][verdict]++
		counts["all"][verdict]++
		lists[verdict] = append(lists[verdict], fmt.Sprintf("- %s:%d: `%s`%s", m.file, m.line, m.key, reason))
	}
	fmt.Fprintf(o.out, "| package | %s |\n|---|--:|--:|--:|--:|\n", strings.Join(verdicts, " | "))
	folders := slices.DeleteFunc(slices.Sorted(maps.Keys(counts)), func(f string) bool { return f == "all" })
	for _, folder := range append(folders, "all") {
		fmt.Fprintf(o.out, "| %s |", folder)
		for _, v := range verdicts {
			fmt.Fprintf(o.out, " %d |", counts[folder][v])
		}
		fmt.Fprintln(o.out)
	}
	for _, v := range []string{survived, equivalent} {
		if len(lists[v]) > 0 {
			slices.Sort(lists[v])
			fmt.Fprintf(o.out, "\n%s%s:\n\n%s\n", strings.ToUpper(v[:1]), v[1:], strings.Join(lists[v], "\n"))
		}
	}
	for _, key := range stale {
		fmt.Fprintf(o.out, "\nStale in %s, no such mutant: `%s`\n", o.equal, key)
	}
	viable := counts["all"][killed] + counts["all"][survived]
	if viable == 0 {
		return nil
	}
	share := 100 * float64(counts["all"][killed]) / float64(viable)
	fmt.Fprintf(o.out, "\n%d of %d viable mutants killed, %.1f %%\n", counts["all"][killed], viable, share)
	if share < o.least {
		return fmt.Errorf("%w: %.1f %%, not %g %%", errLeast, share, o.least)
	}
	return nil
}
