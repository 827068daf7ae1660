//go:build unix

// Package bench measures ctxtool beside other programs that do the same work on
// generated sessions: whole processes, in turns, so that a busy minute hits all of
// them; the medians of their times and of their peaks of memory. It reports, and
// asserts nothing. See make bench.
//
// What ctxtool takes alone is left to Go's benchmarks, and what two of its commands
// take beside each other to hyperfine.
package bench

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
)

// A contest is one piece of work and the commands that do it; the first is ours,
// and the others are given as multiples of it.
type contest struct {
	title   string
	session string // the preset that makes it, and its name in the folder
	args    []string
	goal    string
	against []rival
}

// A rival does the same work another way. Its arguments have FILE where the
// session's name goes, or FILE:PRESET to read another session.
type rival struct {
	name string
	args []string
}

type bench struct {
	dir, ctxtool, pi, ccusage, tiktoken string
	rounds                              int
	out                                 io.Writer
}

var (
	dir      = flag.String("dir", "", "folder for the sessions, kept between runs; without one nothing is measured")
	ctxtool  = flag.String("ctxtool", "bin/ctxtool", "the binary to measure")
	pi       = flag.String("pi", "", "folder where npm installed pi's package; left out where it is not there")
	ccusage  = flag.String("ccusage", "ccusage", "the native binary of ccusage 20; left out where it is not there")
	tiktoken = flag.String("tiktoken", "", "folder where npm installed tiktoken and gpt-tokenizer; left out if it is not there")
	rounds   = flag.Int("rounds", 5, "times that every command is run")
	only     = flag.String("only", "", "run only the contests whose title has this in it")
)

// TestContests measures, in the folder of the repository.
func TestContests(t *testing.T) {
	if *dir == "" {
		t.Skip("left out: make bench measures")
	}
	t.Chdir("../../..")
	b := bench{*dir, *ctxtool, *pi, *ccusage, *tiktoken, *rounds, os.Stdout}
	must.Do(b.run(*only))
}

func (b *bench) run(only string) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%d processors, %s/%s; median of %d rounds, commands in turns, warm files\n",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, b.rounds)
	for _, c := range b.contests() {
		if !strings.Contains(c.title, only) {
			continue
		}
		if err := b.hold(c); err != nil {
			return fmt.Errorf("%s: %w", c.title, err)
		}
	}
	return nil
}

// costGoal also says what each of them counts, for they do not do the same work.
const costGoal = `3 times faster than ccusage, 8 times jq; 64 MB and 16 bytes a call
  ctxtool: every record with a usage; each call once across all files by responseId, else entry id, time and usage
  ccusage 20: answers alone; each once in the files of one session id, so forks and clones count again
  jq: prints the usage of messages, adds nothing up, counts all`

const (
	countGoal = "12 times npm tiktoken, 4 times gpt-tokenizer, 32 MB"
	evenGoal  = "no more time a byte than for other text of its kind"
)

// texts make the texts that are counted, of which $1 is the name: the strings of the real sessions, or of
// the project's own, again and again until what programs need to start is little beside it.
var texts = map[string]string{
	"texts.txt": `for f in ../shared/corpus/*.jsonl testdata/sessions/good/*.jsonl; do jq -r '.. | strings' "$f"; done 2>/dev/null >"$1.once"
		test -s "$1.once" || exit 1
		while cat "$1.once"; do :; done 2>/dev/null | head -c 32M >"$1"; rm "$1.once"`,
	"base64.txt": `head -c 786432 /dev/urandom | base64 -w 0 >"$1"`,
}

// storeJq runs jq over the files of a store.
func storeJq(filter string) []string {
	return []string{"sh", "-c", "find FILE -name '*.jsonl' -exec jq -c '" + filter + "' {} +"}
}

// tokenizers are the libraries that count tokens.
func (b *bench) tokenizers(encoding string) (all []rival) {
	for _, name := range []string{"tiktoken", "gpt-tokenizer"} {
		all = append(all, rival{"npm " + name, []string{"node", "internal/test/bench/tokens.mjs", b.tiktoken, name, encoding, "FILE"}})
	}
	return all
}

// claudeStore has a command read a store of Claude Code as its user does, beside ctxtool cost, ccusage and wc.
func (b *bench) claudeStore(args []string, goal string) contest {
	c := contest{args[0] + ", a store of Claude Code", "store-of-claude", args, goal, []rival{
		{"ctxtool cost", []string{b.ctxtool, "cost", "--since", "2020"}},
		{"ccusage claude", []string{b.ccusage, "claude", "daily", "--offline", "--json"}},
		{"wc -l", []string{"sh", "-c", "find FILE -name '*.jsonl' -exec wc -l {} +"}},
	}}
	if args[0] == "cost" {
		c.against = c.against[1:]
	}
	return c
}

