package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
)

const scorecardHead = `# Scorecard

What summaries keep, and what the policies of four systems do, made by ` + "`go test ./cmd/ctxtool -run Scorecard -update`" + ` from the sessions of the shared corpus that have more than 20,000 tokens. Every row is what ` + "`ctxtool stats --lens compactions -f json`" + ` says of one compaction; tokens are pi's estimate, of the whole context. The other columns say how many facts of the summarised messages are still told, of how many there were:

- paths: files that tools were called with;
- commands: those that did something, failed ones included;
- constraints: sentences in which the user demands or forbids something;
- errors: calls that failed and did not go well later.

They are found and looked for in texts, by rules ([formats.md](formats.md)). ` + "`extract`" + ` finds what it writes by rules of the same kind, so its figures say that little gets lost on the way, and not that its summary reads well; what a model says in other words the rules can miss.

`

// A score is what stats says of a compaction.
type score struct {
	Entry                     string
	Before, After, Summarized int
	Reduction                 float64
	Survival                  struct{ Paths, Commands, Constraints, Errors facts }
	session, how              string
}

// facts are how many there were, and how many are still told.
type facts struct{ Of, Found int }

// TestScorecard holds docs/scorecard.md to what extract keeps of the shared sessions, and
// what the models of their agents kept, and extract to not losing more than they.
func TestScorecard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var ours, theirs, same []score
	var sessions [][2]string
	for _, c := range largeSessions(t) {
		session, ok := strings.CutPrefix(c.Name, "corpus/")
		if !ok {
			continue
		}
		session = strings.TrimSuffix(session, ".jsonl")
		name := filepath.Join(dir, session+".jsonl")
		sessions = append(sessions, [2]string{session, name})
		must.Do(os.WriteFile(name, c.Data, 0o600))
		had := scoresOf(t, name)
		for _, s := range had {
			s.session, s.how = session, "its agent's model"
			theirs = append(theirs, s)
			if cut := beforeEntry(t, name, s.Entry); cut != "" {
				again := extracted(t, cut, len(scoresOf(t, cut)))
				again.session, again.how = session, "extract"
				same = append(same, s, again)
			}
		}
		for _, style := range []string{"pi", "gsh"} {
			s := extracted(t, name, len(had), "--pass", "compact:style="+style)
			s.session, s.how = session, "compact:style="+style
			ours = append(ours, s)
		}
	}
	if len(ours) == 0 {
		t.SkipNow()
	}
	var b bytes.Buffer
	b.WriteString(scorecardHead)
	fmt.Fprintf(&b, "## extract, at the end of each session\n\nStyle pi leaves about the last 20,000 tokens, style gsh the summary alone.\n\n%s", scoreTable(ours))
	fmt.Fprintf(&b, "\n## What the agents' own models wrote\n\n%s", scoreTable(theirs))
	fmt.Fprintf(&b, "\n## Both at the same place\n\nThe session as it was before its agent compacted it, compacted by `ctxtool compact`.\n\n%s", scoreTable(same))
	b.Write(policiesTable(t, sessions))
	golden.Equal(t, "../../docs/scorecard.md", b.Bytes())

	extract, model := sumOf(ours), sumOf(theirs)
	if extract[1] == 0 || model[1] == 0 || extract[0]*model[1] < model[0]*extract[1] {
		t.Errorf("extract keeps %d of %d facts, models %d of %d", extract[0], extract[1], model[0], model[1])
	}
}

// extracted compacts a session that had so many compactions, and returns the score of the new one.
func extracted(t *testing.T, name string, had int, flags ...string) score {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.jsonl")
	if _, status := said(t, append([]string{"compact", name, "-o", out, "--now", "2027-01-02T03:04:05Z"}, flags...)...); status != exitOK {
		t.Fatalf("compact %s: status %d", name, status)
	}
	after := scoresOf(t, out)
	if len(after) != had+1 {
		return score{}
	}
	return after[had]
}

func scoresOf(t *testing.T, name string) (all []score) {
	t.Helper()
	out, _ := said(t, "stats", "--lens", "compactions", "-f", "json", name)
	var report struct {
		Lenses struct {
			Compactions struct {
				List []score `json:"compactions"`
			}
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("stats: %v: %.200s", err, out)
	}
	return report.Lenses.Compactions.List
}

// beforeEntry is a session that ends above an entry.
func beforeEntry(t *testing.T, name, entry string) string {
	t.Helper()
	data := must.Get(os.ReadFile(name))
	for line := range bytes.Lines(data) {
		var e struct{ ID, ParentID string }
		if json.Unmarshal(line, &e) != nil || e.ID != entry {
			continue
		}
		out := filepath.Join(t.TempDir(), "before.jsonl")
		if _, status := said(t, "branch", name, e.ParentID, "-o", out); status != exitOK {
			t.Fatalf("branch %s %s: status %d", name, e.ParentID, status)
		}
		return out
	}
	return ""
}

func scoreTable(all []score) []byte {
	var b bytes.Buffer
	b.WriteString("| session | summary | tokens before | after | reduction | messages | paths | commands | constraints | errors |\n")
	b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, s := range all {
		if s.Entry == "" {
			fmt.Fprintf(&b, "| %s | %s, nothing to cut | | | | | | | | |\n", s.session, s.how)
			continue
		}
		v := s.Survival
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %.1f%% | %d | %s | %s | %s | %s |\n", s.session, s.how, s.Before, s.After, 100*s.Reduction, s.Summarized,
			kept(v.Paths), kept(v.Commands), kept(v.Constraints), kept(v.Errors))
	}
	return b.Bytes()
}

func kept(k facts) string {
	if k.Of == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d", k.Found, k.Of)
}

// sumOf is how many facts were found, and how many there were.
func sumOf(all []score) (n [2]int) {
	for _, s := range all {
		for _, k := range []facts{s.Survival.Paths, s.Survival.Commands, s.Survival.Constraints, s.Survival.Errors} {
			n[0], n[1] = n[0]+k.Found, n[1]+k.Of
		}
	}
	return n
}
