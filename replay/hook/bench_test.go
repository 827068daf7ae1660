package hook_test

import (
	"context"
	"io"
	"testing"
	"time"

	"ctxtool/internal/test/gen"
	"ctxtool/replay"
	"ctxtool/replay/hook"
)

// A quiet hook reads every state, and answers nothing.
type quiet struct{ read int64 }

func (q *quiet) Write(p []byte) (int, error) { q.read += int64(len(p)); return len(p), nil }
func (q *quiet) Close() error                { return nil }
func (q *quiet) Ask(_ context.Context, write func(w io.Writer) error) ([]byte, error) {
	return nil, write(q)
}

// BenchmarkExec runs a hook that answers nothing over all requests of a session.
func BenchmarkExec(b *testing.B) {
	s := opened(b, "s", gen.Session(gen.Shape{Seed: 1, Bytes: 32 << 20, Tools: 0.7, Text: 2200, Systems: 0.01, CompactEvery: 60, Checkpoints: true}))
	q := &quiet{}
	b.ReportAllocs()
	for b.Loop() {
		q.read = 0
		x := &hook.Exec{
			Hook: q, Context: context.Background(), Replay: replay.Options{Leaf: s.Leaf()}, Leaf: s.Leaf(),
			Reasons: []hook.Reason{hook.BeforeRequest}, To: -1, Now: time.Now,
		}
		if _, err := x.Run(s); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(q.read)
}
