package gate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ctxtool/internal/lens/gate"
	"ctxtool/internal/test/must"
	"ctxtool/stats"
)

// saved returns a run of reports as saved, with or without a line per session.
func saved(lines bool, reports ...*stats.Report) *gate.Saved {
	var data []byte
	all := []*stats.Report{together(reports...)}
	if lines {
		all = append(reports, all...)
	}
	for _, r := range all {
		line := must.Get(json.Marshal(r))
		data = append(append(data, line...), '\n')
	}
	return must.Get(gate.LoadSaved("last.json", data))
}

// TestDrift: 100 errors were found when the run was saved.
func TestDrift(t *testing.T) {
	for _, c := range []struct {
		drift string
		found int
		state gate.State
	}{
		{"", 100, gate.Kept}, {"", 101, gate.Crossed}, {"", 99, gate.Crossed},
		{"5%", 105, gate.Kept}, {"5%", 106, gate.Crossed}, {"5%", 95, gate.Kept}, {"5%", 94, gate.Crossed},
		{"+5%", 105, gate.Kept}, {"+5%", 106, gate.Crossed}, {"+5%", 0, gate.Kept},
		{"-5%", 95, gate.Kept}, {"-5%", 94, gate.Crossed}, {"-5%", 1000, gate.Kept},
		{"10", 110, gate.Kept}, {"10", 111, gate.Crossed}, {"+10", 90, gate.Kept}, {"-10", 89, gate.Crossed},
	} {
		g := &gate.Gate{Saved: saved(false, report("s", 1, 0, 100))}
		if c.drift != "" {
			g.Drift = &gate.Drift{}
			must.Do(g.Drift.UnmarshalText([]byte(c.drift)))
		}
		r := must.Get(judged(g, report("s", 1, 0, c.found)))
		for _, v := range r.Verdicts {
			want := gate.Kept
			if v.Figure == "check.errors" {
				want = c.state
			}
			if v.State != want || v.Saved == nil {
				t.Errorf("drift %q, %d: %s is %s, want %s", c.drift, c.found, v.Figure, v.State, want)
			}
		}
	}
	for _, text := range []string{"", "x", "+-5%", "--5", "5%%", "+"} {
		if err := new(gate.Drift).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("drift %q is read", text)
		}
	}
}

// TestAgainst: sessions are matched by file, or else by id; new ones are reported.
func TestAgainst(t *testing.T) {
	moved := report("new-name", 1, 0, 2)
	moved.ID = "id of b"
	for _, c := range []struct {
		name    string
		saved   *gate.Saved
		reports []*stats.Report
		want    string
	}{
		{"each its own", saved(true, report("a", 1, 0, 1), report("b", 1, 0, 2)), []*stats.Report{report("b", 1, 0, 2), report("a", 1, 0, 1)},
			"true; kept error cache.session-hit-rate 1 b e1; kept error cache.session-hit-rate 1 a e1; kept error check.errors 2 b:7 e2; kept error check.errors 1 a:7 e2"},
		{"by id", saved(true, report("a", 1, 0, 1), report("b", 1, 0, 2)), []*stats.Report{moved},
			"true; kept error cache.session-hit-rate 1 new-name e1; kept error check.errors 2 new-name:7 e2"},
		{"a new one", saved(true, report("a", 1, 0, 1)), []*stats.Report{report("c", 1, 0, 9)},
			"true; unknown error cache.session-hit-rate 1 c e1: not in the saved run; unknown error check.errors 9 c:7 e2: not in the saved run"},
	} {
		r := must.Get(judged(&gate.Gate{Saved: c.saved}, c.reports...))
		kept := r.Verdicts[:0]
		for _, v := range r.Verdicts { // except those of all together, and warnings
			if v.Figure == "check.errors" || v.Figure == "cache.session-hit-rate" {
				kept = append(kept, v)
			}
		}
		r.Verdicts = kept
		if got := told(r); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	// One object for several sessions has no figures of each.
	g := &gate.Gate{Saved: saved(false, report("a", 1, 0, 1), report("b", 1, 0, 2))}
	r, err := judged(g, report("a", 1, 0, 1), report("b", 1, 0, 2))
	if got := told(r); err != nil || got != "true; kept error cache.hit-rate 1 a e1; kept error cache.rebilled 0 a e1" {
		t.Errorf("%v %s", err, got)
	}
}

// TestLoadSaved: files that are not saved runs, and runs without the figure.
func TestLoadSaved(t *testing.T) {
	for data, want := range map[string]string{
		"":                               "last.json: not a saved run: it has no report of all sessions together",
		`{"schema":"ctxtool/check/1"}`:   `last.json: not a saved run: its schema is "ctxtool/check/1"`,
		`{"schema":`:                     "last.json: not a saved run: unexpected EOF",
		"[]":                             "last.json: not a saved run: json: cannot unmarshal array into Go value",
		`{"schema":"ctxtool/stats/3"} x`: "last.json: not a saved run: invalid character 'x' looking for beginning of value",
	} {
		if _, err := gate.LoadSaved("last.json", []byte(data)); err == nil || !strings.HasPrefix(err.Error(), want) || hintOf(err) == "" {
			t.Errorf("%q: %v, want %s", data, err, want)
		}
	}
	empty := must.Get(gate.LoadSaved("last.json", []byte(`{"schema":"ctxtool/stats/3","lenses":{}}`)))
	g := &gate.Gate{Saved: empty}
	if err := g.Start([]string{"cache"}); err == nil || err.Error() != "last.json: the saved run has no figure to compare with" {
		t.Errorf("%v", err)
	}
	must.Do(g.Load("b.toml", []byte("[[budget]]\nfigure = \"check.errors\"\ndrift = 3\n")))
	if err := g.Start(nil); err == nil || err.Error() != "last.json: the saved run has no check.errors" || !strings.Contains(hintOf(err), "--lens check") {
		t.Errorf("%v", err)
	}
}
