package redact

import (
	_ "embed"
	"slices"
	"strings"
)

// A place says what stands at a member of pi's format, in entries, messages, blocks
// and patches (docs/session-format.md 3, 4, 6). What is inside of other
// members is anybody's.
type place uint16

const (
	isWord   place = 1 << iota // one of the format's own words; see words
	isID                       // what other entries name
	isKept                     // structure, and no text
	isNamed                    // structure where it is not at an entry itself
	isBox                      // what is inside is the format's too
	isSealed                   // opaque data, which cannot be redacted
	isSchema                   // the parameters of a tool
	isParts                    // texts by name
	isType                     // says what the object is
	isData                     // of an image
	isFree                     // sealed wherever it is
)

// placeNames are the names of places in the file, in their order, after that of none of them.
var placeNames = strings.Fields("text word id kept named box sealed schema parts type data free")

// The members that the formats know, of pi, of Codex and of Claude Code (docs/session-format.md 15 and 16),
// below the names of their places; and the formats' own words.
var (
	//go:embed places.txt
	placeFile string
	//go:embed words.txt
	wordFile string

	places, words = readPlaces(), map[string]bool{}
)

func init() {
	for word := range strings.FieldsSeq(wordFile) {
		words[word] = true
	}
}

func readPlaces() map[string]place {
	all, is := map[string]place{}, place(0)
	for line := range strings.Lines(placeFile) {
		names, heading := strings.CutSuffix(strings.TrimSpace(line), ":")
		if heading {
			is = 0
		}
		for name := range strings.FieldsSeq(names) {
			if heading {
				is |= 1 << slices.Index(placeNames, name) >> 1
			} else {
				all[name] = is
			}
		}
	}
	return all
}
