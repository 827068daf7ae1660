package show

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/lens/diff"
	"ctxtool/internal/lens/doctor"
	"ctxtool/internal/lens/entry"
	"ctxtool/internal/lens/origin"
	"ctxtool/internal/lens/reuse"
	"ctxtool/internal/lens/search"
	"ctxtool/internal/lens/simulate"
	"ctxtool/internal/lens/state"
	"ctxtool/internal/lens/trace"
	"ctxtool/internal/out/body"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/read/keep"
	"ctxtool/replay/tokens"
	"ctxtool/stats"
	"ctxtool/stats/table"
)

// A Screen is what text is shown on.
type Screen struct {
	Width  int // in columns; 0 without a terminal
	Colour bool
}

// A Value is something that a command prints, with the forms in which it can be written. Values are made by
// [Forms.Of], so that one of a type without forms does not compile.
type Value struct {
	write func(w *bufio.Writer, form string, on Screen) error
}

// Write writes the value in a form. The error of a form that it does not have names those that it has.
func (v Value) Write(w *bufio.Writer, form string, on Screen) error { return v.write(w, form, on) }

// A form is a name, as -f takes it, and a function that writes values of one type.
type form[T any] struct {
	name  string
	write func(w *bufio.Writer, v T, on Screen) error
}

// Forms are the forms in which values of a type are written.
type Forms[T any] []form[T]

// Of returns a value that is written in these forms.
func (f Forms[T]) Of(v T) Value {
	return Value{func(w *bufio.Writer, name string, on Screen) error {
		for _, one := range f {
			if one.name == name {
				return one.write(w, v, on)
			}
		}
		return fmt.Errorf("no form %s: it has %s", name, strings.Join(f.Names(), ", "))
	}}
}

// Names returns the names of the forms.
func (f Forms[T]) Names() (names []string) {
	for _, one := range f {
		names = append(names, one.name)
	}
	return names
}

// screened returns a form that depends on the screen.
func screened[T any](name string, write func(w *bufio.Writer, v T, on Screen) error) form[T] {
	return form[T]{name, write}
}

// text returns a form of text that nothing but w can fail, which keeps its errors.
func text[T any](name string, write func(w *bufio.Writer, v T, on Screen)) form[T] {
	return form[T]{name, func(w *bufio.Writer, v T, on Screen) error {
		write(w, v, on)
		return nil
	}}
}

// plain returns a form that is the same on any screen.
func plain[T any](name string, write func(w *bufio.Writer, v T) error) form[T] {
	return form[T]{name, func(w *bufio.Writer, v T, _ Screen) error { return write(w, v) }}
}

// tagged returns the form json of a type that is encoded by its tags.
func tagged[T any]() form[T] {
	return plain("json", func(w *bufio.Writer, v T) error { return WriteJSON(w, v) })
}

// sheets returns the form text of sheets.
func sheets[T any](of func(v T) []table.Sheet) form[T] {
	return text("text", func(w *bufio.Writer, v T, on Screen) { writeSheets(w, of(v), on) })
}

// markdownSheets returns the form markdown of sheets.
func markdownSheets[T any](of func(v T) []table.Sheet) form[T] {
	return text("markdown", func(w *bufio.Writer, v T, _ Screen) { writeSheetsMarkdown(w, of(v)) })
}

// csvOf returns the form csv of a table.
func csvOf[T any](of func(v T) table.Table) form[T] {
	return plain("csv", func(w *bufio.Writer, v T) error { return writeCSV(w, of(v)) })
}

// jsonlOf returns the form jsonl of a list: an element a line.
func jsonlOf[T, E any](of func(v T) []E) form[T] {
	return plain("jsonl", func(w *bufio.Writer, v T) error { return writeLines(w, of(v)) })
}

// The forms of contexts, and of what commands compute from them.
var (
	ContextForms = append(Forms[Report]{
		plain("summary", writeSummary),
		plain("full", writeFull),
		plain("json", writeEnvelope),
		plain("context", writeContext),
		plain("llm", writeProvided),
		plain("native", writeNative),
	}, forms(func(f *body.Form) form[Report] {
		return plain(f.Name, func(w *bufio.Writer, r Report) error { return f.Write(w, r.Envelope) })
	})...)

	DiffForms = Forms[*diff.Difference]{
		screened("text", writeDiff),
		text("stat", writeDiffStat),
		plain("markdown", writeDiffMarkdown),
		coloured(writeDiff, diffTitle),
		plain("json", writeDiffLine),
	}
	EntriesForms = Forms[*diff.Entries]{
		screened("text", writeEntries),
		text("stat", writeEntriesStat),
		text("markdown", writeEntriesMarkdown),
		coloured(writeEntries, entriesTitle),
		tagged[*diff.Entries](),
	}
	CountForms = Forms[*tokens.Texts]{
		text("text", writeCount),
		tagged[*tokens.Texts](),
		plain("jsonl", writeCountLines),
		csvOf(countTable),
	}
	TreeForms = Forms[Tree]{
		screened("text", writeTree),
		plain("json", writeTreeJSON),
	}
	TraceForms = Forms[*trace.Tracing]{
		text("text", writeTrace),
		plain("jsonl", writeTraceLines),
	}
	OriginForms = Forms[*origin.Report]{
		sheets(originSheets),
		tagged[*origin.Report](),
		markdownSheets(originSheets),
	}
	BlameForms = Forms[[]entry.Item]{
		text("text", writeBlame),
		jsonlOf(func(all []entry.Item) []entry.Item { return all }),
	}
	EnteringForms = Forms[Entering]{
		text("text", writeEntering),
		jsonlOf(func(e Entering) []entry.Item { return e.Items }),
	}
	ShownForms = Forms[[]entry.Shown]{
		screened("text", writeShown),
		plain("json", writeShownJSON),
		text("raw", writeShownRaw),
	}
	LostForms = Forms[Compactions]{
		sheets(compactionSheets),
		jsonlOf(func(c Compactions) []reuse.Compaction { return c.All }),
	}
)

