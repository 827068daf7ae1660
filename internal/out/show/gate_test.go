package show_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/gate"
	"ctxtool/internal/out/show"
	"ctxtool/internal/test/must"
	"ctxtool/stats"
)

// gateReport is one with a verdict in every state, on a file whose name every form
// has to spell otherwise.
func gateReport(file string) *gate.Report {
	n := func(n float64) *float64 { return &n }
	return &gate.Report{
		Sessions: 2, Crossed: 3, Warnings: 1, Tolerated: 1, Unknown: 2, Kept: 3, Saved: "last.jsonl",
		Verdicts: []gate.Verdict{
			{State: gate.Crossed, Severity: gate.Error, Figure: "readable", Path: file, Reason: "no session", Reading: gate.Reading{File: file}},
			{State: gate.Crossed, Severity: gate.Error, Figure: "context.tokens", Unit: "tokens", Path: file, Max: n(150000), Over: 12400, Reading: gate.Reading{File: file, Entry: "e,1", Line: 12, Value: n(162400)}},
			{State: gate.Crossed, Severity: gate.Error, Figure: "cost.total", Unit: "dollars", Max: n(5), Reading: gate.Reading{Value: n(1.2), Unpriced: 2}},
			{State: gate.Crossed, Severity: gate.Warning, Figure: "cache.hit-rate", Unit: "share", Min: n(0.6), Over: 0.29, Reading: gate.Reading{Value: n(0.31)}},
			{State: gate.Tolerated, Severity: gate.Error, Figure: "cost.day", Unit: "dollars", Max: n(1), Over: 0.042, Slack: 0.05, Reading: gate.Reading{Group: "2026-01-31", Value: n(1.042)}},
			{State: gate.Unknown, Severity: gate.Error, Figure: "cache.hit-rate", Unit: "share", Min: n(0.5), Reason: "nothing to judge", Reading: gate.Reading{File: "a"}},
			{State: gate.Unknown, Severity: gate.Error, Figure: "cache.hit-rate", Unit: "share", Min: n(0.5), Reason: "nothing to judge", Reading: gate.Reading{File: "b"}},
			{State: gate.Kept, Severity: gate.Error, Figure: "check.errors", Unit: "number", Max: n(2), Reading: gate.Reading{File: "a", Value: n(0)}},
			{State: gate.Kept, Severity: gate.Error, Figure: "check.errors", Unit: "number", Max: n(2), Reading: gate.Reading{File: "b", Value: n(1)}},
			{State: gate.Kept, Severity: gate.Error, Figure: "bytes.request", Unit: "bytes", Max: n(105), Min: n(95), Saved: n(100), Reading: gate.Reading{File: "b", Value: n(100)}},
		},
	}
}

func gateText(write func(w *bufio.Writer) error) string {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	must.Do(write(w))
	w.Flush()
	return b.String()
}

