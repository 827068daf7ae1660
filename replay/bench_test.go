package replay_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf16"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// benchSession is 16 MB of the benchmarks' shape.
func benchSession() []byte {
	p := must.Get(gen.Find("1g"))
	p.Shape.Bytes = 16 << 20
	return gen.Session(p.Shape)
}

// BenchmarkReplay opens a session, replays it to its leaf and counts what the
// model got; beside it the standard library decodes the same lines and counts
// the same texts, path and rules aside.
func BenchmarkReplay(b *testing.B) {
	data := benchSession()
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	report := func(b *testing.B) {
		b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "entries/s")
	}
	b.Run("ctxtool", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
			e := must.Get(replay.New(s, replay.Options{Rules: replay.ByPi}).At(sessionfmt.After(s.Leaf())))
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
				total += countByLibrary(line)
			}
			if total == 0 {
				b.Fatal("nothing counted")
			}
		}
		report(b)
	})
}

func countByLibrary(line []byte) int {
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
	must.Do(json.Unmarshal(line, &e))
	n := 0
	for _, c := range e.Message.Content {
		n += len(utf16.Encode([]rune(c.Text))) + len(utf16.Encode([]rune(c.Thinking))) + len(c.Name) + len(c.Arguments)
	}
	return (n + 3) / 4
}

// BenchmarkCache accounts for the cache of a session of 10,000 requests over 100 MB;
// beside it replays it to its leaf, and decodes every message once.
func BenchmarkCache(b *testing.B) {
	p := must.Get(gen.Find("1g"))
	p.Shape.Bytes, p.Shape.Text, p.Shape.Branch = 100<<20, 1000, 0
	data := gen.Session(p.Shape)
	run := func(name string, do func(b *testing.B, r *replay.Replay, leaf int)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
				do(b, replay.New(s, replay.Options{Rules: replay.ByPi}), s.Leaf())
				s.Close()
			}
		})
	}
	run("cache", func(b *testing.B, r *replay.Replay, leaf int) {
		report := must.Get(cache.Account(must.Get(ledger.Read(r, ledger.Options{Leaf: leaf, Counter: &tokens.Pi})), cache.Options{Leaf: leaf}))
		b.ReportMetric(float64(report.Total.Requests), "requests")
	})
	run("replay-and-decode", func(b *testing.B, r *replay.Replay, leaf int) {
		e := must.Get(r.At(sessionfmt.After(leaf)))
		if _, err := e.Count(&tokens.Pi); err != nil {
			b.Fatal(err)
		}
		var text []byte
		for m, err := range e.CachedMessages() {
			if err != nil {
				b.Fatal(err)
			}
			for s := range m.Raw.Strings {
				text = s.AppendText(text[:0])
			}
		}
	})
}
