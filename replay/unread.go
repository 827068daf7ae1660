package replay

import (
	"bytes"
	"maps"
	"slices"

	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/read/fields"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
)

// doubt adds a finding for each field and type in the context's lines that no reader uses and no table lists,
// at the first entry that has it: its effect on requests was not compared. A claim that messages are exact is
// lowered, and names the fields.
func (e *Envelope) doubt(c *dialect.Certainty) error {
	exact := c != nil && c.Messages == "exact"
	if e.size() > mostUnread {
		if exact {
			c.Messages, c.Uncompared = "rule", append(c.Uncompared, "a context of over 8 MB")
		}
		return nil
	}
	unread, err := e.unread()
	for _, path := range slices.Sorted(maps.Keys(unread)) {
		if exact {
			c.Messages, c.Uncompared = "rule", append(c.Uncompared, "field "+path)
		}
		e.r.addFinding("unread-field", unread[path], "nothing reads its field %s, and what the agent does with it is "+
			"not known", path)
	}
	return err
}

// mostUnread is the size of a context up to which its fields are checked, bytes. No model takes more, and up to
// it the check takes no noticeable time.
const mostUnread = 8 << 20

// size returns the total length of the lines of the context's entries, or more than mostUnread once that is
// exceeded.
func (e *Envelope) size() (n int) {
	rec := -1
	for _, m := range e.state.msgs.all {
		if int(m.rec) != rec && m.flags&omitted == 0 && !e.r.Session.Held(int(m.rec)) {
			rec = int(m.rec)
			n += e.r.Session.LineSize(rec)
		}
		if n > mostUnread {
			break
		}
	}
	return n
}

// unread returns the unknown fields of the context's lines, each with the first entry that has it. Lines of a
// document are not checked.
func (e *Envelope) unread() (map[string]int, error) {
	s, found := e.r.Session, map[string]int{}
	if d := s.Dialect(); d != nil && d.Document != nil {
		return nil, nil
	}
	rec, lines, seen := -1, s.NewReader(), map[dialect.Span]bool{}
	f := fields.Finder{Known: pi.Fields(s.Dialect()), Found: func(path []byte, _ value, known bool) {
		name := sessionfmt.Quote(string(path))
		if _, had := found[name]; !known && !had {
			found[name] = rec
		}
	}}
	for _, m := range e.state.msgs.all {
		if int(m.rec) == rec || m.flags&omitted != 0 {
			continue
		}
		for _, rec = range []int{int(m.edit), int(m.rec)} {
			if rec < 0 || s.Held(rec) {
				continue
			}
			for line, err := range lines.Unseen(rec, seen) {
				if err != nil {
					return nil, err
				}
				f.Line(bytes.TrimSpace(line))
			}
		}
	}
	return found, nil
}
