package replay

import (
	"errors"

	"ctxtool/sessionfmt"
)

var errNoMessage = errors.New("is no message")

func checkMessages(v value) error {
	return needList(v, "messages", func(el value) error {
		if !el.IsObject() {
			return errNoMessage
		}
		return nil
	})
}

// givenMessage is the message that stands at v in the op at.
func givenMessage(v, op value, at message) message {
	at.form = given
	at.kind = v.Get("role").RoleKind()
	if at.kind == sessionfmt.System { // a provider message like any other here
		at.kind = sessionfmt.OtherMessage
	}
	start, size := stretch(op, v)
	at.start, at.size = at.start+start, size
	return at
}

var messagesUncachedAppend = op{
	name:  "messages_uncached_append",
	check: checkMessages,
	apply: func(m *machine, s *state, v value, at message) error {
		for el := range v.Get("messages").Elements {
			msg := givenMessage(el, v, at)
			if err := m.size(&msg); err != nil {
				return err
			}
			s.uncached = append(s.uncached, msg)
		}
		return nil
	},
}

// messagesCachedReplace puts a new list in place of the cached messages. One that
// equals a message that was there is that message and keeps its origin; of equal
// ones the first comes first.
var messagesCachedReplace = op{
	name:   "messages_cached_replace",
	cached: true,
	check:  checkMessages,
	apply: func(m *machine, s *state, v value, at message) error {
		had, err := m.digests(&s.msgs)
		if err != nil {
			return err
		}
		next := list{mixed: true}
		for _, msg := range s.msgs.all { // system messages are no cached ones
			if msg.kind == sessionfmt.System {
				next.push(*msg)
			}
		}
		for el := range v.Get("messages").Elements {
			msg := givenMessage(el, v, at)
			h := m.digest(el)
			if same := had[h]; len(same) > 0 {
				msg = *s.msgs.at(same[0])
				had[h] = same[1:]
			} else if err := m.size(&msg); err != nil {
				return err
			}
			next.push(msg)
		}
		if s == m.now() {
			m.watch.take(func(yield func(*message) bool) {
				for _, places := range had {
					for _, i := range places {
						yield(s.msgs.at(i))
					}
				}
			}, taker{at.origin(), false})
		}
		s.msgs = next
		m.rebuilt(s)
		return nil
	},
}
