package jsonl

// NestedCalls yields the calls that the tool of a result made itself (docs/session-format.md 4.4): objects with
// name, status, and arguments or their size. None of them is sent to a model.
func (m *Message) NestedCalls(yield func(Value) bool) {
	m.Nested.Get("calls").Elements(yield)
}
