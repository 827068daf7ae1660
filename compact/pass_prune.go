package compact

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/said"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// Prune puts a placeholder in the place of old tool results, as gsh does: the latest
// ones stay, those after which a window of tokens follows (docs/policies.md 2.4).
var Prune = Pass{
	Name:     "prune",
	About:    "replace old tool results beyond a window of recent ones",
	System:   "gsh",
	Defaults: Options{Counter: &tokens.GSH, Protect: 40000},
	reads:    "protect",
	run:      prune,
}

// pruneAbove is the size that a result has to be over to be worth a placeholder, tokens.
const pruneAbove = 100

func prune(w *work) error {
	seen := 0
	for _, i := range slices.Backward(w.live()) {
		k := w.Messages[i].result()
		if k < 0 {
			continue
		}
		t := tokens.GSH.Of(w.Messages[i].Blocks[k].Bytes)
		if seen > w.Protect && t > pruneAbove {
			w.replaceResult(i, fmt.Sprintf("[output pruned, was ~%d tokens]", t), fmt.Sprintf("%d tokens of later results follow", seen))
		}
		seen += t
	}
	return nil
}

// StaleResults puts a placeholder in the place of tool results that many requests have
// been made with.
var StaleResults = Pass{
	Name:     "stale-results",
	About:    "replace tool results older than so many requests",
	System:   "ctxtool",
	Defaults: Options{Counter: &tokens.GSH, Requests: 10},
	reads:    "requests",
	run:      staleResults,
}

func staleResults(w *work) error {
	requests := 0 // that a message has been sent with
	for _, i := range slices.Backward(w.live()) {
		m := &w.Messages[i]
		if m.isAssistant() {
			requests++
		}
		k := m.result()
		if k < 0 || requests <= w.Options.Requests {
			continue
		}
		if t := tokens.GSH.Of(m.Blocks[k].Bytes); t > pruneAbove {
			w.replaceResult(i, fmt.Sprintf("[output elided after %d requests, was ~%d tokens]", w.Options.Requests, t), fmt.Sprintf("%d requests have had it", requests))
		}
	}
	return nil
}

// Superseded blanks reads of a file that has been read again, and results that say
// that there is nothing, as y-agent does (docs/policies.md 4.9). A newer read stands
// for an older one only where it did not fail and shows as much.
var Superseded = Pass{
	Name:     "superseded",
	About:    "blank older reads of a file, and results that say nothing",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YScalars},
	reads:    "busy compat",
	run:      superseded,
}

const (
	supersededNotice = "[Superseded by a newer read of this file]"
	uselessNotice    = "[Uneventful result elided]"

	blankFrom  = 50   // tokens that a result has to have to be worth a notice
	uselessMax = 200  // bytes that a result that says nothing has at most
	busySuffix = 8000 // tokens after a result, above which its cache is worth more
)

// A read is what a result shows of a file: a part of it, as the call spells that.
type read struct{ file, part string }

// Parts that no call spells so.
const (
	all  = ""
	some = "some part"
)

func superseded(w *work) error {
	newer := map[read]bool{} // what later reads show
	after := 0               // tokens
	for _, i := range slices.Backward(w.live()) {
		if k := w.Messages[i].result(); k >= 0 && w.Messages[i].Call >= 0 {
			notice, why, err := w.notice(i, newer)
			if err != nil {
				return err
			}
			n := tokensOf(&tokens.YScalars, w.Messages[i].Blocks[k].length)
			if notice != "" && n >= blankFrom && (!w.Busy || after <= busySuffix) {
				after += n
				w.replaceResult(i, notice, why)
				continue
			}
		}
		after += w.Messages[i].Tokens(&tokens.YScalars)
	}
	return nil
}

// notice is what a result is to be blanked with, if it is: newer are the reads after
// it, and it takes its place among them.
func (w *work) notice(i int, newer map[read]bool) (notice, why string, err error) {
	r, err := w.read(i)
	if err != nil {
		return "", "", err
	}
	if r.file != "" {
		if newer[read{r.file, all}] || newer[r] || w.Compat && newer[read{r.file, some}] {
			return supersededNotice, "read again later", nil
		}
		failed, err := w.failed(i)
		if err != nil {
			return "", "", err
		}
		if w.Compat || !failed {
			newer[r], newer[read{r.file, some}] = true, true
		}
	}
	useless, err := w.useless(i)
	if useless {
		return uselessNotice, "it says that there is nothing", err
	}
	return "", "", err
}

// read is what the result of a message shows of a file; nothing for other tools.
func (w *work) read(i int) (r read, err error) {
	call, k := w.callOf(i)
	if k < 0 {
		return r, nil
	}
	if name := w.Messages[call].Blocks[k].tool(); name != "read" && name != "FileRead" {
		return r, nil
	}
	text, err := w.text(call, k)
	if err != nil {
		return r, err
	}
	args := jsonl.Value(text)
	r.file, r.part = said.File(args.Get("path").Text())
	for _, name := range []string{"offset", "limit"} {
		if v := args.Get(name); !v.IsNull() {
			r.part += " " + name + " " + string(v)
		}
	}
	return r, nil
}

// callOf is where the call of a result stands, block -1 where there is none.
func (v *View) callOf(i int) (message, block int) {
	m := &v.Messages[i]
	k := m.result()
	if m.Call < 0 || k < 0 {
		return 0, -1
	}
	for b := range v.Messages[m.Call].Blocks {
		if c := &v.Messages[m.Call].Blocks[b]; c.Kind == jsonl.CallBlock && c.ID == m.Blocks[k].ID {
			return m.Call, b
		}
	}
	return 0, -1
}

// useless reports whether the result of a message tells that there is nothing, at length.
func (w *work) useless(i int) (bool, error) {
	k := w.Messages[i].result()
	if b := &w.Messages[i].Blocks[k]; b.Bytes > uselessMax || tokensOf(&tokens.YScalars, b.length) < blankFrom {
		return false, nil
	}
	text, err := w.text(i, k)
	return containsAny(text, "[]", "{}", `"results": []`, `"count": 0`, "no results", "No results", "no matches", "No matches", "nothing found"), err
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}

// DropImages takes images out of prompts and tool results, and says so in their place.
var DropImages = Pass{
	Name:     "drop-images",
	About:    "replace images, those of the latest requests aside",
	System:   "ctxtool",
	Defaults: Options{Counter: &tokens.Pi},
	reads:    "keep",
	run:      dropImages,
}

const imagePlaceholder = "[image removed]"

func dropImages(w *work) error {
	requests := 0
	for _, i := range slices.Backward(w.live()) {
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

// dropImages takes the images out of one message. Those of a result are named after
// its text, which is one block; those of a prompt where they stood.
func (w *work) dropImages(i int) error {
	k := w.Messages[i].result()
	images := 0
	for b := range w.Messages[i].Blocks {
		if w.Messages[i].Blocks[b].Kind != jsonl.ImageBlock {
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
