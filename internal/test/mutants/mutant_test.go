package main

import (
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

const source = `package p

const limit = 7

func f(a, b int, s string) (n int) {
	for a < b && s != "" {
		if a+1 == 3 {
			continue
		}
		n = a - b
		n++
		g(true, s+"x")
	}
	return n
}
`

// TestMutants: each change of a small file, in its place.
func TestMutants(t *testing.T) {
	var got []string
	for _, m := range Mutants("p.go", []byte(source)) {
		was, is := strings.Split(source, "\n"), strings.Split(string(m.Source([]byte(source))), "\n")
		if len(was) != len(is) || was[m.Line-1] == is[m.Line-1] {
			t.Errorf("%s: changes another line", m)
		}
		is[m.Line-1] = ""
		if was[m.Line-1] = ""; !slices.Equal(was, is) {
			t.Errorf("%s: changes more than its line", m)
		}
		got = append(got, m.String()+": "+strings.TrimSpace(strings.Split(string(m.Source([]byte(source))), "\n")[m.Line-1]))
	}
	want := []string{
		`p.go:6: && becomes || in a < b && s != "": for a < b || s != "" {`,
		`p.go:6: < becomes <= in a < b: for a <= b && s != "" {`,
		`p.go:6: != becomes == in s != "": for a < b && s == "" {`,
		`p.go:10: removed: n = a - b: _ = n`,
		`p.go:11: removed: n++: `,
		`p.go:12: removed: g(true, s+"x"): `,
		`p.go:7: negated: if a+1 == 3: if !(a+1 == 3) {`,
		`p.go:7: == becomes != in a+1 == 3: if a+1 != 3 {`,
		`p.go:7: + becomes - in a+1: if a - 1 == 3 {`,
		`p.go:7: 1 becomes 2: if a+2 == 3 {`,
		`p.go:7: 3 becomes 4: if a+1 == 4 {`,
		`p.go:8: continue becomes break: break`,
		`p.go:10: - becomes + in a - b: n = a + b`,
		`p.go:12: true becomes false: g(false, s+"x")`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestVerdicts: a mutant is dead by a test that fails, lives without one, and is broken if it does not compile. The
// files of the package stay as they are.
func TestVerdicts(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	text := "package p\n\nfunc More(n int) int {\n\tx := n + 1\n\treturn x\n}\n\nfunc Less(n int) int { return n - 1 }\n"
	for name, data := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n", "p/p.go": text,
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {\n\tif More(1) != 2 {\n\t\tt.Error(More(1))\n\t}\n}\n",
	} {
		must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(os.WriteFile(name, []byte(data), 0o644))
	}
	want := map[string]verdict{"+ becomes - in n + 1": dead, "- becomes + in n - 1": lives}
	tried := 0
	for _, m := range Mutants("p/p.go", []byte(text)) {
		if verdict, known := want[m.What]; known {
			if got := m.run(dir); got != verdict {
				t.Errorf("%s: %v, want %v", m, got, verdict)
			}
			tried++
		}
	}
	if drawn := draw(rand.New(rand.NewSource(1)), []string{"p"})(); tried != len(want) || drawn.File != "p/p.go" {
		t.Errorf("%d mutants, one is %s", tried, drawn)
	}
	wrong := Mutants("p/p.go", []byte(text))[0]
	if wrong.text = "no"; wrong.run(dir) != broken {
		t.Error("a mutant that does not compile is run")
	}
	if string(must.Get(os.ReadFile("p/p.go"))) != text {
		t.Error("the file has changed")
	}
}
