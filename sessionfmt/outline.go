package sessionfmt

import (
	"iter"
	"slices"
)

// A Node is an entry in an outline of a session's tree, an entry of schema
// ctxtool/tree/1.
type Node struct {
	ID     string `json:"id,omitempty"`     // of the entry
	Line   int    `json:"line"`             // in the file, from 1
	Parent string `json:"parent,omitempty"` // its id; absent for a root
	Kind   string `json:"kind"`             // the role of a message, else the type
	Time   string `json:"time,omitempty"`   // the entry's timestamp as it stands
	Text   string `json:"text,omitempty"`   // its first words; nothing in them that a terminal would obey
	Label  string `json:"label,omitempty"`  // that it has at the end of the file
	Active bool   `json:"active,omitempty"` // on the path to the leaf
	Leaf   bool   `json:"leaf,omitempty"`   // the leaf itself

	Depth    int    `json:"depth"`              // of branches, from 0
	Children int    `json:"children,omitempty"` // entries below it, where there are several
	Branch   int    `json:"branch,omitempty"`   // where a branch or one of several roots starts: its entries
	Tip      string `json:"tip,omitempty"`      // and the id of the last of them in the file

	Is Kind `json:"-"`
}

// Outline goes through the tree of a session from the top of its drawing to the bottom:
// at a fork the branches first, then what the path to the leaf or the newest entry is on.
// Nothing in it is recursive: a tree may be as deep as it has entries.
func (s *Session) Outline(leaf int) iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		labels, err := s.Labels()
		if err != nil {
			yield(Node{}, err)
			return
		}
		o := outline{s: s, leaf: leaf, tree: s.Tree(), lines: s.NewReader(), labels: map[int]string{}, active: make([]bool, s.Len())}
		for name, i := range labels {
			o.labels[i] = name
		}
		path, _ := s.Path(leaf)
		for _, i := range path {
			o.active[i] = true
		}
		o.walk(yield)
	}
}

type outline struct {
	s      *Session
	leaf   int
	tree   *Tree
	lines  *Reader
	labels map[int]string
	active []bool
}

func (o *outline) walk(yield func(Node, error) bool) {
	type frame struct {
		record, depth int
		branch        bool
	}
	var stack []frame
	for k := len(o.tree.Roots) - 1; k >= 0; k-- {
		stack = append(stack, frame{o.tree.Roots[k], 0, len(o.tree.Roots) > 1})
	}
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		children := slices.Collect(o.tree.Children(f.record))
		if node, err := o.node(f.record, len(children), f.depth, f.branch); !yield(node, err) || err != nil {
			return
		}
		main := o.main(children)
		if main >= 0 {
			stack = append(stack, frame{main, f.depth, false})
		}
		for _, c := range slices.Backward(children) {
			if c != main {
				stack = append(stack, frame{c, f.depth + 1, true})
			}
		}
	}
}

// main is the child that goes on in its parent's column, -1 where there is none.
func (o *outline) main(children []int) int {
	best := -1
	for _, c := range children {
		if o.active[c] {
			return c
		}
		if best < 0 || o.tree.Tip(c) > o.tree.Tip(best) {
			best = c
		}
	}
	return best
}

func (o *outline) node(i, children, depth int, branch bool) (n Node, err error) {
	s := o.s
	line, err := o.lines.Line(i)
	if err != nil {
		return n, err
	}
	say := o.lines.Row(i, line)
	n = Node{
		ID: say.ID, Line: say.Line, Kind: say.Kind, Time: say.Time, Text: say.Text,
		Label: o.labels[i], Active: o.active[i], Leaf: i == o.leaf, Depth: depth, Is: s.Kind(i),
	}
	if p := s.Parent(i); p >= 0 {
		n.Parent = s.ID(p)
	}
	if children > 1 {
		n.Children = children
	}
	if branch {
		n.Branch, n.Tip = o.tree.Size(i), s.ID(o.tree.Tip(i))
	}
	return n, nil
}

// A Row is what an entry says of itself.
type Row struct {
	ID   string `json:"id,omitempty"`
	Line int    `json:"line"`           // in the file, from 1
	Time string `json:"time,omitempty"` // the entry's timestamp as it stands
	Kind string `json:"kind"`           // the role of a message, else the type
	Text string `json:"text,omitempty"` // its first words
}

// Row is record i's row; line is its line.
func (r *Reader) Row(i int, line Value) Row {
	kind := r.s.Kind(i)
	time := r.gist.entry(kind, line)
	return Row{r.s.ID(i), r.s.Line(i), time.Text(), kind.String(), r.gist.String()}
}

// Rows are the rows of records.
func (s *Session) Rows(records []int) ([]Row, error) {
	lines, rows := s.NewReader(), make([]Row, len(records))
	for i, rec := range records {
		line, err := lines.Line(rec)
		if err != nil {
			return nil, err
		}
		rows[i] = lines.Row(rec, line)
	}
	return rows, nil
}
