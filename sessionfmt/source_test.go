package sessionfmt

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxtool/internal/test/must"
)

// TestSpool: what is spooled is read as it was written, from memory up to mostInMemory
// and from a file beyond, however it was cut into writes.
func TestSpool(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef"), mostInMemory/8)
	for _, size := range []int{0, 1, mostInMemory - 1, mostInMemory, mostInMemory + 1, 2 * mostInMemory} {
		for _, piece := range []int{4 << 10, mostInMemory, 3 * mostInMemory} {
			s := must.Get(spool(plain, func(w io.Writer) error {
				for rest := text[:size]; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
					if _, err := w.Write(rest[:min(piece, len(rest))]); err != nil {
						return err
					}
				}
				return nil
			}))
			got, err := io.ReadAll(io.NewSectionReader(s.bytes, 0, s.size))
			if err != nil || !bytes.Equal(got, text[:size]) {
				t.Errorf("%d bytes by %d: %d are read, or others: %v", size, piece, len(got), err)
			}
			if inFile := s.file != nil; inFile != (size > mostInMemory) {
				t.Errorf("%d bytes by %d: in a file: %v", size, piece, inFile)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestBrokenOff: of compressed data that breaks off, what comes before the break is read,
// and a finding says so.
func TestBrokenOff(t *testing.T) {
	const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n"
	const line = `{"type":"message","id":"a%07d","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hi"}}` + "\n"
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	z := must.Get(zstd.NewWriter(&zst))
	for _, w := range []interface {
		io.WriteCloser
		Flush() error
	}{g, z} {
		io.WriteString(w, header)
		for k := range 100 {
			fmt.Fprintf(w, line, k)
			w.Flush()
		}
		w.Close()
	}
	for name, data := range map[string][]byte{"s.gz": gz.Bytes(), "s.zst": zst.Bytes()} {
		file := filepath.Join(t.TempDir(), name)
		for cut, want := range map[int]bool{len(data): false, len(data) / 2: true, len(data) - 1: true} {
			must.Do(os.WriteFile(file, data[:cut], 0o600))
			s, err := Open(file, Options{})
			if err != nil {
				t.Fatalf("%s, %d bytes: %v", name, cut, err)
			}
			found := slices.ContainsFunc(s.Findings, func(f Finding) bool { return f.Code == "broken-off" })
			if n := s.Coverage.Entries; found != want || n < 40 || !want && n != 100 {
				t.Errorf("%s, %d bytes of %d: %d entries, %v", name, cut, len(data), n, s.Findings)
			}
			s.Close()
		}
	}
}

// TestStandardInput: standard input is a session in every way of opening one. A file there can be read
// again, since it stays open and at its beginning.
func TestStandardInput(t *testing.T) {
	lines := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n" +
		`{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hi"}}` + "\n"
	ways := map[string]func(opt Options) (*Session, error){
		"Open":     func(opt Options) (*Session, error) { return Open("-", opt) },
		"OpenLast": func(opt Options) (*Session, error) { return OpenLast("-", 64<<10, opt) },
		"OpenTail": func(opt Options) (*Session, error) { return OpenTail("-", 0, opt) },
	}
	for _, text := range []string{lines, indented(t, documentOf(messagesOf(3)), "  ")} {
		name := filepath.Join(t.TempDir(), "s")
		must.Do(os.WriteFile(name, []byte(text), 0o600))
		want := must.Get(OpenReader("-", strings.NewReader(text), Options{})).Len()
		for way, open := range ways {
			r, w, err := os.Pipe()
			must.Do(err)
			go func() {
				io.WriteString(w, text)
				w.Close()
			}()
			file := must.Get(os.Open(name))
			for k, in := range []*os.File{r, file, file} {
				s, err := open(Options{Stdin: in})
				if way == "OpenTail" && text != lines && errors.Is(err, ErrTail) {
					continue
				}
				if err != nil || s.Len() != want {
					t.Errorf("%s of %.9q, input %d: %v, want %d records", way, text, k, err, want)
					continue
				}
				s.Close()
			}
			r.Close()
			file.Close()
		}
	}
}
