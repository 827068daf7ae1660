package sessionfmt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// documentOf is a document of SWE-CLI with members before and after its messages.
func documentOf(messages []string) string {
	return `{"id":"s1","created_at":"2026-01-20 08:15:30","updated_at":"2026-01-20 08:16:00","messages":[` + strings.Join(messages, ",") +
		`],"files":[{"a":1},{"b":2}],"working_directory":"/w","metadata":{"title":"A title"},"more":[]}`
}

// messagesOf are so many messages, of which one is longer than several ranges of a file.
func messagesOf(n int) (all []string) {
	for k := range n {
		text := strings.Repeat(fmt.Sprint(k, ` of "them" {[\`, "\n"), k%40)
		if k == n/2 {
			text = strings.Repeat(text+"x", 600)
		}
		quoted, _ := json.Marshal(text)
		all = append(all, fmt.Sprintf(`{"role":"user","content":"%d","timestamp":"2026-01-20 08:15:30","metadata":{},"tool_calls":[]}`, k),
			fmt.Sprintf(`{"role":"assistant","content":"","timestamp":"2026-01-20 08:15:30","tool_calls":[{"id":"c%d","name":"run","parameters":{"a":[1,{"b":%s}]},"result":%s,"error":null}]}`, k, quoted, quoted))
	}
	return all
}

// indented returns a document with that indentation.
func indented(t testing.TB, doc, indent string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(doc), "", indent); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// entriesOf reads all entries of a session, with the damage that is found.
func entriesOf(t testing.TB, text string, workers int) (all []string) {
	t.Helper()
	s, err := OpenReader("s.json", strings.NewReader(text), Options{Workers: workers, Times: true})
	if err != nil {
		return []string{err.Error()}
	}
	defer s.Close()
	lines := s.NewReader()
	for i := range s.Len() {
		line, err := lines.Native(i)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(line))
	}
	for _, f := range s.Findings {
		all = append(all, fmt.Sprint(f.Line, " ", f.Code, " ", f.Text))
	}
	return all
}

// TestDocumentIsItsLines: a document has the entries that its lines have, however it is written,
// and with any number of workers.
func TestDocumentIsItsLines(t *testing.T) {
	doc := documentOf(messagesOf(700))
	minified := strings.Replace("{\n"+doc[1:], `"messages":[`, "\"messages\":[\n", 1)
	for name, text := range map[string]string{
		"two spaces": indented(t, doc, "  "), "tabs": indented(t, doc, "\t"), "none": indented(t, doc, ""), "one line": doc,
		"CR LF":         strings.ReplaceAll(indented(t, doc, "  "), "\n", "\r\n"),
		"one to a line": strings.ReplaceAll(minified, `,{"role"`, ",\n"+`{"role"`),
		"mixed":         strings.Replace(indented(t, doc, "  "), "    {\n      \"role\": \"user\"", "  {\n\"role\": \"user\"", 300),
	} {
		s, err := OpenReader("s.json", strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		lines, err := io.ReadAll(s.Plain())
		s.Close()
		if err != nil || bytes.Count(lines, []byte("\n")) != 1401 {
			t.Fatalf("%s: %d lines, %v", name, bytes.Count(lines, []byte("\n")), err)
		}
		want := entriesOf(t, string(lines), 1)
		if len(want) < 2100 {
			t.Fatalf("%s: %d entries", name, len(want))
		}
		for _, workers := range []int{1, 2, 7} {
			if got := entriesOf(t, text, workers); !slices.Equal(got, want) {
				t.Errorf("%s: %d workers: %d entries, not %d; %.300s", name, workers, len(got), len(want), firstDifference(got, want))
			}
		}
	}
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%d: %s\nwant %s", i, got[i], want[i])
		}
	}
	return ""
}

// TestDocumentShapes: documents that are damaged, or have their members in another order.
func TestDocumentShapes(t *testing.T) {
	const about = `"id":"s1","created_at":"2026-01-20 08:15:30","updated_at":"2026-01-20 08:16:00"`
	messages := func(texts ...string) string {
		var list []string
		for _, text := range texts {
			list = append(list, fmt.Sprintf(`{"role":"user","content":"%s","timestamp":"2026-01-20 08:15:30"}`, text))
		}
		return `"messages":[` + strings.Join(list, ",") + `]`
	}
	many := strings.Repeat("b", 3*unitSize)
	for _, test := range []struct{ name, text, want string }{
		{"messages first", "{" + messages("a", "b") + "," + about + "}", "user a, user b"},
		{"no messages", "{" + about + "}", ""},
		{"null", "{" + about + `,"messages":null}`, ""},
		{"no elements", "{" + about + `,"messages":[],"metadata":{"title":"t"}}`, "session_info"},
		{"a title after", "{" + about + "," + messages("a") + `,"metadata":{"title":"t"}}`, "session_info, user a"},
		{"a title far from it", "{" + about + "," + messages("a") + `,"x":"` + many + `","metadata":{"title":"t"}}`, "session_info, user a"},
		{"two lists", "{" + about + "," + messages("a", "b") + `,` + messages("c") + "}", "user c; 17 second-list"},
		{"three lists", "{" + about + "," + messages("a", "b") + `,` + messages("c") + "," + messages("d", "e") + "}", "user d, user e; 24 second-list"},
		{"two lists first", "{" + messages("a") + "," + messages("c") + "," + about + "}", "user c; 9 second-list"},
		{"an object", "{" + about + `,"messages":{"a":1},"x":2}`, "; 5 broken-off messages must be an array"},
		{"a list, and an object", "{" + about + "," + messages("a") + `,"messages":1}`, "user a; 12 broken-off messages must be an array"},
		{"another value", "{" + about + "," + messages("a") + "} 1", "user a; 12 broken-off the document is not JSON: text follows its end"},
	} {
		body, tail, _ := strings.Cut(test.text, "} 1")
		if body != test.text {
			body += "}"
		}
		text := indented(t, body, "  ")
		if strings.HasSuffix(test.text, "} 1") {
			text += " 1" + tail
		}
		s, err := OpenReader("s.json", strings.NewReader(text), Options{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for i, lines := 1, s.NewReader(); i < s.Len(); i++ {
			line, _ := lines.Line(i)
			got = append(got, s.Kind(i).String())
			for block := range line.First("message", "content").Elements {
				got[len(got)-1] += " " + block.Get("text").Text()
			}
		}
		found := ""
		for _, f := range s.Findings {
			found += fmt.Sprintf("; %d %s", f.Line, f.Code)
			if f.Code == "broken-off" {
				text, _, _ := strings.Cut(f.Text, ": it is read")
				found += " " + text
			}
		}
		if got := strings.Join(got, ", ") + found; got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		s.Close()
	}
}

// TestDocumentFails: what cannot be read is an error, and not taken for the end of the document.
func TestDocumentFails(t *testing.T) {
	doc := documentOf(messagesOf(700))
	for name, text := range map[string]string{"one line": doc, "indented": indented(t, doc, "  ")} {
		file := filepath.Join(t.TempDir(), "s.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		failure := errors.New("cannot be read")
		for at := int64(6); ; at++ { // those before it only look at the beginning
			var reads atomic.Int64
			s, err := Open(file, Options{Workers: 2, Disk: Disk{Stop: func() error {
				if reads.Add(1) == at {
					return failure
				}
				return nil
			}}})
			if err == nil {
				s.Close()
			}
			if reads.Load() < at {
				break
			}
			if !errors.Is(err, failure) {
				t.Errorf("%s: read %d: %v", name, at, err)
			}
		}
	}
}

// TestDocumentNames: the id of a title is made of the whole header, wherever its members are.
func TestDocumentNames(t *testing.T) {
	const list, title, more = `"messages":[{"role":"user","content":"a","metadata":{"x":{}}}]`, `"metadata":{"title":"t"}`, `"more":[{"a":{"b":1}}]`
	var names []string
	for _, members := range [][]string{{title, more, list}, {title, list, more}, {list, title, more}} {
		doc := `{"id":"s1","created_at":"2026-01-20 08:15:30","updated_at":"2026-01-20 08:16:00",` + strings.Join(members, ",") + "}"
		for _, text := range []string{doc, indented(t, doc, "  "), indented(t, doc, "")} {
			s, err := OpenReader("s.json", strings.NewReader(text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, s.ID(1))
			s.Close()
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 2 { // with a space after each colon, and without
		t.Error(names)
	}
}

// TestDocumentMembers: many members before the messages take no more than linear time.
func TestDocumentMembers(t *testing.T) {
	var members strings.Builder
	for k := range 30_000 { // takes half a minute if each is searched for
		fmt.Fprintf(&members, `"member %d":"%d",`, k, k)
	}
	text := "{" + members.String() + documentOf(messagesOf(1))[1:]
	if all := entriesOf(t, text, 1); len(all) != 5 {
		t.Errorf("%d entries: %.200q", len(all), all)
	}
}

// TestDocumentOfLines: what only a log has is no message of a document.
func TestDocumentOfLines(t *testing.T) {
	const event = `{"aggregate_id":"x","seq":1,"event_type":"%s","data":{"seq":0},"timestamp":"2026-01-20T08:15:30Z","id":"%[1]s"}`
	doc := documentOf([]string{`{"role":"user","content":"a"}`, fmt.Sprintf(event, "MessageEdited"), fmt.Sprintf(event, "SessionForked"), fmt.Sprintf(event, "TitleChanged")})
	gemini := `{"sessionId":"s1","projectHash":"h","startTime":"2026-01-01T00:00:00Z","lastUpdated":"2026-01-01T00:00:00Z","messages":[` +
		`{"id":"m1","type":"user","content":"a"},{"$set":{"messages":[]}},{"$set":{"summary":"t"}},{"$rewindTo":"m1"}]}`
	for _, test := range []struct {
		text string
		want int
	}{{doc, 6}, {gemini, 5}} {
		if all := entriesOf(t, test.text, 1); len(all) < test.want || strings.Contains(strings.Join(all, ""), "toolResult") {
			t.Errorf("%d entries: %.300q", len(all), all)
		}
	}
}
