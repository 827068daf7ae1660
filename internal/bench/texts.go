//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
)

// sessionTextBytes is about how long the text of sessions is: long enough that what
// programs need to start is little beside it.
const sessionTextBytes = 32 << 20

// makeText writes one of the texts that are counted.
func makeText(name string) error {
	var text []byte
	switch filepath.Base(name) {
	case "texts.txt":
		var err error
		if text, err = sessionText(); err != nil {
			return err
		}
	case "base64.txt":
		raw := make([]byte, 3<<18)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		text = base64.StdEncoding.AppendEncode(nil, raw)
	default:
		return fmt.Errorf("%s: no such text", name)
	}
	return os.WriteFile(name, text, 0o644)
}

// sessionText is the strings of the shared sessions, again and again; of the project's
// own where there are none.
func sessionText() (text []byte, err error) {
	files, err := filepath.Glob("../shared/corpus/*.jsonl")
	if len(files) == 0 && err == nil {
		files, err = filepath.Glob("testdata/sessions/good/*.jsonl")
	}
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		strings, _ := exec.Command("jq", "-r", ".. | strings", name).Output() // of a broken file those before
		text = append(text, strings...)
	}
	if len(text) == 0 {
		return nil, errors.New("the sessions have no text, or there is no jq")
	}
	return bytes.Repeat(text, sessionTextBytes/len(text)+1), nil
}