func TestGateText(t *testing.T) {
	got := gateText(func(w *bufio.Writer) error {
		return show.GatedForms.Of(show.Stats{Report: &stats.Report{}, Gate: gateReport("s.jsonl")}).
			Write(w, "text", show.Screen{})
	})
	want := `gate: failed, 3 limits crossed, 1 crossed with a warning, 1 within tolerance, 2 without a value, 3 kept; against last.jsonl
gate     figure                                value  limit      beyond                look at
CROSSED  readable                                                                      s.jsonl: no session
CROSSED  context.tokens                       162400  <= 150000  +8.3%                 s.jsonl:12: entry e,1
CROSSED  cost.total      >= $1.20 (2 calls unpriced)  <= $5.00
warning  cache.hit-rate                        31.0%  >= 60.0%   -29.0 points
within   cost.day                            $1.0420  <= $1.00   +4.2%, allowed $0.05  2026-01-31
-        cache.hit-rate                               >= 50.0%                         nothing to judge: 2 times
ok       check.errors                              1  <= 2                             the nearest of 2: b
ok       bytes.request                           100  95 to 105
`
	if got := trimLines(got); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// hostile is a file's name that means something in every form.
const hostile = "a|b,c:d%\n::error::x\x1b[31m<&\"'>`]]>\u202e.jsonl"

func TestGateAnnotations(t *testing.T) {
	got := gateText(func(w *bufio.Writer) error {
		return show.GatedForms.Of(show.Stats{Gate: gateReport(hostile)}).Write(w, "github", show.Screen{})
	})
	name := "a|b%2Cc%3Ad%25\ufffd%3A%3Aerror%3A%3Ax\ufffd[31m<&\"'>`]]>\ufffd.jsonl" // what a terminal would obey is cleaned
	want := "::error file=" + name + ",title=readable::readable: no session\n" +
		"::error file=" + name + ",line=12,title=context.tokens::context.tokens 162400, limit <= 150000 (+8.3%25), see entry e,1\n" +
		"::error title=cost.total::cost.total >= $1.20 (2 calls unpriced), limit <= $5.00\n" +
		"::warning title=cache.hit-rate::cache.hit-rate 31.0%25, limit >= 60.0%25 (-29.0 points)\n" +
		"::notice title=cost.day::cost.day of 2026-01-31 $1.0420, limit <= $1.00 (+4.2%25, allowed $0.05)\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestGateJUnit: what is written is read by an XML parser as it was meant.
func TestGateJUnit(t *testing.T) {
	got := gateText(func(w *bufio.Writer) error {
		return show.GatedForms.Of(show.Stats{Gate: gateReport(hostile)}).Write(w, "junit", show.Screen{})
	})
	var suites struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string  `xml:"name,attr"`
				Class   string  `xml:"classname,attr"`
				File    string  `xml:"file,attr"`
				Line    int     `xml:"line,attr"`
				Failure *string `xml:"failure"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
				Out string `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	d := xml.NewDecoder(strings.NewReader(got))
	must.Do(d.Decode(&suites))
	if rest := strings.TrimSpace(got[d.InputOffset():]); rest != "" {
		t.Errorf("after the document: %s", rest)
	}
	s := suites.Suite
	if s.Tests != 10 || s.Failures != 3 || s.Skipped != 2 || len(s.Cases) != 10 {
		t.Fatalf("%+v", s)
	}
	clean := "a|b,c:d%\uFFFD::error::x\uFFFD[31m<&\"'>`]]>\uFFFD.jsonl"
	failures, skipped := 0, 0
	for _, c := range s.Cases {
		if c.Failure != nil {
			failures++
		}
		if c.Skipped != nil {
			skipped++
		}
	}
	if failures != 3 || skipped != 2 {
		t.Errorf("%d cases fail, %d are skipped", failures, skipped)
	}
	one := s.Cases[1]
	if one.Name != "context.tokens <= 150000" || one.Class != clean || one.File != clean || one.Line != 12 ||
		*one.Failure != clean+":12: entry e,1: context.tokens 162400, limit <= 150000 (+8.3%)" {
		t.Errorf("%+v %q", one, *one.Failure)
	}
	if c := s.Cases[4]; c.Name != "cost.day 2026-01-31 <= $1.00" || c.Class != "all sessions" || c.Failure != nil || !strings.Contains(c.Out, "allowed $0.05") {
		t.Errorf("%+v", c)
	}
}

// TestGateSARIF: results are the verdicts that annotations have, with the rule of their figure; a figure of all
// sessions has no location.
func TestGateSARIF(t *testing.T) {
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				Properties struct{ Entry string }
			}
		}
	}
	must.Do(json.Unmarshal([]byte(gateText(func(w *bufio.Writer) error {
		return show.GatedForms.Of(show.Stats{Gate: gateReport("a b.jsonl")}).Write(w, "sarif", show.Screen{})
	})), &log))
	want := []string{
		"readable error: readable: no session at a%20b.jsonl:0",
		"context.tokens error: context.tokens 162400, limit <= 150000 (+8.3%), see entry e,1 at a%20b.jsonl:12 e,1",
		"cost.total error: cost.total >= $1.20 (2 calls unpriced), limit <= $5.00",
		"cache.hit-rate warning: cache.hit-rate 31.0%, limit >= 60.0% (-29.0 points)",
		"cost.day note: cost.day of 2026-01-31 $1.0420, limit <= $1.00 (+4.2%, allowed $0.05)",
	}
	var got []string
	for _, r := range log.Runs[0].Results {
		text := r.RuleID + " " + r.Level + ": " + r.Message.Text
		for _, l := range r.Locations {
			text += fmt.Sprintf(" at %s:%d %s", l.PhysicalLocation.ArtifactLocation.URI, l.PhysicalLocation.Region.StartLine, r.Properties.Entry)
		}
		if got = append(got, strings.TrimSpace(text)); log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("%s: the rule at %d is another one", r.RuleID, r.RuleIndex)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestGateMarkdown: a name makes no cell, no line and no HTML.
func TestGateMarkdown(t *testing.T) {
	got := gateText(func(w *bufio.Writer) error {
		return show.GatedForms.Of(show.Stats{Report: &stats.Report{}, Gate: gateReport(hostile)}).
			Write(w, "markdown", show.Screen{})
	})
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	if len(lines) != 12 || !strings.HasPrefix(lines[0], "### gate: failed, 3 limits crossed") {
		t.Fatalf("%d lines\n%s", len(lines), got)
	}
	for _, line := range lines[2:] {
		if cells := strings.Count(line, "|") - strings.Count(line, `\|`); cells != 7 {
			t.Errorf("%d bars\n%s", cells, line)
		}
	}
	if strings.Contains(got, "\x1b") || strings.Contains(got, "\u202e") {
		t.Errorf("%q", got)
	}
}
