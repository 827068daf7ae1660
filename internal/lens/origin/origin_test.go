package origin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

const shop = `package shop

// Price returns what a basket costs, in pence.
func Price(basket []Item) int {
	total := 0
	for _, item := range basket {
		total += item.Pence * item.Count
	}
	return total
}
`

// shopLines are the lines of shop with an origin, all but some.
func shopLines(origin string, but map[int]string) (all []string) {
	for line := range strings.Lines(shop) {
		all = append(all, origin+" "+strings.TrimSuffix(line, "\n"))
		if other, ok := but[len(all)]; ok {
			all[len(all)-1] = other
		}
	}
	return all
}

// likely are the lines of a text that a session may have written; those that tell nothing are unknown.
func likely(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); len(key(line)) < shortest {
			all = append(all, "unknown - "+line)
		} else {
			all = append(all, "likely one "+line)
		}
	}
	return all
}

// TestWritten: a file that a session wrote and a person committed.
func TestWritten(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.asked("one", "add a price")
	l.writes("one", "price.go", shop)
	l.commit("add a price")
	l.expect("price.go", shopLines("exact one", nil)...)
	f := must.Get(must.Get(Open(l.repo, os.Environ())).OfFile(l.options(), filepath.Join(l.repo, "price.go"), 4, 5))
	c, s := f.Calls[0], f.Sessions[0]
	if len(f.Lines) != 2 || f.Counts != (Counts{Exact: 2}) || f.Lines[0].Number != 4 || f.Commits[0].Subject != "add a price" {
		t.Errorf("%+v", f)
	}
	if c.Request != 0 || c.Prompt != "add a price" || c.Tool != "write" || *c.Cost != 0.5 || c.Line != 3 || s.Title != "add a price" ||
		s.Cost != 0.5 || s.Agent != "pi" {
		t.Errorf("%+v\n%+v", c, s)
	}
}

