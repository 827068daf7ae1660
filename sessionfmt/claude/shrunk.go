package claude

import (
	"fmt"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// leastFall is by how many tokens a request is smaller than the one that it extends where the
// program has cleared results. What it attaches and does not write explains smaller falls.
const leastFall = 8000

// shrunk reports an answer whose request was smaller than the one before it, although the file
// only adds to that: some versions clear results at a certain size or after a pause, and do not
// record it.
func (a *arranger) shrunk(t dialect.Tree, l *dialect.Line, e int32) error {
	line, err := t.Read(l.At)
	if err != nil {
		return err
	}
	m := readLine(line).message
	var used [3]jsonl.Value
	m.usage.Fields(used[:], "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
	one := &a.entries[e]
	one.input, one.model = used[0].Int()+used[1].Int()+used[2].Int(), a.modelID(m.model)
	for k := one.parent; k >= 0 && !a.entries[k].changes; k = a.entries[k].parent {
		before := &a.entries[k]
		if before.code != answer {
			continue
		}
		if fall := before.input - one.input; one.input > 0 && fall >= leastFall && before.model == one.model {
			t.Report("maybe-cleared", l, fmt.Sprintf("this request was %d tokens smaller than the one before, and the file does not say why: results may have been cleared, also in later requests", fall))
		}
		break
	}
	return nil
}

// modelID numbers the models of a file.
func (a *arranger) modelID(model jsonl.Value) int32 {
	id, ok := a.models[string(model)]
	if !ok {
		id = int32(len(a.models))
		a.models[string(model)] = id
	}
	return id
}
