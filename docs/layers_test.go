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

// layers are the packages, lowest first, with what each may import besides the standard
// library (design.md).
var layers = []struct {
	pkg   string
	may   []string
	tests []string // what its tests may import in addition
}{
	{"sessionfmt", []string{"ctxtool/sessionfmt/jsonl", "ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/claude", "ctxtool/sessionfmt/codex", "ctxtool/sessionfmt/gemini", "ctxtool/sessionfmt/gsh", "ctxtool/sessionfmt/openclaw", "ctxtool/sessionfmt/opencode", "ctxtool/sessionfmt/swecli", "ctxtool/sessionfmt/yagent", "ctxtool/internal/parallel", "ctxtool/internal/scratch", "github.com/gofrs/flock", "github.com/klauspost/compress/zstd", "modernc.org/sqlite"}, []string{"ctxtool/sessionfmt/outline"}},
	{"sessionfmt/jsonl", []string{"ctxtool/internal/scratch", "golang.org/x/sys/cpu"}, nil},
	{"sessionfmt/dialect", []string{"ctxtool/sessionfmt/jsonl"}, nil},
	{"sessionfmt/claude", []string{"ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl"}, []string{"ctxtool/internal/corpus", "ctxtool/replay", "ctxtool/replay/ledger", "ctxtool/replay/tokens", "ctxtool/sessionfmt"}},
	{"sessionfmt/codex", []string{"ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl"}, []string{"ctxtool/replay", "ctxtool/sessionfmt"}},
	{"sessionfmt/chat", []string{"ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl"}, []string{"ctxtool/migrate", "ctxtool/replay", "ctxtool/sessionfmt"}},
	{"sessionfmt/gemini", []string{"ctxtool/sessionfmt/chat", "ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl"}, nil},
	{"sessionfmt/gsh", []string{"ctxtool/sessionfmt/chat", "ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl"}, nil},
	{"sessionfmt/swecli", []string{"ctxtool/sessionfmt/chat", "ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl"}, nil},
	{"sessionfmt/yagent", []string{"ctxtool/sessionfmt/chat", "ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl"}, nil},
	{"sessionfmt/openclaw", []string{"ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl"}, []string{"ctxtool/replay", "ctxtool/sessionfmt"}},
	{"sessionfmt/opencode", []string{"ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl"}, []string{"ctxtool/replay", "ctxtool/sessionfmt"}},
	{"sessionfmt/outline", []string{"ctxtool/internal/activity", "ctxtool/sessionfmt", "ctxtool/sessionfmt/jsonl"}, nil},
	{"sessionfmt/store", []string{"ctxtool/sessionfmt", "ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl"}, []string{"github.com/klauspost/compress/zstd"}},
	{"internal/parallel", nil, nil},
	{"internal/scratch", nil, nil},
	{"internal/activity", []string{"ctxtool/sessionfmt/jsonl"}, []string{"ctxtool/internal/must"}},
	{"internal/shell", []string{"ctxtool/internal/phrase"}, nil},
	{"internal/search", []string{"ctxtool/replay/ledger", "ctxtool/internal/parallel", "ctxtool/internal/activity", "ctxtool/internal/shell", "ctxtool/replay", "ctxtool/replay/tokens", "ctxtool/replay/weigh", "ctxtool/sessionfmt", "ctxtool/sessionfmt/dialect", "ctxtool/sessionfmt/jsonl", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/redact"}, nil},
	{"internal/serve", []string{"ctxtool/internal/markdown", "ctxtool/replay/tokens", "ctxtool/replay/weigh", "ctxtool/sessionfmt", "ctxtool/sessionfmt/jsonl", "ctxtool/sessionfmt/store", "github.com/modelcontextprotocol/go-sdk/mcp"}, nil},
	{"internal/help", []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}, nil},
	{"internal/times", nil, nil},
	{"replay/tokens", []string{"ctxtool/sessionfmt/jsonl"}, nil},
	{"replay/tokens/gen", []string{"ctxtool/replay/tokens"}, nil},
	{"replay/models", []string{"ctxtool/sessionfmt/jsonl"}, nil},
	{"replay/models/gen", []string{"ctxtool/replay/models"}, nil},
	{"sessionfmt/redact", []string{"ctxtool/internal/phrase", "ctxtool/sessionfmt", "ctxtool/sessionfmt/jsonl", "github.com/pelletier/go-toml/v2"}, nil},
	{"internal/table", nil, nil},
	{"internal/golden", nil, nil},
	{"internal/must", nil, nil},
	{"internal/markdown", nil, []string{
		"ctxtool/sessionfmt", "github.com/yuin/goldmark", "github.com/yuin/goldmark/extension", "github.com/yuin/goldmark/renderer/html",
	}},
	{"internal/corpus", []string{"ctxtool/internal/gen"}, nil},
	{"internal/bench", []string{"ctxtool/sessionfmt", "ctxtool/sessionfmt/jsonl"}, nil},
	{"internal/compared", []string{"ctxtool/internal/gen", "ctxtool/internal/phrase", "ctxtool/internal/simulate"}, nil},
	{"internal/gen", []string{"github.com/klauspost/compress/zstd", "modernc.org/sqlite"}, []string{"ctxtool/sessionfmt", "ctxtool/replay"}},
	{"internal/labelled", []string{"github.com/pelletier/go-toml/v2"}, nil},
	{"internal/labelled/report", []string{"ctxtool/internal/labelled", "ctxtool/sessionfmt/redact"}, nil},
	{"internal/gen/gensession", []string{"ctxtool/internal/gen"}, nil},
	{"replay/ops", []string{"ctxtool/sessionfmt", "ctxtool/sessionfmt/jsonl"}, nil},
	{"replay/origin", []string{"ctxtool/sessionfmt"}, nil},
	{"replay/weigh", []string{"ctxtool/sessionfmt/jsonl", "ctxtool/replay/tokens"}, []string{"ctxtool/sessionfmt/jsonl", "ctxtool/replay/tokens"}},
	{"replay/prompt", []string{"ctxtool/sessionfmt/jsonl", "ctxtool/replay/weigh", "ctxtool/replay/tokens", "ctxtool/replay/origin", "ctxtool/replay/models"}, nil},
	{"replay/baseline", []string{"ctxtool/sessionfmt/redact", "ctxtool/sessionfmt/jsonl", "ctxtool/sessionfmt", "ctxtool/replay/prompt", "ctxtool/replay/origin", "ctxtool/replay/models", "ctxtool/replay"}, nil},
	{"replay", []string{"ctxtool/replay/ops", "ctxtool/replay/prompt", "ctxtool/replay/origin", "ctxtool/replay/weigh", "ctxtool/sessionfmt/jsonl", "ctxtool/internal/parallel", "ctxtool/internal/scratch", "ctxtool/sessionfmt", "ctxtool/replay/tokens", "ctxtool/replay/models"}, []string{"ctxtool/replay/prompt", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/jsonl", "ctxtool/replay/cache", "ctxtool/replay/ledger", "ctxtool/replay/diff"}},
	{"replay/entry", []string{"ctxtool/replay/weigh", "ctxtool/replay/prompt", "ctxtool/replay/origin", "ctxtool/replay/models", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/jsonl", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/replay/tokens"}, nil},
	{"replay/diff", []string{"ctxtool/sessionfmt/dialect", "ctxtool/replay/weigh", "ctxtool/replay/models", "ctxtool/replay/prompt", "ctxtool/replay/origin", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/jsonl", "ctxtool/internal/parallel", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/replay/tokens"}, []string{"ctxtool/replay/prompt"}},
	{"internal/survival", []string{"ctxtool/internal/activity", "ctxtool/sessionfmt/jsonl", "ctxtool/replay"}, nil},
	{"replay/reuse", []string{"ctxtool/replay/ledger", "ctxtool/internal/parallel", "ctxtool/internal/survival", "ctxtool/internal/activity", "ctxtool/replay/weigh", "ctxtool/replay/tokens", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/jsonl", "ctxtool/replay", "ctxtool/sessionfmt"}, nil},
	{"replay/trace", []string{"ctxtool/replay/prompt", "ctxtool/internal/activity", "ctxtool/replay/tokens", "ctxtool/replay/origin", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/jsonl", "ctxtool/replay/entry", "ctxtool/replay", "ctxtool/sessionfmt"}, []string{"ctxtool/sessionfmt/jsonl"}},
	{"replay/ledger", []string{"ctxtool/internal/parallel", "ctxtool/replay", "ctxtool/replay/models", "ctxtool/replay/prompt", "ctxtool/replay/tokens", "ctxtool/replay/weigh", "ctxtool/sessionfmt/jsonl"}, []string{"ctxtool/sessionfmt"}},
	{"replay/cache", []string{"ctxtool/replay/ledger", "ctxtool/sessionfmt/dialect", "ctxtool/replay/weigh", "ctxtool/replay/prompt", "ctxtool/replay/origin", "ctxtool/sessionfmt/jsonl", "ctxtool/internal/parallel", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/replay/tokens", "ctxtool/replay/models"}, []string{"ctxtool/replay/prompt", "ctxtool/sessionfmt/jsonl"}},
	{"compact", []string{"ctxtool/internal/shell", "ctxtool/replay/hook", "ctxtool/replay/diff", "ctxtool/sessionfmt/redact", "ctxtool/replay/prompt", "ctxtool/replay/weigh", "ctxtool/internal/phrase", "ctxtool/replay/origin", "ctxtool/sessionfmt/jsonl", "ctxtool/internal/activity", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/replay/models", "ctxtool/replay/tokens"}, []string{"ctxtool/sessionfmt/jsonl"}},
	{"internal/simulate", []string{"ctxtool/replay/ledger", "ctxtool/compact", "ctxtool/internal/parallel", "ctxtool/internal/shell", "ctxtool/replay", "ctxtool/replay/cache", "ctxtool/replay/hook", "ctxtool/replay/models", "ctxtool/replay/prompt", "ctxtool/replay/reuse", "ctxtool/replay/tokens", "ctxtool/replay/weigh", "ctxtool/sessionfmt", "ctxtool/sessionfmt/jsonl", "ctxtool/sessionfmt/outline", "ctxtool/internal/phrase", "ctxtool/sessionfmt/dialect"}, nil},
	{"stats", []string{"ctxtool/internal/table", "ctxtool/replay/origin", "ctxtool/replay/ledger", "ctxtool/sessionfmt/check", "ctxtool/sessionfmt/store", "ctxtool/compact", "ctxtool/sessionfmt/dialect", "ctxtool/internal/survival", "ctxtool/replay/reuse", "ctxtool/internal/phrase", "ctxtool/replay/prompt", "ctxtool/replay/weigh", "ctxtool/sessionfmt/jsonl", "ctxtool/sessionfmt/outline", "ctxtool/replay/cache", "ctxtool/internal/activity", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/replay/tokens", "ctxtool/replay/models"}, []string{"ctxtool/sessionfmt/jsonl", "modernc.org/sqlite"}},
	{"stats/gate", []string{"ctxtool/internal/table", "ctxtool/internal/phrase", "ctxtool/stats", "ctxtool/sessionfmt", "github.com/pelletier/go-toml/v2"}, []string{"ctxtool/replay", "ctxtool/replay/cache", "ctxtool/replay/tokens"}},
	{"sessionfmt/check", []string{"ctxtool/replay/weigh", "ctxtool/sessionfmt/dialect", "ctxtool/replay/prompt", "ctxtool/sessionfmt/jsonl", "ctxtool/docs/checks", "ctxtool/replay", "ctxtool/sessionfmt/redact", "ctxtool/sessionfmt", "ctxtool/replay/tokens", "ctxtool/replay/models", "github.com/google/jsonschema-go/jsonschema"}, []string{"ctxtool/sessionfmt/jsonl", "github.com/klauspost/compress/zstd"}},
	{"internal/state", []string{"ctxtool/replay", "ctxtool/replay/tokens", "ctxtool/sessionfmt/dialect", "ctxtool/replay/models", "ctxtool/sessionfmt", "ctxtool/sessionfmt/jsonl"}, []string{"ctxtool/sessionfmt"}},
	{"internal/notes", []string{"ctxtool/compact", "ctxtool/internal/markdown", "ctxtool/internal/phrase", "ctxtool/internal/activity", "ctxtool/replay", "ctxtool/sessionfmt/jsonl"}, []string{"ctxtool/sessionfmt"}},
	{"internal/sessionlog", []string{"ctxtool/replay/ledger", "ctxtool/internal/activity", "ctxtool/replay", "ctxtool/replay/tokens", "ctxtool/replay/weigh", "ctxtool/sessionfmt", "ctxtool/sessionfmt/jsonl", "ctxtool/stats"}, nil},
	{"internal/transcript", []string{"ctxtool/internal/scratch", "ctxtool/replay/prompt", "ctxtool/replay/models", "ctxtool/sessionfmt/jsonl", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/internal/activity"}, []string{"ctxtool/sessionfmt/jsonl"}},
	{"internal/report", []string{"ctxtool/replay/ledger", "ctxtool/sessionfmt/dialect", "ctxtool/replay/prompt", "ctxtool/replay/weigh", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/jsonl", "ctxtool/replay/cache", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/replay/tokens", "ctxtool/replay/models"}, []string{"ctxtool/replay/weigh", "ctxtool/replay/origin", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/jsonl"}},
	{"migrate", []string{"ctxtool/sessionfmt/jsonl", "ctxtool/sessionfmt", "ctxtool/replay", "ctxtool/replay/tokens"}, []string{"ctxtool/sessionfmt/jsonl", "ctxtool/sessionfmt/dialect"}},
	{"replay/hook", []string{"ctxtool/replay/ledger", "ctxtool/internal/shell", "ctxtool/replay/cache", "ctxtool/replay/diff", "ctxtool/replay/entry", "ctxtool/replay/ops", "ctxtool/replay/origin", "ctxtool/replay/prompt", "ctxtool/replay/models", "ctxtool/replay/weigh", "ctxtool/replay/tokens", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/sessionfmt/jsonl"}, nil},
	{"internal/plan", []string{
		"ctxtool/sessionfmt/dialect",
		"ctxtool/replay/hook", "ctxtool/replay/weigh",
		"ctxtool/compact", "ctxtool/migrate", "ctxtool/sessionfmt/check", "ctxtool/sessionfmt/redact", "ctxtool/internal/markdown", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/sessionfmt/jsonl", "ctxtool/sessionfmt/outline", "ctxtool/replay/models",
	}, []string{"ctxtool/replay/tokens"}},
	{"internal/config", []string{"ctxtool/compact", "ctxtool/replay/models", "ctxtool/replay/tokens", "ctxtool/sessionfmt", "github.com/pelletier/go-toml/v2", "github.com/spf13/viper"}, nil},
	{"internal/phrase", []string{"ctxtool/sessionfmt"}, nil},
	{"internal/terminal", []string{"ctxtool/internal/phrase"}, []string{"ctxtool/sessionfmt"}},
	{"internal/linediff", []string{"ctxtool/internal/phrase", "github.com/sergi/go-diff/diffmatchpatch"}, nil},
	{"render", []string{
		"ctxtool/internal/table",
		"ctxtool/replay/hook", "ctxtool/sessionfmt/dialect",
		"ctxtool/replay/reuse", "ctxtool/replay/weigh", "ctxtool/replay/origin", "ctxtool/replay/prompt", "ctxtool/replay/models", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/jsonl", "ctxtool/replay/cache", "ctxtool/replay/diff", "ctxtool/replay/entry", "ctxtool/replay/trace",
		"ctxtool/internal/linediff", "ctxtool/internal/phrase", "ctxtool/internal/plan", "ctxtool/internal/search", "ctxtool/internal/state", "ctxtool/stats", "ctxtool/stats/gate", "ctxtool/compact", "ctxtool/sessionfmt/check", "ctxtool/sessionfmt/redact", "ctxtool/internal/markdown", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/replay/tokens", "ctxtool/internal/simulate",
		"github.com/clipperhouse/displaywidth", "github.com/olekukonko/tablewriter", "github.com/olekukonko/tablewriter/pkg/twwidth", "github.com/olekukonko/tablewriter/renderer", "github.com/olekukonko/tablewriter/tw",
	}, []string{"ctxtool/replay/baseline", "ctxtool/replay/weigh", "ctxtool/replay/models", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/jsonl"}},
	{"render/page", []string{
		"ctxtool/internal/activity", "ctxtool/replay/models", "ctxtool/sessionfmt/jsonl", "ctxtool/internal/linediff", "ctxtool/internal/markdown", "ctxtool/internal/parallel", "ctxtool/internal/phrase", "ctxtool/internal/transcript", "ctxtool/replay", "ctxtool/replay/tokens", "ctxtool/sessionfmt",
	}, []string{"ctxtool/sessionfmt/jsonl", "github.com/yuin/goldmark", "github.com/yuin/goldmark/ast", "github.com/yuin/goldmark/extension", "github.com/yuin/goldmark/text"}},
	{"render/html", []string{"ctxtool/sessionfmt/jsonl", "ctxtool/internal/parallel", "ctxtool/internal/report", "ctxtool/internal/simulate", "ctxtool/sessionfmt", "github.com/klauspost/compress/flate"}, []string{
		"ctxtool/internal/browser", "ctxtool/render", "ctxtool/replay", "ctxtool/sessionfmt/redact", "github.com/chromedp/chromedp/kb",
	}},
	{"internal/browser", []string{
		"github.com/chromedp/chromedp", "github.com/chromedp/cdproto/cdp", "github.com/chromedp/cdproto/emulation", "github.com/chromedp/cdproto/log",
		"github.com/chromedp/cdproto/network", "github.com/chromedp/cdproto/page", "github.com/chromedp/cdproto/runtime",
	}, nil},
	{"internal/browser/pagespeed", []string{"ctxtool/internal/browser"}, nil},
	{"internal/browser/screenshots", []string{"ctxtool/internal/browser"}, nil},
	{"docs", nil, nil},
	{"docs/checks", nil, nil},
	{"cmd/ctxtool", []string{"ctxtool/internal/table", "ctxtool/replay/ledger", "ctxtool/sessionfmt/dialect", "ctxtool/internal/state", "ctxtool/internal/times",
		"ctxtool/internal/shell", "ctxtool/replay/ops", "ctxtool/replay/hook", "ctxtool/replay/reuse", "ctxtool/replay/baseline", "ctxtool/replay/prompt", "ctxtool/replay/weigh", "ctxtool/sessionfmt/store", "ctxtool/sessionfmt/outline", "ctxtool/sessionfmt/jsonl", "ctxtool/replay/cache", "ctxtool/replay/diff", "ctxtool/replay/entry", "ctxtool/replay/trace",
		"ctxtool/internal/config", "ctxtool/internal/help", "ctxtool/internal/notes", "ctxtool/internal/sessionlog", "ctxtool/internal/parallel", "ctxtool/internal/phrase", "ctxtool/internal/terminal", "ctxtool/render", "ctxtool/render/html", "ctxtool/render/page", "ctxtool/internal/plan", "ctxtool/stats", "ctxtool/stats/gate", "ctxtool/compact", "ctxtool/migrate", "ctxtool/sessionfmt/check", "ctxtool/internal/transcript", "ctxtool/sessionfmt/redact", "ctxtool/internal/report", "ctxtool/replay", "ctxtool/sessionfmt", "ctxtool/replay/tokens", "ctxtool/replay/models", "ctxtool/internal/search", "ctxtool/internal/serve", "ctxtool/internal/shell", "ctxtool/internal/simulate",
		"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term",
	}, []string{"ctxtool/replay/origin", "ctxtool/replay/weigh", "ctxtool/sessionfmt/jsonl", "github.com/klauspost/compress/zstd", "github.com/modelcontextprotocol/go-sdk/mcp", "github.com/rogpeppe/go-internal/testscript", "github.com/yuin/goldmark", "github.com/yuin/goldmark/ast", "github.com/yuin/goldmark/extension", "github.com/yuin/goldmark/text", "github.com/spf13/cobra/doc"}},
}

// testHelpers are what any test may import.
var testHelpers = []string{"ctxtool/internal/corpus", "ctxtool/internal/golden", "ctxtool/internal/gen", "ctxtool/internal/must"}

// TestLayers checks every import against the table.
func TestLayers(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		rel, err := filepath.Rel("..", name)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(rel))
		k := 0
		for k < len(layers) && layers[k].pkg != pkg {
			k++
		}
		if k == len(layers) {
			t.Errorf("%s: its package is not in the table of layers", rel)
			return nil
		}
		seen[pkg] = true
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			dep, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			ok := !strings.Contains(dep, ".") && !strings.HasPrefix(dep, "ctxtool") || slices.Contains(layers[k].may, dep)
			if strings.HasSuffix(name, "_test.go") {
				ok = ok || slices.Contains(layers[k].tests, dep) || slices.Contains(testHelpers, dep) || dep == "ctxtool/"+pkg
			}
			if !ok {
				t.Errorf("%s imports %s, which its layer does not allow", rel, dep)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range layers {
		if !seen[f.pkg] {
			t.Errorf("the table has %s, the project does not", f.pkg)
		}
	}
}

// TestBinary checks that ctxtool imports nothing that only tests and measurements need.
func TestBinary(t *testing.T) {
	seen := map[string]bool{}
	var visit func(dep string)
	visit = func(dep string) {
		if seen[dep] {
			return
		}
		seen[dep] = true
		for _, f := range layers {
			if dep == "ctxtool/"+f.pkg {
				for _, next := range f.may {
					visit(next)
				}
			}
		}
	}
	visit("ctxtool/cmd/ctxtool")
	if !seen["ctxtool/sessionfmt"] {
		t.Fatal("the table does not lead to sessionfmt")
	}
	for dep := range seen {
		for _, tool := range append([]string{"ctxtool/internal/browser", "github.com/chromedp/", "github.com/yuin/goldmark", "github.com/rogpeppe/"}, testHelpers...) {
			if strings.HasPrefix(dep, tool) {
				t.Errorf("ctxtool may import %s", dep)
			}
		}
	}
}
