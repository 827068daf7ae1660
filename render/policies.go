package render

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"

	"ctxtool/compact"
	"ctxtool/sessionfmt"
)

// A PolicyRow is a policy with its numbers, in schema ctxtool/policies/1.
type PolicyRow struct {
	Name    string      `json:"name"`
	About   string      `json:"about"`
	Note    string      `json:"note,omitempty"` // where its numbers are from
	Window  int64       `json:"window"`         // tokens, where neither the command line nor the models table knows
	Counter string      `json:"counter"`
	Layers  []LayerRow  `json:"layers"`
	Presets []PresetRow `json:"presets,omitempty"`
}

// A PresetRow is a policy's layers with other numbers.
type PresetRow struct {
	Name   string     `json:"name"`
	About  string     `json:"about"`
	Layers []LayerRow `json:"layers"`
}

// A LayerRow is a pass of a policy.
type LayerRow struct {
	Pass    string          `json:"pass"`
	Options compact.Options `json:"options"`
	When    string          `json:"when,omitempty"` // absent for always
}

func layerRows(layers []compact.Layer) (rows []LayerRow) {
	for _, l := range layers {
		row := LayerRow{Pass: l.Pass.Name, Options: l.Options}
		if l.When != nil {
			row.When = l.When.String()
		}
		rows = append(rows, row)
	}
	return rows
}

func policyRow(p *compact.Policy) PolicyRow {
	row := PolicyRow{Name: p.Name, About: p.About, Note: p.Note, Window: p.Window, Counter: p.Counter.Name, Layers: layerRows(p.Layers)}
	for _, s := range p.Presets {
		row.Presets = append(row.Presets, PresetRow{s.Name, s.About, layerRows(s.Layers)})
	}
	return row
}

// WritePoliciesJSON writes policies as one object.
func WritePoliciesJSON(w *bufio.Writer, all []*compact.Policy) error {
	list := struct {
		Schema   string      `json:"schema"`
		Policies []PolicyRow `json:"policies"`
	}{Schema: "ctxtool/policies/1"}
	for _, p := range all {
		list.Policies = append(list.Policies, policyRow(p))
	}
	return WriteJSON(w, list)
}

// WritePolicies writes policies for people, each with its layers below it.
func WritePolicies(w *bufio.Writer, all []*compact.Policy) error {
	for k, p := range all {
		row := policyRow(p)
		if k > 0 {
			w.WriteByte('\n')
		}
		fmt.Fprintf(w, "%s: %s\n", sessionfmt.Clean(row.Name), sessionfmt.Clean(row.About))
		fmt.Fprintf(w, "  window %d, counted by %s\n", row.Window, row.Counter)
		if row.Note != "" {
			fmt.Fprintf(w, "  %s\n", sessionfmt.Clean(row.Note))
		}
		writeLayerRows(w, "  ", row.Layers)
		for _, s := range row.Presets {
			fmt.Fprintf(w, "  preset %s, %s\n", s.Name, s.About)
			writeLayerRows(w, "    ", s.Layers)
		}
	}
	return nil
}

func writeLayerRows(w *bufio.Writer, indent string, layers []LayerRow) {
	for _, l := range layers {
		fmt.Fprintf(w, "%s%-14s %s", indent, l.Pass, optionText(l.Options))
		if l.When != "" {
			fmt.Fprintf(w, "  %s", l.When)
		}
		w.WriteByte('\n')
	}
}

// optionText is options in a line: name and value, as JSON has them.
func optionText(o compact.Options) string {
	text, err := json.Marshal(o)
	if err != nil {
		return ""
	}
	return strings.NewReplacer("{", "", "}", "", `"`, "", ":", " ", ",", ", ").Replace(string(text))
}
