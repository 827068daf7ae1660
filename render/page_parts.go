package render

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/transcript"
	"ctxtool/sessionfmt"
)

// PageParts are the kinds of things that a page shows, besides what user and model
// said.
type PageParts uint16

const (
	showThinking PageParts = 1 << iota
	showCalls
	showResults
	showSystem
	showEphemerals
	showEdits
	showHidden
	showImages
	showSettings
)

// pageParts are the parts by name, in display order.
var pageParts = []struct {
	name  string
	part  PageParts
	about string
	first bool // shown unless excluded
}{
	{"thinking", showThinking, "what the model thought", true},
	{"calls", showCalls, "calls of tools, and the user's own commands", true},
	{"results", showResults, "what the calls gave", true},
	{"edits", showEdits, "edits and transforms of the context", true},
	{"hidden", showHidden, "skills and messages that only the model saw", true},
	{"images", showImages, "images, or what stands for them", true},
	{"settings", showSettings, "changes of model and thinking level, labels", true},
	{"system", showSystem, "the texts of system messages, prompt and tools", false},
	{"ephemerals", showEphemerals, "messages that only one request had", false},
}

// PagePartNames are the names of parts, in display order.
func PagePartNames() (names []string) {
	for _, p := range pageParts {
		names = append(names, p.name)
	}
	return names
}

// PagePartHelp says what the parts are, for help texts.
func PagePartHelp() string {
	var b strings.Builder
	for _, p := range pageParts {
		shown := ""
		if !p.first {
			shown = "; only if included"
		}
		fmt.Fprintf(&b, "  %-10s  %s%s\n", p.name, p.about, shown)
	}
	return b.String()
}

// ParsePageParts are the parts to show, from those to include and to exclude.
func ParsePageParts(include, exclude []string) (parts PageParts, err error) {
	for _, p := range pageParts {
		if p.first {
			parts |= p.part
		}
	}
	for k, names := range [][]string{include, exclude} {
		for _, name := range names {
			i := slices.Index(PagePartNames(), name)
			switch {
			case i < 0:
				return 0, fmt.Errorf("unknown part %q: one of %s", sessionfmt.Quote(name), strings.Join(PagePartNames(), ", "))
			case k == 0:
				parts |= pageParts[i].part
			default:
				parts &^= pageParts[i].part
			}
		}
	}
	return parts, nil
}

// has says that a page shows a block, if only in a line.
func (p PageParts) has(b *transcript.Block) bool {
	need := PageParts(0)
	switch b.Kind {
	case transcript.Thinking:
		need = showThinking
	case transcript.Call, transcript.Shell:
		need = showCalls
	case transcript.Edit, transcript.Transform:
		need = showEdits
	case transcript.Skill:
		need = showHidden
	case transcript.Custom:
		if b.Hidden {
			need = showHidden
		}
	case transcript.Image:
		need = showImages
	case transcript.Setting, transcript.Label:
		need = showSettings
	}
	return p&need == need
}
