package fields_test

//lint:file-ignore U1000 the fields are read by reflection.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/read/fields"
	"ctxtool/sessionfmt/jsonl"
)

type line struct {
	every head          `jsonl:"<*>"`
	user  said          `jsonl:"<user>"`
	ping  struct{}      `jsonl:"<ping>"`
	log   fields.Unread `jsonl:"<log>"`

	version fields.Kept // of a line without a type
}

type head struct {
	id, sent_at jsonl.Value
}

type said struct {
	parts []part
	usage struct {
		raw, input jsonl.Value
		cost       fields.Unread
	}
	replies []said
}

type part struct {
	fields.Free

	text jsonl.String
}

// shape reads the same struct.
var shape = jsonl.ShapeOf[struct {
	head
	said
	unknown bool
}]()

func TestFinder(t *testing.T) {
	for of, want := range map[string]string{
		`{"type":"user","id":"a","sent_at":1,"parts":[{"text":"x","new":1}],"usage":{"input":1}}`: "",
		`{"type":"user","usage":{"cost":1,"input":2},"sent":1}`:                                   "- <user>.usage.cost, <user>.sent",
		`{"type":"user","replies":[{"replies":[{"parts":[],"odd":1}]}]}`:                          "<user>.replies.replies.odd",
		`{"type":"ping","id":"a","parts":[]}`:                                                     "<ping>.parts",
		`{"type":"log","id":"a","level":1}`:                                                       "- <log>",
		`{"type":"other","id":"a"}`:                                                               "<other>",
		`{"version":1,"id":"a","type":7}`:                                                         "type",
		`{"role":"user","table":"user","id":"a"}`:                                                 "<user>.role",
		`{"type":"user","id":{"deep":1}}`:                                                         "<user>.id.deep",
		`[1]`:                                                                                     "",
	} {
		var found []string
		f := fields.Finder{Known: fields.Of[line](), Found: func(path []byte, _ jsonl.Value, known bool) {
			found = append(found, map[bool]string{true: "- "}[known]+string(path))
		}}
		f.Line(jsonl.Value(of))
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("%s: found %q, want %q", of, got, want)
		}
	}
}

// TestShape: a shape reads the values of a declaration, and knows the fields that it does not read.
func TestShape(t *testing.T) {
	for of, unknown := range map[string]bool{
		`{"id":"a","usage":{"input":7,"cost":1},"parts":[{}],"replies":[]}`: false,
		`{"id":"a","usage":{"input":7},"type":"user"}`:                      true,
	} {
		var got struct {
			head
			said
			unknown bool
		}
		shape.Read(new(jsonl.Cursor).Reset(jsonl.Value(of)), &got)
		if got.unknown != unknown || got.usage.input.Int() != 7 || !got.id.Is("a") {
			t.Errorf("%s: read %+v", of, got)
		}
	}
}

func TestWrongDeclaration(t *testing.T) {
	type twice struct {
		id, name fields.Read
		other    fields.Kept `jsonl:"name"`
	}
	type number struct{ n int }
	for _, c := range []struct {
		of   func() *fields.Tree
		want string
	}{
		{fields.Of[twice], "fields_test.twice.other: name is declared twice"},
		{fields.Of[number], "fields_test.number.n: int declares no field of a line"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != c.want {
					t.Errorf("panicked with %q, want %q", got, c.want)
				}
			}()
			c.of()
		}()
	}
}

func TestMistakes(t *testing.T) {
	s := newSource()
	s.file("agent/lines.go", `package agent

type line struct {
	id, sent_at fields.Read
	kept        fields.Kept
	log         fields.Unread
	model       jsonl.Value
	parts       []part
}

type part struct { text fields.Read }

type lost struct { text fields.Read }
`)
	s.file("agent/agent.go", `package agent

var _ = fields.Of[line]

var shape = jsonl.ShapeOf[message]()

type message struct {
	raw, id jsonl.Value
	texts   jsonl.Value `+"`jsonl:\"txt\"`"+`
}

func read(v jsonl.Value, c jsonl.Cursor) {
	v.Get("sentAt")
	v.All("id", "log")
	for key := range c.Members {
		switch string(key) {
		case "text", "part":
		}
	}
}
`)
	want := []string{
		`agent/agent.go:13: no struct declares the field "sentAt" that is read here`,
		`agent/agent.go:14: "log" is read here, and declared as Unread at agent/lines.go:6`,
		`agent/agent.go:17: no struct declares the field "part" that is read here`,
		`agent/agent.go:9: no struct declares the field "txt" that is read here`,
		`agent/lines.go:13: lost declares fields of no line`,
		`agent/lines.go:4: "sent_at" is declared as Read, and no reader names it: is it Kept, or Unread?`,
		`agent/lines.go:7: a shape reads "model", and nothing uses it: is it Kept, or Unread?`,
	}
	if got := s.mistakes(newSource()); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
