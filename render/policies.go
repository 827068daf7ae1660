package render

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"

	"ctxtool/compact"
	"ctxtool/sessionfmt"
)

// WritePolicies writes policies for people, each with its layers below it.
func WritePolicies(w *bufio.Writer, all []*compact.Policy) error {
	for k, p := range all {
		if k > 0 {
			w.WriteByte('\n')
		}
		fmt.Fprintf(w, "%s: %s\n", sessionfmt.Clean(p.Name), sessionfmt.Clean(p.About))
		fmt.Fprintf(w, "  window %d, counted by %s\n", p.Window, p.Counter.Name)
		if p.Note != "" {
			fmt.Fprintf(w, "  %s\n", sessionfmt.Clean(p.Note))
		}
		writePolicyLayers(w, "  ", p.Layers)
		for _, s := range p.Presets {
			fmt.Fprintf(w, "  preset %s, %s\n", s.Name, s.About)
			writePolicyLayers(w, "    ", s.Layers)
		}
	}
	return nil
}

func writePolicyLayers(w *bufio.Writer, indent string, layers []compact.Layer) {
	for _, l := range layers {
		fmt.Fprintf(w, "%s%-14s %s", indent, l.Pass.Name, optionText(l.Options))
		if l.When != nil {
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
