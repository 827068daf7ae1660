package render

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ctxtool/internal/markdown"
	"ctxtool/internal/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/stats/gate"
)

// writeGate writes the results of a gate as text: a row for each limit that is not kept, and
// for the others a row a budget.
func writeGate(w *bufio.Writer, r *gate.Report, on Screen) {
	passed := good
	if !r.Passed {
		passed = failure
	}
	fmt.Fprintf(w, "%s %s\n", on.paint(heading, "gate:"), on.paint(passed, gateHead(r)))
	if rows := gateRows(r); len(rows) > 0 {
		WriteTable(w, gateColumns, rows, on)
	}
}

// writeGateMarkdown writes the same for the summary of a job.
func writeGateMarkdown(w *bufio.Writer, r *gate.Report) {
	fmt.Fprintf(w, "### gate: %s\n", markdown.AppendInline(nil, []byte(gateHead(r))))
	rows := gateRows(r)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = string(markdown.AppendInline(nil, []byte(cell)))
		}
	}
	if len(rows) > 0 {
		writeMarkdownTable(w, gateColumns, rows)
	}
}

// writeGateAnnotations writes what is not kept as annotations of GitHub Actions.
func writeGateAnnotations(w *bufio.Writer, r *gate.Report, _ Screen) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		level := string(v.Severity)
		switch v.State {
		case gate.Tolerated:
			level = "notice"
		case gate.Unknown, gate.Kept:
			continue
		}
		annotate(w, level, v.Path, v.Line, v.Figure, verdictText(v)+phrase.If(v.Entry != "", ", see entry %s", v.Entry))
	}
}

// GateLine returns a verdict as one sentence with its place.
func GateLine(v *gate.Verdict) string {
	text := verdictText(v)
	if at := (sessionfmt.Pos{File: v.File, Line: v.Line, Entry: v.Entry}).String(); at != "" {
		text = at + ": " + text
	}
	return sessionfmt.Clean(text)
}

// gateHead returns the result in one line.
func gateHead(r *gate.Report) string {
	words := []string{"passed"}
	if !r.Passed {
		words[0] = "failed"
		words = append(words, phrase.Count(r.Crossed, "limit")+" crossed")
	}
	for _, n := range []struct {
		n    int
		what string
	}{{r.Warnings, "crossed with a warning"}, {r.Tolerated, "within tolerance"}, {r.Unknown, "without a value"}, {r.Kept, "kept"}} {
		if n.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	return strings.Join(words, ", ") + phrase.If(r.Saved != "", "; against %s", sessionfmt.Quote(r.Saved))
}

var gateColumns = []Column{
	{Name: "gate", style: wordStyle}, {Name: "figure"}, {Name: "value", Right: true}, {Name: "limit"}, {Name: "beyond"}, {Name: "look at", Flex: true},
}

// gateRows returns the cells of the verdicts. Those that are kept, or have no value, have one
// row a budget: the nearest to its limit.
func gateRows(r *gate.Report) (rows [][]string) {
	nearest, times := map[string]*gate.Verdict{}, map[string]int{}
	key := func(v *gate.Verdict) string {
		limit := gateLimit(v)
		if v.Saved != nil {
			limit = "saved"
		}
		return string(v.State) + " " + v.Figure + " " + limit
	}
	folds := func(v *gate.Verdict) bool { return v.State == gate.Kept || v.State == gate.Unknown }
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if !folds(v) {
			continue
		}
		k := key(v)
		if times[k]++; times[k] == 1 || margin(v) < margin(nearest[k]) {
			nearest[k] = v
		}
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		k := key(v)
		if folds(v) && nearest[k] != v {
			continue
		}
		row := []string{gateWord(v), v.Figure, gateValue(v), gateLimit(v), gateOver(v), gatePlace(v)}
		switch {
		case v.State == gate.Unknown && times[k] > 1:
			row[5] = fmt.Sprintf("%s: %d times", v.Reason, times[k])
		case v.State == gate.Kept && times[k] > 1:
			row[5] = fmt.Sprintf("the nearest of %d: %s", times[k], row[5])
		case v.State == gate.Kept:
			row[5] = ""
		}
		for c := range row {
			row[c] = sessionfmt.Clean(row[c])
		}
		rows = append(rows, row)
	}
	return rows
}

// margin returns the distance of a kept value from its limit, as a share of the limit.
func margin(v *gate.Verdict) float64 {
	near := math.Inf(1)
	for _, limit := range []*float64{v.Max, v.Min} {
		if limit != nil && v.Value != nil {
			near = min(near, math.Abs(*v.Value-*limit)/max(math.Abs(*limit), 1e-9))
		}
	}
	return near
}

func gateWord(v *gate.Verdict) string {
	if v.State == gate.Crossed && v.Severity == gate.Warning {
		return "warning"
	}
	return map[gate.State]string{gate.Crossed: "CROSSED", gate.Tolerated: "within", gate.Unknown: "-", gate.Kept: "ok"}[v.State]
}

