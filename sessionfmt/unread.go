package sessionfmt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ctxtool/internal/read/unread"
	"ctxtool/sessionfmt/jsonl"
)

// An unreadError is the error for a file whose format is known but not supported.
type unreadError struct{ text string }

func (u unreadError) Error() string { return u.text }

// Is reports whether the target is ErrNotSession.
func (u unreadError) Is(target error) bool { return target == ErrNotSession }

// notSession returns ErrNotSession, or a more precise error if the kind of file is known.
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

// writtenBy returns the error for a file of an agent whose format is not supported.
func writtenBy(what string, a *unread.Agent) error {
	return &Error{Err: unreadError{fmt.Sprintf("%s by %s, in a format that is not read", what, a.Name)}, Hint: a.Hint}
}

// firstBytes returns the beginning of a file.
func firstBytes(r io.Reader) []byte {
	begin := make([]byte, 64)
	n, _ := io.ReadFull(r, begin)
	return begin[:n]
}

// agentOf returns the agent whose sessions begin with such a record; empty for none.
func agentOf(first jsonl.Value) string {
	if d := Sniff(first); d != nil {
		return d.Name
	}
	if first.Get("type").Is("session") && first.Get("version").Exists() {
		return "pi"
	}
	return ""
}

// mostFirst is the largest first value that is parsed, bytes.
const mostFirst = 4 << 20

// firstValue returns the first JSON object, which may span several lines; of a list, its first element. If it
// is larger than mostFirst, or truncated, it ends before the field that does not fit.
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

// NamesAgent reports whether an error already names the agent that wrote a file that is not a session.
func NamesAgent(err error) bool { return errors.As(err, new(unreadError)) }

// IsUnread reports whether the format of a file is known but not supported.
func IsUnread(disk Disk, name string) bool {
	c, err := disk.OpenContent(name)
	if err != nil {
		return false
	}
	defer c.Close()
	first, _ := firstValue(c)
	return unread.Of(name, first, nil) != nil
}
