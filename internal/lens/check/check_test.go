package check

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
)

// TestCheck: each file of testdata/sessions/bad has what its row in the table says,
// where that is, and each check finds something in one of them; of the good ones
// there is nothing to say.
func TestCheck(t *testing.T) {
	root := filepath.Join(corpus.Root(t), "testdata", "sessions")
	rows := readRows(filepath.Join(root, "README.md"))
	// See TestMore, and TestOpenTrailing of package sessionfmt.
	seen := map[string]bool{"more": true, "trailing-data": true}
	files, err := filepath.Glob(filepath.Join(root, "bad", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		name := filepath.Base(file)
		row, ok := rows[strings.TrimSuffix(name, ".jsonl")]
		if !ok {
			row, ok = rows[name]
		}
		if !ok {
			t.Errorf("%s has no row in the table", name)
		}
		codes := map[string]int{}
		places := places[strings.TrimSuffix(strings.TrimSuffix(name, ".zst"), ".jsonl")]
		for _, f := range File(file, everything()).Findings {
			seen[f.Code] = true
			codes[f.Code]++
			if place := strings.TrimSpace(fmt.Sprint(f.Line, " ", f.Entry)); codes[f.Code] == 1 && !slices.Contains(places, place) {
				t.Errorf("%s: %s is found at %q, not at one of %q", name, f.Code, place, places)
			}
			if !slices.Contains(row, f.Code) {
				t.Errorf("%s: found, and not in the table: %s", name, f.Code)
			}
		}
		for _, code := range row {
			if codes[code] == 0 {
				t.Errorf("%s: in the table, and not found: %s", name, code)
			}
		}
	}
	others, _ := filepath.Glob("../../read/dialect/claude/testdata/*.jsonl") // of other agents
	more, _ := filepath.Glob("../../../testdata/dialects/*.json*")
	variants, _ := filepath.Glob("../../../replay/testdata/oh-my-pi/*/session.jsonl")
	for _, file := range slices.Concat(others, more, variants) {
		for _, f := range File(file, everything()).Findings {
			seen[f.Code] = true
		}
	}
	for _, c := range All() {
		// Some have to be asked for, and TestUnread makes one.
		if !seen[c.Code] && c.Code != "tool-gone" && c.Code != "unread-field" && c.Group != "provider" {
			t.Errorf("nothing in testdata/sessions/bad has %s", c.Code)
		}
	}
	good, _ := filepath.Glob(filepath.Join(root, "good", "*"))
	for _, file := range append(good, filepath.Join(root, "demo.jsonl")) {
		for _, f := range File(file, everything()).Findings {
			t.Errorf("%s: line %d: %s: %s", filepath.Base(file), f.Line, f.Code, f.Text)
		}
	}
}

// places are where the files of testdata/sessions/bad have their damage: lines, and
// ids where the line holds an entry; 0 is the file.
var places = map[string][]string{
	"bad-timestamp": {"6 0544fa94"}, "blank": {"0"}, "bom": {"1"}, "broken.jsonl.gz": {"3"}, "broken": {"0"},
	"call-lost-result": {"3 027e7139"}, "call-without-result": {"8 08000001"}, "checkpoint-role": {"8 08000003"}, "crlf": {"0"},
	"cycle": {"2 01af9fb2"}, "duplicate-id": {"7 04e04a0f", "6 05674962"}, "edit-bad-content": {"6 05ef03c5", "7 065866b7"},
	"edit-no-effect": {"9 08000002"}, "edit-no-replacement": {"6 0519fa81"}, "edit-off-path": {"9 08000002"},
	"edit-summarised": {"9 08000002"}, "edit-unknown": {"8 08000001"}, "empty": {"0"}, "failed-answer": {"9 08000002"},
	"forward-parent": {"4 040011f7"}, "glued": {"5", "6 068ea92d"}, "header-id": {"1"}, "image-size": {"9 08000002"},
	"invalid-utf8": {"6 0561d79a"}, "kept-no-message": {"11 08000004"}, "kept-unknown": {"6 05c9d632"}, "late-header": {"2"},
	"leaf-moved": {"8 07aa11b2"}, "line-size": {"9 08000002", "0"}, "malformed": {"5", "6 051ebf7a"}, "missing-id": {"7"},
	"no-checkpoint": {"10 08000003"}, "no-header": {"0"}, "nonstring-id": {"5 17"}, "not-a-session": {"0"}, "null-message": {"6 05571437"},
	"orphan": {"6 05b4ab25"}, "parent-session": {"1"}, "patch-index": {"8 08000001"}, "patch-no-reason": {"6 056b8126"},
	"patch-schema-version": {"6 050d82d4"}, "patch-scope": {"6 057d7d44"}, "patch-unknown-op": {"6 05d49a18"},
	"patch-wrong-shape": {"6 05f7da82"}, "request-size": {"0"}, "result-before-call": {"8 08000001"}, "result-lost-call": {"4 037a60ee"},
	"result-without-call": {"8 08000001"}, "scalar-last": {"8"}, "scalars": {"4", "8"}, "second-header": {"6"}, "self-parent": {"6 05c0ffee"},
	"several-roots": {"2 01be7fde"}, "shadow-broken": {"10 08000003"}, "shadow-differs": {"9 08000003"}, "shadow-empty": {"9 08000003"},
	"time-backward": {"8 07c0ffee"}, "too-new": {"1"}, "tool-arguments": {"9 08000001"}, "tool-unknown": {"9 08000001"}, "torn": {"7"},
	"unknown-type": {"6 05f26086"}, "unterminated": {"7"}, "usage-size": {"3 027e7139", "5 0430c81d"}, "v1-ids": {"0"}, "version": {"1"},
}

// readRows reads the codes that the table of damaged files names, by file.
func readRows(name string) map[string][]string {
	page := must.Get(os.ReadFile(name))
	_, bad, _ := strings.Cut(string(page), "\n## bad\n")
	quoted := regexp.MustCompile("`([^`]+)`")
	rows := map[string][]string{}
	for line := range strings.Lines(bad) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		var codes []string
		for _, q := range quoted.FindAllStringSubmatch(cells[4], -1) {
			if Find(q[1]) != nil {
				codes = append(codes, q[1])
			}
		}
		for _, q := range quoted.FindAllStringSubmatch(cells[1], -1) {
			rows[strings.TrimSuffix(q[1], ".jsonl")] = codes
		}
	}
	return rows
}

