package replay_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf16"

	"ctxtool/internal/gen"
	"ctxtool/internal/tokens"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// benchSession is 16 MB of the benchmarks' shape.
func benchSession(b *testing.B) []byte {
	b.Helper()
	p, err := gen.Find("1g")
	if err != nil {
		b.Fatal(err)
	}
	p.Shape.Bytes = 16 << 20
	return gen.Session(p.Shape)
}

// BenchmarkReplay opens a session, replays it to its leaf and counts what the
// model got; beside it the standard library decodes the same lines and counts
// the same texts, path and rules aside.
func BenchmarkReplay(b *testing.B) {
	data := benchSession(b)
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	report := func(b *testing.B) {
		b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "entries/s")
	}
	b.Run("ctxtool", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			s, err := sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{})
			if err != nil {
				b.Fatal(err)
			}
			e, err := replay.New(s, replay.Options{Rules: replay.ByPi, Leaf: s.Leaf()}).At(s.Leaf(), false)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := e.Count(&tokens.Pi); err != nil {
				b.Fatal(err)
			}
			s.Close()
		}
		report(b)
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			total := 0
			for _, line := range lines {
				total += countByLibrary(b, line)
			}
			if total == 0 {
				b.Fatal("nothing counted")
			}
		}
		report(b)
	})
}

func countByLibrary(b *testing.B, line []byte) int {
	var e struct {
		Type, ID, ParentID string
		Message            struct {
			Role    string
			Content []struct {
				Type, Text, Thinking, Name string
				Arguments                  json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(line, &e); err != nil {
		b.Fatal(err)
	}
	n := 0
	for _, c := range e.Message.Content {
		n += len(utf16.Encode([]rune(c.Text))) + len(utf16.Encode([]rune(c.Thinking))) + len(c.Name) + len(c.Arguments)
	}
	return (n + 3) / 4
}
