package opencode_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"ctxtool/internal/dialect/opencode"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/corpus"
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

// TestKiloRecorded holds what is replayed to requests of scripts of our own, which were played after the rules were
// written: pictures and files, a failed call, another model, a sub-agent, two compactions, a prompt that was taken
// back, a fork and a command of the user.
func TestKiloRecorded(t *testing.T) {
	tally, at, n := claims.New(t, opencode.KiloRules, "rules.go"), map[string][]request{}, 0
	const folder = "testdata/kilo/held"
	for _, q := range corpus.Requests[sent](t, folder) {
		if _, ok := at[q.SessionID]; !ok {
			all := collect(t, filepath.Join(folder, q.SessionID+".jsonl"))
			at[q.SessionID] = slices.DeleteFunc(all, func(r request) bool { return r.summary })
		}
		if len(at[q.SessionID]) == 0 {
			t.Fatalf("request %d was not replayed", q.N)
		}
		got := at[q.SessionID][0]
		at[q.SessionID] = at[q.SessionID][1:]
		equal := reflect.DeepEqual(got.items, q.Messages)
		if tally.Add(got.version, got.used, got.asked, equal); !equal {
			t.Errorf("%s: request %d:\n%v\nwant:\n%v", q.SessionID, q.N, got.items, q.Messages)
		}
		n++
	}
	tally.Hold(t, *update, "compared_kilo_own.go", "opencode", "comparedKiloOwn")
	for id, left := range at {
		if len(left) > 0 {
			t.Errorf("%s: %d requests too many", id, len(left))
		}
	}
	t.Logf("%d requests", n)
}
