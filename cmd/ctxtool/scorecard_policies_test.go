package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

const policiesHead = `
## The policies side by side

What the four systems would do at the end of each session, those of Claude Code after ` + "`ctxtool import`" + `. Tokens are those of each system's own counter: ` + "`bytes4`" + ` for gsh, ` + "`chars4`" + ` for pi, ` + "`swe-cl100k`" + ` for SWE-CLI, ` + "`ybytes`" + ` for y-agent. One rule gives the window: ` + "`--window`" + `, else the baseline's limit, else the models table, else the policy's own.

- from: ` + "`exact`" + ` is the model in the models table, ` + "`bare`" + ` another provider's model of that name, ` + "`policy`" + ` the policy's own.
- used, compacts above: what the system compares with its threshold. pi compares what the provider recorded; the others count what the layers before leave.
- before, after: ` + "`ctxtool reduce --policy NAME`" + `, with the layers that changed something.
- compacted: ` + "`ctxtool compact --pass compact:style=NAME`" + `, whether or not the threshold is reached, with a summary by extract; a dash where there is nothing to compact.

`

// converted is sessions of Claude Code as sessions of pi, by name and file: those with as many
// tokens as the others.
func converted(t *testing.T) (all [][2]string) {
	t.Helper()
	dir := t.TempDir()
	for i, c := range corpus.Foreign(t) {
		file, ok := strings.CutPrefix(c.Name, "claude-code/")
		if !ok || strings.Contains(file, "/") { // a session's own folder has those of its agents
			continue
		}
		from, to := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)), filepath.Join(dir, fmt.Sprintf("%d-pi.jsonl", i))
		must.Do(os.WriteFile(from, c.Data, 0o600))
		if _, status := said(t, "import", from, "-o", to); status == exitOK && planOf(t, "reduce", "--policy", "pi", to).Before > largeEnough {
			all = append(all, [2]string{strings.TrimSuffix(c.Name, ".jsonl"), to})
		}
	}
	return all
}

// A policyPlan is what reduce and compact say of a session.
type policyPlan struct {
	Counter, WindowFrom string
	Window              int64
	Before              int `json:"tokensBefore"`
	After               int `json:"tokensAfter"`
	Changes             []struct{ Pass string }
	Layers              []struct {
		Pass        string
		Limit, Used int64
	}
}

func planOf(t *testing.T, args ...string) (p policyPlan) {
	t.Helper()
	out, status := said(t, append(args, "-f", "json")...)
	if err := json.Unmarshal(out, &p); err != nil || status != exitOK {
		t.Fatalf("%q: status %d, %v", args, status, err)
	}
	return p
}

// policiesTable is what policies make of sessions, given by name and file. The commands agree
// on counter, window and tokens.
func policiesTable(t *testing.T, sessions [][2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(policiesHead)
	b.WriteString("| session | policy | window | from | used | compacts above | before | after | less | layers | compacted |\n|---|---|---:|---|---:|---:|---:|---:|---:|---|---:|\n")
	for _, s := range append(sessions, converted(t)...) {
		for _, policy := range []string{"gsh", "pi", "swe-cli", "y-agent"} {
			r, c := planOf(t, "reduce", "--policy", policy, s[1]), planOf(t, "compact", "--pass", "compact:style="+policy, s[1])
			if r.Counter != c.Counter || r.Window != c.Window || r.WindowFrom != c.WindowFrom || r.Before != c.Before {
				t.Errorf("%s: reduce --policy %s and compact:style=%[2]s disagree:\n%+v\n%+v", s[0], policy, r, c)
			}
			var layers []string
			for _, c := range r.Changes {
				if !slices.Contains(layers, c.Pass) {
					layers = append(layers, c.Pass)
				}
			}
			used, limit := int64(0), int64(0)
			for _, l := range r.Layers {
				if l.Pass == "compact" {
					used, limit = l.Used, l.Limit
				}
			}
			compacted := "-"
			if c.After < c.Before {
				compacted = fmt.Sprint(c.After)
			}
			less := 100 * (1 - float64(r.After)/float64(max(1, r.Before)))
			fmt.Fprintf(&b, "| %s | %s | %d | %s | %d | %d | %d | %d | %.1f%% | %s | %s |\n", s[0], policy, r.Window, r.WindowFrom, used, limit, r.Before, r.After, less,
				strings.Join(layers, ", "), compacted)
		}
	}
	return b.Bytes()
}
