package sessionfmt_test

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/read/outline"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestTreeHasEveryEntryOnce: whatever the parents say.
func TestTreeHasEveryEntryOnce(t *testing.T) {
	everySession(t, func(t *testing.T, _ []byte, s *sessionfmt.Session) {
		tree := s.Tree()
		seen := map[int]bool{}
		for _, root := range tree.Roots {
			n := 0
			for stack := []int{root}; len(stack) > 0; {
				i := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				if seen[i] {
					t.Fatalf("record %d is there twice", i)
				}
				seen[i] = true
				n++
				for c := range tree.Children(i) {
					stack = append(stack, c)
				}
			}
			if n != tree.Size(root) {
				t.Errorf("root %d: size %d, has %d", root, tree.Size(root), n)
			}
		}
		if len(seen) != s.Coverage.Entries {
			t.Errorf("%d entries in the tree, %d in the file", len(seen), s.Coverage.Entries)
		}
	})
}

// TestTreeShape: children in the order of the file, leaves, and a cycle.
func TestTreeShape(t *testing.T) {
	var b strings.Builder
	b.WriteString(headerLine)
	for _, link := range []string{"a ", "b a", "c b", "d a", "x y", "y x", "z x"} {
		id, parent, _ := strings.Cut(link, " ")
		fmt.Fprintf(&b, `{"type":"label","id":%q,"parentId":%q,"timestamp":"","targetId":""}`+"\n", id, parent)
	}
	s := opened(t, b.String())
	tree := s.Tree()
	name := func(list []int) (names string) {
		for _, i := range list {
			names += s.ID(i)
		}
		return names
	}
	var children []int
	for c := range tree.Children(s.Find("a")) {
		children = append(children, c)
	}
	if got := name(tree.Roots) + " " + name(children) + " " + s.ID(tree.LastBelow(s.Find("b"))); got != "ax bd c" {
		t.Error(got)
	}
	if n := tree.Size(s.Find("x")); n != 3 {
		t.Errorf("the circle has %d entries", n)
	}
}

// TestGist: every entry has one line to show, and nothing in it that a terminal
// would obey.
func TestGist(t *testing.T) {
	hostile := opened(t, headerLine+`{"type":"message","id":"a","parentId":null,"timestamp":"","message":{"role":"user","content":"one\ntwo \u001b[31mred\u202e\u0007"}}`+"\n")
	line := must.Get(hostile.NewReader().Line(1))
	if got := outline.Gist(jsonl.User, line); got != "one two \uFFFD[31mred\uFFFD\uFFFD" {
		t.Errorf("%q", got)
	}
	for _, c := range corpus.Own(t) {
		if !strings.HasPrefix(c.Name, "sessions/good/") && !strings.HasSuffix(c.Name, "demo.jsonl") {
			continue
		}
		s := opened(t, string(c.Data))
		r := s.NewReader()
		for i := range s.Len() {
			line := must.Get(r.Line(i))
			if got := outline.Gist(s.Kind(i), line); strings.ContainsAny(got, "\n\t\x1b") || len(got) > 2000 {
				t.Errorf("%s:%d: %q", c.Name, s.Line(i), got)
			}
		}
	}
}
