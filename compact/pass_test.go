package compact

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"ctxtool/replay"
	"ctxtool/replay/tokens"
)

// TestFind: an unknown name is told the known ones.
func TestFind(t *testing.T) {
	for _, p := range passes {
		if got, err := FindPass(p.Name); got != p || err != nil || p.Defaults.Counter == nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if _, err := FindPass("x"); err == nil || !strings.Contains(err.Error(), "truncate, superseded") {
		t.Errorf("%v", err)
	}
	for _, p := range Policies {
		if got, err := FindPolicy(p.Name); got != p || err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if _, err := FindPolicy("x"); err == nil || !strings.Contains(err.Error(), "pi, gsh") {
		t.Errorf("%v", err)
	}
}

// TestPresets: a preset's numbers take the place of the policy's, and what is set in a copy
// does not change them.
func TestPresets(t *testing.T) {
	type numbers struct {
		max, protect int
		share        float64
	}
	of := func(p *Policy) numbers {
		return numbers{p.Layer(&Truncate).Max, p.Layer(&Prune).Protect, p.Layer(&Compact).When.Share}
	}
	for preset, want := range map[string]numbers{"": {30000, 40000, 0.85}, "small": {8000, 4000, 0.75}, "large": {50000, 80000, 0.9}, "cost": {15000, 20000, 0.7}} {
		p, err := GSHPolicy.With(preset)
		if err != nil || of(p) != want {
			t.Errorf("%q: %+v, %v", preset, of(p), err)
		}
		own := p.Copy()
		own.Layer(&Truncate).Max, own.Layer(&Compact).When = 77, &Trigger{Share: 0.5}
		if got := of(own); got != (numbers{77, want.protect, 0.5}) || of(p) != want {
			t.Errorf("%q, configured: %+v, before %+v", preset, got, of(p))
		}
	}
	if soft, err := yAgentPolicy.With("soft"); err != nil || soft.Layer(&Compact).When.Percent != 95 {
		t.Errorf("soft: %v", err)
	}
	for _, p := range []*Policy{&GSHPolicy, &PiPolicy} {
		if _, err := p.With("x"); err == nil {
			t.Errorf("%s has preset x", p.Name)
		}
	}
}

// TestStaleResults: a result is stale after more requests than it is given.
func TestStaleResults(t *testing.T) {
	all := []testMessage{user("q"), answer("", call("c", "x", `{}`)), result("c", strings.Repeat("x", 404)), answer("1"), user("q"), answer("2")}
	for requests, want := range map[int]string{1: "[output elided after 1 requests, was ~101 tokens]", 2: strings.Repeat("x", 404)} {
		if got := saidIn(t, apply(t, &StaleResults, of(t, all...), Options{Requests: requests}).View)[2]; got != want {
			t.Errorf("after %d: %.60q", requests, got)
		}
	}
	// A fork's file may begin with a result.
	if got := saidIn(t, apply(t, &StaleResults, of(t, all[2:]...), Options{Requests: 1}).View)[0]; !strings.HasPrefix(got, "[output elided") {
		t.Errorf("a result that is the first message: %.60q", got)
	}
}

// TestDropImages: those of the latest requests can stay; of others it is said that there
// were any.
func TestDropImages(t *testing.T) {
	shot := result("c", "a screen")
	shot["content"] = append(shot["content"].([]any), image(), image())
	bare := result("d", "")
	bare["content"] = []any{image()}
	v := of(t, testMessage{"role": "user", "content": []any{image(), testMessage{"type": "text", "text": "look"}}},
		answer("", call("c", "x", `{}`), call("d", "x", `{}`)), shot, bare, answer("y"), testMessage{"role": "user", "content": []any{image()}}, answer("z"))
	for keep, want := range map[int][]string{
		0: {"[image removed]look", "", "a screen\n[image removed]\n[image removed]", "[image removed]", "y", "[image removed]", "z"},
		2: {"[image removed]look", "", "a screen\n[image removed]\n[image removed]", "[image removed]", "y", "", "z"},
	} {
		r := apply(t, &DropImages, v, Options{Keep: keep})
		if got := saidIn(t, r.View); !reflect.DeepEqual(got, want) {
			t.Errorf("keeping %d: %q", keep, got)
		}
		if images := 5 - keep/2; r.Report.TokensSaved < images*1150 || r.Report.Unestimated > 0 {
			t.Errorf("keeping %d: %d tokens saved, %d images not counted", keep, r.Report.TokensSaved, r.Report.Unestimated)
		}
		if got := r.View.Content(0); r.View.texts.err != nil || string(got) != `[{"type":"text","text":"[image removed]"},{"text":"look","type":"text"}]` {
			t.Errorf("%s, %v", got, r.View.texts.err)
		}
	}
	if r := apply(t, &Prune, v, Options{}); r.Report.Unestimated != 5 {
		t.Errorf("%d images that gsh does not count", r.Report.Unestimated)
	}
}

// TestChain: a pass sees what the one before it has left, and nothing that has not
// changed is counted or copied again.
func TestChain(t *testing.T) {
	v := of(t, outputs(4000, 4000, 4000)...)
	first := apply(t, &Truncate, v, Options{Max: 1000, Unit: "bytes"})
	second := apply(t, &Prune, first.View, Options{Protect: 100})
	if len(second.Changes) != 2 || second.Changes[1].Was != 258 { // 1000 bytes and the marker
		t.Errorf("%+v", second.Changes)
	}
	if got := saidIn(t, v)[2]; len(got) != 4000 {
		t.Errorf("the first view has changed: %d", len(got))
	}
	if &v.Messages[1].Blocks[0] != &second.View.Messages[1].Blocks[0] {
		t.Error("a message that has not changed was copied")
	}
}

// TestPiSummary: the history and the beginning of a turn that is cut are asked for one
// by one, an earlier summary goes into the history's, and what pi makes of them is what
// a compaction says.
func TestPiSummary(t *testing.T) {
	v := of(t, user(ten), answer(ten), user(ten), answer(ten))
	var asked []string
	summarize := func(r Request) (string, error) {
		asked = append(asked, fmt.Sprint(r.Part, r.Messages, r.Previous))
		return "S" + string(r.Part), nil
	}
	o := Options{Style: StylePi, Keep: 10, Counter: &tokens.Pi}
	waits := apply(t, &Compact, v, o)
	if len(waits.Requests) != 2 || waits.Requests[1].Part != turnPrefixPart || len(waits.Changes) > 0 || waits.Report.SkipReason == "" {
		t.Errorf("%+v", waits)
	}
	o.Summarize = summarize
	r := apply(t, &Compact, v, o)
	const want = "Shistory\n\n---\n\n**Turn Context (split turn):**\n\nSturn-prefix"
	if r.Changes[0].Text != want || shape(r.View) != "Sa" || fmt.Sprint(asked) != "[history[0 1] turn-prefix[2]]" {
		t.Errorf("%q, %s, %v", r.Changes[0].Text, shape(r.View), asked)
	}
	if got := saidIn(t, r.View)[0]; got != replay.SummaryText(want) || !strings.HasPrefix(got, "The conversation history") || strings.Contains(got, `\n`) {
		t.Errorf("%q", got)
	}
	if rec := r.Changes[0].Range.Kept; v.session().ID(rec) != "m0000003" {
		t.Errorf("kept from record %d", rec)
	}
	// The next one takes the summary in, and the files that it names.
	compaction := testMessage{"type": "compaction", "id": "k", "summary": "before", "firstKeptEntryId": "m0000003", "tokensBefore": 40, "details": testMessage{"readFiles": []string{"b", "a"}}}
	again := of(t, user(ten), answer(ten), user(ten), answer(ten), compaction, user(ten), answer(ten))
	asked = nil
	next := apply(t, &Compact, again, o).Changes[0]
	if files := again.filesOf(*next.Range); fmt.Sprint(files.Read, files.Modified) != "[a b] []" || !strings.HasSuffix(next.Text, "<read-files>\na\nb\n</read-files>") {
		t.Errorf("%v, %q", files, next.Text)
	}
	if fmt.Sprint(asked) != "[history[1]before turn-prefix[2]]" {
		t.Errorf("%v", asked)
	}
	// So it does below a checkpoint, by either rules.
	compaction["systemMessage"] = testMessage{"role": "system", "content": "be brief"}
	for _, rules := range []replay.Rules{replay.ByPi, replay.ByEnvelope} {
		asked = nil
		apply(t, &Compact, viewed(t, lines(user(ten), answer(ten), user(ten), answer(ten), compaction, user(ten), answer(ten)), replay.Options{Rules: rules}), o)
		if fmt.Sprint(asked) != "[history[2]before turn-prefix[3]]" {
			t.Errorf("rules %v: %v", rules, asked)
		}
	}
	if failed, err := Compact.apply(v, Options{Style: StyleGSH, Counter: &tokens.GSH, Summarize: func(Request) (string, error) { return " \n", nil }}); err == nil {
		t.Errorf("an empty summary is taken: %+v", failed.Changes)
	}
}
