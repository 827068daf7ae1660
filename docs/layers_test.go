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
// its own (design.md). Those in leaves are below all of them, and know nothing of sessions; what
// is in internal/test is imported by tests alone.
var ranks = []string{
	"sessionfmt/jsonl internal/rule",
	"internal/activity internal/dialect internal/unread replay/models replay/tokens",
	"internal/dialect/chat internal/dialect/claude internal/dialect/codex internal/dialect/copilot " +
		"internal/dialect/openclaw internal/dialect/opencode internal/dialect/pi internal/fields replay/weigh",
	"internal/dialect/cline internal/dialect/gemini internal/dialect/gsh internal/dialect/swecli internal/dialect/yagent",
	"internal/dialect/qwen",
	"sessionfmt",
	"internal/browse internal/outline internal/phrase internal/store replay/origin sessionfmt/sqlite",
	"internal/keep internal/linediff internal/redact internal/serve internal/terminal replay/prompt",
	"internal/ops",
	"replay",
	"internal/baseline internal/body internal/check internal/diff internal/entry internal/state internal/survival internal/trace " +
		"internal/transcript migrate replay/ledger",
	"internal/cache internal/page internal/reuse internal/search internal/sessionlog",
	"internal/report replay/hook",
	"compact",
	"internal/config internal/notes internal/plan internal/simulate stats",
	"internal/doctor internal/export internal/gate internal/html",
	"render",
	"cmd/ctxtool",
}

// rankOf returns the rank of a package, from 1, and 0 for one that has none. What tests alone import
// is above all others.
func rankOf(pkg string) int {
	switch {
	case strings.HasPrefix(pkg, "internal/base/"), pkg == "docs", strings.HasPrefix(pkg, "docs/"):
		return 1
	case strings.HasPrefix(pkg, "internal/test/"):
		return len(ranks) + 2
	}
	for k, row := range ranks {
		if slices.Contains(strings.Fields(row), pkg) {
			return k + 2
		}
	}
	return 0
}

// modules are the packages that import a module of others, by the beginning of its path.
var modules = map[string]string{
	"github.com/chromedp/":                       "internal/test/browser",
	"github.com/clipperhouse/displaywidth":       "render",
	"github.com/gofrs/flock":                     "sessionfmt",
	"github.com/google/jsonschema-go/jsonschema": "internal/check",
	"github.com/klauspost/compress/flate":        "internal/html",
	"github.com/klauspost/compress/zstd":         "internal/export internal/keep internal/test/agents internal/test/gen/tables replay/tokens sessionfmt",
	"github.com/modelcontextprotocol/go-sdk/mcp": "internal/serve",
	"github.com/olekukonko/tablewriter":          "render",
	"github.com/pelletier/go-toml/v2":            "internal/config internal/redact internal/gate internal/serve",
	"github.com/sergi/go-diff/diffmatchpatch":    "internal/linediff",
	"github.com/spf13/cobra":                     "cmd/ctxtool internal/base/help",
	"github.com/spf13/pflag":                     "cmd/ctxtool internal/base/help",
	"github.com/spf13/viper":                     "internal/config",
	"golang.org/x/sys/cpu":                       "sessionfmt/jsonl",
	"golang.org/x/term":                          "cmd/ctxtool",
	"golang.org/x/text":                          "internal/search",
	"modernc.org/sqlite":                         "internal/export internal/test/gen/tables sessionfmt/sqlite",
	"mvdan.cc/sh/v3/syntax":                      "internal/activity",
}

// TestLayers: each package imports lower ranks, and modules of others only where they are listed.
func TestLayers(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		pkg := path.Dir(strings.TrimPrefix(filepath.ToSlash(name), "../"))
		used[pkg] = true
		rank := rankOf(pkg)
		if rank == 0 {
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
			case ours && rankOf(own) >= rank && rank <= len(ranks)+1:
				t.Errorf("%s, of rank %d, imports %s, of rank %d", name, rank, own, rankOf(own))
			case !ours && strings.Contains(dep, ".") && !listed(dep, pkg, used):
				t.Errorf("%s imports %s, which is not listed for it", name, dep)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.FieldsSeq(strings.Join(ranks, " ")) {
		if !used[pkg] {
			t.Errorf("%s has a rank, and is not there", pkg)
		}
	}
	for module := range modules {
		if !used[module] {
			t.Errorf("nothing imports %s", module)
		}
	}
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
