package sessionfmt

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxtool/internal/test/must"
)

// packed is a text in each form of compression, in two streams or frames, the second of zstd one that readers skip.
func packed(text string) map[string][]byte {
	var gz, zst bytes.Buffer
	for _, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
		g := gzip.NewWriter(&gz)
		must.Get(g.Write([]byte(part)))
		must.Do(g.Close())
		z := must.Get(zstd.NewWriter(&zst, zstd.WithEncoderCRC(len(part)%2 == 0)))
		must.Get(z.Write([]byte(part)))
		must.Do(z.Close())
		zst.WriteString("\x53\x2a\x4d\x18\x03\x00\x00\x00abc")
	}
	return map[string][]byte{"gzip": gz.Bytes(), "zstd": zst.Bytes()}
}

// TestUnpackTrailing: what follows compressed data does not keep it from being read, and is counted, however short.
func TestUnpackTrailing(t *testing.T) {
	text := strings.Repeat("a line of a session\n", 20_000)
	for form, data := range packed(text) {
		for _, after := range []string{"", "x", "\x1f", "(", "PK", "ab\n", "junk", "\x00\x00\x00\x00\x00", strings.Repeat("junk\n", 100)} {
			var out bytes.Buffer
			z := must.Get(Unpack(bytes.NewReader(append(bytes.Clone(data), after...))))
			_, err := io.Copy(&out, z)
			var is *trailing
			switch {
			case form == "zstd" && after == "(" || form == "gzip" && after == "\x1f": // it may be the beginning of more
				if err == nil {
					t.Errorf("%s and %q: no error", form, after)
				}
			case errors.As(err, &is) != (after != ""), is != nil && is.bytes != int64(len(after)):
				t.Errorf("%s and %q: %v", form, after, err)
			}
			if out.String() != text {
				t.Errorf("%s and %q: %d bytes, not %d", form, after, out.Len(), len(text))
			}
		}
	}
}

// TestUnpackTruncated: data that breaks off anywhere is never taken for data that something follows.
func TestUnpackTruncated(t *testing.T) {
	for form, data := range packed("a line of a session\nand another one, which is longer\n") {
		for n := range data {
			z, err := Unpack(bytes.NewReader(data[:n]))
			if n < 4 || err != nil {
				continue
			}
			_, err = io.Copy(io.Discard, z)
			if is := new(trailing); errors.As(err, &is) && !(form == "gzip" && is.bytes < 2) {
				t.Errorf("%s of %d of %d bytes: %v", form, n, len(data), err)
			}
		}
	}
}

// TestOpenTrailing: a session with other data after it is read, with a finding.
func TestOpenTrailing(t *testing.T) {
	text := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n" +
		`{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hi"}}` + "\n"
	for form, data := range packed(text) {
		name := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(name, append(data, "not compressed\n"...), 0o600))
		s, err := Open(name, Options{})
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		if got := fmt.Sprint(s.Coverage.Entries, s.Findings); !strings.HasPrefix(got, "1 [{trailing-data  0  other data follows the compressed data, 15 bytes") {
			t.Errorf("%s: %s", form, got)
		}
		s.Close()
		if _, err := (Disk{}).OpenContent(name); err == nil {
			t.Errorf("%s: its content is taken for whole", form)
		}
	}
}
