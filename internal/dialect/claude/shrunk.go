package claude

import (
	"bytes"
	"fmt"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// shrunk reports an answer whose request was smaller than the one before it, although the file
// only adds to that: some versions clear results at a certain size or after a pause, and do not
// record it. request is the tokens of its request and its model; see answerGroup.
func (a *arranger) shrunk(t dialect.Tree, l *dialect.Line, e int32, request []byte) {
	size, model, _ := bytes.Cut(request, []byte{'\n'})
	one := &a.entries[e]
	one.input, one.model = jsonl.Value(size).Int(), a.modelID(model)
	if one.parent < 0 || a.entries[one.parent].answer < 0 {
		return
	}
	before := &a.entries[a.entries[one.parent].answer]
	if fall := before.input - one.input; one.input > 0 && fall >= jsonl.LeastGone && before.model == one.model {
		t.Report("maybe-cleared", l, fmt.Sprintf("this request was %d tokens smaller than the one before, and the file does not say why: results may have been cleared, also in later requests", fall))
	}
}

// modelID numbers the models of a file.
func (a *arranger) modelID(model []byte) int32 {
	id, ok := a.models[string(model)]
	if !ok {
		id = int32(len(a.models))
		a.models[string(model)] = id
	}
	return id
}
