package search

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/base/shell"
	"ctxtool/sessionfmt"
)

// Vectors are the vectors of texts, which a command computes. It gets texts as lines of JSON,
// {"text": ...}, and answers each with a line that is an array of numbers.
type Vectors struct {
	Command shell.Command
	Disk    sessionfmt.Disk
	File    string // where they are kept; empty for nowhere

	known map[vectorKey][]float32
	fresh bool // some are not in the file
}

// A vectorKey is a hash of a command and a text.
type vectorKey [16]byte

func (v *Vectors) key(text string) (k vectorKey) {
	sum := sha256.Sum256([]byte(v.Command.Line + "\x00" + text))
	copy(k[:], sum[:])
	return k
}

// of returns the vector of a text, nil if there is none.
func (v *Vectors) of(text string) []float32 { return v.known[v.key(text)] }

// The limits of a run of the command.
const (
	textsAtOnce  = 256
	longestReply = 64 << 20 // bytes
	embedLimit   = 5 * time.Minute
)

// add computes the vectors of texts that are not known.
func (v *Vectors) add(texts []string) error {
	v.load()
	var missing []string
	for _, t := range texts {
		if k := v.key(t); v.known[k] == nil {
			v.known[k] = []float32{}
			missing = append(missing, t)
		}
	}
	for some := range slices.Chunk(missing, textsAtOnce) {
		got, err := v.ask(some)
		if err != nil {
			return err
		}
		for i, t := range some {
			v.known[v.key(t)] = got[i]
		}
		v.fresh = true
	}
	return nil
}

// ask runs the command.
func (v *Vectors) ask(texts []string) (all [][]float32, err error) {
	var in bytes.Buffer
	lines := json.NewEncoder(&in)
	for _, t := range texts {
		lines.Encode(map[string]string{"text": t}) // a buffer fails nothing
	}
	c := v.Command
	c.Limit, c.Most = embedLimit, longestReply
	out, err := c.Run(context.Background(), in.String())
	for line := range strings.Lines(out) {
		var one []float32
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return nil, fmt.Errorf("--embed: line %d of the command's output is not an array of numbers", len(all)+1)
		}
		all = append(all, one)
	}
	if err == nil && len(all) != len(texts) {
		err = fmt.Errorf("--embed: the command answered %d of %d texts", len(all), len(texts))
	}
	return all, err
}

// vectorsMagic begins a file of vectors. After it is, for each, a vectorHead and its elements.
var vectorsMagic = []byte("ctxtool vectors 1\n")

// A vectorHead is what a file has before the elements of a vector.
type vectorHead struct {
	Key vectorKey
	N   uint32 // of elements
}

// load reads the file. One that cannot be read is one without vectors.
func (v *Vectors) load() {
	v.known = map[vectorKey][]float32{}
	if v.File == "" {
		return
	}
	data, err := v.Disk.ReadFile(v.File)
	data, ok := bytes.CutPrefix(data, vectorsMagic)
	if err != nil || !ok {
		return
	}
	r, head := bytes.NewReader(data), vectorHead{}
	for binary.Read(r, binary.LittleEndian, &head) == nil && int64(head.N)*4 <= int64(r.Len()) {
		one := make([]float32, head.N)
		binary.Read(r, binary.LittleEndian, one) // which the file has
		v.known[head.Key] = one
	}
}

// save writes the file, if there are vectors that it does not have.
func (v *Vectors) save() error {
	if v.File == "" || !v.fresh {
		return nil
	}
	out, err := v.Disk.Create(v.File)
	if err != nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w (--no-cache keeps no vectors)", err)
	} else if err != nil {
		return err
	}
	defer out.Abort()
	var buf bytes.Buffer
	buf.Write(vectorsMagic)
	for k, one := range v.known {
		if len(one) > 0 {
			binary.Write(&buf, binary.LittleEndian, vectorHead{k, uint32(len(one))}) // a buffer fails nothing
			binary.Write(&buf, binary.LittleEndian, one)
		}
	}
	if _, err := buf.WriteTo(out); err != nil {
		return err
	}
	return out.Commit()
}