// TestScenes: what happens to a text on its way to the last commit.
func TestScenes(t *testing.T) {
	t.Parallel()
	const comment = "// Price returns what a basket costs, in pence."
	for name, scene := range map[string]func(l *lab){
		"edited by a person": func(l *lab) {
			l.writes("one", "price.go", shop)
			l.commit("add a price")
			l.file("price.go", strings.Replace(shop, "in pence", "in euro cents", 1))
			l.commit("other money")
			l.expect("price.go", shopLines("exact one", map[int]string{3: "edited one // Price returns what a basket costs, in euro cents."})...)
		},
		"edited by another session": func(l *lab) {
			l.writes("one", "price.go", shop)
			l.commit("add a price")
			l.edits("two", "price.go", "in pence", "in euro cents")
			l.commit("other money")
			l.expect("price.go", shopLines("exact one", map[int]string{3: "exact two // Price returns what a basket costs, in euro cents."})...)
		},
		"written by a person": func(l *lab) {
			l.file("price.go", shop)
			l.commit("add a price")
			l.writes("one", "other.go", shop)
			l.commit("other")
			l.expect("price.go", shopLines("unknown -", nil)...)
		},
		"written before the session": func(l *lab) {
			l.file("price.go", shop)
			l.commit("add a price")
			l.writes("one", "price.go", shop+"\nvar smallest = 1 // penny\n")
			l.commit("a penny")
			l.expect("price.go", append(shopLines("unknown -", nil), "exact one ", "exact one var smallest = 1 // penny")...)
		},
		"failed and refused": func(l *lab) {
			l.file("price.go", shop)
			l.called("one", "edit", map[string]any{"path": "price.go", "oldText": "x", "newText": comment}, true, "Could not find the text")
			l.called("one", "write", map[string]any{"path": "price.go", "content": shop}, true, "Blocked by a hook")
			l.called("one", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: price.go\n@@\n+" + comment +
				"\n*** End Patch"}, false, "apply_patch verification failed: no such line")
			l.called("one", "bash", map[string]any{"command": "cat > price.go <<'EOF'\n" + shop + "EOF"}, true, "Command exited with code 1")
			l.commit("by hand")
			l.expect("price.go", shopLines("unknown -", nil)...)
		},
		"reverted by the session": func(l *lab) {
			l.file("price.go", shop)
			l.commit("add a price")
			l.edits("one", "price.go", "in pence", "in shillings")
			l.edits("one", "price.go", "in shillings", "in pence")
			l.file("note.txt", "a\n")
			l.commit("nothing")
			l.expect("price.go", shopLines("unknown -", nil)...)
		},
		"branch switched": func(l *lab) {
			l.file("price.go", shop)
			l.commit("add a price")
			l.git("switch", "-q", "-c", "side")
			l.edits("one", "price.go", "total := 0", "total := smallest")
			l.commit("on the side")
			l.git("switch", "-q", "main")
			l.edits("one", "price.go", "in pence", "in euro cents")
			l.commit("on main")
			l.git("merge", "-q", "--no-edit", "side")
			l.expect("price.go", shopLines("unknown -", map[int]string{3: "exact one // Price returns what a basket costs, in euro cents.",
				5: "exact one \ttotal := smallest"})...)
		},
		"squashed": func(l *lab) {
			l.file("README", "a shop\n")
			l.commit("begin")
			l.git("switch", "-q", "-c", "side")
			l.writes("one", "price.go", shop)
			l.commit("add a price")
			l.edits("two", "price.go", "in pence", "in euro cents")
			l.commit("other money")
			l.git("switch", "-q", "main")
			l.git("merge", "-q", "--squash", "side")
			l.commit("all of it")
			l.expect("price.go", shopLines("exact one", map[int]string{3: "exact two // Price returns what a basket costs, in euro cents."})...)
		},
		"rebased": func(l *lab) {
			l.file("README", "a shop\n")
			l.commit("begin")
			l.git("switch", "-q", "-c", "side")
			l.writes("one", "price.go", shop)
			l.commit("add a price")
			l.edits("two", "price.go", "in pence", "in euro cents")
			l.commit("other money")
			l.git("switch", "-q", "main")
			l.file("README", "a large shop\n")
			l.commit("larger")
			l.git("switch", "-q", "side")
			l.git("rebase", "-q", "main")
			l.expect("price.go", shopLines("exact one", map[int]string{3: "exact two // Price returns what a basket costs, in euro cents."})...)
		},
		"amended": func(l *lab) {
			l.writes("one", "price.go", shop)
			l.commit("add a price")
			l.writes("one", "price.go", strings.Replace(shop, "in pence", "in euro cents", 1))
			l.git("add", "-A")
			l.git("commit", "-q", "--amend", "--no-edit")
			l.expect("price.go", shopLines("exact one", map[int]string{3: "exact one // Price returns what a basket costs, in euro cents."})...)
		},
		"renamed": func(l *lab) {
			l.writes("one", "price.go", shop)
			l.commit("add a price")
			l.git("mv", "price.go", "cost.go")
			l.commit("rename")
			l.edits("two", "cost.go", "in pence", "in euro cents")
			l.commit("other money")
			l.expect("cost.go", shopLines("exact one", map[int]string{3: "exact two // Price returns what a basket costs, in euro cents."})...)
		},
		"carriage returns": func(l *lab) {
			l.writes("one", "price.go", shop)
			l.file("price.go", strings.ReplaceAll(shop, "\n", "\r\n"))
			l.commit("add a price")
			l.edits("two", "price.go", "in pence", "in euro cents")
			l.commit("other money")
			l.expect("price.go", shopLines("exact one", map[int]string{3: "exact two // Price returns what a basket costs, in euro cents."})...)
		},
		"formatted": func(l *lab) {
			l.writes("one", "price.go", strings.ReplaceAll(shop, "\t", "    "))
			l.file("price.go", shop)
			l.commit("add a price")
			l.expect("price.go", shopLines("exact one", map[int]string{5: "edited one \ttotal := 0", 6: "edited one \tfor _, item := range basket {",
				7: "edited one \t\ttotal += item.Pence * item.Count", 8: "edited one \t}", 9: "edited one \treturn total"})...)
		},
		"not committed": func(l *lab) {
			l.writes("one", "price.go", shop)
			l.commit("add a price")
			l.edits("two", "price.go", "in pence", "in euro cents")
			l.expect("price.go", shopLines("exact one", map[int]string{3: "exact two // Price returns what a basket costs, in euro cents."})...)
		},
		"in a working tree of its own": func(l *lab) {
			l.file("README", "a shop\n")
			l.commit("begin")
			l.git("worktree", "add", "-q", "-b", "side", "../tree")
			l.writes("tree@one", "price.go", shop)
			l.gitIn(l.cwd("tree@one"), "add", "-A")
			l.gitIn(l.cwd("tree@one"), "commit", "-q", "-m", "add a price")
			l.git("worktree", "remove", "../tree")
			l.git("merge", "-q", "side")
			l.git("worktree", "add", "-q", "../tree", "HEAD~0")
			l.expect("price.go", shopLines("exact tree@one", nil)...)
		},
		"in a clone, and in another repository": func(l *lab) {
			l.git("remote", "add", "origin", "https://example.org/mara/shop.git")
			l.file("README", "a shop\n")
			l.commit("begin")
			for dir, url := range map[string]string{"clone": "git@example.org:mara/shop", "other": "https://example.org/tom/shop"} {
				l.gitIn(l.dir, "clone", "-q", l.repo, dir)
				l.gitIn(filepath.Join(l.dir, dir), "remote", "set-url", "origin", url)
				l.writes(dir+"@one", "price.go", shop)
			}
			l.file("price.go", shop)
			l.commit("add a price")
			l.expect("price.go", shopLines("exact clone@one", nil)...)
		},
		"by commands": func(l *lab) {
			l.called("one", "bash", map[string]any{"command": "cat > price.go <<'EOF'\n" + shop + "EOF"}, false, "")
			l.called("one", "bash", map[string]any{"command": "sed -i 's/in pence/in euro cents/' price.go && gofmt -l ."}, false, "")
			l.file("price.go", strings.Replace(shop, "in pence", "in euro cents", 1))
			l.commit("add a price")
			l.expect("price.go", shopLines("likely one", map[int]string{3: "likely one // Price returns what a basket costs, in euro cents."})...)
		},
		"by a patch": func(l *lab) {
			l.file("price.go", shop)
			l.commit("add a price")
			patch := "*** Begin Patch\n*** Update File: price.go\n@@ func Price\n \ttotal := 0\n-\tfor _, item := range basket {\n" +
				"+\tfor _, item := range sorted(basket) {\n*** Add File: item.go\n+package shop\n+\n+type Item struct{ Pence, Count int }\n*** End Patch\n"
			l.called("one", "apply_patch", map[string]any{"input": patch}, false, "Success. Updated the following files")
			l.file("price.go", strings.Replace(shop, "range basket", "range sorted(basket)", 1))
			l.file("item.go", "package shop\n\ntype Item struct{ Pence, Count int }\n")
			l.commit("sort")
			l.expect("price.go", shopLines("unknown -", map[int]string{6: "exact one \tfor _, item := range sorted(basket) {"})...)
			l.expect("item.go", "exact one package shop", "exact one ", "exact one type Item struct{ Pence, Count int }")
		},
		"written again by another session": func(l *lab) {
			l.writes("one", "price.go", shop)
			l.writes("two", "price.go", strings.Replace(shop, "in pence", "in cents", 1))
			l.commit("add a price")
			l.expect("price.go", shopLines("exact one", map[int]string{3: "exact two // Price returns what a basket costs, in cents."})...)
		},
		"a call that a fork repeats": func(l *lab) {
			l.writes("one", "price.go", shop)
			lines := string(must.Get(os.ReadFile(filepath.Join(l.dir, "store", "one.jsonl"))))
			head, rest, _ := strings.Cut(lines, "\n")
			head = strings.Replace(head, `"id":"one"`, `"id":"aaa","parentSession":"one.jsonl"`, 1)
			head = strings.Replace(head, "T09:04", "T09:05", 1)
			lines = head + "\n" + rest
			must.Do(os.WriteFile(filepath.Join(l.dir, "store", "aaa.jsonl"), []byte(lines), 0o644))
			l.last["aaa"] = l.last["one"]
			l.edits("aaa", "price.go", "in pence", "in cents")
			l.commit("add a price")
			f := l.report("price.go")
			if len(f.Sessions) != 2 || len(f.Calls) != 2 || f.Counts.Exact != 10 {
				l.t.Errorf("%+v", f)
			}
		},
		"renamed before it was written to": func(l *lab) {
			l.file("price.go", shop)
			l.commit("by hand")
			l.edits("one", "price.go", shop, strings.ToUpper(shop))
			l.git("mv", "price.go", "cost.go")
			l.file("cost.go", shop)
			l.commit("rename")
			l.file("cost.go", strings.ToUpper(shop))
			l.commit("what was written before")
			l.expect("cost.go", likely(strings.ToUpper(shop))...)
		},
		"the same text later, by a person": func(l *lab) {
			l.writes("one", "price.go", shop)
			l.commit("add a price")
			l.git("rm", "-q", "price.go")
			l.commit("no price")
			l.file("price.go", shop)
			l.commit("by hand")
			l.expect("price.go", likely(shop)...)
		},
		"common lines of a call, elsewhere": func(l *lab) {
			l.file("price.go", shop)
			l.commit("add a price")
			l.called("one", "edit", map[string]any{"path": "price.go", "oldText": "a text that only the session knew",
				"newText": "\t\tif item.Count < 1 {\n\t\t\tcontinue\n\t\t}"}, false, "ok")
			l.file("price.go", shop+"\nfunc count() {\n\t\t\tcontinue\n\t\t\tcontinue\n}\n")
			l.commit("by hand")
			l.expect("price.go", append(shopLines("unknown -", nil), "unknown - ", "unknown - func count() {",
				"unknown - \t\t\tcontinue", "unknown - \t\t\tcontinue", "unknown - }")...)
		},
		"in two working trees at once": func(l *lab) {
			l.file("price.go", shop)
			l.commit("add a price")
			l.git("worktree", "add", "-q", "-b", "side", "../tree")
			l.edits("tree@one", "price.go", "total := 0", "sum := 0")
			l.edits("two", "price.go", "total := 0\n", "total := 1\n")
			l.commit("on main")
			l.expect("price.go", shopLines("unknown -", map[int]string{5: "exact two \ttotal := 1"})...)
		},
		"nothing but equal lines": func(l *lab) {
			l.writes("one", "list.txt", strings.Repeat("count the items again\n", 30))
			l.commit("a list")
			l.expect("list.txt", slices.Repeat([]string{"exact one count the items again"}, 30)...)
		},
		"a common line between changed ones": func(l *lab) {
			l.writes("one", "a.txt", "first line of all\nread the items\ncount them again\nread the price\nlast line of all\n")
			l.commit("a text")
			l.file("a.txt", "first line of all\nread all items\ncount them again\nread a price\nlast line of all\n\n\n\n\n\n\n\ncount them again\n")
			l.commit("by hand")
			want := []string{"exact one first line of all", "edited one read all items", "likely one count them again",
				"edited one read a price", "exact one last line of all"}
			want = append(want, slices.Repeat([]string{"unknown - "}, 7)...)
			l.expect("a.txt", append(want, "unknown - count them again")...)
		},
		"several edits": func(l *lab) {
			l.file("price.go", shop)
			l.commit("add a price")
			l.called("one", "multiedit", map[string]any{"file_path": filepath.Join(l.repo, "price.go"), "edits": []any{
				map[string]any{"old_string": "total", "new_string": "sum", "replace_all": true},
				map[string]any{"old_string": "sum := 0\n", "new_string": "sum := 0 // pence\n"}}}, false, "ok")
			l.file("price.go", strings.Replace(strings.ReplaceAll(shop, "total", "sum"), "sum := 0\n", "sum := 0 // pence\n", 1))
			l.commit("shorter")
			l.expect("price.go", shopLines("unknown -", map[int]string{5: "exact one \tsum := 0 // pence",
				7: "exact one \t\tsum += item.Pence * item.Count", 9: "exact one \treturn sum"})...)
		},
		"common lines elsewhere": func(l *lab) {
			l.writes("one", "price.go", shop)
			l.commit("add a price")
			l.file("price.go", shop+"\nfunc count(basket []Item) int {\n\tn := 0\n\tfor range basket {\n\t\tn++\n\t}\n\treturn n\n}\n")
			l.commit("by hand")
			l.expect("price.go", append(shopLines("exact one", nil), "unknown - ", "unknown - func count(basket []Item) int {",
				"unknown - \tn := 0", "unknown - \tfor range basket {", "unknown - \t\tn++", "unknown - \t}", "unknown - \treturn n", "unknown - }")...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scene(newLab(t))
		})
	}
}