// makeStore writes a home folder with sessions of Claude Code, 200 MB in five projects.
func makeStore(home string) error {
	for k := range 100 {
		dir := filepath.Join(home, ".claude", "projects", fmt.Sprintf("-home-dev-p%d", k%5))
		name := filepath.Join(dir, fmt.Sprintf("%08x-0000-4000-8000-000000000000.jsonl", k))
		if err := errors.Join(os.MkdirAll(dir, 0o755), makeForeign(name, "claude", 80_000+13_500*k)); err != nil {
			return err
		}
	}
	return nil
}

// otherAgents are those of agents.tmpl.
var otherAgents = []string{"codex", "claude", "gsh", "swe-cli", "opendev", "y-agent", "gemini", "gemini-document",
	"qwen", "opencode", "cline"}

// agents has a command read the same conversation as pi and as other agents record it.
func (b *bench) agents(command string) contest {
	c := contest{command + ", a session of each agent", "100m-as-pi", []string{command, "FILE"}, "60 % of pi's bytes/s", nil}
	for _, agent := range otherAgents {
		c.against = append(c.against, rival{"ctxtool " + command + ", " + agent, []string{b.ctxtool, command, "FILE:100m-as-" + agent}})
	}
	return c
}

// contests are the figures that the project promises.
func (b *bench) contests() []contest {
	jq := rival{"jq -c .type", []string{"jq", "-c", ".type", "FILE"}}
	pi := rival{"pi", []string{"node", "internal/test/bench/pi.mjs", b.pi, "FILE"}}
	return []contest{
		{"replay at the leaf, 1 GB", "1g", []string{"replay", "FILE"}, "8 times faster than pi, 96 MB", []rival{pi, jq}},
		{"the same, compacted near the leaf", "1g-compacted", []string{"replay", "FILE"}, "0.6 s", []rival{pi, jq}},
		{"its end alone", "1g-compacted", []string{"replay", "--tail", "--rules", "pi", "FILE"}, "200 times faster than pi, 50 ms, 16 MB", []rival{pi}},
		{"validating every line", "1g", []string{"replay", "FILE@root", "-f", "llm"}, "14 times jq", []rival{jq, {"wc -l", []string{"wc", "-l", "FILE"}}}},
		{"600,000 entries", "600k", []string{"replay", "FILE@root", "-f", "llm"}, "96 MB", []rival{jq}},
		{"a line of 95 MB", "longline", []string{"replay", "FILE"}, "", []rival{jq}},
		{"log as JSON, 1 GB", "1g", []string{"log", "FILE", "-f", "jsonl"}, "bound by decoding", []rival{jq, {"cat", []string{"cat", "FILE"}}, {"wc -l", []string{"wc", "-l", "FILE"}}}},
		{"tree, 100,000 entries one below the other", "deep", []string{"tree", "FILE"}, "1 s", []rival{jq}},
		{"ls of a store", "store", []string{"ls", "FILE"}, "64 MB", []rival{
			{"jq .message.usage", storeJq(".message.usage // empty")},
			{"cat", []string{"sh", "-c", "find FILE -name '*.jsonl' -exec cat {} +"}},
			{"wc -l", []string{"sh", "-c", "find FILE -name '*.jsonl' -exec wc -l {} +"}},
		}},
		{"cost of a store", "store", []string{"stats", "--lens", "cost", "--json", "FILE"}, costGoal, []rival{
			{"ccusage pi session", []string{b.ccusage, "pi", "session", "--offline", "--json", "--pi-path", "FILE"}},
			{"jq .message.usage", storeJq(".message.usage // empty")},
		}},
		b.claudeStore([]string{"cost", "--since", "2020"}, "0.5 times ccusage, 40 MB"),
		b.claudeStore([]string{"ls", "--since", "2020"}, "once cost"),
		b.claudeStore([]string{"check", "FILE"}, "2.5 times cost"),
		b.claudeStore([]string{"doctor", "--all"}, "4 times cost"),
		{"check of 1 GB, structure alone", "1g", []string{"check", "--only", "lines,header,tree,times", "FILE"}, "14 times jq, 32 MB and the index", []rival{jq}},
		{"check of 1 GB", "1g", []string{"check", "FILE"}, "8 times jq, 32 MB and the index", []rival{jq}},
		{"check of a store", "store", []string{"check", "FILE"}, "8 times jq", []rival{
			{"jq -c .type", storeJq(".type")},
		}},
		{"migrating a store of version 1", "store-v1", []string{"migrate", "FILE", "-o", "OUT"}, "a third of 14 times jq", []rival{
			{"jq -c .type", storeJq(".type")},
			{"cp -r", []string{"cp", "-r", "FILE", "OUT"}},
		}},
		{"render of 1 GB", "1g", []string{"render", "--target", "file", "FILE"}, "bound by decoding the path", []rival{
			{"jq .message.content", []string{"jq", "-c", ".message.content", "FILE"}},
			{"ctxtool log -f jsonl", []string{b.ctxtool, "log", "FILE", "-f", "jsonl"}},
		}},
		{"a page of 100 MB", "100m", []string{"render", "-f", "html", "FILE"}, "twice the time of its Markdown", []rival{
			{"ctxtool render --target file", []string{b.ctxtool, "render", "--target", "file", "FILE"}},
			{"gzip", []string{"gzip", "-c", "FILE"}},
		}},
		{"o200k of session text", "texts.txt", []string{"count", "--counter", "o200k", "FILE"}, countGoal, b.tokenizers("o200k_base")},
		{"cl100k of session text", "texts.txt", []string{"count", "--counter", "cl100k", "FILE"}, countGoal, b.tokenizers("cl100k_base")},
		{"o200k of base64", "base64.txt", []string{"count", "--counter", "o200k", "FILE"}, evenGoal, b.tokenizers("o200k_base")},
		{"cl100k of base64", "base64.txt", []string{"count", "--counter", "cl100k", "FILE"}, evenGoal, b.tokenizers("cl100k_base")},
		b.agents("stats"), b.agents("replay"), b.agents("check"),
		{"starting", "", []string{"version"}, "6 ms", []rival{{"jq -n 1", []string{"jq", "-n", "1"}}}},
	}
}

