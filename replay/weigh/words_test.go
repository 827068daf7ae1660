package weigh

import (
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// TestSizeInWords: a size by its window, and in words, for each way in which it is known.
func TestSizeInWords(t *testing.T) {
	for _, c := range []struct {
		s    Size
		want string
	}{
		{Size{}, "~0 tokens, estimated"},
		{Size{Estimated: 7}.Of(7), "~7 tokens, estimated"},
		{Size{Estimated: 7, Hidden: 1}.Of(7), "~7 tokens, estimated: about 1 of them not in the file, by the first request"},
		{Size{Window: 1}.Of(7), "7 tokens, 700.0% of the window, as the provider recorded"},
		{Size{Window: 200, Estimated: 7}.Of(7), "~7 tokens, 3.5% of the window, estimated"},
		{Size{Window: 200, Estimated: 3}.Of(7), "7 tokens, 3.5% of the window: 4 as the provider recorded, about 3 since"},
		{Size{Estimated: 3, Percent: new(float64)}.Of(7), "7 tokens: 4 as the provider recorded, about 3 since"},
	} {
		if got := c.s.String(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.s, got, c.want)
		}
	}
	for _, c := range []struct {
		s                 Size
		stored            int
		recorded, guessed bool
	}{
		{Size{}, 0, false, false}, {Size{Tokens: 1}, 1, true, false}, {Size{Tokens: 1, Estimated: 1}, 1, false, true}, {Size{Tokens: 9, Estimated: 8, Hidden: 2}, 7, true, false},
	} {
		if c.s.Stored() != c.stored || c.s.Recorded() != c.recorded || c.s.Guessed() != c.guessed {
			t.Errorf("%+v: stored %d, recorded %v, guessed %v", c.s, c.s.Stored(), c.s.Recorded(), c.s.Guessed())
		}
	}
	for _, c := range []struct {
		n          Counts
		want       string
		unrecorded bool
	}{
		{Counts{1, 2, 3, 6, false, false}, `{"system":1,"tools":2,"messages":3,"total":6}`, false},
		{Counts{0, 2, 3, 5, true, false}, `{"system":null,"tools":2,"messages":3,"total":5}`, true},
		{Counts{1, 0, 3, 4, false, true}, `{"system":1,"tools":null,"messages":3,"total":4}`, true},
	} {
		if got := string(must.Get(c.n.MarshalJSON())); got != c.want || c.n.Unrecorded() != c.unrecorded {
			t.Errorf("%+v: %s, want %s", c.n, got, c.want)
		}
	}
}

// TestContradicts: a request contradicts a recorded size only by more than 1.3 times, and by LeastGone.
func TestContradicts(t *testing.T) {
	for _, c := range []struct {
		counted, recorded int64
		want              bool
	}{
		{9000, 0, false}, {8001, 1, true}, {8000, 1, false}, {34_667, 26_667, false}, {34_666, 26_666, true}, {34_600, 26_600, true}, {130_000, 100_000, false}, {130_001, 100_000, true}, {9000, -1, false},
	} {
		if Contradicts(c.counted, c.recorded) != c.want {
			t.Errorf("%d of %d: %v", c.counted, c.recorded, !c.want)
		}
	}
}

// TestBlocks weighs a message with a block of each kind by counters that round once, for each text, or not at all.
func TestBlocks(t *testing.T) {
	const message = `{"content":[{"type":"text","text":"1234567"},{"type":"thinking","thinking":"12345"},{"type":"opaque","characters":41},{"type":"opaque","characters":0},` +
		`{"type":"toolCall","name":"bash","arguments":{"a": 1}},{"type":"text","text":"é"},{"type":"image","data":"AAAA"}]}`
	length := tokens.Counter{Measure: tokens.Bytes, Image: 100, Message: 1000}
	units, scalars, quiet, byText, named, exact := length, length, length, length, length, length
	units.Measure, scalars.Measure = tokens.Units, tokens.Scalars
	quiet.NoThinking = true
	byText.ByText, byText.Tokens = true, func(length int) int { return length / 4 }
	exact.Measure, exact.Text = tokens.Tokens, func(text []byte) int { return 2 * len(text) }
	named.Call = func(name string, args []byte) []byte { return []byte(name + "!") }
	for _, c := range []struct {
		name string
		c    *tokens.Counter
		role jsonl.Kind
		want Weight
	}{
		{"bytes", &length, jsonl.Assistant, Weight{1009, 46, 11, 0}}, {"units", &units, jsonl.Assistant, Weight{1008, 46, 11, 0}}, {"scalars", &scalars, jsonl.Assistant, Weight{1008, 46, 11, 0}},
		{"no thinking", &quiet, jsonl.Assistant, Weight{1009, 0, 11, 0}}, {"a call by another name", &named, jsonl.Assistant, Weight{1009, 46, 5, 0}},
		{"images", &length, jsonl.User, Weight{1009, 41, 0, 100}}, {"a result", &byText, jsonl.ToolResult, Weight{1002, 10, 0, 25}}, {"a prompt", &byText, jsonl.User, Weight{1001, 10, 0, 25}},
		{"tokens", &exact, jsonl.Assistant, Weight{1018, 20, 22, 0}},
	} {
		if got := weighed(c.c, c.role, message); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	var w Weigher
	if w.Reset(&length); w.Value(jsonl.Value(`"abé"`)) != 4 || w.Value(jsonl.Value(`12`)) != 0 || w.Minified(jsonl.Value(`{ "a" : 1 }`)) != 7 {
		t.Error("lengths of values")
	}
	if n := SealedTokens(11); n != 2 {
		t.Errorf("11 characters are %d tokens", n)
	}
	var s Shares
	for k := jsonl.System; k <= jsonl.Scalar; k++ {
		s.Add(k, 1)
	}
	if s != (Shares{User: int(jsonl.Scalar) + 1 - 4, Answers: 1, Results: 1, Summaries: 2}) || s.Total() != int(jsonl.Scalar)+1 {
		t.Errorf("%+v", s)
	}
	if total := (Weight{1, 2, 4, 8}).Total(); total != 15 {
		t.Error(total)
	}
}
