package show

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"

	"ctxtool/internal/lens/gate"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
)

// gateSheets returns the results of a gate: a row for each limit that is not kept, and for the
// others a row a budget. Without a gate there are none.
func gateSheets(r *gate.Report) []table.Sheet {
	if r == nil {
		return nil
	}
	return []table.Sheet{{Lens: "gate", Title: gateTitle(r), Table: table.Of(gateRows(r), gateColumns)}}
}

// writeGateAnnotations writes what is not kept as annotations of GitHub Actions.
func writeGateAnnotations(w *bufio.Writer, r *gate.Report, _ Screen) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if severity := verdictSeverity(v); severity != "" {
			text := verdictText(v) + phrase.If(v.Entry != "", ", see entry %s", v.Entry)
			annotate(w, annotationLevels[severity], v.Path, v.Line, v.Figure, text)
		}
	}
}

// verdictSeverity returns error, warning or info for a value beyond its limit, else "".
func verdictSeverity(v *gate.Verdict) string {
	switch v.State {
	case gate.Crossed:
		return string(v.Severity)
	case gate.Tolerated:
		return "info"
	}
	return ""
}

// GateLine returns a verdict as one sentence with its place.
func GateLine(v *gate.Verdict) string {
	text := verdictText(v)
	if at := (sessionfmt.Pos{File: v.File, Line: v.Line, Entry: v.Entry}).String(); at != "" {
		text = at + ": " + text
	}
	return sessionfmt.Clean(text)
}

// A judged is a verdict, and what to look at.
type judged struct {
	*gate.Verdict
	place string
}

var gateColumns = []col[*judged]{
	{Name: "gate", Value: func(v *judged) any { return gateWord(v.Verdict) }, Style: wordStyle},
	{Name: "figure", Value: func(v *judged) any { return v.Figure }},
	{Name: "value", Unit: table.Number, Value: func(v *judged) any { return gateValue(v.Verdict) }},
	{Name: "limit", Value: func(v *judged) any { return gateLimit(v.Verdict) }},
	{Name: "beyond", Value: func(v *judged) any { return gateOver(v.Verdict) }},
	{Name: "look at", Value: func(v *judged) any { return v.place }, Flex: true},
}

// gateRows returns the verdicts. Those that are kept, or have no value, have one
// row a budget: the nearest to its limit.
func gateRows(r *gate.Report) (rows []judged) {
	key := func(v *gate.Verdict) string {
		limit := gateLimit(v)
		if v.Saved != nil {
			limit = "saved"
		}
		return string(v.State) + " " + v.Figure + " " + limit
	}
	folds := func(v *gate.Verdict) bool { return v.State == gate.Kept || v.State == gate.Unknown }
	var foldable []*gate.Verdict
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; folds(v) {
			foldable = append(foldable, v)
		}
	}
	times := map[*gate.Verdict]int{} // by the nearest one
	for _, all := range grouped(foldable, key) {
		times[slices.MinFunc(all, func(a, b *gate.Verdict) int { return cmp.Compare(margin(a), margin(b)) })] = len(all)
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		row, n := judged{v, gatePlace(v)}, times[v]
		switch {
		case folds(v) && n == 0:
			continue
		case v.State == gate.Unknown && n > 1:
			row.place = fmt.Sprintf("%s: %d times", v.Reason, n)
		case v.State == gate.Kept && n > 1:
			row.place = fmt.Sprintf("the nearest of %d: %s", n, row.place)
		case v.State == gate.Kept:
			row.place = ""
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
	return map[gate.State]string{gate.Crossed: "CROSSED", gate.Tolerated: "within", gate.Unknown: "-",
		gate.Kept: "ok"}[v.State]
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
		return fmt.Sprintf(">= %s (%s unpriced)", limited(v.Unit, *v.Value), phrase.Count(v.Unpriced, unit))
	}
	if v.Calibrated {
		return "~" + limited(v.Unit, *v.Value)
	}
	return limited(v.Unit, *v.Value)
}

