package compact

import (
	"ctxtool/internal/read/activity"
	"ctxtool/replay/tokens"
	"slices"
	"strings"
)

// Superseded blanks reads of a file that has been read again, and results that only state
// that there is nothing, as y-agent does (docs/policies.md 4.9). A newer read supersedes an
// older one only if it did not fail and covers the same part.
var Superseded = Pass{
	Name:     "superseded",
	About:    "blank older reads of a file, and results that say nothing",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YScalars},
	reads:    "busy",
	run:      superseded,
}

const (
	supersededNotice = "[Superseded by a newer read of this file]"
	uselessNotice    = "[Uneventful result elided]"

	blankFrom  = 50   // minimum tokens of a result that is worth a notice
	uselessMax = 200  // maximum bytes of a result that states that there is nothing
	busySuffix = 8000 // tokens after a result above which keeping the cache saves more
)

// A read is the part of a file that a result shows, as the call gives it.
type read struct{ file, part string }

func superseded(w *Work) {
	known := recall[reads](w)
	all := w.newlyRead(known)
	if w.Busy { // later runs may have less after a message
		all = slices.Collect(w.backward)
	}
	after := 0 // tokens
	for _, i := range all {
		if w.Busy && after > busySuffix {
			break
		}
		if k := w.Messages[i].result(); k >= 0 && w.Messages[i].Call >= 0 {
			notice, why := w.notice(i, known)
			n := tokensOf(&tokens.YScalars, w.Messages[i].Blocks[k].length)
			if notice != "" && n >= blankFrom {
				after += n
				w.replaceResult(i, notice, why)
				continue
			}
		}
		after += w.Messages[i].Tokens(&tokens.YScalars)
	}
}

// reads holds the results that show a file, by the part they show.
type reads struct {
	shown map[int]read
	good  map[read][]int              // results that did not fail, in order
	open  map[string]map[string][]int // by file and part: results that no later one supersedes
}

// newlyRead adds the new results to those that are known, and returns them with those that they may
// supersede, the last one first.
func (w *Work) newlyRead(known *reads) (all []int) {
	if known.good == nil {
		*known = reads{map[int]read{}, map[read][]int{}, map[string]map[string][]int{}}
	}
	for i := range w.news {
		if !w.Live(i) || w.Messages[i].Call < 0 || w.Messages[i].result() < 0 {
			continue
		}
		all = append(all, i)
		r, seen := known.shown[i]
		if !seen {
			r = w.read(i)
			known.shown[i] = r
		}
		if r.file == "" {
			continue
		}
		parts := known.open[r.file]
		if parts == nil {
			parts = map[string][]int{}
			known.open[r.file] = parts
		}
		parts[r.part] = append(parts[r.part], i)
		at, had := slices.BinarySearch(known.good[r], i)
		if w.failed(i) {
			if had {
				known.good[r] = slices.Delete(known.good[r], at, at+1)
			}
			continue
		}
		if !had {
			known.good[r] = slices.Insert(known.good[r], at, i)
		}
		all = append(all, supersede(parts, r.part, i)...)
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(i int) bool { return !w.Live(i) })
	slices.Reverse(all)
	return all
}

// supersede removes from a file's results those that a result of one part supersedes, and returns them.
func supersede(parts map[string][]int, part string, by int) (all []int) {
	take := func(part string) {
		n, _ := slices.BinarySearch(parts[part], by)
		all = append(all, parts[part][:n]...)
		if parts[part] = parts[part][n:]; len(parts[part]) == 0 {
			delete(parts, part)
		}
	}
	take(part)
	if part == "" {
		for other := range parts {
			take(other)
		}
	}
	return all
}

// last returns the last of the results that still show something, -1 for none.
func (w *Work) last(good map[read][]int, r read) int {
	all := good[r]
	for len(all) > 0 && !w.Live(all[len(all)-1]) {
		all = all[:len(all)-1]
		good[r] = all
	}
	if len(all) == 0 {
		return -1
	}
	return all[len(all)-1]
}

// notice returns the text that replaces a result, and why; both empty if nothing does.
func (w *Work) notice(i int, known *reads) (notice, why string) {
	r := known.shown[i]
	switch {
	case r.file != "" && (w.last(known.good, read{file: r.file}) > i || w.last(known.good, r) > i):
		return supersededNotice, "read again later"
	case w.useless(i):
		return uselessNotice, "it reports that there is nothing"
	}
	return "", ""
}

// read returns the part of a file that the result of a message shows, the zero value for
// other tools.
func (w *Work) read(i int) (r read) {
	if tool, args, ok := w.callOf(i); ok {
		c := activity.New(tool, "", args)
		r.file, r.part = c.Reads()
	}
	return r
}

// useless reports whether the result of a message only states that there is nothing, and is
// long enough to be worth a notice.
func (w *Work) useless(i int) bool {
	k := w.Messages[i].result()
	if b := &w.Messages[i].Blocks[k]; b.Bytes > uselessMax || tokensOf(&tokens.YScalars, b.length) < blankFrom {
		return false
	}
	return containsAny(w.Text(i, k), "[]", "{}", `"results": []`, `"count": 0`, "no results", "No results",
		"no matches", "No matches", "nothing found")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}