// TestMore: of a file that is broken from end to end the first findings are listed.
func TestMore(t *testing.T) {
	lines := []string{head3}
	for i := range 1500 {
		lines = append(lines, entry("label", fmt.Sprint("i", i), "gone", `,"targetId":"x"`))
	}
	r := checked(file(lines...))
	if last := r.Findings[0]; !r.has("more") || last.Code != "more" || last.Text != "500 more findings, not listed" {
		t.Errorf("%d findings, the first of them %+v", len(r.Findings), last)
	}
}

// TestExact: what is found in corner cases, and what pi does on opening them.
func TestExact(t *testing.T) {
	edit := func(id, parent, target, replacement string) string {
		return entry("context_edit", id, parent, `,"targetId":"`+target+`"`+replacement)
	}
	null := `,"replacement":null`
	for _, c := range []struct {
		name  string
		lines []string
		opens string
		codes []string
	}{
		{"an edit without replacement of what is there", []string{user("a", ""), edit("e", "a", "a", "")}, "fails to build a context", []string{"edit-no-replacement"}},
		{"one that a later edit takes the place of", []string{user("a", ""), edit("e", "a", "a", ""), edit("f", "e", "a", null)}, "", []string{"edit-no-replacement"}},
		{"one of what is not there", []string{user("a", ""), edit("e", "a", "x", "")}, "", []string{"edit-no-replacement", "edit-unknown"}},
		{"an edit above its target", []string{user("a", ""), edit("e", "a", "b", null), user("b", "e")}, "", nil},
		{"an edit on another branch than its target", []string{user("a", ""), user("b", "a"), edit("e", "a", "b", null)}, "", []string{"edit-off-path"}},
		{"two omissions of one message", []string{user("a", ""), user("b", "a"), edit("e", "b", "a", null), edit("f", "e", "a", null)}, "", nil},
		{"a failed answer with a result, both omitted", []string{user("a", ""), calls("b", "a", "error", "1"), result("r", "b", "1"), edit("e", "r", "b", null), edit("f", "e", "r", null)}, "", nil},
		{"a failed answer with a result", []string{user("a", ""), calls("b", "a", "error", "1"), result("r", "b", "1")}, "", []string{"failed-answer", "result-lost-call"}},
		{"a failed answer whose call never ran", []string{user("a", ""), calls("b", "a", "aborted", "1"), edit("e", "b", "b", null)}, "", nil},
		{"calls of one id in turn", []string{user("a", ""), calls("b", "a", "toolUse", "1"), result("c", "b", "1"), calls("d", "c", "toolUse", "1"), result("e", "d", "1")}, "", nil},
		{"parallel calls, results in another order", []string{user("a", ""), calls("b", "a", "toolUse", "1", "2"), result("c", "b", "2"), result("d", "c", "1")}, "", nil},
		{"a second result", []string{user("a", ""), calls("b", "a", "toolUse", "1"), result("c", "b", "1"), result("d", "c", "1")}, "", []string{"result-without-call"}},
		{"a call of an id that waits for a result", []string{user("a", ""), calls("b", "a", "toolUse", "1"), calls("d", "b", "toolUse", "1"), result("e", "d", "1")}, "", []string{"call-without-result"}},
		{"one result on each of two branches", []string{user("a", ""), calls("b", "a", "toolUse", "1"), result("c", "b", "1"), result("d", "b", "1")}, "", nil},
		{"a cycle off the path", []string{user("x", "y"), user("y", "x"), user("a", "")}, "", []string{"cycle", "forward-parent"}},
		{"a cycle on the path", []string{user("x", "y"), user("y", "x"), user("a", "y")}, "runs out of memory", []string{"cycle", "forward-parent"}},
		{"a call without result below a cycle, beside a branch", []string{user("x", "y"), user("y", "x"), user("b", "y"), user("d", "b"), calls("a", "b", "toolUse", "1"), user("c", "a")}, "runs out of memory", []string{"call-without-result", "cycle", "forward-parent"}},
		{"labels set again at the end of a branched session", []string{user("a", ""), strings.Replace(entry("label", "l", "a", `,"targetId":"a","label":"x"`), "03:04:05", "03:04:01", 1)}, "", nil},
		{"somebody's entry at the end of another branch", []string{user("a", ""), user("b", "a"), entry("custom", "x", "a", `,"customType":"y"`)}, "", []string{"leaf-moved"}},
		{"an undoing there", []string{user("a", ""), user("b", "a"), entry("custom", "x", "a", `,"customType":"ctxtool.undo"`)}, "", nil},
		{"a line without message off the path", []string{user("a", ""), entry("message", "x", "a", ""), user("b", "a")}, "", []string{"no-message"}},
	} {
		r := checked(file(append([]string{head3}, c.lines...)...))
		var codes []string
		for _, f := range r.Findings {
			codes = append(codes, f.Code)
		}
		slices.Sort(codes)
		if codes = slices.Compact(codes); r.Opens != c.opens || !slices.Equal(codes, c.codes) {
			t.Errorf("%s: pi %s; %q", c.name, r.Opens, codes)
		}
	}
}

