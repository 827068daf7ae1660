package check

import (
	"bytes"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestPiOpens: pi opens a file as the report predicts.
func TestPiOpens(t *testing.T) {
	files := map[string][]byte{}
	for _, c := range corpus.Sample(t) {
		files[c.Name] = c.Data
	}
	counts := map[string]int{}
	for name, pi := range corpus.Pi(t, files, "open") {
		s, err := sessionfmt.OpenReader(name, bytes.NewReader(files[name]), sessionfmt.Options{})
		if err != nil {
			if !pi.Read.Refused {
				t.Errorf("%s: pi reads it: %v", name, err)
			}
			continue
		}
		was := string(jsonl.ReplaceInvalidUTF8(files[name]))
		is := ""
		switch {
		case pi.Read.Refused:
			is = refuses
		case pi.Read.Endless:
			is = dies
		case strings.HasPrefix(pi.Open.Throws, "RangeError"): // of JSON.stringify, which pi would not ask here
		case pi.Read.Throws != "":
			is = fails
		case pi.Open.After == was+"\n":
			is = ends
		case pi.Open.After != was:
			is = rewrites
		}
		got := opening(s)
		counts[got]++
		same := got == is
		switch got {
		case empties:
			same = string(pi.Open.Messages) == "[]"
		case repeats: // whether it does so again is not asked
			same = is == "" || is == rewrites
		}
		if !same {
			t.Errorf("%s: we say that pi %q, and it %q", name, got, is)
		}
		s.Close()
	}
	t.Logf("what pi does: %v", counts)
}
