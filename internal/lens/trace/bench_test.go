package trace_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"ctxtool/internal/lens/trace"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// BenchmarkTrace opens a session with edits, patches and compactions and follows a text
// through its requests. For comparison it replays the same path to the leaf, and runs grep,
// which counts the lines of the file that contain the text.
func BenchmarkTrace(b *testing.B) {
	p := must.Get(gen.Find("1g"))
	p.Shape.Bytes, p.Shape.CompactEvery, p.Shape.Edits, p.Shape.Transforms = 64<<20, 400, 0.1, 0.05
	data := gen.Session(p.Shape)
	open := func(b *testing.B) *sessionfmt.Session {
		return must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
	}
	for _, c := range []struct {
		name string
		q    trace.Query
	}{
		{"common", trace.Query{Text: "the"}},
		{"rare", trace.Query{Text: "no such text"}},
		{"regexp", trace.Query{Regexp: regexp.MustCompile(`no such \w+`)}},
		{"any-case", trace.Query{Regexp: regexp.MustCompile(`(?i)no such text`)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				s := open(b)
				found := must.Get(trace.Follow(replay.New(s, replay.Options{}), s.Leaf(), &c.q))
				b.ReportMetric(float64(len(found.Lives)), "lives")
				b.ReportMetric(float64(found.Requests), "requests")
				s.Close()
			}
		})
	}
	b.Run("replay", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			s := open(b)
			if _, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf())); err != nil {
				b.Fatal(err)
			}
			s.Close()
		}
	})
	b.Run("grep", func(b *testing.B) {
		grep, err := exec.LookPath("grep")
		if err != nil {
			b.Skip("left out: no grep here")
		}
		file := filepath.Join(b.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(file, data, 0o644))
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if out, err := exec.Command(grep, "-c", "no such text", file).Output(); string(out) != "0\n" {
				b.Fatalf("%q, %v", out, err)
			}
		}
	})
}
