package render

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"

	"ctxtool/internal/base/table"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/lens/entry"
	"ctxtool/internal/lens/reuse"
	"ctxtool/internal/lens/search"
	"ctxtool/internal/lens/simulate"
	"ctxtool/internal/out/body"
	"ctxtool/stats"
)

// A Screen is what text is shown on.
type Screen struct {
	Width  int // in columns; 0 without a terminal
	Colour bool
}

// A writer writes values of a type in a form. It reports whether the value is of that type.
type writer struct {
	form  string
	write func(w *bufio.Writer, v any, on Screen) (is bool, err error)
}

// screened returns a writer of what depends on the screen.
func screened[T any](form string, write func(w *bufio.Writer, v T, on Screen) error) writer {
	return writer{form, func(w *bufio.Writer, v any, on Screen) (bool, error) {
		of, is := v.(T)
		if !is {
			return false, nil
		}
		return true, write(w, of, on)
	}}
}

// text returns a writer of text that nothing but w can fail, which keeps its errors.
func text[T any](form string, write func(w *bufio.Writer, v T, on Screen)) writer {
	return screened(form, func(w *bufio.Writer, v T, on Screen) error {
		write(w, v, on)
		return nil
	})
}

// plain returns a writer of what is the same on any screen.
func plain[T any](form string, write func(w *bufio.Writer, v T) error) writer {
	return screened(form, func(w *bufio.Writer, v T, _ Screen) error { return write(w, v) })
}

// sheets returns a writer of sheets, as text or Markdown.
func sheets[T any](form string, of func(v T) []table.Sheet) writer {
	return text(form, func(w *bufio.Writer, v T, on Screen) {
		if form == "markdown" {
			writeSheetsMarkdown(w, of(v))
		} else {
			writeSheets(w, of(v), on)
		}
	})
}

// csvOf returns a writer of a table as CSV.
func csvOf[T any](of func(v T) table.Table) writer {
	return plain("csv", func(w *bufio.Writer, v T) error { return writeCSV(w, of(v)) })
}

// jsonlOf returns a writer of the elements of a list as JSON, a line each.
func jsonlOf[T, E any](of func(v T) []E) writer {
	return plain("jsonl", func(w *bufio.Writer, v T) error { return writeLines(w, of(v)) })
}

// writers are the forms of each type of value, besides json by its tags.
var writers = append([]writer{
	plain("summary", writeSummary),
	plain("full", writeFull),
	plain("json", writeEnvelope),
	plain("context", writeContext),
	plain("llm", writeProvided),
	plain("native", writeNative),

	sheets("text", cacheSheets),
	csvOf(cacheTable),
	plain("jsonl", writeCacheLines),
	sheets("text", cachesSheets),
	csvOf(cachesTable),
	plain("jsonl", writeCachesLines),

	screened("text", writeDiff),
	text("stat", writeDiffStat),
	plain("markdown", writeDiffMarkdown),
	coloured(writeDiff, diffTitle),
	plain("json", writeDiffLine),
	screened("text", writeEntries),
	text("stat", writeEntriesStat),
	text("markdown", writeEntriesMarkdown),
	coloured(writeEntries, entriesTitle),

	text("text", writeCheck),
	jsonlOf(func(r check.Reports) []*check.Report { return r.Files }),
	plain("sarif", writeCheckSARIF),
	text("text", writeCoverage),
	jsonlOf(func(c check.Coverage) []check.Field { return c.Fields }),
	text("github", writeAnnotations),

	text("text", writeDoctor),
	sheets("text", doctorSheets),

	text("text", writeCount),
	csvOf(countTable),
	plain("jsonl", writeCountLines),

	text("text", writeStatus),
	sheets("text", sessionSheets),
	jsonlOf(func(s Sessions) []*stats.Summary { return s.Rows }),

	sheets("text", keptSheets),

	screened("text", writeFound),
	plain("markdown", writeFoundMarkdown),
	plain("jsonl", writeFoundLines),
	text("text", writeTask),
	text("markdown", writeTaskMarkdown),
	jsonlOf(func(t *search.Task) []*search.Task { return []*search.Task{t} }),
	text("text", writeAmbient),
	text("markdown", writeAmbient),
	jsonlOf(func(a Ambient) []search.Event { return a.Commands }),

	screened("text", writeTree),
	plain("json", writeTreeJSON),
	text("text", writeTrace),
	plain("jsonl", writeTraceLines),
	sheets("text", compactionSheets),
	jsonlOf(func(c Compactions) []reuse.Compaction { return c.All }),
	sheets("text", originSheets),
	sheets("markdown", originSheets),
	sheets("text", changeSheets),
	sheets("markdown", changeSheets),
	sheets("text", remainsSheets),
	sheets("markdown", remainsSheets),
	text("text", writeBlame),
	jsonlOf(func(all []entry.Item) []entry.Item { return all }),
	text("text", writeEntering),
	jsonlOf(func(e Entering) []entry.Item { return e.Items }),
	screened("text", writeShown),
	plain("json", writeShownJSON),
	text("raw", writeShownRaw),

	screened("text", writePlan),
	plain("diff", writePlanDiff),
	text("entries", writePlanEntries),
	plain("markdown", writePatchMarkdown),
	plain("envelope", writePatchEnvelope),
	plain("json", writePlanJSON),
	plain("jsonl", writePlanJSON),
	screened("text", writePlans),
	plain("json", writePlansJSON),
	plain("jsonl", writePlansLines),

	text("text", writeModels),
	jsonlOf(func(m Models) []ModelLine { return m.Models }),
	text("text", writePolicies),

	sheets("text", simulationSheets),
	sheets("markdown", simulationSheets),
	csvOf(func(r *simulate.Report) table.Table { return simulatedTable(r) }),
	plain("jsonl", writeSimulationLines),
	sheets("text", storeSheets),
	sheets("markdown", storeSheets),
	csvOf(func(s *simulate.Store) table.Table { return simulatedTable(s.Sessions...) }),
	plain("jsonl", writeSimulationsLines),

	sheets("text", Stats.sheets),
	sheets("markdown", Stats.sheets),
	csvOf(Stats.table),
	plain("json", writeStatsJSON),
	plain("jsonl", writeStatsJSON),
	text("github", func(w *bufio.Writer, s Stats, on Screen) { writeGateAnnotations(w, s.Gate, on) }),
	text("junit", func(w *bufio.Writer, s Stats, on Screen) { writeGateJUnit(w, s.Gate, on) }),
	text("github", writeGateAnnotations),
	text("junit", writeGateJUnit),
	plain("sarif", func(w *bufio.Writer, s Stats) error { return writeGateSARIF(w, s.Gate) }),
	plain("sarif", writeGateSARIF),
}, forms(func(f *body.Form) writer {
	return plain(f.Name, func(w *bufio.Writer, r Report) error { return f.Write(w, r.Envelope) })
})...)

