package hook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/base/shell"
	"ctxtool/internal/lens/diff"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// generated returns a patch of some operations for a context. Its messages are those of the
// context, without some of them and with others.
func generated(t *testing.T, e *replay.Envelope, rnd *rand.Rand) string {
	t.Helper()
	p := must.Get(e.Prompt())
	part, tool := "policy", "none"
	if n := len(p.Parts); n > 0 && rnd.IntN(2) == 0 {
		part = p.Parts[rnd.IntN(n)].Name
	}
	if n := len(p.Tools); n > 0 {
		tool = p.Tools[rnd.IntN(n)].Name
	}
	q := func(s string) string { return string(jsonl.AppendQuoted(nil, s)) }
	all := []string{
		`{"op":"system_part_set","scope":"cached","partName":` + q(part) + `,"text":"Be brief.","invalidateCacheReason":"r"}`,
		`{"op":"system_part_remove","scope":"cached","partName":` + q(part) + `,"invalidateCacheReason":"r"}`,
		`{"op":"tools_remove","scope":"cached","toolNames":[` + q(tool) + `],"invalidateCacheReason":"r"}`,
		`{"op":"options_set","scope":"cached","reasoning":"low","invalidateCacheReason":"r"}`,
		`{"op":"messages_cached_replace","scope":"cached","messages":` + someMessages(t, e, rnd) + `,"invalidateCacheReason":"r"}`,
		`{"op":"compaction_apply","scope":"cached","summary":"s","firstKeptMessageIndex":` + fmt.Sprint(rnd.IntN(e.Cached()+1)) + `,"timestamp":5,"invalidateCacheReason":"r"}`,
	}
	rnd.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return `{"transformerName":"g","patch":[` + strings.Join(all[:1+rnd.IntN(2)], ",") + `]}`
}

// someMessages returns the messages of a context as JSON, without the last ones or with one of
// the user more.
func someMessages(t *testing.T, e *replay.Envelope, rnd *rand.Rand) string {
	t.Helper()
	var all []string
	for m, err := range e.CachedMessages() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(m.Raw))
	}
	if rnd.IntN(2) == 0 {
		all = all[:rnd.IntN(len(all)+1)]
	}
	return "[" + strings.Join(append(all, `{"role":"user","content":"Go on.","timestamp":5}`), ",") + "]"
}