// gateValue returns the value; with calls or tokens that have no price it is a lower bound.
func gateValue(v *gate.Verdict) string {
	if v.Value == nil {
		return ""
	}
	if v.Unpriced > 0 {
		unit := "call"
		if v.Figure == "cache.rebilled" {
			unit = "token"
		}
		return fmt.Sprintf(">= %s (%s unpriced)", amount(v.Unit, *v.Value), phrase.Count(v.Unpriced, unit))
	}
	if v.Calibrated {
		return "~" + amount(v.Unit, *v.Value)
	}
	return amount(v.Unit, *v.Value)
}

func gateLimit(v *gate.Verdict) string {
	switch {
	case v.Max != nil && v.Min != nil && *v.Max == *v.Min:
		return "= " + amount(v.Unit, *v.Max)
	case v.Max != nil && v.Min != nil:
		return amount(v.Unit, *v.Min) + " to " + amount(v.Unit, *v.Max)
	case v.Max != nil:
		return "<= " + amount(v.Unit, *v.Max)
	case v.Min != nil:
		return ">= " + amount(v.Unit, *v.Min)
	}
	return ""
}

// gateOver returns by how much the limit is crossed: as a share of a limit that is not 0, or
// in points if the figure is itself a share.
func gateOver(v *gate.Verdict) string {
	if v.Over <= 0 {
		return ""
	}
	limit, sign := v.Max, "+"
	if v.Max == nil || *v.Value < *v.Max {
		limit, sign = v.Min, "-"
	}
	by := amount(v.Unit, v.Over)
	switch share := v.Over / math.Abs(*limit); {
	case v.Unit == "share":
		by = fmt.Sprintf("%.1f points", 100*v.Over)
	case share < 10:
		by = fmt.Sprintf("%.1f%%", 100*share)
	case *limit != 0:
		by = fmt.Sprintf("%.0f times", share)
	}
	if v.Slack > 0 && v.State == gate.Tolerated {
		return sign + by + ", allowed " + amount(v.Unit, v.Slack)
	}
	return sign + by
}

func gatePlace(v *gate.Verdict) string {
	text := sessionfmt.Pos{File: v.File, Line: v.Line, Entry: v.Entry}.String()
	for _, more := range []string{v.Group, v.Reason} {
		if more != "" && text != "" {
			text += ": "
		}
		text += more
	}
	return text
}

// verdictText returns a verdict as one sentence.
func verdictText(v *gate.Verdict) string {
	name := v.Figure + phrase.If(v.Group != "", " of %s", v.Group)
	if v.Value == nil {
		return name + ": " + v.Reason
	}
	limit, over := gateLimit(v), gateOver(v)
	text := name + " " + gateValue(v) + phrase.If(limit != "", ", limit %s", strings.TrimPrefix(limit, "= ")) + phrase.If(over != "", " (%s)", over)
	if v.Saved != nil {
		text += ", saved " + amount(v.Unit, *v.Saved)
	}
	return text + phrase.If(v.Reason != "", ": %s", v.Reason)
}

// amount returns a number of a unit as text.
func amount(unit string, n float64) string {
	switch unit {
	case "share":
		return phrase.Percent(n)
	case "dollars":
		if n != 0 && math.Abs(n) < 0.0001 {
			return dollars(n)
		}
		text := strconv.FormatFloat(n, 'f', 4, 64)
		return strings.TrimSuffix(text, "00") // cents are always shown
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// The parts of the JUnit format that its readers agree on.
type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suite   struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// writeGateJUnit writes a test case a verdict, as CI systems read them: the class is
// the file, the name the figure and its limit. What is crossed fails, if its severity
// is error; what has no value is skipped.
func writeGateJUnit(w *bufio.Writer, r *gate.Report) error {
	var all junitSuites
	suite := &all.Suite
	suite.Name, suite.Tests, suite.Failures, suite.Skipped = "ctxtool stats", len(r.Verdicts), r.Crossed, r.Unknown
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		text := sessionfmt.Clean(verdictText(v))
		limit := gateLimit(v)
		one := junitCase{
			Name:  v.Figure + phrase.If(v.Group != "", " %s", v.Group) + phrase.If(limit != "", " %s", limit),
			Class: cmp.Or(v.File, "all sessions"), File: v.Path, Line: v.Line,
		}
		switch {
		case v.State == gate.Crossed && v.Severity == gate.Error:
			one.Failure = &junitMessage{Message: text, Type: "crossed", Text: GateLine(v)}
		case v.State == gate.Unknown:
			one.Skipped = &junitMessage{Message: text}
		default:
			one.Out = GateLine(v)
		}
		one.Name, one.Class, one.File = sessionfmt.Clean(one.Name), sessionfmt.Clean(one.Class), sessionfmt.Clean(one.File)
		suite.Cases = append(suite.Cases, one)
	}
	w.WriteString(xml.Header)
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	return w.WriteByte('\n')
}