// Write writes a value that another package has computed, in a form: json by its tags, and the
// forms of the commands for its type.
func Write(w *bufio.Writer, v any, form string, on Screen) error {
	for _, one := range writers {
		if one.form != form {
			continue
		}
		if is, err := one.write(w, v, on); is {
			return err
		}
	}
	if form == "json" {
		return WriteJSON(w, v)
	}
	return fmt.Errorf("%T has no form %s", v, form)
}

// A style is the terminal code for a text of some meaning: a colour of the terminal's own
// palette, which its user has chosen. The zero value is plain text.
type style = string

// The styles, by meaning.
const (
	heading   style = "1"
	faint     style = "2"
	added     style = "32"
	removed   style = "31"
	changed   style = "33" // also compactions, edits and patches
	failure   style = "1;31"
	warning   style = "1;33"
	good      style = "32"
	prompted  style = "1;36" // what the user said
	called    style = "35"   // calls of tools, and their results
	different style = "7"    // words that differ between two lines, in their colour
)

// words are the styles of words in reports: kinds of entries, roles, severities, states, and
// outcomes of calls.
var words = map[string]style{
	"user": prompted, "toolResult": called, "bashExecution": called, "tool": called, "results": called, "calls": called,
	"compaction": changed, "branch_summary": changed, "branch": changed, "context_transform": changed,
	"transform": changed, "context_edit": changed, "summary": changed, "summaries": changed,
	"compactionSummary": changed, "branchSummary": changed,
	"error": failure, "warning": warning, "info": faint, "CROSSED": failure, "unknown": faint, "ok": good,
	"within":  warning,
	"blocked": warning, "aborted": warning, "unanswered": warning, "cannot": warning, "rebilled": warning,
	"sound": good, "usable": warning, "damaged": failure, "not a session": failure, "drop": removed, "omit": removed,
	"replace": changed, "summarise": changed,
}

// wordStyle returns the style of a word, plain if it has none.
func wordStyle(word string) style { return words[strings.TrimSpace(word)] }

// kindStyle returns the style of a kind of entry or of a role. Settings, such as a change of
// the model, are faint.
func kindStyle(kind string) style {
	if kind = strings.TrimSpace(kind); kind == "assistant" {
		return ""
	}
	return cmp.Or(words[kind], faint)
}

// markStyle returns the style of a line by the mark at its beginning; faint without a mark.
func markStyle(mark byte) style {
	return cmp.Or(map[byte]style{'-': removed, '+': added, '~': changed}[mark], faint)
}

// always returns the style of a column whose cells all have the same style.
func always(as style) func(cell string) style { return func(string) style { return as } }

// paint returns a text in a style, or unchanged on a screen without colour.
func (s Screen) paint(as style, text string) string {
	if !s.Colour || as == "" || text == "" {
		return text
	}
	return "\x1b[" + string(as) + "m" + text + "\x1b[0m"
}
