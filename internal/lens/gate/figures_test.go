package gate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/lens/gate"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay/tokens"
	"ctxtool/stats"
	"ctxtool/stats/table"
)

// TestFigures: every figure has a unique name that begins with its lens, or with the system
// whose targets the lens context must measure.
func TestFigures(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range gate.FigureNames() {
		f, err := gate.FindFigure(name)
		if err != nil || f.About == "" || f.Unit == table.Text || seen[name] {
			t.Errorf("%s: %v, %+v", name, err, f)
		}
		seen[name] = true
		lens, _, _ := strings.Cut(name, ".")
		targets := lens == "swe-cli"
		if targets {
			lens = "context"
		}
		g := &gate.Gate{Budgets: []gate.Budget{{Figure: f}}}
		if needs := g.Lenses(); len(needs) != 1 || needs[0] != lens || g.Targets() != targets {
			t.Errorf("%s is read off %v, targets: %v", name, needs, g.Targets())
		}
	}
}

// TestAgainstItself: saved runs of all sessions, in both forms, are read back with equal
// figures. Each figure has a value in some session.
func TestAgainstItself(t *testing.T) {
	o := stats.Options{Lenses: stats.Lenses, Counter: &tokens.Pi, By: []string{"model", "day"}, Entries: gate.Entries}
	o.Targets = true
	var lines bytes.Buffer
	var reports []*stats.Report
	sum := &stats.Report{Schema: stats.Schema}
	for _, s := range corpus.All(t) {
		if len(s.Data) > 4<<20 {
			continue
		}
		name := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(name, s.Data, 0o600))
		r, err := o.Read(name)
		if err != nil {
			r = &stats.Report{Schema: stats.SessionSchema, Error: err.Error()}
		}
		r.File = s.Name
		o.Add(sum, r)
		o.Finish(r)
		reports = append(reports, r)
		lines.Write(encoded(r))
	}
	o.Finish(sum)
	object := encoded(sum)
	lines.Write(object)

	seen := map[string]int{}
	for form, data := range map[string][]byte{"json": object, "jsonl": lines.Bytes()} {
		saved := must.Get(gate.LoadSaved(form, data))
		g := &gate.Gate{Saved: saved, WarnBroken: true}
		var names []string
		for _, l := range o.Lenses {
			names = append(names, l.Name)
		}
		must.Do(g.Start(names))
		for _, r := range reports {
			g.Add(r)
		}
		told := must.Get(g.Judge(sum))
		for _, v := range told.Verdicts {
			if v.Figure == gate.Unreadable {
				continue
			}
			if v.State != gate.Kept || *v.Saved != *v.Value {
				t.Errorf("%s: %s of %s %s: %s", form, v.Figure, v.File, v.Group, v.State)
			}
			if form == "jsonl" {
				seen[v.Figure]++
			}
		}
	}
	for _, name := range gate.FigureNames() {
		if seen[name] == 0 {
			t.Errorf("no session has a %s", name)
		}
	}
	t.Logf("%d sessions, %v", len(reports), seen)
}

func encoded(r *stats.Report) []byte {
	line := must.Get(json.Marshal(r))
	return append(line, '\n')
}
