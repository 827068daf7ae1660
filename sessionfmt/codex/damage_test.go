package codex_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestDamage reads sessions of other agents that are cut, spliced or overwritten: they give a
// context or an error, and never a panic.
func TestDamage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 53))
	sessions := append(corpus.Foreign(t), corpus.Session{Name: "own", Data: bytes.Join([][]byte{text(begin().note("n").user("a").item(`{"type":"function_call","name":"t","call_id":"c","arguments":"{}"}`).used()), text(begin().user("b").back(1).answer("2").add("compacted", `{"message":"x"}`).user("c").back(2))}, nil)})
	for _, c := range sessions {
		for range 15 {
			data := bytes.Clone(c.Data[:min(len(c.Data), 200<<10)])
			for range 1 + random.IntN(3) {
				damage(random, data)
			}
			s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(data[:random.IntN(len(data)+1)]), sessionfmt.Options{})
			if err != nil {
				continue
			}
			lines := s.NewReader()
			for rec := range s.Len() {
				for _, read := range []func(int) (jsonl.Value, error){lines.Line, lines.Native} {
					line, err := read(rec)
					if err == nil {
						_, err = jsonl.ParseValue(line)
					}
					if err != nil {
						t.Fatalf("%s: %v: %s", s.Pos(rec), err, line)
					}
				}
			}
			r := replay.New(s, replay.Options{})
			if e, err := r.At(sessionfmt.After(s.Leaf())); err == nil {
				for _, err := range e.Native() {
					if err != nil {
						t.Errorf("%s: %v", c.Name, err)
					}
				}
			} else if !replay.Stopped(err) {
				t.Errorf("%s: %v", c.Name, err)
			}
			s.Close()
		}
	}
}

// damage changes a stretch of a session: to other bytes, or to a copy of another stretch.
func damage(random *rand.Rand, data []byte) {
	if len(data) < 2 {
		return
	}
	from, to, n := random.IntN(len(data)), random.IntN(len(data)), random.IntN(40)
	if random.IntN(2) == 0 {
		copy(data[from:], data[to:min(to+n, len(data))])
		return
	}
	data[from] = byte(random.IntN(256))
}

func text(r *rollout) []byte {
	var b bytes.Buffer
	for _, line := range r.lines {
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}