// hold makes the session if it is not there, runs everybody in turns, and prints
// the figures.
func (b *bench) hold(c contest) error {
	own, err := b.session(c.session)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n%s", c.title)
	if strings.Contains(c.session, "-of-") {
		leave, err := home(own.file)
		if err != nil {
			return err
		}
		defer leave()
	}
	if own.size > 0 {
		fmt.Fprintf(b.out, " (%.0f MB, %d lines)", float64(own.size)/1e6, own.lines)
	}
	if c.goal != "" {
		fmt.Fprintf(b.out, "; goal: %s", c.goal)
	}
	fmt.Fprintln(b.out)
	all := []rival{{"ctxtool " + strings.Join(c.args, " "), append([]string{b.ctxtool}, c.args...)}}
	reads := []data{own}
	for _, r := range c.against {
		if reason := b.absent(r); reason != "" {
			fmt.Fprintf(b.out, "  %-44s left out: %s\n", r.name, reason)
			continue
		}
		read := own
		if _, preset, ok := strings.Cut(r.args[len(r.args)-1], "FILE:"); ok {
			if read, err = b.session(preset); err != nil {
				return err
			}
			r.args[len(r.args)-1] = "FILE"
		}
		all, reads = append(all, r), append(reads, read)
	}
	figures := make([][]figure, len(all))
	for range b.rounds {
		for i, r := range all {
			f, err := b.measure(r.args, reads[i].file)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			figures[i] = append(figures[i], f)
		}
	}
	ours := median(figures[0])
	for i, r := range all {
		b.print(r.name, median(figures[i]), ours, reads[i])
		if reads[i] != own { // the busier the machine, the less the time alone tells
			share := float64(reads[i].size) / float64(own.size) * ours.cpu.Seconds() / median(figures[i]).cpu.Seconds()
			fmt.Fprintf(b.out, "  %-44s %8.0f %% of the bytes per CPU second\n", "", 100*share)
		}
	}
	return nil
}

// home makes a folder the user's, with the stores of agents that are in it, until leave is called.
func home(folder string) (leave func(), err error) {
	was := map[string]string{}
	leave = func() {
		for name, value := range was {
			os.Setenv(name, value)
		}
	}
	for _, name := range []string{"HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
		if value, set := os.LookupEnv(name); set {
			was[name] = value
			err = errors.Join(err, os.Unsetenv(name))
		}
	}
	path, bad := filepath.Abs(folder)
	return leave, errors.Join(err, bad, os.Setenv("HOME", path))
}

