package weigh

import (
	"encoding/json"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// weighed is what a message takes by a counter.
func weighed(c *tokens.Counter, role jsonl.Kind, message string) Weight {
	var m jsonl.Message
	m.Read(new(jsonl.Cursor).Reset(jsonl.Value(message)), role)
	return new(Weigher).Reset(c).Message(&m)
}

// TestPolicyT13GshMessages: each text is rounded down, and a message takes four more.
func TestPolicyT13GshMessages(t *testing.T) {
	long := make([]byte, 403)
	for i := range long {
		long[i] = 'x'
	}
	sum := 0
	for _, test := range []struct {
		role    jsonl.Kind
		message string
		want    int
	}{
		{jsonl.User, `{"content":"hello world"}`, 6},
		{jsonl.Assistant, `{"content":[{"type":"text","text":"Let me check."},{"type":"toolCall","name":"bash","arguments":{"command": "ls -la"}}]}`, 13},
		{jsonl.ToolResult, `{"content":[{"type":"text","text":"` + string(long) + `"}]}`, 104},
	} {
		got := weighed(&tokens.GSH, test.role, test.message).Total()
		if got != test.want {
			t.Errorf("%.60s: %d, want %d", test.message, got, test.want)
		}
		sum += got
	}
	if sum != 123 {
		t.Errorf("together %d", sum)
	}
	const two = `{"content":[{"type":"text","text":"abc"},{"type":"text","text":"abc"}]}`
	if result, user := weighed(&tokens.GSH, jsonl.ToolResult, two).Total(), weighed(&tokens.GSH, jsonl.User, two).Total(); result != 5 || user != 4 {
		t.Errorf("two texts of a result count %d, of a prompt %d; want 5 and 4", result, user)
	}
}

// TestPolicyT16bWideText: the same four characters by bytes and by scalars, escaped or
// not.
func TestPolicyT16bWideText(t *testing.T) {
	for _, text := range []string{`你好世界`, `\u4f60\u597d\u4e16\u754c`} {
		message := `{"content":"` + text + `"}`
		for _, test := range []struct {
			c    *tokens.Counter
			want int
		}{{&tokens.GSH, 3 + 4}, {&tokens.YBytes, 3}, {&tokens.YScalars, 1}, {&tokens.Pi, 1}} {
			if got := weighed(test.c, jsonl.User, message).Total(); got != test.want {
				t.Errorf("%s of %s: %d, want %d", test.c.Name, text, got, test.want)
			}
		}
	}
}

// TestWeightShares: the shares of a message's blocks are together what it takes, also
// where it is rounded once.
func TestWeightShares(t *testing.T) {
	message := `{"content":[{"type":"text","text":"ab"},{"type":"thinking","thinking":"cd"},{"type":"toolCall","name":"e","arguments":{}},{"type":"text","text":"f"}]}`
	if got, want := weighed(&tokens.Pi, jsonl.Assistant, message), (Weight{Text: 1, Thinking: 0, Calls: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	image := `{"content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA"}]}`
	if got, want := weighed(&tokens.Pi, jsonl.User, image), (Weight{Text: 1, Images: 1200}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestSWE: names of calls count, with the arguments as Python prints them, and thinking does
// not.
func TestSWE(t *testing.T) {
	got := weighed(&tokens.SWE, jsonl.Assistant, `{"content":[{"type":"thinking","thinking":"Hm, hm."},{"type":"text","text":"It's fine."},{"type":"toolCall","name":"bash","arguments":{"command":"ls","n":null}}]}`)
	want := tokens.CL100K.Count([]byte("It's fine.")) + tokens.CL100K.Count([]byte("bash{'command': 'ls', 'n': None}"))
	if got.Total() != want || got.Thinking != 0 {
		t.Errorf("%+v, want %d tokens", got, want)
	}
}

// TestOr: the size of a context of which a part is not recorded is what the provider recorded, and else a guess.
func TestOr(t *testing.T) {
	known, unknown := Counts{Messages: 75, Total: 75}, Counts{Messages: 75, Total: 75, NoSystem: true}
	for _, test := range []struct {
		n       Counts
		s, want Size
		guessed bool
	}{
		{known, Size{Tokens: 1910}, Size{Tokens: 75}, false},
		{unknown, Size{Tokens: 1910}, Size{Tokens: 1910}, false},
		{unknown, Size{Tokens: 1910, Estimated: 10}, Size{Tokens: 1910, Estimated: 10}, false},
		{unknown, Size{Tokens: 80, Estimated: 80}, Size{Tokens: 80, Estimated: 80}, true},
		{unknown, Size{Tokens: 60, Estimated: 60}, Size{Tokens: 75, Estimated: 75}, true},
		{unknown, Size{Tokens: 60}, Size{Tokens: 75}, false}, // something outside of the file removed messages
	} {
		if got := test.s.Or(test.n); got != test.want || got.Guessed() != test.guessed {
			t.Errorf("%+v of %+v: %+v, want %+v", test.s, test.n, got, test.want)
		}
	}
	if text := string(must.Get(json.Marshal(unknown))); text != `{"system":null,"tools":0,"messages":75,"total":75}` {
		t.Error(text)
	}
}
