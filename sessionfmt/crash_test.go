package sessionfmt

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/jsonl"
)

var crashes = flag.Int("crashes", 0, "how many processes TestCrash kills: 80 when 0, 500 with CTXTOOL_WHOLE, 25 with -short")

// appendForever appends to the session args[0] until it is killed, batches of at most
// args[1] bytes, and prints the outcome of each try: acknowledged with its ids,
// refused, or no space.
func appendForever(args []string) error {
	most, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		s, err := Open(args[0], Options{Workers: 1})
		if errors.Is(err, ErrChanged) { // the other is taking back what did not fit
			fmt.Println("refused")
			continue
		}
		if err != nil {
			return err
		}
		b, said := s.NewBatch(s.Leaf(), time.Now()), "ack"
		for range 1 + rand.IntN(3) {
			// Most entries are small, few are very large: to be killed in.
			n := int(float64(most) / 3 * rand.ExpFloat64() / float64(1+rand.IntN(50)))
			said += " " + b.Add(jsonl.CustomEntry, jsonl.Field{Name: "data", Value: jsonl.AppendQuoted(nil, strings.Repeat("x", min(n, most/3)))})
		}
		err = s.Append(b, AppendOptions{Who: "ctxtool crash", Wait: 10 * time.Second})
		s.Close()
		switch {
		case err == nil:
			fmt.Println(said)
		case errors.Is(err, syscall.ENOSPC):
			fmt.Println("full")
		case errors.Is(err, ErrChanged), errors.Is(err, ErrTorn):
			fmt.Println("refused")
		default:
			return err
		}
	}
}

// tally counts over all that TestCrash does.
type tally struct{ kills, acks, torn, refused, full atomic.Int64 }

// A scene is a session to which processes append until they are killed.
type scene struct {
	dir     string
	writers int
	batch   int // bytes of the largest batch
	limit   int // bytes of the file from which on it starts over
	count   *tally
}

// TestCrash: processes that append are killed at any moment, alone, two at a time,
// and on a disk that is nearly full. Whatever was acknowledged is there, nothing that
// was there has changed, entries follow each other in one line, and an unfinished line
// is reported.
func TestCrash(t *testing.T) {
	n := *crashes
	if n == 0 {
		switch n = 80; {
		case corpus.Whole():
			n = 500
		case testing.Short():
			n = 25
		}
	}
	var count tally
	scenes := []scene{
		{t.TempDir(), 1, 8 << 20, 24 << 20, &count},
		{t.TempDir(), 2, 1 << 20, 4 << 20, &count},
		{t.TempDir(), 1, 64 << 10, 1 << 20, &count}, // the limit is never reached
		{t.TempDir(), 2, 64 << 10, 1 << 20, &count},
	}
	for k := 2; k < len(scenes); k++ {
		unmount, err := mountSmall(scenes[k].dir)
		if err != nil {
			t.Logf("left out: a disk that is nearly full: %v", err)
			scenes = scenes[:k]
			break
		}
		t.Cleanup(unmount)
	}
	t.Run("scenes", func(t *testing.T) {
		for k, s := range scenes {
			share := n*(k+1)/len(scenes) - n*k/len(scenes)
			t.Run(strconv.Itoa(k), func(t *testing.T) {
				t.Parallel()
				s.startOver(t)
				for ; share > 0 && !t.Failed(); share -= s.writers {
					s.play(t)
				}
				s.end(t)
			})
		}
	})
	t.Logf("%d kills, %d appends acknowledged, %d torn tails, %d appends refused, %d times no space",
		count.kills.Load(), count.acks.Load(), count.torn.Load(), count.refused.Load(), count.full.Load())
}

func (s *scene) file() string { return filepath.Join(s.dir, "s.jsonl") }

func (s *scene) startOver(t *testing.T) {
	must.Do(os.WriteFile(s.file(), []byte(base), 0o600))
}

// play has the processes append, kills them, and looks at what is left.
func (s *scene) play(t *testing.T) {
	before := must.Get(os.ReadFile(s.file()))
	var writers []*child
	said := make(chan []string)
	for range s.writers {
		c := start(t, "append", s.file(), strconv.Itoa(s.batch))
		c.out.ReadString('\n')
		writers = append(writers, c)
		go func() {
			var lines []string
			for {
				line, err := c.out.ReadString('\n')
				if err != nil {
					said <- lines
					return
				}
				lines = append(lines, strings.TrimSpace(line))
			}
		}()
	}
	for _, c := range writers {
		time.Sleep(time.Duration(rand.IntN(20000)) * time.Microsecond)
		if err := c.Process.Kill(); err != nil {
			t.Errorf("a process has ended by itself: %v", err)
		}
	}
	var ids []string
	full := false
	for range writers {
		for _, line := range <-said {
			what, rest, _ := strings.Cut(line, " ")
			switch what {
			case "ack":
				s.count.acks.Add(1)
				ids = append(ids, strings.Fields(rest)...)
			case "full":
				s.count.full.Add(1)
				full = true
			case "refused":
				s.count.refused.Add(1)
			}
		}
	}
	for _, c := range writers {
		if c.Wait(); c.ProcessState.Exited() {
			t.Errorf("a process has ended by itself: %v", c.ProcessState)
		}
		s.count.kills.Add(1)
	}
	if size := s.look(t, before, ids); full && rand.IntN(3) == 0 || size > s.limit {
		s.startOver(t)
	}
}

// look checks the file after a crash, given what it was before and the ids that were
// acknowledged since. It cuts off an unfinished line, as repairing would, and returns
// the file's size.
func (s *scene) look(t *testing.T, before []byte, ids []string) int {
	data, err := os.ReadFile(s.file())
	if err != nil || !bytes.HasPrefix(data, before) {
		t.Fatalf("what was there has changed: %v", err)
	}
	now := must.Get(Open(s.file(), Options{}))
	defer now.Close()
	for _, id := range ids {
		if now.Find(id) < 0 {
			t.Errorf("%s was acknowledged, and is not there", id)
		}
	}
	for i := 2; i < now.Len(); i++ {
		if now.Parent(i) != i-1 {
			t.Errorf("record %d follows record %d", i, now.Parent(i))
		}
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole == len(data) {
		if len(now.Findings) > 0 {
			t.Errorf("findings in a whole file: %v", now.Findings)
		}
		return len(data)
	}
	s.count.torn.Add(1)
	if f := now.Findings; len(f) != 1 || f[0].Code != "torn" && f[0].Code != "unterminated" || f[0].Line != now.Coverage.Lines {
		t.Errorf("an unfinished line is reported as %v", f)
	}
	if err := now.Append(mark(now, now.Leaf()), AppendOptions{}); !errors.Is(err, ErrTorn) {
		t.Errorf("an unfinished line is appended to: %v", err)
	}
	must.Do(os.Truncate(s.file(), int64(whole)))
	return whole
}

// end appends once more, and looks for litter.
func (s *scene) end(t *testing.T) {
	s.startOver(t)
	last := reopen(t, s.file())
	if err := last.Append(mark(last, last.Leaf()), AppendOptions{}); err != nil {
		t.Error(err)
	}
	onlyFiles(t, s.dir, "s.jsonl")
}
