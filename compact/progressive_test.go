package compact

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ctxtool/replay"
)

// TestProgressiveStops: only as many pieces of work go as the trigger or the target of the layer
// wants, the oldest first; no more are asked for.
func TestProgressiveStops(t *testing.T) {
	var messages []testMessage
	for i := range 9 {
		messages = append(messages, user(fmt.Sprintf("task %d", i)))
		for k := range 2 {
			id := fmt.Sprintf("c%d-%d", i, k)
			messages = append(messages, answer("", call(id, "bash", `{"k":"`+id+`"}`)), result(id, strings.Repeat("x", 4000)))
		}
		messages = append(messages, answer("done"))
	}
	summary := func(Request) (string, error) { return "short", nil }
	waits := func(Request) (string, error) { return "", ErrNoAnswer }
	for _, test := range []struct {
		name      string
		window    int64
		target    Amount
		summarize Summarize
		want      int // pieces that go
		asked     int
	}{
		{"the trigger", 21200, Amount{}, summary, 1, 0},
		{"the target", 100_000, Amount{Tokens: 14000}, summary, 3, 0},
		{"all of it", 1000, Amount{}, summary, 9, 0},
		{"one is asked for", 21200, Amount{}, nil, 0, 1},
		{"none has an answer", 100_000, Amount{Tokens: 14000}, waits, 0, 3},
	} {
		v := viewed(t, lines(messages...), replay.Options{Window: test.window})
		p := yAgentPolicy.Only("p", []Layer{{Pass: &Progressive, Options: Options{MinTokens: growth}, When: &Trigger{Percent: guardActs, At: true}}})
		p.Target = test.target
		plan, err := p.Plan(v, test.summarize)
		if err != nil && !errors.Is(err, ErrNoAnswer) {
			t.Fatal(err)
		}
		got := 0
		for _, c := range plan.Changes {
			if c.Action == Replace {
				got++
			}
		}
		if got != test.want || len(plan.Requests) != test.asked {
			t.Errorf("%s: %d of %d tokens: %d pieces went, %d were asked for, want %d and %d", test.name, plan.Before, plan.Window, got, len(plan.Requests), test.want, test.asked)
		}
	}
}