func opened(t testing.TB, name string, data []byte) *sessionfmt.Session {
	t.Helper()
	s, err := sessionfmt.OpenReader(name, bytes.NewReader(data), sessionfmt.Options{})
	if err != nil {
		return nil
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestStored: what a trial stores, as a transform or as entries of pi, replays to the context of
// the trial. What has no form in entries of pi is refused by the name of an operation.
func TestStored(t *testing.T) {
	stored := map[string]int{}
	for n, c := range corpus.Small(t) {
		s := opened(t, c.Name, c.Data)
		if s == nil || s.Leaf() < 0 || s.NewBatch(s.Leaf(), time.UnixMilli(0)).Err() != nil {
			continue
		}
		rnd := rand.New(rand.NewPCG(uint64(n), 1))
		for range 4 {
			for _, rules := range []replay.Rules{replay.ByPi, replay.ByEnvelope} {
				opt := replay.Options{Rules: rules, Leaf: s.Leaf()}
				e, err := replay.New(s, opt).At(sessionfmt.After(s.Leaf()))
				if err != nil {
					continue
				}
				results := must.Get(hook.Read("", []byte(generated(t, e, rnd))))
				trial, err := hook.New(s, results, hook.Options{
					Replay: opt, Leaf: s.Leaf(), At: s.Leaf(), Reason: hook.BeforeRequest, Counters: []*tokens.Counter{&tokens.Pi}, Now: time.UnixMilli(0),
				})
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				b := s.NewBatch(s.Leaf(), time.UnixMilli(0))
				if err := trial.Store(b, rules == replay.ByPi); err != nil {
					if rules == replay.ByEnvelope || !strings.Contains(err.Error(), "has no form that pi reads") || !strings.Contains(err.Error(), "op ") {
						t.Fatalf("%s: %v", c.Name, err)
					}
					stored["refused"]++
					continue
				}
				after := opened(t, c.Name, append(bytes.Clone(c.Data), b.Lines()...))
				if err := trial.Promise(after); err != nil {
					if !strings.Contains(err.Error(), "would produce a different context") || rules == replay.ByEnvelope {
						t.Fatalf("%s, rules %s: %v\n%s", c.Name, rules, err, b.Lines())
					}
					stored["kept from"]++
					continue
				}
				sameContext(t, c.Name, trial.Envelope, after, opt)
				stored[trial.Form]++
			}
		}
	}
	if stored["transform"] < 20 || stored["edits"] < 20 {
		t.Errorf("too few are stored: %v", stored)
	}
	t.Logf("%v", stored)
}

// sameContext compares an envelope with that at the leaf of a session.
func sameContext(t *testing.T, what string, e *replay.Envelope, after *sessionfmt.Session, opt replay.Options) {
	t.Helper()
	opt.Leaf = after.Leaf()
	is := must.Get(replay.New(after, opt).At(sessionfmt.After(after.Leaf())))
	d, err := diff.Envelopes(&tokens.Pi, e, is)
	if err != nil || !d.Equal() || d.Tokens.A != d.Tokens.B {
		t.Fatalf("%s: %v, %+v", what, err, d)
	}
}

// A fake is a hook that answers as its function says, and keeps its questions.
type fake struct {
	answer func(question string) string
	asked  []string
}

func (f *fake) Ask(_ context.Context, write func(w io.Writer) error) ([]byte, error) {
	var b strings.Builder
	if err := write(&b); err != nil {
		return nil, err
	}
	f.asked = append(f.asked, b.String())
	answer := f.answer(b.String())
	switch answer {
	case "fails":
		return nil, errors.New("it failed")
	case "late":
		return nil, fmt.Errorf("command: %w", &shell.LateError{Limit: time.Second})
	}
	return []byte(answer), nil
}

func (f *fake) Close() error { return nil }

// ran runs a hook over a session by the envelope rules.
func ran(t *testing.T, s *sessionfmt.Session, answer func(question string) string, reasons ...hook.Reason) (*hook.Run, []string) {
	t.Helper()
	f := &fake{answer: answer}
	x := &hook.Exec{
		Hook: f, Name: "fake", Context: context.Background(), Replay: replay.Options{Rules: replay.ByEnvelope, Leaf: s.Leaf()},
		Leaf: s.Leaf(), Reasons: reasons, To: -1, Now: func() time.Time { return time.Time{} },
	}
	run, err := x.Run(s)
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return run, f.asked
}

// requestOf returns the number of the request of a question, and the question without its reason.
func requestOf(question string) (n int64, rest string) {
	v := must.Get(jsonl.ParseValue([]byte(question)))
	_, rest, _ = strings.Cut(question, `"state":`)
	return v.Get("requestIndex").Int(), rest
}

// TestRepeated: a hook that repeats the patches of a session gives its envelopes at every
// request, and the session itself.
func TestRepeated(t *testing.T) {
	repeated := 0
	for n, c := range corpus.Small(t) {
		s := opened(t, c.Name, c.Data)
		if s == nil || s.Leaf() < 0 || s.NewBatch(s.Leaf(), time.UnixMilli(0)).Err() != nil || s.Version < 3 {
			continue
		}
		if _, err := replay.New(s, replay.Options{Rules: replay.ByEnvelope}).At(sessionfmt.After(s.Leaf())); err != nil {
			continue
		}
		path, _ := s.Path(s.Leaf())
		answers := map[int64]string{}
		rnd := rand.New(rand.NewPCG(uint64(n), 2))
		for _, rec := range path {
			if s.Answers(rec) {
				if e, err := replay.New(s, replay.Options{Rules: replay.ByEnvelope}).At(sessionfmt.Point{Record: rec, Before: true}); err == nil && rnd.IntN(3) == 0 {
					answers[int64(len(answers))] = generated(t, e, rnd)
				} else {
					answers[int64(len(answers))] = "{}"
				}
			}
		}
		first, asked := ran(t, s, func(q string) string {
			k, _ := requestOf(q)
			if strings.HasPrefix(q, `{"type":"context","reason":"ephemeral"`) {
				return "null"
			}
			return answers[k]
		}, hook.BeforeRequest, hook.Ephemeral)
		if first.Failed > 0 || len(asked) != 2*len(answers) {
			t.Fatalf("%s: %d failed, %d questions about %d requests", c.Name, first.Failed, len(asked), len(answers))
		}
		var with bytes.Buffer
		if err := first.Print(&with); err != nil {
			if strings.Contains(err.Error(), "pi refuses") || errors.Is(err, sessionfmt.ErrTorn) {
				continue
			}
			t.Fatalf("%s: %v", c.Name, err)
		}
		recorded := opened(t, c.Name, with.Bytes())
		if err := first.Promise(recorded); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		_, silent := ran(t, recorded, func(string) string { return "" }, hook.BeforeRequest)
		for k := range silent { // the questions at ephemeral come after the patch before the request
			if _, got := requestOf(asked[2*k+1]); len(silent) != len(answers) || !strings.HasSuffix(silent[k], got) {
				t.Fatalf("%s, request %d: the envelope differs\n%.300s\n%.300s", c.Name, k, asked[2*k+1], silent[k])
			}
		}
		repeated += first.Patched
	}
	if repeated < corpus.Least(t, 50, 40) {
		t.Errorf("only %d patches were repeated", repeated)
	}
	t.Logf("%d patches repeated", repeated)
}

// TestSilent: a hook that answers nothing changes nothing.
func TestSilent(t *testing.T) {
	for _, c := range corpus.Small(t) {
		s := opened(t, c.Name, c.Data)
		if s == nil || s.Leaf() < 0 || s.NewBatch(s.Leaf(), time.UnixMilli(0)).Err() != nil {
			continue
		}
		if _, err := replay.New(s, replay.Options{Rules: replay.ByEnvelope}).At(sessionfmt.After(s.Leaf())); err != nil {
			continue
		}
		run, asked := ran(t, s, func(string) string { return " \n" }, hook.BeforeRequest, hook.TurnEnd)
		if run.Patched+run.Failed+len(run.Rows) > 0 || run.Calls != len(asked) || run.Bill != nil {
			t.Errorf("%s: %+v", c.Name, run)
		}
		var with bytes.Buffer
		if err := run.Print(&with); err == nil && !bytes.Equal(with.Bytes(), c.Data) {
			t.Errorf("%s: the session has changed", c.Name)
		}
	}
}

// TestLate: a hook that takes too long three times in a row is not called again; any other
// failure between ends the row.
func TestLate(t *testing.T) {
	data := must.Get(os.ReadFile("../../testdata/sessions/good/compacted.jsonl"))
	s := opened(t, "s.jsonl", data)
	for _, c := range []struct {
		answers       string // of the first calls, by their first letter
		calls, failed int    // 0 for all requests
	}{
		{"lll", 3, 3}, {"llfll", 0, 5}, {"flll", 4, 4}, {"l ll", 0, 3},
	} {
		left := c.answers
		run, _ := ran(t, s, func(string) (answer string) {
			if left != "" {
				answer = map[byte]string{'l': "late", 'f': "fails", ' ': ""}[left[0]]
				left = left[1:]
			}
			return answer
		}, hook.BeforeRequest, hook.TurnEnd)
		all := run.Calls + run.Skipped
		if c.calls == 0 {
			c.calls = all
		}
		if run.Calls != c.calls || run.Failed != c.failed || all != 8 {
			t.Errorf("%q: %d calls, %d failed, %d skipped", c.answers, run.Calls, run.Failed, run.Skipped)
		}
	}
}

// TestZeroOptions: a trial without options is one at the leaf, counted as pi counts.
func TestZeroOptions(t *testing.T) {
	demo := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), "testdata/sessions/demo.jsonl")))
	s := opened(t, "demo.jsonl", demo)
	results := must.Get(hook.Read("", []byte(`[{"op":"system_part_set","scope":"cached","partName":"policy","text":"Be brief.","invalidateCacheReason":"r"}]`)))
	zero := must.Get(hook.New(s, results, hook.Options{}))
	full := must.Get(hook.New(s, results, hook.Options{Leaf: s.Leaf(), At: s.Leaf(), Counters: []*tokens.Counter{&tokens.Pi}}))
	if len(zero.Sizes) != 1 || !reflect.DeepEqual(zero.Sizes, full.Sizes) || zero.Request != full.Request || zero.Envelope.Leaf != full.Envelope.Leaf {
		t.Errorf("%+v, want %+v", zero.Sizes, full.Sizes)
	}
}
