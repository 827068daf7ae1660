package render

import (
	"bufio"
	"encoding/xml"

	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// The parts of the JUnit format that its readers agree on.
type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
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

// WriteGateJUnit writes a test case a verdict, as CI systems read them: the class is
// the file, the name the figure and its limit. What is crossed fails, if its severity
// is error; what has no value is skipped.
func WriteGateJUnit(w *bufio.Writer, r *stats.GateReport) error {
	suite := junitSuite{Name: "ctxtool stats", Tests: len(r.Verdicts), Failures: r.Crossed, Skipped: r.Unknown}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		text := sessionfmt.Clean(verdictText(v))
		one := junitCase{Name: v.Figure, Class: v.File, File: v.Path, Line: v.Line}
		if v.Group != "" {
			one.Name += " " + v.Group
		}
		if limit := gateLimit(v); limit != "" {
			one.Name += " " + limit
		}
		if one.Class == "" {
			one.Class = "all sessions"
		}
		switch {
		case v.State == stats.LimitCrossed && v.Severity == stats.Error:
			one.Failure = &junitMessage{Message: text, Type: "crossed", Text: GateLine(v)}
		case v.State == stats.LimitUnknown:
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
	if err := e.Encode(junitSuites{Suite: suite}); err != nil {
		return err
	}
	return w.WriteByte('\n')
}
