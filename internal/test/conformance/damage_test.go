package conformance

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"

	"github.com/klauspost/compress/zstd"
)

// A damage is a way to damage a session of seven lines, and what a check then finds in that of most
// agents: each finding, at which line, what it hides (messages, tokens, requests), and how many more
// messages the context has than before.
type damage struct {
	name  string
	do    func(lines []string) string
	found string
}

func damages() []damage {
	swap := func(old, new string) func([]string) string {
		return func(l []string) string { return strings.ReplaceAll(joined(l), old, new) }
	}
	lines := func(change func(l []string) []string) func([]string) string {
		return func(l []string) string { return joined(change(l)) }
	}
	at := func(k int, by ...string) func([]string) string { // put in before line k, from 1
		return lines(func(l []string) []string { return slices.Insert(l, k-1, by...) })
	}
	kind := func(name string) string { return strings.TrimSpace(strings.Replace(moon, "moon", name, 1)) }
	return []damage{
		{"sound", swap("", ""), "+0"},
		{"a torn last line", func(l []string) string { return joined(l)[:len(joined(l))-21] }, "7 torn; -1"},
		{"no final newline", func(l []string) string { return strings.Join(l, "\n") }, "7 unterminated; +0"},
		{"glued lines", lines(func(l []string) []string { l[4] += l[5]; return slices.Delete(l, 5, 6) }), "5 glued hides 2/6/1; -2"},
		{"a line glued to half of one", lines(func(l []string) []string {
			l[4] = l[4][:min(60, len(l[4])/2)] + l[5]
			return slices.Delete(l, 5, 6)
		}), "5 malformed hides 1/2/0; -2"},
		{"NUL bytes", func(l []string) string { l[4] = "\x00\x00" + l[4]; return joined(l) + "\x00\x00\x00" }, "5 padded, 8 padded; +0"},
		{"a malformed line", lines(func(l []string) []string { l[4] = l[4][:min(70, len(l[4])/2)]; return l }), "5 malformed; -1"},
		{"no JSON at all", at(5, "oops"), "5 malformed; +0"},
		{"bytes that are not UTF-8", swap("There are", "There \xff\xfe"), "5 invalid-utf8; +0"},
		{"CR LF", swap("\n", "\r\n"), "crlf; +0"},
		{"blank lines", at(5, "", " "), "blank-line; +0"},
		{"lines that are not objects", at(5, "17", "[1]", "null"), "5 scalar-line, 6 scalar-line, 7 scalar-line; +0"},
		{"a byte order mark", func(l []string) string { return "\ufeff" + joined(l) }, "1 bom; +0"},
		{"a line twice", lines(func(l []string) []string { return slices.Insert(l, 5, l[4]) }), "+1"},
		{"a dangling parent", swap(`"parentUuid":"a2"`, `"parentUuid":"gone"`), ""},
		{"a lost beginning", lines(func(l []string) []string { return slices.Delete(l, 1, 2) }), "-1"},
		{"a parent cycle", swap(`"parentUuid":null`, `"parentUuid":"a3"`), ""},
		{"its own parent", swap(`"parentUuid":"a2"`, `"parentUuid":"u2"`), ""},
		{"a call without a result", lines(func(l []string) []string { return slices.Delete(l, 3, 4) }), "3 call-without-result; -1"},
		{"a result without its call", swap(`"c1"}]}`, `"c2"}]}`), ""},
		{"an empty file", func([]string) string { return "" }, "unread"},
		{"the header alone", lines(func(l []string) []string { return l[:1] }), "-6"},
		{"no header", lines(func(l []string) []string { return l[1:] }), "unread"},
		{"a broken header", lines(func(l []string) []string { l[0] = l[0][:min(30, len(l[0])/2)]; return l }), "unread"},
		{"a huge line", swap("There are two.", strings.Repeat("There are two. ", 200000)), "7 maybe-cleared; +0"},
		{"a newer version", swap(`.1.12"`, `.200.1"`), ""},
		{"a newer version, and a field", swap(`.1.12"`, `.200.1","tide":1`), ""},
		{"unknown types", at(5, kind("moon"), kind("tide"), kind("moon")), "5 unknown-type, 6 unknown-type; +0"},
		{"two files", func(l []string) string { return joined(l) + joined(l) }, "+6"},
	}
}

// damaged damages Lines in each way.
func (a Agent) damaged(t *testing.T) {
	sound := joined(a.Lines)
	all := len(open(t, a.Name, []byte(sound)).said)
	for _, test := range damages() {
		data := test.do(slices.Clone(a.Lines))
		want, named := a.Found[test.name]
		if data == sound && test.name != "sound" && !named {
			continue // this agent's sessions have nothing of the kind
		}
		want = cmp.Or(want, test.found)
		if sign := strings.LastIndexAny(want, "+-"); want != "unread" && sign >= 0 {
			want = want[:sign] + strconv.Itoa(all+must.Get(strconv.Atoi(want[sign:])))
		}
		if got := Report(t, a.Name, data); got != want {
			t.Errorf("%s of %s: found %q, want %q, or what Agent.Found says of %q (+N counts from %d entries)",
				test.name, a.Name, got, want, test.name, all)
		}
	}
}

// zstdWriter is one for all, since it takes much memory.
var zstdWriter = sync.OnceValue(func() *zstd.Encoder { return must.Get(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))) })

// Report checks a session, plain and packed with the same result, and returns its findings with what
// they hide, and how many messages its context has.
func Report(t *testing.T, agent, data string) string {
	t.Helper()
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte(data))
	w.Close()
	var all []string
	for name, packed := range map[string]string{"s.jsonl": data, "s.jsonl.gz": gz.String(), "s.jsonl.zst": string(zstdWriter().EncodeAll([]byte(data), nil))} {
		all = append(all, reportOf(t, agent, write(t, name, packed)))
	}
	if slices.Sort(all); all[0] != all[2] {
		t.Errorf("packed it differs: %q", all)
	}
	return all[0]
}

func reportOf(t *testing.T, agent, name string) string {
	r := check.File(name, check.Options{})
	if r.Verdict == check.Unread {
		return "unread"
	}
	if r.Agent != agent {
		t.Errorf("read as a session of %q", r.Agent)
	}
	var found []string
	for _, f := range r.Findings {
		s := f.Code
		if f.Line > 0 {
			s = fmt.Sprintf("%d %s", f.Line, f.Code)
		}
		if f.Hides != nil {
			s += fmt.Sprintf(" hides %d/%d/%d", f.Hides.Messages, f.Hides.Tokens, f.Hides.Requests)
		}
		if agent != "pi" && strings.HasPrefix(f.Fix, "ctxtool") && !strings.HasSuffix(f.Fix, " -o NEW.jsonl") {
			t.Errorf("%s: the fix of %s would write to it: %s", agent, f.Code, f.Fix)
		}
		found = append(found, s)
	}
	s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
	defer s.Close()
	now, err := check.Measure(s, s.Leaf())
	if err != nil {
		t.Error(err)
	}
	return strings.TrimPrefix(fmt.Sprintf("%s; %d", strings.Join(found, ", "), now.Messages), "; ")
}
