package render

import (
	"bufio"
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"ctxtool/internal/plan"
	"ctxtool/internal/search"
	"ctxtool/internal/simulate"
	"ctxtool/internal/state"
	"ctxtool/replay/cache"
	"ctxtool/replay/diff"
	"ctxtool/replay/entry"
	"ctxtool/replay/tokens"
	"ctxtool/replay/trace"
	"ctxtool/sessionfmt/check"
	"ctxtool/stats/gate"
)

// A Screen is what text is shown on.
type Screen struct {
	Width  int // in columns; 0 without a terminal
	Colour bool
}

// A writer writes a value in one of its forms.
type writer func(w *bufio.Writer, v any, on Screen) error

// shown returns a writer of text that depends on the screen.
func shown[T any](write func(w *bufio.Writer, v T, on Screen) error) writer {
	return func(w *bufio.Writer, v any, on Screen) error { return write(w, v.(T), on) }
}

// text returns a writer of text that nothing but w can fail, which keeps its errors.
func text[T any](write func(w *bufio.Writer, v T, on Screen)) writer {
	return shown(func(w *bufio.Writer, v T, on Screen) error { write(w, v, on); return nil })
}

// plain returns a writer of what is the same on any screen.
func plain[T any](write func(w *bufio.Writer, v T) error) writer {
	return func(w *bufio.Writer, v any, _ Screen) error { return write(w, v.(T)) }
}

// forms are the forms of each type of value, besides json by its tags, and jsonl for the
// elements of a slice.
var forms = map[reflect.Type]map[string]writer{
	reflect.TypeFor[Report](): {
		"summary": plain(writeSummary), "full": plain(writeFull), "json": plain(writeEnvelope), "context": plain(writeContext), "llm": plain(writeProvided),
		"native": plain(writeNative),
	},
	reflect.TypeFor[*cache.Report](): {"text": text(writeCache), "csv": plain(writeCacheCSV), "jsonl": plain(writeCacheLines)},
	reflect.TypeFor[Caches]():        {"text": text(writeCaches), "csv": plain(writeCachesCSV), "jsonl": plain(writeCachesLines)},
	reflect.TypeFor[*diff.Difference](): {
		"text": shown(writeDiff), "stat": text(writeDiffStat), "markdown": plain(writeDiffMarkdown), "json": plain(writeDiffLine),
	},
	reflect.TypeFor[*diff.Entries]():  {"text": text(writeEntries), "stat": text(writeEntriesStat), "markdown": text(writeEntriesMarkdown)},
	reflect.TypeFor[check.Reports]():  {"text": text(writeCheck), "jsonl": plain(writeCheckLines), "sarif": plain(writeSARIF), "github": text(writeAnnotations)},
	reflect.TypeFor[*tokens.Texts]():  {"text": text(writeCount), "csv": plain(writeCountCSV), "jsonl": plain(writeCountLines)},
	reflect.TypeFor[*state.Status]():  {"text": text(writeStatus)},
	reflect.TypeFor[Sessions]():       {"text": text(writeSessions), "jsonl": plain(func(w *bufio.Writer, s Sessions) error { return writeLines(w, s.Rows) })},
	reflect.TypeFor[Found]():          {"text": shown(writeFound), "markdown": plain(writeFoundMarkdown), "jsonl": plain(writeFoundLines)},
	reflect.TypeFor[*search.Task]():   {"text": shown(writeTask), "markdown": plain(writeTaskMarkdown), "jsonl": plain(func(w *bufio.Writer, t *search.Task) error { return WriteJSON(w, t) })},
	reflect.TypeFor[Ambient]():        {"text": plain(writeAmbient), "jsonl": plain(func(w *bufio.Writer, a Ambient) error { return writeLines(w, a.Commands) })},
	reflect.TypeFor[Tree]():           {"text": shown(writeTree), "json": plain(writeTreeJSON)},
	reflect.TypeFor[*trace.Tracing](): {"text": text(writeTrace), "jsonl": plain(writeTraceLines)},
	reflect.TypeFor[Compactions]():    {"text": text(writeCompactions), "jsonl": plain(func(w *bufio.Writer, c Compactions) error { return writeLines(w, c.All) })},
	reflect.TypeFor[[]entry.Item]():   {"text": text(writeBlame)},
	reflect.TypeFor[Entering]():       {"text": text(writeEntering), "jsonl": plain(func(w *bufio.Writer, e Entering) error { return writeLines(w, e.Items) })},
	reflect.TypeFor[[]entry.Shown]():  {"text": text(writeShown), "json": plain(writeShownJSON), "raw": text(writeShownRaw)},
	reflect.TypeFor[*plan.Plan]():     {"text": shown(writePlan), "diff": plain(writePlanDiff), "entries": text(writePlanEntries), "markdown": plain(writePatchMarkdown), "envelope": plain(writePatchEnvelope), "json": plain(writePlanJSON), "jsonl": plain(writePlanJSON)},
	reflect.TypeFor[Plans]():          {"text": text(writePlans), "json": plain(writePlansJSON), "jsonl": plain(writePlansLines)},
	reflect.TypeFor[Models]():         {"text": text(writeModels), "jsonl": plain(func(w *bufio.Writer, m Models) error { return writeLines(w, m.Models) })},
	reflect.TypeFor[*simulate.Report](): {
		"text": shown(writeSimulation), "markdown": plain(writeSimulationMarkdown), "csv": plain(writeSimulationCSV), "jsonl": plain(writeSimulationLines),
	},
	reflect.TypeFor[*simulate.Store](): {
		"text": shown(writeSimulations), "markdown": plain(writeSimulationsMarkdown), "csv": plain(writeSimulationsCSV), "jsonl": plain(writeSimulationsLines),
	},
	reflect.TypeFor[Policies](): {"text": text(writePolicies)},
	reflect.TypeFor[Stats](): {
		"text": text(writeStats), "markdown": text(writeStatsMarkdown), "csv": plain(writeStatsCSV), "json": plain(writeStatsJSON), "jsonl": plain(writeStatsJSON),
		"github": text(func(w *bufio.Writer, s Stats, on Screen) { writeGateAnnotations(w, s.Gate, on) }),
		"junit":  plain(func(w *bufio.Writer, s Stats) error { return writeGateJUnit(w, s.Gate) }),
	},
	reflect.TypeFor[*gate.Report](): {"github": text(writeGateAnnotations), "junit": plain(writeGateJUnit)},
}

