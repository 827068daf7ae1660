package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// layers are the folders, lowest first (design.md 1). A package imports what stands on its own layer or on a
// lower one; that nothing on one layer imports itself in a circle is the compiler's to see. What is in
// internal/test is imported by tests alone.
var layers = []string{
	"docs internal/base",
	"sessionfmt replay internal/read",
	"stats compact migrate internal/lens",
	"render internal/out",
	"cmd",
	"internal/test",
}

// upstairs are the packages that stand on a higher layer than their folder.
var upstairs = map[string]int{"replay/hook": 3}

// layerOf returns the layer of a package, from 1, and 0 for one that has none.
func layerOf(pkg string) int {
	if layer := upstairs[pkg]; layer > 0 {
		return layer
	}
	return 1 + slices.IndexFunc(layers, func(row string) bool {
		return slices.ContainsFunc(strings.Fields(row), func(dir string) bool {
			return pkg == dir || strings.HasPrefix(pkg, dir+"/")
		})
	})
}

// modules are the packages that import a module of others, by the beginning of its path.
var modules = map[string]string{
	"github.com/chromedp/":                       "internal/test/browser",
	"github.com/clipperhouse/displaywidth":       "internal/out/show",
	"github.com/gofrs/flock":                     "sessionfmt",
	"github.com/google/jsonschema-go/jsonschema": "internal/lens/check",
	"github.com/klauspost/compress/flate":        "internal/out/html",
	"github.com/klauspost/compress/zstd":         "internal/out/export internal/read/keep internal/test/agents internal/test/gen/tables replay/tokens sessionfmt",
	"github.com/modelcontextprotocol/go-sdk/mcp": "internal/out/serve",
	"github.com/olekukonko/tablewriter":          "internal/out/show",
	"github.com/pelletier/go-toml/v2":            "internal/out/config internal/lens/redact internal/lens/gate internal/out/serve",
	"github.com/sergi/go-diff/diffmatchpatch":    "internal/read/linediff",
	"github.com/spf13/cobra":                     "cmd/ctxtool internal/base/help",
	"github.com/spf13/pflag":                     "cmd/ctxtool internal/base/help",
	"github.com/spf13/viper":                     "internal/out/config",
	"golang.org/x/sys/cpu":                       "sessionfmt/jsonl",
	"golang.org/x/term":                          "cmd/ctxtool",
	"golang.org/x/text":                          "internal/lens/search",
	"modernc.org/sqlite":                         "internal/out/export internal/test/gen/tables sessionfmt/sqlite",
	"mvdan.cc/sh/v3/syntax":                      "internal/read/activity",
}

// module begins the paths of our packages: the name in go.mod, which make module changes.
var module = func() string {
	name, _, _ := strings.Cut(string(must.Get(os.ReadFile("../go.mod"))), "\n")
	return strings.TrimPrefix(name, "module ") + "/"
}()

// TestLayers: each package imports its own layer and lower ones, and modules of others only where they are listed.
func TestLayers(t *testing.T) {
	used := map[string]bool{}
	for _, pkg := range packages() {
		layer := layerOf(pkg)
		if layer == 0 {
			t.Errorf("%s stands on no layer", pkg)
		}
		for _, dep := range imports(t, pkg) {
			own, ours := strings.CutPrefix(dep, module)
			switch {
			case ours && layerOf(own) > layer:
				t.Errorf("%s, on layer %d, imports %s, on layer %d", pkg, layer, own, layerOf(own))
			case !ours && strings.Contains(dep, ".") && !listed(dep, pkg, used):
				t.Errorf("%s imports %s, which is not listed for it", pkg, dep)
			}
		}
	}
	for module := range modules {
		if !used[module] {
			t.Errorf("nothing imports %s", module)
		}
	}
}

// packages returns the folders that have Go files.
func packages() (all []string) {
	must.Do(filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if pkg := path.Dir(strings.TrimPrefix(filepath.ToSlash(name), "../")); strings.HasSuffix(name, ".go") &&
			!slices.Contains(all, pkg) {
			all = append(all, pkg)
		}
		return err
	}))
	return all
}

// imports returns what the files of a folder import; those of tests aside, which import what they compare with.
func imports(t *testing.T, pkg string) (all []string) {
	for _, file := range parsed(t, filepath.Join("..", filepath.FromSlash(pkg))) {
		for _, spec := range file.Imports {
			all = append(all, must.Get(strconv.Unquote(spec.Path.Value)))
		}
	}
	return all
}

// listed reports whether a package may import a package of another module, and marks that one as used.
func listed(dep, pkg string, used map[string]bool) bool {
	for module, of := range modules {
		if strings.HasPrefix(dep, module) && slices.Contains(strings.Fields(of), pkg) {
			used[module] = true
			return true
		}
	}
	return false
}
