// Package claims holds the tables of compared rules to recordings: what tests compared with requests that
// real programs sent. Under -update it writes them.
package claims

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/rule"
)

// A Tally counts compared requests by the rules that they used.
type Tally struct {
	of    *rule.Table
	names []string                         // of the constants, by rule
	rows  map[rule.Compared]*rule.Compared // by the key of a row: without its counts
}

// New returns an empty tally of an agent's rules, whose constants are declared in a file of the package that
// is tested.
func New(t testing.TB, of *rule.Table, file string) *Tally {
	names := constants(filepath.Join(corpus.Root(t), "sessionfmt/rule/rule.go"))
	for k := range names {
		names[k] = "rule." + names[k]
	}
	return &Tally{of, append(names[:rule.Own:rule.Own], constants(file)...), map[rule.Compared]*rule.Compared{}}
}

// constants returns the names of the rules that a file declares, in order.
func constants(file string) (names []string) {
	for _, d := range must.Get(parser.ParseFile(token.NewFileSet(), file, nil, 0)).Decls {
		block, ok := d.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST || !strings.HasSuffix(typeOf(block.Specs[0]), "Rule") {
			continue
		}
		for _, spec := range block.Specs {
			names = append(names, spec.(*ast.ValueSpec).Names[0].Name)
		}
	}
	return names
}

// typeOf returns the type that a constant is declared with, empty for none.
func typeOf(spec ast.Spec) string {
	switch t := spec.(*ast.ValueSpec).Type.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return ""
}

// Add counts a request that a version of the program sent. Where a file does not hold all that was sent, an unequal
// request counts for that rule alone: it shows nothing of the others.
func (t *Tally) Add(version string, used rule.Set, asked rule.Asked, equal bool) {
	missing := func(r rule.Rule) bool { return t.of.Info(r).Missing }
	if !slices.ContainsFunc(slices.Collect(used.All), missing) {
		missing = func(r rule.Rule) bool { return t.of.Info(r).Outside }
	}
	lacks := !equal && slices.ContainsFunc(slices.Collect(used.All), missing)
	for r := range used.All {
		if lacks && !missing(r) {
			continue
		}
		key := rule.Compared{Rule: r, Version: version, Of: asked.Of(t.of.Info(r).Scope)}
		row := t.rows[key]
		if row == nil {
			row = new(key)
			t.rows[key] = row
		}
		row.Requests++
		if equal {
			row.Equal++
		}
	}
}

// Rows returns the rows, ordered by version, rule, and provider or model.
func (t *Tally) Rows() []rule.Compared {
	order := func(a, b rule.Compared) int {
		return cmp.Or(rule.Versions(a.Version, b.Version), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Of, b.Of))
	}
	var rows []rule.Compared
	for _, one := range t.rows {
		rows = append(rows, *one)
	}
	return slices.SortedFunc(slices.Values(rows), order)
}

// Hold holds the rows of a file to the tally, which has whole versions or none of them. Under update it
// replaces those of these versions. The file is one of package pkg, and has the rows in a variable.
func (t *Tally) Hold(tb testing.TB, update bool, file, pkg, variable string) {
	tb.Helper()
	had := t.read(file)
	versions := map[string]bool{}
	for key := range t.rows {
		versions[key.Version] = true
	}
	ours := func(c rule.Compared) bool { return versions[c.Version] }
	rows := t.Rows()
	if slices.Equal(rows, slices.Collect(filter(had, ours))) {
		return
	}
	if !update {
		tb.Errorf("%s: the rows of %s are not those of the recordings; -update writes them:\n%v", file,
			slices.Sorted(maps.Keys(versions)), rows)
		return
	}
	all := append(slices.DeleteFunc(slices.Clone(had), ours), rows...)
	slices.SortStableFunc(all, func(a, b rule.Compared) int { return rule.Versions(a.Version, b.Version) })
	must.Do(os.WriteFile(file, t.source(pkg, variable, all), 0o644))
}

func filter(all []rule.Compared, want func(rule.Compared) bool) func(func(rule.Compared) bool) {
	return func(yield func(rule.Compared) bool) {
		for _, c := range all {
			if want(c) && !yield(c) {
				return
			}
		}
	}
}

// read returns the rows of a file, none if there is no such.
func (t *Tally) read(file string) (rows []rule.Compared) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for _, m := range rowPattern.FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, rule.Compared{Rule: rule.Rule(slices.Index(t.names, m[1])), Version: m[2], Of: m[3],
			Requests: must.Get(strconv.Atoi(m[4])), Equal: must.Get(strconv.Atoi(m[5]))})
	}
	return rows
}

var rowPattern = regexp.MustCompile(`\{Rule: (\S+), Version: "(.*?)", (?:Of: "(.*?)", )?` +
	`Requests: (\d+), Equal: (\d+)\}`)

// source returns the Go file of rows.
func (t *Tally) source(pkg, variable string, rows []rule.Compared) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by go test -update from recorded requests; DO NOT EDIT.\n\npackage %s\n\n", pkg)
	fmt.Fprintf(&b, "import %q\n\nvar %s = []rule.Compared{\n",
		reflect.TypeFor[rule.Rule]().PkgPath(), variable)
	for k, c := range rows {
		if k > 0 && c.Version != rows[k-1].Version {
			b.WriteString("\n")
		}
		of := ""
		if c.Of != "" {
			of = fmt.Sprintf("Of: %q, ", c.Of)
		}
		fmt.Fprintf(&b, "\t{Rule: %s, Version: %q, %sRequests: %d, Equal: %d},\n", t.names[c.Rule], c.Version, of,
			c.Requests, c.Equal)
	}
	b.WriteString("}\n")
	return must.Get(format.Source(b.Bytes()))
}
