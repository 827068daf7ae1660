package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const policiesHead = `
## The policies side by side

What ` + "`ctxtool reduce --policy NAME`" + ` makes of each session, with summaries by extract. Each policy counts by its own counter, under one rule for the window: ` + "`--window`" + `, else the baseline's limit, else the models table, else the policy's own. Layers are those that changed something.

`

// policiesTable is what policies make of sessions, given by name and file.
func policiesTable(t *testing.T, sessions [][2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(policiesHead)
	b.WriteString("| session | policy | counter | window | from | tokens before | after | less | layers |\n|---|---|---|---:|---|---:|---:|---:|---|\n")
	for _, s := range sessions {
		for _, policy := range []string{"gsh", "pi", "swe-cli", "y-agent"} {
			out, status := said(t, "reduce", "--policy", policy, "-f", "json", s[1])
			var r struct {
				Counter, WindowFrom string
				Window              int64
				Before              int `json:"tokensBefore"`
				After               int `json:"tokensAfter"`
				Changes             []struct{ Pass string }
			}
			if err := json.Unmarshal(out, &r); err != nil || status != exitOK {
				t.Fatalf("reduce %s: status %d, %v", s[0], status, err)
			}
			var layers []string
			for _, c := range r.Changes {
				if n := len(layers); n == 0 || layers[n-1] != c.Pass {
					layers = append(layers, c.Pass)
				}
			}
			less := 0.0
			if r.Before > 0 {
				less = 100 * (1 - float64(r.After)/float64(r.Before))
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %d | %d | %.1f%% | %s |\n", s[0], policy, r.Counter, r.Window, r.WindowFrom, r.Before, r.After, less, strings.Join(layers, ", "))
		}
	}
	return b.Bytes()
}
