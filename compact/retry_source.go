package compact

// signals are the candidates of profile "source": results that read like errors, answers
// that say the same again, results that read as empty, in that order. A message can be
// in several, and is counted in each.
func (w *work) signals() ([]candidate, error) {
	rows := w.live()
	texts := make([]string, len(rows))
	for n, i := range rows {
		if w.Messages[i].isUser() {
			continue
		}
		text, err := w.said(i)
		if err != nil {
			return nil, err
		}
		texts[n] = text
	}
	failed, err := w.bare(rows, "reads like an error", func(n int) (bool, error) { return w.failed(rows[n]) })
	if err != nil {
		return nil, err
	}
	empty, err := w.bare(rows, "reads as empty", func(n int) (bool, error) { return isEmptyText(texts[n]), nil })
	return append(append(failed, w.repeated(rows, texts)...), empty...), err
}

// bare are the results that a test holds of, those right behind an answer with calls
// aside; an answer right before one goes with it.
func (w *work) bare(rows []int, why string, test func(n int) (bool, error)) (found []candidate, err error) {
	for n, i := range rows {
		if !w.Messages[i].isResult() || n > 0 && w.Messages[rows[n-1]].makesCalls() {
			continue
		}
		ok, err := test(n)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		c := candidate{[]int{i}, why}
		if n > 0 && w.Messages[rows[n-1]].isAssistant() {
			c.messages = []int{rows[n-1], i}
		}
		found = append(found, c)
	}
	return found, nil
}

// repeatWithin is how many messages further an answer is looked for that repeats one.
const repeatWithin = 3

// repeated are the answers without calls that the next answer repeats, with the result
// right behind.
func (w *work) repeated(rows []int, texts []string) (found []candidate) {
	a := -1
	for b, i := range rows {
		if !w.Messages[i].isAssistant() {
			continue
		}
		if a >= 0 && b-a <= repeatWithin && !w.Messages[rows[a]].makesCalls() && texts[a]+texts[b] != "" && repeats(texts[a], texts[b]) {
			c := candidate{[]int{rows[a]}, "said again"}
			if w.Messages[rows[a+1]].isResult() {
				c.messages = append(c.messages, rows[a+1])
			}
			found = append(found, c)
		}
		a = b
	}
	return found
}