// The forms of reports on sessions.
var (
	CacheForms = Forms[*cache.Report]{
		sheets(cacheSheets),
		plain("jsonl", writeCacheLines),
		csvOf(cacheTable),
	}
	CachesForms = Forms[Caches]{
		sheets(cachesSheets),
		plain("jsonl", writeCachesLines),
		csvOf(cachesTable),
	}
	CheckForms = Forms[check.Reports]{
		text("text", writeCheck),
		tagged[check.Reports](),
		jsonlOf(func(r check.Reports) []*check.Report { return r.Files }),
		plain("sarif", writeCheckSARIF),
		text("github", writeAnnotations),
	}
	CoverageForms = Forms[check.Coverage]{
		text("text", writeCoverage),
		tagged[check.Coverage](),
		jsonlOf(func(c check.Coverage) []check.Field { return c.Fields }),
	}
	DoctorForms = Forms[*doctor.Report]{
		text("text", writeDoctor),
		tagged[*doctor.Report](),
	}
	DoctorStoreForms = Forms[*doctor.Store]{
		sheets(doctorSheets),
		tagged[*doctor.Store](),
	}
	StatusForms = Forms[*state.Status]{
		text("text", writeStatus),
		tagged[*state.Status](),
	}
	SessionsForms = Forms[Sessions]{
		sheets(sessionSheets),
		jsonlOf(func(s Sessions) []*stats.Summary { return s.Rows }),
	}
	KeptForms = Forms[keep.Report]{
		sheets(keptSheets),
		tagged[keep.Report](),
	}
	FoundForms = Forms[Found]{
		screened("text", writeFound),
		plain("jsonl", writeFoundLines),
		plain("markdown", writeFoundMarkdown),
	}
	TaskForms = Forms[*search.Task]{
		text("text", writeTask),
		jsonlOf(func(t *search.Task) []*search.Task { return []*search.Task{t} }),
		text("markdown", writeTaskMarkdown),
	}
	AmbientForms = Forms[Ambient]{
		text("text", writeAmbient),
		jsonlOf(func(a Ambient) []search.Event { return a.Commands }),
		text("markdown", writeAmbient),
	}
	SimulationForms = Forms[*simulate.Report]{
		sheets(simulationSheets),
		tagged[*simulate.Report](),
		plain("jsonl", writeSimulationLines),
		csvOf(func(r *simulate.Report) table.Table { return simulatedTable(r) }),
		markdownSheets(simulationSheets),
	}
	SimulationsForms = Forms[*simulate.Store]{
		sheets(storeSheets),
		tagged[*simulate.Store](),
		plain("jsonl", writeSimulationsLines),
		csvOf(func(s *simulate.Store) table.Table { return simulatedTable(s.Sessions...) }),
		markdownSheets(storeSheets),
	}
	ReportForms = Forms[Stats]{
		sheets(Stats.sheets),
		plain("json", writeStatsJSON),
		plain("jsonl", writeStatsJSON),
		csvOf(Stats.table),
		markdownSheets(Stats.sheets),
	}
	// of a report with a gate
	GatedForms = append(Forms[Stats]{
		text("github", func(w *bufio.Writer, s Stats, on Screen) { writeGateAnnotations(w, s.Gate, on) }),
		text("junit", func(w *bufio.Writer, s Stats, on Screen) { writeGateJUnit(w, s.Gate, on) }),
		plain("sarif", func(w *bufio.Writer, s Stats) error { return writeGateSARIF(w, s.Gate) }),
	}, ReportForms...)
)

// The forms of plans, and of what can be planned with.
var (
	PlanForms = Forms[*plan.Plan]{
		screened("text", writePlan),
		plain("json", writePlanJSON),
		plain("jsonl", writePlanJSON),
		plain("diff", writePlanDiff),
		text("entries", writePlanEntries),
		plain("markdown", writePatchMarkdown),
		plain("envelope", writePatchEnvelope),
	}
	PlansForms = Forms[Plans]{
		screened("text", writePlans),
		plain("json", writePlansJSON),
		plain("jsonl", writePlansLines),
	}
	ModelsForms = Forms[Models]{
		text("text", writeModels),
		tagged[Models](),
		jsonlOf(func(m Models) []ModelLine { return m.Models }),
	}
	PoliciesForms = Forms[Policies]{
		text("text", writePolicies),
		tagged[Policies](),
	}
)

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