// TestHides: what findings keep out of the context at the leaf.
func TestHides(t *testing.T) {
	system := func(id, parent string) string {
		return entry("message", id, parent, `,"message":{"role":"system","content":"12345678","timestamp":1}`)
	}
	compaction := func(id, parent, kept string) string {
		return entry("compaction", id, parent, `,"summary":"s","firstKeptEntryId":"`+kept+`","tokensBefore":1`)
	}
	uncached := entry("context_transform", "p", "a", `,"schemaVersion":1,"transformerName":"t","patch":[{"op":"messages_uncached_append","messages":[{"role":"user","content":"1234","timestamp":1}],"scope":"uncached"}]`)
	broken := user("b", "a")
	broken = broken[:len(broken)-2]
	figures := func(f *Figures) string {
		if f == nil {
			return "-"
		}
		return fmt.Sprint(*f)
	}
	for _, c := range []struct {
		name    string
		lines   []string
		context string
		hides   string // by code
	}{
		{"an entry whose line is broken, below it nothing", []string{user("a", ""), broken}, "{1 1 0}", "malformed -"},
		{"one with an answer below it", []string{user("a", ""), broken, calls("c", "b", "stop")}, "{1 0 1}", "malformed {1 1 0} orphan {1 1 0}"},
		{"one with a message before it that is not cached", []string{user("a", ""), uncached, broken}, "{2 2 0}", "patch-scope - malformed -"},
		{"a compaction that loses the prompt", []string{system("s", ""), user("a", "s"), compaction("k", "a", "a")}, "{2 28 0}", "no-checkpoint {0 2 0}"},
		{"and what follows it", []string{system("s", ""), user("a", "s"), compaction("k", "a", "a"), user("b", "k")}, "{3 29 0}", "no-checkpoint {0 2 0}"},
		{"a compaction with the prompt declared again", []string{system("s", ""), user("a", "s"), compaction("k", "a", "a"), system("t", "k")}, "{2 30 0}", "no-checkpoint -"},
		{"a compaction that keeps what is not there", []string{user("a", ""), user("b", "a"), compaction("k", "b", "x")}, "{1 27 0}", "kept-unknown {2 2 0}"},
	} {
		r := checked(file(append([]string{head3}, c.lines...)...))
		var hides []string
		for _, f := range r.Findings {
			if f.Code != "kept-no-message" {
				hides = append(hides, f.Code+" "+figures(f.Hides))
			}
		}
		if got := strings.Join(hides, " "); got != c.hides || figures(r.Context) != c.context {
			t.Errorf("%s: %s; %s", c.name, figures(r.Context), got)
		}
	}
}

// TestGenerated: of generated sessions that are not damaged there is nothing to say,
// but that patches, which keep messages by number, may part a call from its result.
func TestGenerated(t *testing.T) {
	seeds := uint64(2)
	if corpus.Whole() {
		seeds = 10
	}
	for _, p := range gen.Presets() {
		shape := p.Shape
		if shape.Damage > 0 || shape.Longest > 0 {
			continue
		}
		shape.Entries, shape.Bytes, shape.Text, shape.MaxText = 600, 0, 60, 2000
		for shape.Seed = range seeds {
			for _, f := range checked(gen.Session(shape)).Findings {
				parted := strings.Contains(f.Code, "-lost-") && shape.Transforms > 0
				if f.Severity > Info && !parted {
					t.Errorf("%s, seed %d: line %d: %s: %s", p.Name, shape.Seed, f.Line, f.Code, f.Text)
				}
			}
		}
	}
}
