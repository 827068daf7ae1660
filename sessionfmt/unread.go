package sessionfmt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ctxtool/internal/read/unread"
	"ctxtool/sessionfmt/jsonl"
)

// An unreadError is the error of a file whose format is known and not read.
type unreadError struct{ text string }

func (u unreadError) Error() string { return u.text }

// Is reports whether the target is ErrNotSession.
func (u unreadError) Is(target error) bool { return target == ErrNotSession }

// notSession is ErrNotSession, or says what the file is where that is known.
func (s *Session) notSession() error {
	first, list := firstValue(s.src.plain())
	line, _ := firstLine(s.src)
	if agent := agentOf(first); agent != "" && (list || line == nil) {
		what, filter := "whose records take several lines each", "."
		if list {
			what, filter = "whose records are elements of a list", "'.[]'"
		}
		return &Error{Err: unreadError{fmt.Sprintf("a session of %s %s", agent, what)},
			Hint: fmt.Sprintf("jq -c %s %s > NEW.jsonl writes each on a line", filter, Clean(s.Name))}
	}
	if a := unread.Of(s.Name, first, firstBytes(s.src.plain())); a != nil {
		return writtenBy("written", a)
	}
	return ErrNotSession
}

// writtenBy is the error of a file of an agent whose format is not read.
func writtenBy(what string, a *unread.Agent) error {
	return &Error{Err: unreadError{fmt.Sprintf("%s by %s, in a format that is not read", what, a.Name)}, Hint: a.Hint}
}

// firstBytes are some bytes of the beginning of a file.
func firstBytes(r io.Reader) []byte {
	begin := make([]byte, 64)
	n, _ := io.ReadFull(r, begin)
	return begin[:n]
}

// agentOf returns the agent whose sessions begin with such a record, empty if there is none.
func agentOf(first jsonl.Value) string {
	if d := Sniff(first); d != nil {
		return d.Name
	}
	if first.Get("type").Is("session") && first.Get("version").Exists() {
		return "pi"
	}
	return ""
}

// mostFirst is how large a first value may be, bytes.
const mostFirst = 4 << 20

// firstValue returns the first JSON object, which may take several lines: of a list, its first element. What is larger
// than mostFirst, or breaks off, ends before the member that does not fit.
func firstValue(r io.Reader) (first jsonl.Value, list bool) {
	d := json.NewDecoder(io.LimitReader(r, mostFirst))
	t, err := d.Token()
	if list = t == json.Delim('['); list {
		t, err = d.Token()
	}
	if err != nil || t != json.Delim('{') {
		return nil, list
	}
	object := []byte{'{'}
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		if err != nil || d.Decode(&value) != nil {
			break
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(jsonl.AppendQuoted(object, key.(string)), ':')
		object = jsonl.Value(value).AppendOneLine(object)
	}
	return append(object, '}'), list
}

// NamesAgent reports whether an error says which agent wrote a file that is no session.
func NamesAgent(err error) bool { return errors.As(err, new(unreadError)) }

// IsUnread reports whether a file is one of an agent whose format is known and not read.
func IsUnread(disk Disk, name string) bool {
	c, err := disk.OpenContent(name)
	if err != nil {
		return false
	}
	defer c.Close()
	first, _ := firstValue(c)
	return unread.Of(name, first, nil) != nil
}
