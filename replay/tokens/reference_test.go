package tokens

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

// A counted is a text with what the reference counts in it.
type counted struct {
	Text   string `json:"text"`
	CL100K int    `json:"cl100k"`
	O200K  int    `json:"o200k"`
}

const sampleFile = "testdata/sample.jsonl"

// TestSample holds the counts to those of the reference in testdata, which -update
// asks it for.
func TestSample(t *testing.T) {
	if *golden.Update {
		writeSample(t)
	}
	data := must.Get(os.ReadFile(sampleFile))
	n, ours := 0, ours()
	for line := range bytes.Lines(data) {
		var want counted
		must.Do(json.Unmarshal(line, &want))
		n++
		if got := ours(want.Text); got != want {
			t.Errorf("%+v, the reference has %d and %d", got, want.CL100K, want.O200K)
		}
	}
	if n < 1000 {
		t.Errorf("%s has %d texts", sampleFile, n)
	}
}

// ours counts as the reference does.
func ours() func(text string) counted {
	count := countings()
	return func(text string) counted { return counted{text, count[0]([]byte(text)), count[1]([]byte(text))} }
}

// writeSample has the reference count scripts, spices, runs and made texts.
func writeSample(t *testing.T) {
	texts := append(append([]string{""}, scripts...), spices...)
	for _, unit := range []string{"a", "ab", " ", "\n", "\n  ", "=", "-", "1", "A", "Aa", "é", "中", "ก", "😀", "\ufffd", "\u0301", "'", "'s", "/", "\t"} {
		for _, n := range []int{2, 3, 17, 64, 127, 128, 129, 500} {
			texts = append(texts, strings.Repeat(unit, n))
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for len(texts) < 1500 {
		texts = append(texts, madeText(r, 20))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	startReference(t).compare(t, func(yield func(string) bool) {
		for _, text := range texts {
			if !yield(text) {
				return
			}
		}
	}, func(want counted) {
		must.Do(e.Encode(want))
	})
	must.Do(os.WriteFile(sampleFile, b.Bytes(), 0o644))
}

// TestReference compares with the reference: strings of the shared sessions, texts of
// many parts in all scripts, characters, and short made texts. It is a sample of them,
// and all or very many, which takes minutes, where whole matrices are asked for.
func TestReference(t *testing.T) {
	t.Parallel()
	ref := startReference(t)
	whole := corpus.Whole()
	texts, short := 100, 2_000
	if whole {
		texts, short = 10_000, 1_000_000
	}
	sessions := corpus.Shared(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed of the short texts: %d", seed)
	ref.compare(t, func(yield func(string) bool) {
		if !allStrings(sessions, whole, yield) || !characters(whole, yield) {
			return
		}
		r := rand.New(rand.NewPCG(7, 8))
		for range texts {
			if !yield(madeText(r, 400)) {
				return
			}
		}
		r = rand.New(rand.NewPCG(seed, 0))
		for range short {
			if !yield(madeText(r, 8)) {
				return
			}
		}
	}, nil)
}

// allStrings visits every string of sessions once, including keys and pieces of lines that
// are not JSON; unless whole, through the first 20 KB of each session and every
// twentieth string of what follows.
func allStrings(sessions []corpus.Session, whole bool, yield func(string) bool) bool {
	const head = 20 << 10
	seen := map[string]bool{}
	for _, s := range sessions {
		size := 0
		each := func(text string) bool {
			if seen[text] {
				return true
			}
			seen[text] = true
			if !whole && len(text) > head || !whole && size > head && len(seen)%20 > 0 {
				return true
			}
			size += len(text)
			return yield(text)
		}
		for line := range bytes.Lines(s.Data) {
			var v any
			if json.Unmarshal(line, &v) != nil {
				v = strings.ToValidUTF8(string(line), "\ufffd")
			}
			if !eachString(v, each) {
				return false
			}
		}
	}
	return true
}

// characters visits every character, between others that tell its class; unless
// whole, through those between two ranges of the classes and of Go's tables, and some
// others.
func characters(whole bool, yield func(string) bool) bool {
	known := []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z}
	var last [2]class
	for r := rune(0); r <= unicode.MaxRune; r++ {
		now := [2]class{loadClasses().of(r)}
		if unicode.In(r, known...) {
			now[1] = 1
		}
		edge := now != last
		last = now
		if !utf8.ValidRune(r) || !whole && !edge && r%997 != 0 {
			continue
		}
		c := string(r)
		text := "the" + c + "re AB" + c + "and" + c + c + "'s  " + c + c + "\n/" + c + "12" + c + "34 !" + c + "the" + c + "The"
		if !yield(text) {
			return false
		}
	}
	return true
}

// eachString visits the strings of a JSON value.
func eachString(v any, yield func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return yield(v)
	case []any:
		for _, e := range v {
			if !eachString(e, yield) {
				return false
			}
		}
	case map[string]any:
		for k, e := range v {
			if !yield(k) || !eachString(e, yield) {
				return false
			}
		}
	}
	return true
}

// A reference is npm's tiktoken, counting in a process of its own.
type reference struct {
	in   io.WriteCloser
	out  *bufio.Scanner
	wait func() error
}

// startReference skips the test where node or the package is missing; make tiktoken
// installs it.
func startReference(t *testing.T) *reference {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		testenv.Skip(t, "no node to run the reference with")
	}
	dir := os.Getenv("CTXTOOL_TIKTOKEN")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			testenv.Skip(t, "%v", err)
		}
		dir = filepath.Join(cache, "ctxtool-tiktoken")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "tiktoken")); err != nil {
		testenv.Skip(t, "no package tiktoken; make tiktoken installs it")
	}
	cmd := exec.Command("node", "testdata/reference.mjs", dir)
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())
	out := must.Get(cmd.StdoutPipe())
	must.Do(cmd.Start())
	return &reference{in, bufio.NewScanner(out), cmd.Wait}
}

// compare counts texts, holds the counts to the reference's unless keep takes them, and
// says how many there were.
func (ref *reference) compare(t *testing.T, texts func(yield func(string) bool), keep func(counted)) {
	t.Helper()
	const ahead = 4096
	sent := make(chan string, ahead)
	go func() {
		defer close(sent)
		w := bufio.NewWriterSize(ref.in, 1<<16)
		defer ref.in.Close()
		defer w.Flush()
		for text := range texts {
			line, err := json.Marshal(text)
			if err != nil {
				panic(err)
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return
			}
			select {
			case sent <- text:
			default: // the reference may wait for what is in the buffer
				w.Flush()
				sent <- text
			}
		}
	}()
	n, size, differ, ours := 0, 0, 0, ours()
	for text := range sent {
		if !ref.out.Scan() {
			t.Fatalf("the reference ended after %d texts: %v", n, ref.out.Err())
		}
		cl100k, o200k, _ := strings.Cut(ref.out.Text(), " ")
		want := counted{Text: text, CL100K: number10(cl100k), O200K: number10(o200k)}
		n, size = n+1, size+len(text)
		if keep != nil {
			keep(want)
			continue
		}
		if got := ours(text); got != want {
			if differ++; differ <= 10 {
				t.Errorf("%.500q: %d and %d, the reference has %d and %d", text, got.CL100K, got.O200K, want.CL100K, want.O200K)
			}
		}
	}
	must.Do(ref.wait())
	t.Logf("%d texts of %d bytes compared, %d differ", n, size, differ)
}

func number10(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(fmt.Sprintf("%q is no count", s))
	}
	return n
}
