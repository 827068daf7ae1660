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
	"math"
	"time"

	"ctxtool/internal/shell"
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

// add computes the vectors of texts that are not known, at most textsAtOnce.
func (v *Vectors) add(texts []candidate) error {
	v.load()
	var missing []string
	asked := map[vectorKey]bool{}
	for _, c := range texts {
		if k := v.key(c.text); v.known[k] == nil && !asked[k] {
			asked[k] = true
			missing = append(missing, c.text)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	got, err := v.ask(missing)
	if err != nil {
		return err
	}
	for i, t := range missing {
		v.known[v.key(t)] = got[i]
	}
	v.fresh = true
	return nil
}

// ask runs the command.
func (v *Vectors) ask(texts []string) (all [][]float32, err error) {
	var in bytes.Buffer
	for _, t := range texts {
		line, err := json.Marshal(struct {
			Text string `json:"text"`
		}{t})
		if err != nil {
			return nil, err
		}
		in.Write(append(line, '\n'))
	}
	c := v.Command
	c.Limit, c.Most = embedLimit, longestReply
	out, err := c.Run(context.Background(), in.String())
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines([]byte(out)) {
		var one []float32
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("--embed: line %d of the command's output is not an array of numbers", len(all)+1)
		}
		all = append(all, one)
	}
	if len(all) != len(texts) {
		return nil, fmt.Errorf("--embed: the command answered %d of %d texts", len(all), len(texts))
	}
	return all, nil
}

// vectorsMagic begins a file of vectors. After it is, for each, its key, the number of its
// elements, and these.
var vectorsMagic = []byte("ctxtool vectors 1\n")

// load reads the file. One that cannot be read is one without vectors.
func (v *Vectors) load() {
	if v.known != nil {
		return
	}
	v.known = map[vectorKey][]float32{}
	if v.File == "" {
		return
	}
	data, err := v.Disk.ReadFile(v.File)
	data, ok := bytes.CutPrefix(data, vectorsMagic)
	if err != nil || !ok {
		return
	}
	const head = len(vectorKey{}) + 4
	for len(data) >= head {
		n := int(binary.LittleEndian.Uint32(data[head-4:]))
		if n > (len(data)-head)/4 {
			return
		}
		one := make([]float32, n)
		for i := range one {
			one[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[head+4*i:]))
		}
		v.known[vectorKey(data[:len(vectorKey{})])] = one
		data = data[head+4*n:]
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
	if _, err := out.Write(vectorsMagic); err != nil {
		return err
	}
	var buf []byte
	for k, one := range v.known {
		buf = binary.LittleEndian.AppendUint32(append(buf[:0], k[:]...), uint32(len(one)))
		for _, x := range one {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return out.Commit()
}
