package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"ctxtool/sessionfmt/jsonl"
)

// Messages is the member of a document that is the list of its messages.
const Messages = "messages"

// ErrNoDocument is the error for text that does not begin as an object.
var ErrNoDocument = errors.New("not a JSON document")

// ReadDocument reads a JSON object: it passes each element of the member that is its list to
// element, on one line and spelled as it stands, and returns an object of all other members, on one
// line, as far as it got. Only one value is in memory at a time.
func ReadDocument(r io.Reader, list string, element func(line []byte) error) (head jsonl.Value, err error) {
	in := json.NewDecoder(r)
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return nil, ErrNoDocument
	}
	head = jsonl.Value("{}")
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return head, err
		}
		name, _ := key.(string)
		if name == list {
			if err := readList(in, list, element); err != nil {
				return head, err
			}
			continue
		}
		line, err := readLine(in)
		if err != nil {
			return head, err
		}
		head = head.AppendEdited(nil, jsonl.Field{Name: name, Value: line})
	}
	_, err = in.Token()
	return head, err
}

// readList reads the list. Null is an empty one.
func readList(in *json.Decoder, list string, element func(line []byte) error) error {
	t, err := in.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return errors.New(list + " must be an array")
	}
	for in.More() {
		line, err := readLine(in)
		if err == nil {
			err = element(line)
		}
		if err != nil {
			return err
		}
	}
	_, err = in.Token()
	return err
}

// readLine reads a value, and puts it on one line.
func readLine(in *json.Decoder) ([]byte, error) {
	var v json.RawMessage
	if err := in.Decode(&v); err != nil {
		return nil, err
	}
	if bytes.IndexByte(v, '\n') < 0 {
		return v, nil
	}
	var line bytes.Buffer
	err := json.Compact(&line, v)
	return line.Bytes(), err
}
