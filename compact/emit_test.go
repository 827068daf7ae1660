package compact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
)

// asked are the requests of a pass that has no summarizer, written down and read again.
func asked(t *testing.T, p *Pass, o Options, v *View, session string) []Emitted {
	t.Helper()
	o.Summarize = nil
	r := apply(t, p, v, o)
	var b bytes.Buffer
	if n, err := WriteRequests(&b, session, p.Name, Prompt{}, r.Requests); err != nil || n != bytes.Count(b.Bytes(), []byte("\n")) {
		t.Fatalf("%d requests, %v", n, err)
	}
	var all []Emitted
	for line := range bytes.Lines(b.Bytes()) {
		var e Emitted
		must.Do(json.Unmarshal(line, &e))
		all = append(all, e)
	}
	return all
}

// answers are requests with summaries.
func answers(all ...Emitted) *Answers {
	var b strings.Builder
	for i, e := range all {
		e.Text, e.Summary = "", fmt.Sprintf(" summary %d\n", i)
		line := must.Get(json.Marshal(e))
		b.Write(line)
		b.WriteString("\n\n")
	}
	return must.Get(ReadAnswers(strings.NewReader(b.String())))
}

// TestEmit: requests go out, answers come back to the session that they were made for.
func TestEmit(t *testing.T) {
	v := of(t, user("one <b>"), answer("two"), user("three"), answer("four"), user("five"))
	for _, style := range []Style{StyleGSH, StylePi, styleSWECLI, styleYAgent} {
		o := Options{Style: style, Keep: 2}
		out := asked(t, &Compact, o, v, "a/s.jsonl")
		if len(out) == 0 {
			t.Errorf("%s: no requests", style)
			continue
		}
		e := out[0]
		if e.Session != "a/s.jsonl" || e.Policy != "compact" || e.Leaf != "m0000004" || e.State.Bytes != v.session().Size() || len(e.State.Hash) != 64 || !strings.Contains(string(e.Text), "one <b>") {
			t.Errorf("%s: %+v", style, e)
		}
		if again := asked(t, &Compact, o, of(t, user("one <b>"), answer("two"), user("three"), answer("four"), user("five")), "a/s.jsonl"); fmt.Sprint(again) != fmt.Sprint(out) {
			t.Errorf("%s: asked again %v, was %v", style, again, out)
		}
		a := answers(out...)
		o.Summarize = a.For("a/s.jsonl", "compact", Prompt{})
		r := apply(t, &Compact, v, o)
		if len(r.Changes) != 1 || !strings.Contains(r.Changes[0].Text, "summary 0") || len(a.Unused()) != 0 {
			t.Errorf("%s: %+v, unused %v", style, r.Changes, a.Unused())
		}
		if again := apply(t, &Compact, v, o); fmt.Sprint(again.Changes[0].Text) != r.Changes[0].Text {
			t.Errorf("%s: the second time %+v", style, again.Changes)
		}
	}
}

// TestEmitMovedOn: what was asked for another state of a session is refused, and named.
func TestEmitMovedOn(t *testing.T) {
	before := []testMessage{user("one"), answer("two"), user("three")}
	out := asked(t, &Compact, Options{Style: StyleGSH}, of(t, before...), "s.jsonl")
	a := answers(out...)
	now := of(t, append(before, answer("four"))...)
	_, err := Compact.apply(now, Options{Style: StyleGSH, Summarize: a.For("s.jsonl", "compact", Prompt{})})
	want := fmt.Sprintf("s.jsonl: answer %s: the session has changed since the summary was requested: asked at m0000002, %d bytes; now m0000003, %d bytes", out[0].ID, out[0].State.Bytes, now.session().Size())
	if !errors.Is(err, ErrMovedOn) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v", err)
	}
	if left := a.Unused(); len(left) != 1 || left[0].ID != out[0].ID || left[0].Session != "s.jsonl" {
		t.Errorf("unused: %v", left)
	}
	// An answer that only has the id is not found, and is left.
	bare := must.Get(ReadAnswers(strings.NewReader(`{"id":"` + out[0].ID + `","summary":"x"}`)))
	r := apply(t, &Compact, now, Options{Style: StyleGSH, Summarize: bare.For("s.jsonl", "compact", Prompt{})})
	if len(r.Changes) != 0 || len(r.Requests) != 1 || len(bare.Unused()) != 1 {
		t.Errorf("%+v, unused %v", r.Report, bare.Unused())
	}
	// Another session of that content is another session.
	if other := asked(t, &Compact, Options{Style: StyleGSH}, of(t, before...), "t.jsonl"); other[0].ID == out[0].ID {
		t.Error("two sessions have one id")
	}
}