// Write writes a value that another package has computed, in a form: json by its tags, jsonl
// likewise for each element of a slice, and the forms of the commands for its type.
func Write(w *bufio.Writer, v any, form string, on Screen) error {
	if write := forms[reflect.TypeOf(v)][form]; write != nil {
		return write(w, v, on)
	}
	list := reflect.ValueOf(v)
	switch {
	case form == "json":
		return WriteJSON(w, v)
	case form != "jsonl" || list.Kind() != reflect.Slice:
		return fmt.Errorf("%T has no form %s", v, form)
	}
	for i := range list.Len() {
		if err := WriteJSON(w, list.Index(i).Interface()); err != nil {
			return err
		}
	}
	return nil
}

// A style is the terminal code for a text of some meaning: a colour of the terminal's own
// palette, which its user has chosen. The zero value is plain text.
type style string

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
	"compaction": changed, "branch_summary": changed, "branch": changed, "context_transform": changed, "transform": changed, "context_edit": changed, "summary": changed, "summaries": changed,
	"compactionSummary": changed, "branchSummary": changed,
	"error": failure, "warning": warning, "info": faint, "crossed": failure, "unknown": faint, "kept": good, "tolerated": warning,
	"blocked": warning, "aborted": warning, "unanswered": warning, "cannot": warning, "rebilled": warning,
	"sound": good, "usable": warning, "damaged": failure, "not a session": failure, "drop": removed, "omit": removed, "replace": changed, "summarise": changed,
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