func (b *bench) print(name string, f, ours figure, read data) {
	fmt.Fprintf(b.out, "  %-44s %9.4f s %8.1f MB", name, f.wall.Seconds(), float64(f.memory)/1e6)
	if read.size > 0 {
		fmt.Fprintf(b.out, " %7.0f MB/s %9.0f entries/s", float64(read.size)/1e6/f.wall.Seconds(), float64(read.lines)/f.wall.Seconds())
	}
	if f != ours { // how often the time of the first one, and its CPU time, go into those of this one
		fmt.Fprintf(b.out, "  × %.3g, CPU × %.3g", f.wall.Seconds()/ours.wall.Seconds(), f.cpu.Seconds()/ours.cpu.Seconds())
	}
	fmt.Fprintln(b.out)
}

// data is what a command reads: a file or a folder, its length in bytes and in lines.
type data struct {
	file  string
	size  int64
	lines int
}

// session is the file of a preset, made on first use.
func (b *bench) session(preset string) (read data, err error) {
	if preset == "" {
		return data{}, nil
	}
	name := filepath.Join(b.dir, preset)
	isText := strings.HasSuffix(preset, ".txt")
	if !isText && !strings.HasPrefix(preset, "store") {
		name += ".jsonl"
	}
	if _, err := os.Stat(name); err != nil {
		fmt.Fprintf(os.Stderr, "making %s\n", name)
		if _, agent, ok := strings.Cut(preset, "-as-"); ok {
			err = makeForeign(name, agent, 100_000_000)
		} else if strings.HasSuffix(name, "-of-claude") {
			err = makeStore(name)
		} else if isText {
			err = exec.Command("sh", "-c", texts[preset], "sh", name).Run()
		} else if p, failed := gen.Find(preset); failed != nil {
			err = failed
		} else {
			err = p.WriteFile(name)
		}
		if err != nil {
			return data{}, err
		}
	}
	read = data{file: name}
	err = filepath.WalkDir(name, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n, l, err := warm(file)
		read.size, read.lines = read.size+n, read.lines+l
		return err
	})
	return read, err
}

// warm reads a file, so that it is in memory, and says how long it is.
func warm(name string) (size int64, lines int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	for {
		n, err := f.Read(buf)
		size += int64(n)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		if err == io.EOF {
			return size, lines, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

// absent says why a rival cannot run, nothing where it can.
func (b *bench) absent(r rival) string {
	if _, err := exec.LookPath(r.args[0]); err != nil {
		if r.args[0] == b.ccusage {
			return "no ccusage; make ccusage installs it"
		}
		return "no " + r.args[0] + " here"
	}
	if r.name == "pi" {
		if _, err := os.Stat(filepath.Join(b.pi, "node_modules/@earendil-works/pi-coding-agent/dist")); err != nil || b.pi == "" {
			return "no package of pi; make pi installs it"
		}
	}
	if name, ok := strings.CutPrefix(r.name, "npm "); ok {
		if _, err := os.Stat(filepath.Join(b.tiktoken, "node_modules", name)); err != nil || b.tiktoken == "" {
			return "no package " + name + "; make tiktoken installs it"
		}
	}
	return ""
}

// A figure is what one run took.
type figure struct {
	wall   time.Duration
	cpu    time.Duration // of all threads, user and system
	memory int64         // peak resident, bytes
}

// measure runs a command. OUT in its arguments is a folder that is empty each time.
func (b *bench) measure(args []string, file string) (f figure, err error) {
	args = slices.Clone(args)
	out := filepath.Join(b.dir, "out")
	for i := range args {
		if args[i] == "OUT" {
			if err := errors.Join(os.RemoveAll(out), os.Mkdir(out, 0o755)); err != nil {
				return f, err
			}
			defer os.RemoveAll(out)
		}
		args[i] = strings.Replace(strings.Replace(args[i], "FILE", file, 1), "OUT", out, 1)
	}
	return launched(args)
}

// median takes the median of each figure by itself.
func median(all []figure) (f figure) {
	var walls, cpus, memories []int64
	for _, one := range all {
		walls, cpus, memories = append(walls, int64(one.wall)), append(cpus, int64(one.cpu)), append(memories, one.memory)
	}
	middle := func(list []int64) int64 {
		slices.Sort(list)
		return list[len(list)/2]
	}
	return figure{time.Duration(middle(walls)), time.Duration(middle(cpus)), middle(memories)}
}
