package agents

import (
	"encoding/json"
	"maps"
	"slices"
)

// A request of the Messages or of the Responses API can name an earlier answer in place of the conversation up to it.
// Of such a request the server records what the model was given: all of it.

// earlier returns the id of the answer that a request continues from, empty for none.
func earlier(body object) string {
	thread, _ := body["thread"].(object)
	return or(word(thread, "previous_message_id"), word(body, "previous_response_id"))
}

// continued returns the body of a request with what an earlier one and its answer have, and that body as JSON.
func (s *Server) continued(of *api, body object, raw []byte) (object, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.answered[earlier(body)]
	if had == nil {
		return body, raw
	}
	whole := maps.Clone(body)
	for name, v := range had {
		if name != of.list && whole[name] == nil && (name == "system" || name == "tools" || name == "instructions") {
			whole[name] = v
		}
	}
	before, _ := Unmarked(had[of.list]).([]any)
	whole[of.list] = slices.Concat(before, list(body, of.list))
	delete(whole, "thread")
	delete(whole, "previous_response_id")
	return whole, []byte(encoded(whole))
}

// keep keeps a request and its answer, for those that continue from it.
func (s *Server) keep(of *api, r *response) {
	if of.list == "" || r.Hang || r.Cut || r.Failed != nil {
		return
	}
	var answer []any
	switch of {
	case &messagesAPI:
		var blocks []any
		for _, p := range r.parts {
			blocks = append(blocks, p.block())
		}
		answer = []any{object{"role": "assistant", "content": blocks}}
	case &responsesAPI:
		for _, item := range r.outputs() {
			answer = append(answer, item)
		}
	}
	whole := maps.Clone(r.body)
	var plain []any // as a request has it
	if json.Unmarshal([]byte(encoded(answer)), &plain) != nil {
		return
	}
	whole[of.list] = append(slices.Clone(list(r.body, of.list)), plain...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answered == nil {
		s.answered = map[string]object{}
	}
	s.answered[r.q.Answer] = whole
}
