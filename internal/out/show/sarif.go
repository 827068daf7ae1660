package show

import (
	"bufio"
	"net/url"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/lens/gate"
	"ctxtool/internal/read/phrase"
)

// A sarifObject is a JSON object of a SARIF log.
type sarifObject = map[string]any

// sarifProperties hold what SARIF has no field for.
type sarifProperties struct {
	Entry string         `json:"entry,omitempty"`
	Hides *check.Figures `json:"hides,omitempty"`
	Fix   string         `json:"fix,omitempty"`
}

// sarifLevels are the levels of SARIF by severity, of findings and of verdicts.
var sarifLevels = map[string]string{"error": "error", "warning": "warning", "info": "note"}

// A sarifLog collects the results of a SARIF log (OASIS, version 2.1.0).
type sarifLog struct {
	rules, results []sarifObject
	index          map[string]int // of rules, by id
}

func (l *sarifLog) addRule(id string, rule sarifObject) {
	if l.index == nil {
		l.index = map[string]int{}
	}
	rule["id"], l.index[id] = id, len(l.rules)
	l.rules = append(l.rules, rule)
}

// addResult adds a result of a rule. It has no location without a file, and no region without a line.
func (l *sarifLog) addResult(rule, level, text, file string, line int, properties sarifProperties) {
	result := sarifObject{"ruleId": rule, "ruleIndex": l.index[rule], "level": level}
	result["message"] = sarifObject{"text": text}
	if file != "" {
		place := sarifObject{"artifactLocation": sarifObject{"uri": (&url.URL{Path: file}).EscapedPath()}}
		if line > 0 {
			place["region"] = sarifObject{"startLine": line}
		}
		result["locations"] = []sarifObject{{"physicalLocation": place}}
	}
	if properties != (sarifProperties{}) {
		result["properties"] = properties
	}
	l.results = append(l.results, result)
}

func (l *sarifLog) write(w *bufio.Writer) error {
	results := append([]sarifObject{}, l.results...) // [] if there are none
	run := sarifObject{
		"tool":       sarifObject{"driver": sarifObject{"name": "ctxtool", "rules": l.rules}},
		"columnKind": "utf16CodeUnits", "results": results,
	}
	schema := "https://json.schemastore.org/sarif-2.1.0.json"
	return WriteJSON(w, sarifObject{"$schema": schema, "version": "2.1.0", "runs": []sarifObject{run}})
}

// writeCheckSARIF writes findings, whose rules are the checks.
func writeCheckSARIF(w *bufio.Writer, r check.Reports) error {
	var log sarifLog
	for _, c := range check.All() {
		log.addRule(c.Code, sarifObject{
			"shortDescription": sarifObject{"text": c.Title}, "fullDescription": sarifObject{"text": c.About()},
			"help":                 sarifObject{"text": c.Help(), "markdown": c.Page()},
			"defaultConfiguration": sarifObject{"level": sarifLevels[c.Severity.String()]},
		})
	}
	for _, f := range r.Files {
		for _, found := range f.Findings {
			log.addResult(found.Code, sarifLevels[found.Severity.String()], message(found), found.File, found.Line,
				sarifProperties{found.Entry, found.Hides, found.Fix})
		}
	}
	return log.write(w)
}

// writeGateSARIF writes what a gate does not keep, whose rules are the figures. What has no value is
// left out, as in annotations.
func writeGateSARIF(w *bufio.Writer, r *gate.Report) error {
	var log sarifLog
	for _, f := range gate.Figures() {
		log.addRule(f.Name, sarifObject{"shortDescription": sarifObject{"text": f.About}})
	}
	log.addRule(gate.Unreadable, sarifObject{
		"shortDescription": sarifObject{"text": "a session has all of its figures"},
	})
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if severity := verdictSeverity(v); severity != "" {
			text := verdictText(v) + phrase.If(v.Entry != "", ", see entry %s", v.Entry)
			log.addResult(v.Figure, sarifLevels[severity], text, v.Path, v.Line, sarifProperties{Entry: v.Entry})
		}
	}
	return log.write(w)
}