func gateLimit(v *gate.Verdict) string {
	switch {
	case v.Max != nil && v.Min != nil && *v.Max == *v.Min:
		return "= " + limited(v.Unit, *v.Max)
	case v.Max != nil && v.Min != nil:
		return limited(v.Unit, *v.Min) + " to " + limited(v.Unit, *v.Max)
	case v.Max != nil:
		return "<= " + limited(v.Unit, *v.Max)
	case v.Min != nil:
		return ">= " + limited(v.Unit, *v.Min)
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
	by := limited(v.Unit, v.Over)
	switch share := v.Over / math.Abs(*limit); {
	case v.Unit == "share":
		by = fmt.Sprintf("%.1f points", 100*v.Over)
	case share < 10:
		by = fmt.Sprintf("%.1f%%", 100*share)
	case *limit != 0:
		by = fmt.Sprintf("%.0f times", share)
	}
	if v.Slack > 0 && v.State == gate.Tolerated {
		return sign + by + ", allowed " + limited(v.Unit, v.Slack)
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
	text := name + " " + gateValue(v) + phrase.If(limit != "", ", limit %s", strings.TrimPrefix(limit, "= ")) +
		phrase.If(over != "", " (%s)", over)
	if v.Saved != nil {
		text += ", saved " + limited(v.Unit, *v.Saved)
	}
	return text + phrase.If(v.Reason != "", ": %s", v.Reason)
}

// gateTitle returns the result of a gate in a line.
func gateTitle(r *gate.Report) string {
	passed := "passed"
	if !r.Passed {
		passed = fmt.Sprintf("failed, %s crossed", phrase.Count(r.Crossed, "limit"))
	}
	return passed + phrase.If(r.Warnings > 0, ", %d crossed with a warning", r.Warnings) +
		phrase.If(r.Tolerated > 0, ", %d within tolerance", r.Tolerated) +
		phrase.If(r.Unknown > 0, ", %d without a value", r.Unknown) + phrase.If(r.Kept > 0, ", %d kept", r.Kept) +
		phrase.If(r.Saved != "", "; against %s", sessionfmt.Quote(r.Saved))
}

// writeGateJUnit writes a test case a verdict, as CI systems read them: the class is
// the file, the name the figure and its limit. What is crossed fails, if its severity
// is error; what has no value is skipped.
func writeGateJUnit(w *bufio.Writer, r *gate.Report, _ Screen) {
	p := prose{w, Screen{}, func(v any) string {
		var text strings.Builder
		xml.EscapeText(&text, []byte(sessionfmt.Clean(fmt.Sprint(v))))
		return text.String()
	}}
	p.line(`<?xml version="1.0" encoding="UTF-8"?>`)
	p.line("<testsuites>")
	p.line(`  <testsuite name="ctxtool stats" tests="%v" failures="%v" skipped="%v">`, len(r.Verdicts), r.Crossed,
		r.Unknown)
	for k := range r.Verdicts {
		v := &r.Verdicts[k]
		limit, place := gateLimit(v), ""
		if v.Path != "" {
			place = ` file="` + p.text(v.Path) + `"`
		}
		if v.Line > 0 {
			place += fmt.Sprintf(` line="%d"`, v.Line)
		}
		p.line(`    <testcase name="%v" classname="%v"%v>`,
			v.Figure+phrase.If(v.Group != "", " %s", v.Group)+phrase.If(limit != "", " %s", limit),
			cmp.Or(v.File, "all sessions"), markup(place))
		switch {
		case v.State == gate.Unknown:
			p.line(`      <skipped message="%v"></skipped>`, verdictText(v))
		case v.State == gate.Crossed && v.Severity == gate.Error:
			p.line(`      <failure message="%v" type="crossed">%v</failure>`, verdictText(v), GateLine(v))
		default:
			p.line("      <system-out>%v</system-out>", GateLine(v))
		}
		p.line("    </testcase>")
	}
	p.line("  </testsuite>")
	p.line("</testsuites>")
}
