package simulate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/golden"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/sessionfmt"
)

// TestHooked: a hook that answers nothing leaves what a policy that changes nothing leaves; one that patches, or fails,
// is held to its figures.
func TestHooked(t *testing.T) {
	const reason = `"invalidateCacheReason":"r"`
	answers := []struct{ name, answer string }{
		{"silent", ""}, {"empty", "[]"},
		{"prompt", `[{"op":"system_part_set","scope":"cached","partName":"policy","text":"Be brief.",` + reason + `}]`},
		{"options", `[{"op":"options_set","scope":"cached","reasoning":"low",` + reason + `}]`},
		{"summary", `[{"op":"compaction_apply","scope":"cached","summary":"s","firstKeptMessageIndex":1,"timestamp":5,` + reason + `}]`},
		{"nonsense", "7"},
	}
	var lines []string
	for _, c := range corpus.Own(t) {
		if strings.Contains(c.Name, "/bad/") || len(c.Data) > 8<<10 {
			continue
		}
		s, err := sessionfmt.Open(filepath.Join(corpus.Root(t), "testdata", c.Name), sessionfmt.Options{})
		if err != nil || s.Leaf() < 0 {
			continue
		}
		all := contenders(t, None)
		for _, a := range answers {
			command := hook.Command{Line: "while read -r state; do printf '%s\\n' '" + a.answer + "'; done", Dir: t.TempDir(), Environ: os.Environ(), Limit: time.Minute}
			all = append(all, Contender{Name: a.name, Hook: &Hook{Command: command, Context: context.Background(), Now: func() time.Time { return time.UnixMilli(1.8e12) }}})
		}
		o := Options{Contenders: all, Rows: true, Changes: true, Replay: replay.Options{Lenient: true, Window: 3000}}
		r, err := o.Session(s)
		if err != nil {
			lines = append(lines, c.Name+": "+err.Error())
			continue
		}
		none := r.Runs[0]
		for k, run := range r.Runs[1:] {
			if k < 2 && (run.Prompt != none.Prompt || run.Read != none.Read || run.Requests != none.Requests || run.Peak != none.Peak || run.Acts != 0 || run.Failed != 0) {
				t.Errorf("%s: a hook that is %s has %+v, without it %+v", c.Name, run.Policy, run, none)
			}
			if wrong := run.Policy == "nonsense"; wrong != (run.Failed > 0) && run.Requests > 0 && k > 3 || wrong && run.Failed > 0 && run.Failure == "" {
				t.Errorf("%s: %s failed %d times: %s", c.Name, run.Policy, run.Failed, run.Failure)
			}
			lines = append(lines, fmt.Sprintf("%s %s: %d requests, acts %d, peak %d, prompt %d read %d write %d again %d, failed %d skipped %d, compactions %d, %s", c.Name, run.Policy,
				run.Requests, run.Acts, run.Peak, run.Prompt, run.Read, run.Write, run.Rebilled.Tokens, run.Failed, run.Skipped, run.Compactions, golden.Digest(run.Rows)))
		}
		s.Close()
	}
	if len(lines) < 20 {
		t.Errorf("only %d runs", len(lines))
	}
	golden.Lines(t, "testdata/hooked.txt", lines)
}
