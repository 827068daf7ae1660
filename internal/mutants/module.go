//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A goPackage is a package of the module, as go list describes it.
type goPackage struct {
	ImportPath, Dir, Name                    string
	Module                                   struct{ Path, Dir string }
	GoFiles, TestGoFiles, XTestGoFiles       []string
	Imports, Deps, TestImports, XTestImports []string
}

func (p *goPackage) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// A module has all packages of the module at a root.
type module struct {
	root     string
	packages map[string]*goPackage
}

func readModule(ctx context.Context, root string) (*module, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	r := command{dir: root, args: []string{"go", "list", "-json", "./..."}}.run(ctx)
	if r.err != nil {
		return nil, fmt.Errorf("go list: %w: %s", r.err, bytes.TrimSpace(r.out))
	}
	m := &module{root: root, packages: map[string]*goPackage{}}
	for dec := json.NewDecoder(bytes.NewReader(r.out)); ; {
		var p goPackage
		if err := dec.Decode(&p); err == io.EOF {
			return m, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Module.Dir != root {
			return nil, fmt.Errorf("%s is not the root of a module", root)
		}
		m.packages[p.ImportPath] = &p
	}
}

// mutants returns the mutants of the packages in the folders and their subfolders,
// without package main. Files that are not built on this system have none.
func (m *module) mutants(folders []string) (all []mutant, err error) {
	for _, folder := range folders {
		n := len(all)
		for _, p := range m.sorted() {
			rel, err := filepath.Rel(m.root, p.Dir)
			if err != nil {
				return nil, err
			}
			if p.Name == "main" || !within(filepath.ToSlash(rel), folder) {
				continue
			}
			for _, file := range p.GoFiles {
				more, err := findMutants(p.ImportPath, m.root, filepath.Join(rel, file))
				if err != nil {
					return nil, err
				}
				all = append(all, more...)
			}
		}
		if len(all) == n {
			return nil, fmt.Errorf("%s: nothing to mutate", folder)
		}
	}
	return all, nil
}

func within(name, folder string) bool {
	folder = path.Clean(folder)
	return folder == "." || name == folder || strings.HasPrefix(name, folder+"/")
}

func (m *module) sorted() []*goPackage {
	var all []*goPackage
	for _, p := range m.packages {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *goPackage) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return all
}

// tests returns the packages whose tests may notice a change of pkg: pkg, and those that
// depend on it.
func (m *module) tests(pkg string) (list []string) {
	for _, p := range m.sorted() {
		if p.hasTests() && (p.ImportPath == pkg || m.reaches(p, pkg)) {
			list = append(list, p.ImportPath)
		}
	}
	return list
}

// reaches reports whether pkg is linked into the tests of p.
func (m *module) reaches(p *goPackage, pkg string) bool {
	if slices.Contains(p.Deps, pkg) {
		return true
	}
	for _, name := range slices.Concat(p.TestImports, p.XTestImports) {
		if name == pkg {
			return true
		}
		if q := m.packages[name]; q != nil && slices.Contains(q.Deps, pkg) {
			return true
		}
	}
	return false
}

// readEquivalents reads the mutants that are known to change no result, and why: lines
// of a key, a tab and the reason. A missing file is an error only if it was asked for.
func readEquivalents(name string, asked bool) (map[string]string, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) && !asked {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := strings.Cut(line, "\t")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s:%d: no reason after a tab", name, n)
		}
		reasons[key] = strings.TrimSpace(reason)
	}
	return reasons, nil
}
