package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ctxtool/sessionfmt"
)

// A TreeNode is an entry in a drawing of a session's tree.
type TreeNode struct {
	ID     string `json:"id,omitempty"`
	Line   int    `json:"line"`
	Parent string `json:"parent,omitempty"` // id; absent for a root
	Kind   string `json:"kind"`
	Time   string `json:"time,omitempty"` // as it stands in the file
	Text   string `json:"text,omitempty"` // the first words
	Label  string `json:"label,omitempty"`
	Active bool   `json:"active,omitempty"` // on the path to the leaf
	Leaf   bool   `json:"leaf,omitempty"`

	Depth    int    `json:"depth"`              // of branches, from 0
	Children int    `json:"children,omitempty"` // where there is more than one
	Branch   int    `json:"branch,omitempty"`   // entries of the branch that starts here
	Tip      string `json:"tip,omitempty"`      // id of its last entry

	kind sessionfmt.Kind
}

// A TreeReport is a session's tree, ready to be drawn.
type TreeReport struct {
	Session *sessionfmt.Session
	Leaf    int             // record that the active path ends at
	Only    map[string]bool // kinds to show; nil for all
	Fold    bool            // put long runs into one line
	Width   int             // of the terminal, in columns; 0 for none
	Found   []sessionfmt.Finding
}

// walk goes through the tree from the top of its drawing to the bottom: at a fork
// the branches first, then what the active path or the newest entry is on. Nothing
// in it is recursive: a tree may be as deep as it has entries.
func (r TreeReport) walk(yield func(TreeNode) error) error {
	labels, err := r.Session.Labels()
	if err != nil {
		return err
	}
	w := treeWalk{TreeReport: r, tree: r.Session.Tree(), lines: r.Session.NewReader(), labels: map[int]string{}, active: make([]bool, r.Session.Len())}
	for name, i := range labels {
		w.labels[i] = name
	}
	path, _ := r.Session.Path(r.Leaf)
	for _, i := range path {
		w.active[i] = true
	}
	type frame struct {
		record, depth int
		branch        bool
	}
	var stack []frame
	for k := len(w.tree.Roots) - 1; k >= 0; k-- {
		stack = append(stack, frame{w.tree.Roots[k], 0, len(w.tree.Roots) > 1})
	}
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		node, children, err := w.node(f.record, f.depth, f.branch)
		if err != nil {
			return err
		}
		if err := yield(node); err != nil {
			return err
		}
		main := w.main(children)
		if main >= 0 {
			stack = append(stack, frame{main, f.depth, false})
		}
		for k := len(children) - 1; k >= 0; k-- {
			if children[k] != main {
				stack = append(stack, frame{children[k], f.depth + 1, true})
			}
		}
	}
	return nil
}

type treeWalk struct {
	TreeReport
	tree   *sessionfmt.Tree
	lines  *sessionfmt.Reader
	labels map[int]string
	active []bool
}

// main is the child that goes on in its parent's column, -1 where there is none.
func (w *treeWalk) main(children []int) int {
	best := -1
	for _, c := range children {
		if w.active[c] {
			return c
		}
		if best < 0 || w.tree.Tip(c) > w.tree.Tip(best) {
			best = c
		}
	}
	return best
}

func (w *treeWalk) node(i, depth int, branch bool) (n TreeNode, children []int, err error) {
	s := w.Session
	line, err := w.lines.Line(i)
	if err != nil {
		return n, nil, err
	}
	for c := range w.tree.Children(i) {
		children = append(children, c)
	}
	n = TreeNode{
		ID: s.ID(i), Line: s.Line(i), Kind: s.Kind(i).String(), Time: line.Get("timestamp").Text(), Text: sessionfmt.Gist(s.Kind(i), line),
		Label: w.labels[i], Active: w.active[i], Leaf: i == w.Leaf, Depth: depth, kind: s.Kind(i),
	}
	if p := s.Parent(i); p >= 0 {
		n.Parent = s.ID(p)
	}
	if len(children) > 1 {
		n.Children = len(children)
	}
	if branch {
		n.Branch, n.Tip = w.tree.Size(i), s.ID(w.tree.Tip(i))
	}
	return n, children, nil
}

// shown says whether a filter lets the node through.
func (r TreeReport) shown(n TreeNode) bool { return r.Only == nil || r.Only[n.Kind] }

