package compact

import (
	"strings"

	"ctxtool/replay/tokens"
)

// DropImages takes images out of prompts and tool results, and says so in their place.
var DropImages = Pass{
	Name:     "drop-images",
	About:    "replace images, those of the latest requests aside",
	System:   "ctxtool",
	Defaults: Options{Counter: &tokens.Pi},
	run:      dropImages,
}

const imagePlaceholder = "[image removed]"

func dropImages(w *work) error {
	w.params = struct {
		Keep int `json:"keep"`
	}{w.Keep}
	requests := 0
	for i := len(w.Messages) - 1; i >= 0; i-- {
		if !w.Live(i) {
			continue
		}
		if w.Messages[i].isAssistant() {
			requests++
		}
		if w.Keep > 0 && requests < w.Keep {
			continue
		}
		if err := w.dropImages(i); err != nil {
			return err
		}
	}
	return nil
}

// dropImages takes the images out of one message. Those of a result are named behind
// its text, which is one block; those of a prompt where they stood.
func (w *work) dropImages(i int) error {
	k := w.Messages[i].result()
	images := 0
	for b := range w.Messages[i].Blocks {
		if w.Messages[i].Blocks[b].Kind != imageBlock {
			continue
		}
		if images++; k < 0 {
			w.replace(i, b, imagePlaceholder, "an image")
		}
	}
	if k < 0 || images == 0 {
		return nil
	}
	text, err := w.text(i, k)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.Repeat(imagePlaceholder+"\n", images), "\n")[:images]
	if text != "" {
		lines = append([]string{text}, lines...)
	}
	w.replaceResult(i, strings.Join(lines, "\n"), "its images")
	return nil
}
