package claude

import (
	"fmt"

	"ctxtool/sessionfmt/dialect"
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
	message := line.First("message")
	used := message.Get("usage")
	one := &a.entries[e]
	one.input = used.Get("input_tokens").Int() + used.Get("cache_read_input_tokens").Int() + used.Get("cache_creation_input_tokens").Int()
	one.model = message.Get("model").Text()
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
