// Package outline describes a session's entries in one line each, and its tree in the order in
// which it is drawn.
package outline

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Node is an entry in an outline of a session's tree, an entry of schema
// ctxtool/tree/1.
type Node struct {
	ID     string `json:"id,omitempty"`     // of the entry
	Line   int    `json:"line"`             // in the file, from 1
	Parent string `json:"parent,omitempty"` // its id; absent for a root
	Kind   string `json:"kind"`             // the role of a message, else the type
	Time   string `json:"time,omitempty"`   // the entry's timestamp as in the file
	Text   string `json:"text,omitempty"`   // its first words, without terminal escapes
	Label  string `json:"label,omitempty"`  // its label at the end of the file
	Active bool   `json:"active,omitempty"` // on the path to the leaf
	Leaf   bool   `json:"leaf,omitempty"`   // the leaf itself

	Depth    int    `json:"depth"`              // branch depth, from 0
	Children int    `json:"children,omitempty"` // number of children, if there are several
	Branch   int    `json:"branch,omitempty"`   // number of entries of the branch or root tree that starts here
	Last     string `json:"tip,omitempty"`      // id of the last of them in the file

	Is jsonl.Kind `json:"-"`
}

// Of returns the tree of a session in the order in which it is drawn: at a fork the other
// branches first, then the branch of the leaf or of the newest entry. It does not use
// recursion, since a tree may be as deep as it has entries.
func Of(s *sessionfmt.Session, leaf int) iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		labels, err := s.Labels()
		if err != nil {
			yield(Node{}, err)
			return
		}
		o := outline{s: s, leaf: leaf, tree: s.Tree(), lines: NewReader(s), labels: map[int]string{},
			active: make([]bool, s.Len())}
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
	s      *sessionfmt.Session
	leaf   int
	tree   *sessionfmt.Tree
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

// main returns the child that continues in its parent's column, -1 for none.
func (o *outline) main(children []int) int {
	best := -1
	for _, c := range children {
		if o.active[c] {
			return c
		}
		if best < 0 || o.tree.LastBelow(c) > o.tree.LastBelow(best) {
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
		n.Branch, n.Last = o.tree.Size(i), s.ID(o.tree.LastBelow(i))
	}
	return n, nil
}

// A Row describes an entry.
type Row struct {
	ID   string `json:"id,omitempty"`
	Line int    `json:"line"`           // in the file, from 1
	Time string `json:"time,omitempty"` // the entry's timestamp as in the file
	Kind string `json:"kind"`           // the role of a message, else the type
	Text string `json:"text,omitempty"` // its first words
}

// A Reader reads a session's records as rows.
type Reader struct {
	*sessionfmt.Reader
	s    *sessionfmt.Session
	gist gist
}

// NewReader returns a Reader of s.
func NewReader(s *sessionfmt.Session) *Reader { return &Reader{Reader: s.NewReader(), s: s} }

// Row returns the row of record i; line is its line.
func (r *Reader) Row(i int, line jsonl.Value) Row {
	kind := r.s.Kind(i)
	time := r.gist.entry(kind, line)
	if kind == jsonl.Transform && r.s.Dialect() != nil {
		kept, _ := r.s.Kept(i)
		r.gist.replaced(line.Get("transformerName"), line.Get("patch"), kept.Count())
		if line.Get("unrecordedCall").Truthy() {
			r.gist.add("; no file has the call for its summary")
		}
	}
	return Row{r.s.ID(i), r.s.Line(i), time.Text(), kind.String(), r.gist.String()}
}

// Message returns the message that Row read last, of an entry that has one.
func (r *Reader) Message() *jsonl.Message { return &r.gist.msg }

// Rows returns the rows of records.
func Rows(s *sessionfmt.Session, records []int) ([]Row, error) {
	lines, rows := NewReader(s), make([]Row, len(records))
	for i, rec := range records {
		line, err := lines.Line(rec)
		if err != nil {
			return nil, err
		}
		rows[i] = lines.Row(rec, line)
	}
	return rows, nil
}

// An About is what a session is, by its header, its name and its first prompt.
type About = sessionfmt.About

// ReadHeader sets what the header of a session tells.
func ReadHeader(a *About, line jsonl.Value) {
	a.ID, a.CWD, a.Began = line.Get("id").Text(), line.Get("cwd").Text(), line.Get("timestamp").Text()
	a.Continued, a.Bridge = line.Get("continuedIn").Text(), line.Get("bridgeSession").Text()
	a.Name = cmp.Or(a.Name, FirstWords(line.Get("title").Text()))
}

// Headed returns what the header of a session tells.
func Headed(s *sessionfmt.Session) (a About, err error) {
	line, err := s.HeaderLine()
	ReadHeader(&a, line)
	return a, err
}

// Entitle sets the name of a session or, where it has none, what a person typed first; see FirstPrompt.
func Entitle(a *About, s *sessionfmt.Session, leaf int) (err error) {
	for i := s.Len() - 1; i >= 0; i-- {
		if kind := s.Kind(i); kind == jsonl.SessionInfo || kind == jsonl.Retitled || kind == jsonl.Slot {
			line, err := s.NewReader().Line(i)
			if a.Name = Gist(kind, line); err != nil || a.Name != "" {
				return err
			}
			break
		}
	}
	a.First, err = FirstPrompt(s, leaf)
	return err
}

// Points returns the labels and the ids of a session's path that begin with a text, each with
// the first words of its entry: labels in alphabetical order, then ids from the leaf up.
func Points(s *sessionfmt.Session, prefix string) iter.Seq2[string, string] {
	return func(yield func(point, about string) bool) {
		lines := s.NewReader()
		about := func(i int) string {
			line, err := lines.Line(i)
			if err != nil {
				return ""
			}
			return sessionfmt.Quote(s.Kind(i).String() + " " + Gist(s.Kind(i), line))
		}
		labels, err := s.Labels()
		if err != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			if strings.HasPrefix(name, prefix) && !yield(name, about(labels[name])) {
				return
			}
		}
		path, _ := s.Path(s.Leaf())
		for _, i := range slices.Backward(path) {
			if id := s.ID(i); strings.HasPrefix(id, prefix) && !yield(id, about(i)) {
				return
			}
		}
	}
}
