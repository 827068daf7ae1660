package opencode_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"ctxtool/internal/dialect/opencode"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

// TestKilo holds what is replayed of a session of Kilo to the requests that it sent. Those with tools are the turns; a
// summary and titles have none.
func TestKilo(t *testing.T) {
	dir := testenv.NeedShared(t, "vectors/agents/kilo")[0]
	var all []request
	for _, one := range collect(t, filepath.Join(dir, "kilo.db")) {
		if !one.summary {
			all = append(all, one)
		}
	}
	tally, n := claims.New(t, opencode.KiloRules, "rules.go"), 0
	for _, name := range must.Get(filepath.Glob(filepath.Join(dir, "req/*.json"))) {
		var q struct {
			Body struct {
				Messages []any
				Tools    []any
			}
		}
		must.Do(json.Unmarshal(must.Get(os.ReadFile(name)), &q))
		if q.Body.Tools == nil {
			continue
		}
		if n == len(all) {
			t.Fatalf("%s is not replayed", name)
		}
		equal := reflect.DeepEqual(all[n].items, q.Body.Messages[1:])
		if tally.Add(all[n].version, all[n].used, all[n].asked, equal); !equal {
			t.Errorf("%s:\n%v\nwant:\n%v", name, all[n].items, q.Body.Messages[1:])
		}
		n++
	}
	tally.Hold(t, *update, "compared_kilo.go", "opencode", "comparedKilo")
	if n != len(all) || n != 8 {
		t.Errorf("%d requests were sent, and %d are replayed", n, len(all))
	}
}
