package transcript

// NestedCall is a call that the tool of a result made itself, without its result.
func NestedCall(v value) ToolCall {
	c := newCall(v.Get("name").Text(), v.Get("id").Text(), v.Get("arguments"))
	status := v.Get("status")
	c.Answered, c.Failed = !status.Is("unfinished"), status.Is("error")
	return c
}