// WriteTreeJSON writes the tree as one object, schema ctxtool/tree/1.
func WriteTreeJSON(out io.Writer, r TreeReport) error {
	w := bufio.NewWriterSize(out, 64<<10)
	o := object{w: w}
	o.text("schema", "ctxtool/tree/1")
	if r.Leaf >= 0 {
		o.text("leaf", r.Session.ID(r.Leaf))
	}
	o.key("entries")
	first := true
	err := r.walk(func(n TreeNode) error {
		if !r.shown(n) {
			return nil
		}
		sep := ",\n"
		if first {
			sep, first = "[\n", false
		}
		w.WriteString(sep)
		return writeValue(w, n)
	})
	if err != nil {
		return err
	}
	if first {
		w.WriteString("[")
	}
	w.WriteString("]")
	o.value("coverage", r.Session.Coverage)
	if len(r.Found) > 0 {
		o.value("findings", r.Found)
	}
	o.close()
	w.WriteByte('\n')
	return w.Flush()
}

// WriteTree draws the tree.
func WriteTree(out io.Writer, r TreeReport) error {
	d := drawing{r: r, w: bufio.NewWriterSize(out, 64<<10)}
	err := r.walk(func(n TreeNode) error {
		if r.shown(n) {
			d.add(n)
		}
		return nil
	})
	d.flush()
	if err != nil {
		return err
	}
	return d.w.Flush()
}

// A drawing puts nodes on lines, and runs that say little into one.
type drawing struct {
	r   TreeReport
	w   *bufio.Writer
	run []TreeNode // that could be folded: the first of them, as many as stay if there are no more
	n   int        // all of them
	// Their kinds, in the order in which they came, and how many of each.
	kinds []string
	count map[string]int
}

// fewNodes is how many entries are not folded.
const fewNodes = 3

// gather adds an entry to the run.
func (d *drawing) gather(n TreeNode) {
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

// foldable says that an entry is one of many: what answers and tools say between
// prompts, and bookkeeping.
func foldable(n TreeNode) bool {
	switch n.kind {
	case sessionfmt.Assistant, sessionfmt.ToolResult, sessionfmt.CustomEntry, sessionfmt.UsageEntry, sessionfmt.ModelChange,
		sessionfmt.ThinkingChange, sessionfmt.Ephemeral, sessionfmt.Label, sessionfmt.SessionInfo, sessionfmt.TransformMessage:
		return n.Label == "" && !n.Leaf && n.Branch == 0 && n.Children == 0
	}
	return false
}

func (d *drawing) add(n TreeNode) {
	if d.r.Fold && foldable(n) && (len(d.run) == 0 || d.run[0].Depth == n.Depth) {
		d.gather(n)
		return
	}
	d.flush()
	if d.r.Fold && foldable(n) {
		d.gather(n)
		return
	}
	d.line(n)
}

// flush writes the run that has gathered: in one line if it is long.
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
	fmt.Fprintf(d.w, "%s⋮ %d entries: %s\n", lead, n, strings.Join(d.kinds, ", "))
}

// maxLead is how many columns of branches are drawn; below them the depth is told
// as a number.
const maxLead = 12

// leads is what stands left of a node: the lines of the columns that go on, and
// for the first of a branch where it leaves its parent's.
func leads(n TreeNode, branch bool) (lead string, deep string) {
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

func (d *drawing) line(n TreeNode) {
	lead, deep := leads(n, n.Branch > 0)
	mark := "○"
	if n.Active {
		mark = "●"
	}
	text := fmt.Sprintf("%s%s %s%s %s", lead, mark, deep, orDash(sessionfmt.Quote(n.ID)), n.Kind)
	if n.Label != "" {
		text += " [" + sessionfmt.Quote(n.Label) + "]"
	}
	if n.Leaf {
		text += " ← leaf"
	}
	if n.Branch > 0 {
		text += fmt.Sprintf(" (%s, tip %s)", counted(n.Branch), orDash(sessionfmt.Quote(n.Tip)))
	}
	if n.Text != "" {
		text += "  " + n.Text
	}
	width := d.r.Width
	if width == 0 {
		width = 160
	}
	d.w.WriteString(fit(text, width))
	d.w.WriteByte('\n')
}

func counted(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// orDash stands in for an id that is not there.
func orDash(id string) string {
	if id == "" {
		return "-"
	}
	return id
}
