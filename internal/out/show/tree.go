package show

import (
	"bufio"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"ctxtool/internal/lens/entry"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A Tree is a session's tree, ready to be drawn.
type Tree struct {
	Nodes    iter.Seq2[outline.Node, error]
	Leaf     *string  // id of the entry that the active path ends at; nil for none
	Only     []string // kinds to show; none for all
	Fold     bool     // put long runs into one line
	Coverage sessionfmt.Coverage
	Reading  dialect.Reading
	Found    []sessionfmt.Finding
	Short    func(id string) string // shortens ids, nil for none
}

// shown yields the nodes that the filter selects.
func (r Tree) shown(yield func(outline.Node, error) bool) {
	for n, err := range r.Nodes {
		if (err != nil || len(r.Only) == 0 || slices.Contains(r.Only, n.Kind)) && !yield(n, err) {
			return
		}
	}
}

func writeTreeJSON(w *bufio.Writer, r Tree) error {
	o := object{w: w}
	o.text("schema", "ctxtool/tree/1")
	if r.Leaf != nil {
		o.text("leaf", *r.Leaf)
	}
	o.key("entries")
	if err := writeArray(w, r.shown, "", func(n outline.Node) error { return writeValue(w, n) }); err != nil {
		return err
	}
	o.reading(r.Reading)
	o.value("coverage", r.Coverage)
	if len(r.Found) > 0 {
		o.value("findings", r.Found)
	}
	o.close()
	return w.WriteByte('\n')
}

func writeTree(w *bufio.Writer, r Tree, on Screen) error {
	d := drawing{r: r, w: w, on: on}
	for n, err := range r.shown {
		if err != nil {
			return err
		}
		d.add(n)
	}
	d.flush()
	return nil
}

// A drawing writes nodes on lines, and long runs on one.
type drawing struct {
	r   Tree
	w   *bufio.Writer
	on  Screen
	run []outline.Node // the first fewNodes of the current run
	n   int            // nodes of the run
	// The kinds of the run in order of appearance, and the number of each.
	kinds []string
	count map[string]int
}

// fewNodes is the length up to which a run is not folded.
const fewNodes = 3

// gather adds an entry to the run.
func (d *drawing) gather(n outline.Node) {
	if d.n == 0 {
		d.kinds, d.count = d.kinds[:0], map[string]int{}
	}
	if d.n++; d.n <= fewNodes {
		d.run = append(d.run, n)
	}
	if d.count[n.Kind]++; d.count[n.Kind] == 1 {
		d.kinds = append(d.kinds, n.Kind)
	}
}

// foldable reports whether an entry may be folded: answers and tool results between prompts,
// and settings.
func foldable(n outline.Node) bool {
	switch n.Is {
	case jsonl.Assistant, jsonl.ToolResult, jsonl.CustomEntry, jsonl.UsageEntry, jsonl.ModelChange,
		jsonl.ThinkingChange, jsonl.Ephemeral, jsonl.Label, jsonl.SessionInfo, jsonl.TransformMessage,
		jsonl.ChildUsage, jsonl.Tier, jsonl.Status, jsonl.State, jsonl.Git:
		return n.Label == "" && !n.Leaf && n.Branch == 0 && n.Children == 0
	}
	return false
}

func (d *drawing) add(n outline.Node) {
	folds := d.r.Fold && foldable(n)
	if !folds || len(d.run) > 0 && d.run[0].Depth != n.Depth {
		d.flush()
	}
	if folds {
		d.gather(n)
	} else {
		d.line(n)
	}
}

// flush writes the current run: on one line if it is long.
func (d *drawing) flush() {
	run, n := d.run, d.n
	d.run, d.n = d.run[:0], 0
	if n <= fewNodes {
		for _, n := range run {
			d.line(n)
		}
		return
	}
	for i, k := range d.kinds {
		d.kinds[i] = fmt.Sprintf("%d %s", d.count[k], k)
	}
	lead, _ := leads(run[0], false)
	put(d.w, d.on.paint(faint, fmt.Sprintf("%s⋮ %d entries: %s", lead, n, strings.Join(d.kinds, ", "))), d.on)
}

// maxLead is the number of columns of branches that are drawn; deeper ones are a number.
const maxLead = 12

// leads returns the lines before a node: those of the columns that continue, and for the
// first node of a branch the fork.
func leads(n outline.Node, branch bool) (lead string, deep string) {
	depth := n.Depth
	if depth > maxLead {
		deep = fmt.Sprintf("+%d ", depth-maxLead)
		depth = maxLead
	}
	if branch && depth > 0 {
		return strings.Repeat("│ ", depth-1) + "├─", deep
	}
	return strings.Repeat("│ ", depth), deep
}

// id returns an id as the tree shows it.
func (d *drawing) id(id string) string {
	if d.r.Short != nil {
		id = d.r.Short(id)
	}
	return orDash(sessionfmt.Quote(id))
}

func (d *drawing) line(n outline.Node) {
	lead, deep := leads(n, n.Branch > 0)
	mark := "○"
	if n.Active {
		mark = "●"
	}
	label := phrase.If(n.Label != "", " [%s]", sessionfmt.Quote(n.Label))
	branch := phrase.If(n.Branch > 0, " (%s, leaf %s)", phrase.Count(n.Branch, "entry"), d.id(n.Last))
	put(d.w, d.on.paint(faint, lead)+mark+" "+deep+d.on.paint(faint, d.id(n.ID))+" "+
		d.on.paint(kindStyle(n.Kind), n.Kind)+
		d.on.paint(changed, label)+d.on.paint(good, phrase.If(n.Leaf, " ← leaf"))+d.on.paint(faint, branch)+
		phrase.If(n.Text != "", "  %s", d.on.text(n.Kind, n.Active, n.Text)), d.on)
}

// text returns an entry's text in its style: faint if it is not on the path or a setting, and
// with an error at its beginning marked.
func (s Screen) text(kind string, active bool, text string) string {
	for _, word := range []string{"error ", "[error] "} {
		if rest, ok := strings.CutPrefix(text, word); ok {
			return s.paint(failure, strings.TrimSpace(word)) + " " + rest
		}
	}
	if !active || kindStyle(kind) == faint {
		return s.paint(faint, text)
	}
	return text
}

// entryID returns the id of an entry for a text: the beginning of a random UUID, which is enough
// to find the entry by, and any other id as it is.
func entryID(id string) string {
	if len(id) == 36 && id[8] == '-' && id[13] == '-' && id[14] == '4' && id[18] == '-' && id[23] == '-' {
		id = id[:8]
	}
	return sessionfmt.Quote(id)
}

// orDash returns an id, or "-" if it is empty.
func orDash(id string) string { return cmp.Or(id, "-") }

// WriteLogText writes a row as one line of text, with the id as short returns it in a column of
// some width.
func WriteLogText(w *bufio.Writer, r *entry.Row, short func(id string) string, width int, on Screen) error {
	mark := r.Mark
	if r.Request != nil {
		mark = fmt.Sprintf("#%d", *r.Request)
	}
	tokens, context := "", ""
	if r.Tokens != nil && *r.Tokens != 0 {
		tokens = fmt.Sprintf("%+d", *r.Tokens)
	}
	if r.Context != nil {
		context = phrase.If(r.Estimated == *r.Context, "~") + phrase.Short(int64(*r.Context))
	}
	kind, words := r.Kind, r.Text
	if r.Did == replay.Compacted.String() && r.Boundary == nil {
		kind = jsonl.Compaction.String() // another agent's, which replay applies as a patch
		words = strings.TrimPrefix(words, kind+": ")
	}
	text := on.text(r.Kind, r.Active, words)
	if b := r.Boundary; b != nil {
		text = on.paint(faint, fmt.Sprintf("[%s#%d, %s (inferred)]", afterRequest(b.After), b.Before, b.Likely)) + " " +
			text
	}
	active := cmp.Or(phrase.If(!r.Active, "○"), " ")
	id := orDash(sessionfmt.Quote(short(r.ID)))
	if r.Kind == jsonl.Header.String() {
		id = "-" // the id of a session is long
	}
	less := style("")
	if strings.HasPrefix(tokens, "-") {
		less = added
	}
	line := active + on.paint(markOf[r.Mark], fmt.Sprintf("%-5s", mark)) + " " +
		on.paint(faint, clock(r.Time)+" "+fmt.Sprintf("%-*s", width, id)) + " " +
		on.paint(kindStyle(r.Kind), fmt.Sprintf("%-13s", shortKind(kind))) + " " +
		on.paint(less, fmt.Sprintf("%8s", tokens)) + fmt.Sprintf(" %7s", context) +
		"  " + text
	w.WriteString(strings.TrimRight(fit(line, lineWidth(on.Width)), " "))
	return w.WriteByte('\n')
}

// markOf are the styles of the marks of rows that made the context smaller.
var markOf = map[string]style{"T": changed, "C": changed}

func afterRequest(request int) string {
	return cmp.Or(phrase.If(request >= 0, "#%d to ", request), "before ")
}

// clock returns a timestamp's day and time, in the time zone of the file, mostly UTC.
func clock(stamp string) string {
	if len(stamp) < 19 || stamp[10] != 'T' {
		return "              "
	}
	return sessionfmt.Clean(stamp[5:10] + " " + stamp[11:19])
}

// shortKind returns a kind's name in 13 columns.
func shortKind(kind string) string {
	switch kind {
	case "thinking_level_change":
		return "thinking"
	case "context_transform":
		return "transform"
	case "branch_summary":
		return "branch"
	case "custom_message":
		return "custom_msg"
	}
	return fit(kind, 13)
}

// base returns the last part of a name with slashes.
func base(name string) string {
	return sessionfmt.Clean(name[strings.LastIndexByte(name, '/')+1:])
}
