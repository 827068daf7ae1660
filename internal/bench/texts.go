//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sessionTextBytes is about how long the text of sessions is: long enough that what
// programs need to start is little beside it.
const sessionTextBytes = 32 << 20

// tokenContests are the figures of counting. Rivals that take a time as the square
// of a long word are not asked for those.
func (b *bench) tokenContests() (all []contest) {
	node := func(name, encoding string) rival {
		return rival{"npm " + name, []string{"node", "internal/bench/tokens.mjs", b.tiktoken, name, encoding, "FILE"}}
	}
	for _, counter := range []string{"o200k", "cl100k"} {
		count := []string{"count", "--counter", counter, "FILE"}
		rivals := []rival{node("tiktoken", counter+"_base"), node("gpt-tokenizer", counter+"_base")}
		goal := "no more time a byte than for other text of its kind"
		all = append(all,
			contest{counter + " of session text", "texts.txt", count, "12 times npm tiktoken, 4 times gpt-tokenizer, 32 MB", rivals},
			contest{counter + " of base64", "base64.txt", count, goal, rivals},
			contest{counter + " of one letter", "letter.txt", count, goal, nil},
			contest{counter + " of spaces", "spaces.txt", count, goal, nil},
			contest{counter + " of emoji", "emoji.txt", count, goal, nil},
		)
	}
	return append(all, contest{"a first token of all counters", "word.txt", []string{"count", "--counter", "all", "FILE"}, "5 ms more than none",
		[]rival{{"ctxtool version", []string{b.ctxtool, "version"}}}})
}

// makeText writes one of the texts that are counted.
func makeText(name string) error {
	const megabyte = 1 << 20
	raw := make([]byte, megabyte)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	var text string
	switch filepath.Base(name) {
	case "texts.txt":
		var err error
		if text, err = sessionText(); err != nil {
			return err
		}
	case "base64.txt":
		text = base64.StdEncoding.EncodeToString(raw)[:megabyte]
	case "letter.txt":
		text = strings.Repeat("a", megabyte)
	case "spaces.txt":
		text = strings.Repeat(" ", megabyte)
	case "emoji.txt":
		text = strings.Repeat("😀", megabyte/4)
	case "word.txt":
		text = "word"
	default:
		return fmt.Errorf("%s: no such text", name)
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// sessionText is the strings of the shared sessions, again and again; of a generated
// session where there are none.
func sessionText() (string, error) {
	files, err := filepath.Glob("../shared/corpus/*.jsonl")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		writeStrings(&b, data)
	}
	if b.Len() == 0 {
		fmt.Fprintln(os.Stderr, "no sessions at ../shared/corpus: text of a generated one")
		data, err := exec.Command("go", "run", "./internal/gen/gensession", "-preset", "10m").Output()
		if err != nil {
			return "", err
		}
		writeStrings(&b, data)
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("the sessions have no text")
	}
	return strings.Repeat(b.String(), sessionTextBytes/b.Len()+1), nil
}

// writeStrings writes the strings of JSON lines, each on lines of its own.
func writeStrings(b *strings.Builder, data []byte) {
	var write func(v any)
	write = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, e := range v {
				write(e)
			}
		case map[string]any:
			for _, e := range v {
				write(e)
			}
		}
	}
	for line := range bytes.Lines(data) {
		var v any
		if json.Unmarshal(line, &v) == nil {
			write(v)
		}
	}
}
