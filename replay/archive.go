package replay

import (
	"bytes"
	"strings"
	"time"

	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt/jsonl"
)

// An archive is what oh-my-pi keeps of old turns when it compacts without a model: their text, except for a
// middle part that the model receives as pictures of pages (docs/session-format.md 21).
type archive struct {
	head, tail jsonl.Value // the oldest and the newest text
	pictures   int         // files with the pictures
	cut        bool        // part of the middle was dropped
}

// archiveOf returns the archive of a compaction entry; ok is false if it has none.
func archiveOf(line value) (a archive, ok bool) {
	kept := line.Get("preserveData").Get("snapcompact")
	var f [4]value
	kept.Fields(f[:], "textHead", "textTail", "frames", "truncatedChars")
	a.head, a.tail = f[0], f[1]
	for range f[2].Elements {
		a.pictures++
	}
	n, isNumber := f[3].Float()
	a.cut = isNumber && n > 0
	return a, kept.IsObject() && (a.pictures > 0 || a.head.Text() != "" || a.tail.Text() != "")
}

// Lines that stand for the pictures, and for what was dropped.
const (
	picturesBelow = "\n-------------- imaged middle below\n"
	picturesAbove = "-------------- imaged middle above\n"
	middleOmitted = "\n-------------- middle history omitted above\n"
)

// archivePlain restores newlines and dimmed text, which an archive marks with special characters.
var archivePlain = strings.NewReplacer("\u2588", "\n", "\x0e", "", "\x0f", "")

// blocks returns the texts of an archive as a list of blocks, without the pictures.
func (a archive) blocks() value {
	head, tail := archivePlain.Replace(a.head.Text()), archivePlain.Replace(a.tail.Text())
	texts := []string{head, tail}
	switch {
	case a.pictures == 0 && a.cut && tail != "":
		texts = []string{head + middleOmitted + tail}
	case a.pictures == 0:
		texts = []string{head + tail}
	default:
		if head != "" {
			texts[0] = head + picturesBelow
		}
		if tail != "" {
			texts[1] = picturesAbove + tail
		}
	}
	dst := []byte{'['}
	for _, text := range texts {
		if text != "" {
			dst = append(dst, textOpening...)
			dst = append(jsonl.AppendQuoted(dst, text), "},"...)
		}
	}
	return append(bytes.TrimSuffix(dst, []byte{','}), ']')
}

// unarchive reports the pictures of an archive, which no replay can show.
func (m *machine) unarchive(rec int, line value) {
	a, ok := archiveOf(line)
	if ok {
		m.use(pi.Archived)
	}
	if a.pictures == 0 {
		return
	}
	counted := ""
	if n := line.Get("tokensAfter"); n.IsNumber() {
		counted = ": the agent counted " + string(n) + " tokens after it, with them"
	}
	m.r.addFinding("pictures-missing", rec, "the model got %s of earlier turns, which are not in the file%s",
		phrase.Count(a.pictures, "picture"), counted)
}

// resulted reports a result whose text oh-my-pi replaced in the file, since earlier requests had another one.
func (m *machine) resulted(rec int) {
	at := m.line(rec).Get("message").Get("prunedAt")
	if !at.IsNumber() {
		return
	}
	m.use(pi.Rewritten)
	when := time.UnixMilli(at.Int()).UTC().Format(time.RFC3339)
	m.r.addFinding("result-rewritten", rec, "the agent replaced the text of this result at %s: earlier requests "+
		"had a text that is not in the file", when)
}
