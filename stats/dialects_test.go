package stats

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// told are sums of usage. Cost is of calls that record one.
type told struct {
	Input, Output, CacheRead int64
	Cost                     float64
}

// object are the members of a JSON object, as encoding/json reads them.
type object map[string]any

func (o object) in(names ...string) object {
	for _, name := range names {
		o, _ = o[name].(map[string]any)
	}
	return o
}

func (o object) n(name string) int64     { f, _ := o[name].(float64); return int64(f) }
func (o object) usd(name string) float64 { f, _ := o[name].(float64); return f }

// records are the records of a file: its lines, or the messages of a document.
func records(name string) (all []object) {
	data := must.Get(os.ReadFile(name))
	var doc struct{ Messages []object }
	if json.Unmarshal(data, &doc) == nil && doc.Messages != nil {
		return doc.Messages
	}
	for line := range bytes.Lines(data) {
		var o object
		must.Do(json.Unmarshal(line, &o))
		all = append(all, o)
	}
	return all
}

// TestDialectCosts: the sums of the lens cost are those of the records themselves.
func TestDialectCosts(t *testing.T) {
	pi := func(all []object) (sum told) {
		usage := map[string]object{}
		for _, o := range all {
			if o.in("message")["role"] == "assistant" {
				usage[o["id"].(string)] = o.in("message", "usage")
			}
		}
		for _, o := range all {
			if o["type"] == "child_usage_attributed" {
				usage[o["targetId"].(string)] = o.in("aggregateUsage")
			}
		}
		for _, u := range usage {
			sum.Input, sum.Output, sum.Cost = sum.Input+u.n("input"), sum.Output+u.n("output"), sum.Cost+u.in("cost").usd("total")
		}
		return sum
	}
	gemini := func(all []object) (sum told) {
		last := map[any]object{}
		for _, o := range all {
			if u := o.in("tokens"); u != nil {
				last[o["id"]] = u
			}
		}
		for _, u := range last {
			sum.Input += u.n("input") - u.n("cached") + u.n("tool")
			sum.CacheRead += u.n("cached")
			sum.Output += u.n("output") + u.n("thoughts")
		}
		return sum
	}
	swe := func(all []object) (sum told) {
		for _, o := range all {
			u := o.in("token_usage")
			sum.Input, sum.Output = sum.Input+u.n("prompt_tokens"), sum.Output+u.n("completion_tokens")
		}
		return sum
	}
	for name, route := range map[string]func([]object) told{
		"omp.jsonl": pi, "prime-agent.jsonl": pi, "atomic.jsonl": pi, "openclaw.jsonl": pi,
		"gemini/chats/*.json": gemini, "gemini/chats/*.jsonl": gemini, "9c01*.json": swe, "0d01.jsonl": swe,
		"y1.jsonl": func(all []object) (sum told) {
			for _, o := range all {
				m := o.in("metadata")
				sum.Input, sum.Output, sum.Cost = sum.Input+m.n("input_tokens"), sum.Output+m.n("output_tokens"), sum.Cost+m.usd("cost_usd")
			}
			return sum
		},
		"0b8e*.jsonl": func([]object) (sum told) { return sum }, // gsh records none
	} {
		files, err := filepath.Glob("../testdata/dialects/" + name)
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %v", name, files)
		}
		o := Options{Lenses: []*Lens{&costLens}}
		r := must.Get(o.Read(files[0]))
		sum := told{r.Cost.Tokens.Input, r.Cost.Tokens.Output, r.Cost.Tokens.CacheRead, r.Cost.Cost.Recorded}
		want := route(records(files[0]))
		if sum.Input != want.Input || sum.Output != want.Output || sum.CacheRead != want.CacheRead || math.Abs(sum.Cost-want.Cost) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", name, sum, want)
		}
		if want == (told{}) && !strings.HasPrefix(name, "0b8e") {
			t.Errorf("%s records no usage", name)
		}
	}
}
