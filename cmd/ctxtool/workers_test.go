package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
)

// concurrent are command lines that between them start every goroutine there is: FILE is
// long enough for each pool to have several pieces of work, DIR is a folder of sessions.
var concurrent = []string{
	"replay FILE -f json", "replay FILE -f summary", "diff FILE turn:1 leaf -f json", "cache FILE --all -f jsonl",
	"stats FILE -f json --lens session,context,growth,cost,compactions,bytes,cache,check", "check FILE -f json", "repair FILE -f json",
	"render FILE -f html -o OUT", "render FILE", "trace FILE -e . -f jsonl", "log FILE -f jsonl", "reduce FILE --policy gsh --window 4000 -f entries --now 2027-01-02",
	"ls DIR --json", "stats DIR --lens cost --by session,model -f jsonl", "check DIR -f jsonl", "cache DIR -f jsonl", "migrate DIR -f json", "repair DIR -f json",
	"redact DIR -f json", "reduce DIR --policy y-agent --window 2000 -f jsonl --now 2027-01-02", "render DIR -f html -o OUTDIR",
}

// TestWorkers: a command answers the same bytes however many goroutines work on it, and
// while others run beside it. The race detector is run over this test: see make check.
func TestWorkers(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	must.Do(os.MkdirAll(store, 0o700))
	write := func(name string, shape gen.Shape) {
		must.Do(os.WriteFile(filepath.Join(dir, name), gen.Session(shape), 0o600))
	}
	p := must.Get(gen.Find("everything"))
	long := p.Shape
	long.Entries, long.Text, long.MaxText = 1500, 60, 1000
	write("s.jsonl", long)
	for k := range 10 {
		short := p.Shape
		short.Seed, short.Entries, short.Text, short.MaxText = uint64(k%7), 60+10*k, 40, 400
		write(filepath.Join("store", fmt.Sprintf("%02d.jsonl", k)), short)
	}
	answers := func(line string, k int) string {
		out := filepath.Join(dir, fmt.Sprintf("out-%d", k))
		r := testEnv(dir).ran(commandLine(line, "FILE", "s.jsonl", "DIR", "store", "OUT", out, "OUTDIR", out)...)
		pages, _ := filepath.Glob(filepath.Join(out, "*"))
		for _, page := range append(pages, out) {
			text, _ := os.ReadFile(page)
			r.stdout.Write(text)
		}
		os.RemoveAll(out)
		if r.stdout.Len() == 0 {
			t.Errorf("%s: status %d, and no answer: %s", line, r.status, &r.stderr)
		}
		return strings.ReplaceAll(r.stdout.String(), filepath.Base(out), "out")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var want []string
	for _, line := range concurrent {
		want = append(want, answers(line, 0))
	}
	runtime.GOMAXPROCS(8)
	var wg sync.WaitGroup
	next := make(chan int)
	for range 3 {
		wg.Go(func() {
			for k := range next {
				if got := answers(concurrent[k], k); got != want[k] {
					t.Errorf("%s: another answer with 8 processors than with one", concurrent[k])
				}
			}
		})
	}
	for k := range concurrent {
		next <- k
	}
	close(next)
	wg.Wait()
}
