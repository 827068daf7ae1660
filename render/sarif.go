package render

import (
	"bufio"

	"ctxtool/sessionfmt/check"
)

// The parts of a SARIF log (OASIS, version 2.1.0) that findings need.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string        `json:"id"`
		Short   sarifText     `json:"shortDescription"`
		Full    sarifText     `json:"fullDescription"`
		Help    sarifText     `json:"help"`
		Default sarifDefaults `json:"defaultConfiguration"`
	}
	sarifDefaults struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct {
		RuleID     string          `json:"ruleId"`
		RuleIndex  int             `json:"ruleIndex"`
		Level      string          `json:"level"`
		Message    sarifText       `json:"message"`
		Locations  []sarifLocation `json:"locations"`
		Properties *sarifExtra     `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifExtra struct {
		Entry string         `json:"entry,omitempty"`
		Hides *check.Figures `json:"hides,omitempty"`
	}
)

var sarifLevels = map[check.Severity]string{check.Error: "error", check.Warning: "warning", check.Info: "note"}

// writeSARIF writes findings as a SARIF log, the rules of which are the checks.
func writeSARIF(w *bufio.Writer, r check.Reports) error {
	run := sarifRun{ColumnKind: "utf16CodeUnits", Results: []sarifResult{}}
	run.Tool.Driver.Name = "ctxtool"
	index := map[string]int{}
	for k, c := range check.All() {
		index[c.Code] = k
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: c.Code, Short: sarifText{Text: c.Title}, Full: sarifText{Text: c.About()},
			Help: sarifText{Text: c.Help(), Markdown: c.Page()}, Default: sarifDefaults{sarifLevels[c.Severity]},
		})
	}
	for _, f := range r.Files {
		for _, found := range f.Findings {
			at := sarifPhysical{Artifact: sarifArtifact{fileURI(found.File)}}
			if found.Line > 0 {
				at.Region = &sarifRegion{found.Line}
			}
			result := sarifResult{
				RuleID: found.Code, RuleIndex: index[found.Code], Level: sarifLevels[found.Severity],
				Message: sarifText{Text: message(found)}, Locations: []sarifLocation{{at}},
			}
			if found.Entry != "" || found.Hides != nil {
				result.Properties = &sarifExtra{found.Entry, found.Hides}
			}
			run.Results = append(run.Results, result)
		}
	}
	return WriteJSON(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}
