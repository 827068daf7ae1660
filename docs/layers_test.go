package docs_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ranks are the packages, lowest first. A package imports only packages of lower ranks, and none of
// its own (design.md).
var ranks = []string{
	"docs docs/checks internal/browser internal/gen internal/gen/tables internal/golden internal/help internal/labelled " +
		"internal/markdown internal/must internal/parallel internal/scratch internal/shell internal/table " +
		"internal/times internal/work",
	"internal/corpus sessionfmt/jsonl",
	"internal/activity replay/models replay/tokens sessionfmt/dialect",
	"replay/models/gen replay/tokens/gen replay/weigh sessionfmt/chat sessionfmt/claude sessionfmt/codex " +
		"sessionfmt/openclaw sessionfmt/opencode",
	"sessionfmt/gemini sessionfmt/gsh sessionfmt/swecli sessionfmt/yagent",
	"sessionfmt",
	"internal/bench internal/phrase replay/ops replay/origin sessionfmt/outline sessionfmt/sqlite sessionfmt/store",
	"internal/linediff internal/serve internal/terminal replay/prompt sessionfmt/redact",
	"internal/labelled/report replay",
	"internal/state internal/survival internal/transcript migrate replay/baseline replay/diff replay/entry " +
		"replay/ledger replay/trace sessionfmt/check",
	"internal/search internal/sessionlog render/page replay/cache replay/reuse",
	"internal/report replay/hook",
	"compact",
	"internal/config internal/notes internal/plan internal/simulate stats",
	"internal/compared render/html stats/gate",
	"render",
	"cmd/ctxtool",
}

// modules are the packages that import a module of others, by the beginning of its path.
var modules = map[string]string{
	"github.com/chromedp/":                       "internal/browser",
	"github.com/clipperhouse/displaywidth":       "render",
	"github.com/gofrs/flock":                     "sessionfmt",
	"github.com/google/jsonschema-go/jsonschema": "sessionfmt/check",
	"github.com/klauspost/compress/flate":        "render/html",
	"github.com/klauspost/compress/zstd":         "internal/gen/tables sessionfmt",
	"github.com/modelcontextprotocol/go-sdk/mcp": "internal/serve",
	"github.com/olekukonko/tablewriter":          "render",
	"github.com/pelletier/go-toml/v2":            "internal/config internal/labelled sessionfmt/redact stats/gate",
	"github.com/sergi/go-diff/diffmatchpatch":    "internal/linediff",
	"github.com/spf13/cobra":                     "cmd/ctxtool internal/help",
	"github.com/spf13/pflag":                     "cmd/ctxtool internal/help",
	"github.com/spf13/viper":                     "internal/config",
	"golang.org/x/sys/cpu":                       "sessionfmt/jsonl",
	"golang.org/x/term":                          "cmd/ctxtool",
	"modernc.org/sqlite":                         "internal/gen/tables sessionfmt/sqlite",
}

// onlyTests are packages that ctxtool itself must not import.
var onlyTests = []string{"internal/browser", "internal/corpus", "internal/golden", "internal/gen", "internal/gen/tables", "internal/must"}

// TestLayers: each package imports lower ranks, and modules of others only where they are listed.
func TestLayers(t *testing.T) {
	rank, used := map[string]int{}, map[string]bool{}
	for k, row := range ranks {
		for pkg := range strings.FieldsSeq(row) {
			rank[pkg] = k + 1
		}
	}
	imports := map[string][]string{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		pkg := path.Dir(strings.TrimPrefix(filepath.ToSlash(name), "../"))
		used[pkg] = true
		if rank[pkg] == 0 {
			t.Errorf("%s has no rank", pkg)
		}
		if strings.HasSuffix(name, "_test.go") {
			return nil // a test imports what it compares with
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			dep, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			own, ours := strings.CutPrefix(dep, "ctxtool/")
			switch {
			case ours && rank[own] >= rank[pkg]:
				t.Errorf("%s, of rank %d, imports %s, of rank %d", name, rank[pkg], own, rank[own])
			case ours:
				imports[pkg] = append(imports[pkg], own)
			case strings.Contains(dep, ".") && !listed(dep, pkg, used):
				t.Errorf("%s imports %s, which is not listed for it", name, dep)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range rank {
		if !used[pkg] {
			t.Errorf("%s has a rank, and is not there", pkg)
		}
	}
	for module := range modules {
		if !used[module] {
			t.Errorf("nothing imports %s", module)
		}
	}
	testBinary(t, imports)
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

// testBinary checks that ctxtool imports nothing that only tests and measurements need.
func testBinary(t *testing.T, imports map[string][]string) {
	seen := map[string]bool{}
	var visit func(pkg string)
	visit = func(pkg string) {
		if seen[pkg] {
			return
		}
		seen[pkg] = true
		for _, next := range imports[pkg] {
			visit(next)
		}
	}
	visit("cmd/ctxtool")
	if !seen["sessionfmt"] {
		t.Fatal("the imports do not lead to sessionfmt")
	}
	for _, pkg := range onlyTests {
		if seen[pkg] {
			t.Errorf("ctxtool imports %s", pkg)
		}
	}
}