// TestEmitSequences: answers that are there go in, and the pass waits for the others.
func TestEmitSequences(t *testing.T) {
	piece := func(k string) []testMessage {
		var calls, results []testMessage
		for i := range 3 {
			id := fmt.Sprint(k, i)
			calls = append(calls, call(id, "read", `{"path":"a"}`))
			results = append(results, result(id, strings.Repeat(k, 4000)))
		}
		return append(append([]testMessage{user("do " + k), answer("", calls...)}, results...), answer("done "+k))
	}
	v := of(t, append(append(piece("a"), piece("b")...), user("more"))...)
	out := asked(t, &Progressive, Progressive.Defaults, v, "s")
	if len(out) != 2 || out[0].Part != sequencePart || out[0].ID == out[1].ID {
		t.Fatalf("%v", out)
	}
	o := Progressive.Defaults
	o.Summarize = answers(out[1]).For("s", "progressive", Prompt{})
	r := apply(t, &Progressive, v, o)
	if len(r.Requests) != 1 || !strings.Contains(strings.Join(saidIn(t, r.View), "|"), "|[Pruning Summary] summary 0|done b|") {
		t.Errorf("%d requests left, %s", len(r.Requests), shape(r.View))
	}
	// A policy does not request what comes after.
	plan := Policy{Name: "p", Counter: Progressive.Defaults.Counter, Window: 1000, Layers: []Layer{{Pass: &Progressive, Options: Progressive.Defaults}, {Pass: &Compact, Options: Options{Style: styleYAgent, Retries: 1}}}}
	p := must.Get(plan.Plan(v, nil))
	var b bytes.Buffer
	if n, err := WriteRequests(&b, "s", "p", Prompt{}, p.Requests); n != 2 || err != nil || len(p.Requests) != 3 {
		t.Errorf("%d of %d requests, %v", n, len(p.Requests), err)
	}
}

func TestReadAnswers(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`{"id":"a","summary":"x"}` + "\n" + `{"id":"a","summary":" x "}`, ""},
		{"\n\n", ""},
		{`{"id":"a","summary":"x"}` + "\n" + `{"id":"a","summary":"y"}`, "line 2: answer a: an earlier line answers the same request"},
		{`{"id":"a"}`, "line 1: answer a: the summary is empty"},
		{`{"id":"a","summary":" \n"}`, "line 1: answer a: the summary is empty"},
		{`{"summary":"x"}`, "line 1: an answer without an id"},
		{"\n{", "line 2: unexpected end of JSON input"},
	} {
		got := ""
		if _, err := ReadAnswers(strings.NewReader(test.in)); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%q: %q, want %q", test.in, got, test.want)
		}
	}
}

// TestEmitNamesContent: what stands for the messages follows what they say, however long.
func TestEmitNamesContent(t *testing.T) {
	long := strings.Repeat("x", 5000)
	hash := func(end string) string {
		v := viewed(t, lines(user("q"), answer("", call("1", "x", `{}`)), result("1", long+end), user("p")), replay.Options{})
		e := must.Get(wholeOf(v, StylePi, historyPart).emit("s", "pi", Prompt{}))
		return e.State.Hash
	}
	if hash("a") == hash("b") {
		t.Error("a result that differs after what the request shows makes no difference")
	}
}
