package sessionfmt

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/jsonl"
)

func gzipFile(data string) string {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	z.Write([]byte(data))
	z.Close()
	return buf.String()
}

func zstdPacked(data string) string {
	z, _ := zstd.NewWriter(nil)
	return string(z.EncodeAll([]byte(data), nil))
}

// refused checks that a batch is not appended to a file, which holds data, and that
// the answer has this text after the file's name, a hint, and is that sentinel.
func refused(t *testing.T, s *Session, b *Batch, name, data, text, hint string, is error) {
	t.Helper()
	err := s.Append(b, AppendOptions{Who: "ctxtool test", Wait: 1})
	var at *Error
	switch {
	case !errors.As(err, &at):
		t.Fatalf("appended: %v", err)
	case err.Error() != s.Name+text:
		t.Errorf("says %q, want %q", err, s.Name+text)
	case !strings.Contains(at.Hint, hint) || (at.Hint == "") != (hint == ""):
		t.Errorf("hint %q, want %q", at.Hint, hint)
	case is != nil && !errors.Is(err, is):
		t.Errorf("%v: is not %v", err, is)
	}
	if name != "" {
		holds(t, name, data)
	}
}

// TestAppendRefuses: what cannot be appended to, told by the file alone.
func TestAppendRefuses(t *testing.T) {
	v1 := strings.Replace(base, `"version":3,`, "", 1)
	for _, c := range []struct {
		name, data string
		text, hint string
		is         error
	}{
		{"gzip", gzipFile(base), ": cannot append to a compressed file", "-o FILE", nil},
		{"zstd", zstdPacked(base), ": cannot append to a compressed file", "-o FILE", nil},
		{"too new", strings.Replace(base, `"version":3`, `"version":4`, 1),
			": format too new: version 4, the latest supported is 3", "newer ctxtool", ErrTooNew},
		{"version 1", v1, ": the format is version 1, whose entries have no ids", "ctxtool migrate", nil},
		{"no header", baseA + baseB, ": pi refuses the file: it has no session header", "ctxtool repair", nil},
		{"late header", baseA + baseHeader + baseB, ": pi refuses the file: its session header is not the first record", "ctxtool repair", nil},
		{"scalar first", "17\n" + base, ": pi refuses the file: its session header is not the first record", "ctxtool repair", nil},
		{"mark", string(jsonl.BOM) + base, ": pi refuses the file: it starts with a byte order mark", "ctxtool repair", nil},
		{"header id", strings.Replace(base, `"id":"s"`, `"id":7`, 1), ": pi refuses the file: its header's id is not a string", "ctxtool repair", nil},
		{"no id", strings.Replace(base, `"id":"bb",`, "", 1), ":3: it has no id, so no entry can follow it", "ctxtool repair", nil},
		{"id twice", base + strings.Replace(baseB, `"parentId":"aa"`, `"parentId":"bb"`, 1) + "\n" +
			strings.Replace(baseB, `"bb"`, `"aa"`, 1), "", "", nil},
		{"torn", base + `{"type":"mess`, ": torn tail at offset 338: the last line has no newline", "ctxtool repair", ErrTorn},
		{"torn, long", base + `{"` + strings.Repeat("a", 20<<10), ": torn tail at offset 338: the last line has no newline", "ctxtool repair", ErrTorn},
		{"unterminated", base[:len(base)-1], ": torn tail at offset 214: the last line has no newline", "ctxtool repair", ErrTorn},
		{"blanks", base + "  ", ": torn tail at offset 338: the last line has no newline", "ctxtool repair", ErrTorn},
		{"zeros", base + "\x00\x00\x00", ": torn tail at offset 338: the last line has no newline", "ctxtool repair", ErrTorn},
		{"one line", baseHeader[:len(baseHeader)-1], ": torn tail at offset 0: the last line has no newline", "ctxtool repair", ErrTorn},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := file(t, c.data)
			if c.name == "id twice" { // the leaf can be followed, the record it hides cannot
				refused(t, s, mark(s, 1), s.Name, c.data, ":2: entry aa: line 6 has the same id, so new entries would follow that one", "ctxtool repair", nil)
				refused(t, s, mark(s, 0), s.Name, c.data, ":1: entry s: it is not an entry, so no entry can follow it", "ctxtool repair", nil)
				return
			}
			refused(t, s, mark(s, s.Leaf()), s.Name, c.data, c.text, c.hint, c.is)
			onlyFiles(t, filepath.Dir(s.Name), "s.jsonl")
		})
	}
	// What pi takes is taken: lines that are no records before the header, and a mark
	// before one of them.
	for _, before := range []string{"garbage\n", "null\n\n", string(jsonl.BOM) + "garbage\n", "\n\n\n"} {
		s := file(t, before+base)
		b := mark(s, s.Leaf())
		if err := s.Append(b, AppendOptions{}); err != nil {
			t.Errorf("%q before the header: %v", before, err)
		}
		holds(t, s.Name, before+base+string(b.Lines()))
	}
}

// TestAppendRefusesStreams: what not a regular file, or has not been read whole.
func TestAppendRefusesStreams(t *testing.T) {
	s := read(t, base)
	refused(t, s, mark(s, s.Leaf()), "", "", ": cannot append to a stream", "-o FILE", nil)

	plain := file(t, base)
	in, err := os.Open(plain.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	stdin := must.Get(Open("-", Options{Stdin: in}))
	refused(t, stdin, mark(stdin, 2), plain.Name, base, ": cannot append to a stream", "-o FILE", nil)

	info := plain.src.info
	if plain.src.info, err = os.Stat(os.DevNull); err != nil {
		t.Fatal(err)
	}
	refused(t, plain, mark(plain, 2), plain.Name, base, ": not a regular file", "-o FILE", nil)
	plain.src.info = info

	end := must.Get(OpenTail(plain.Name, 0, Options{}))
	defer end.Close()
	refused(t, end, mark(end, end.Leaf()), plain.Name, base, ": only its end was read: new ids may be in use", "", nil)
}

// TestAppendRefusesBatches: what cannot be written does not come near the file.
func TestAppendRefusesBatches(t *testing.T) {
	s := file(t, base)
	other := file(t, base)
	refused(t, s, mark(other, 2), s.Name, base, ": the entries were made for another session", "", nil)
	for _, c := range []struct {
		kind  jsonl.Kind
		value string
		text  string
	}{
		{jsonl.Header, `1`, ": cannot append a record of kind session"},
		{jsonl.Scalar, `1`, ": cannot append a record of kind scalar"},
		{jsonl.Unknown, `1`, ": cannot append a record of kind unknown"},
		{jsonl.Label, `{"a":`, ": field x of a new label: unexpected end of line at byte 5"},
		{jsonl.Label, `1,"id":2`, ": field x of a new label: more after the end of the value at byte 1"},
		{jsonl.Label, "[\n]", ": field x of a new label must be one line of UTF-8"},
		{jsonl.User, "\"\xff\"", ": field x of a new user must be one line of UTF-8"},
	} {
		b := s.NewBatch(2, batchTime)
		b.Add(c.kind, jsonl.Field{Name: "x", Value: jsonl.Value(c.value)})
		b.Add(jsonl.Label)
		refused(t, s, b, s.Name, base, c.text, "", nil)
	}
}

// TestAppendSeesChanges: a file that is not what was read is not written to.
func TestAppendSeesChanges(t *testing.T) {
	const again = "run the command again"
	changed := ": has changed since it was read: "
	for _, c := range []struct {
		name, data, text string
		is               error
	}{
		{"longer", base + "{}\n", changed + "it is 3 bytes longer", ErrChanged},
		{"one longer", base + "\n", changed + "it is 1 byte longer", ErrChanged},
		{"shorter", base[:len(base)-10], changed + "it is 10 bytes shorter", ErrChanged},
		{"empty", "", changed + "it is 338 bytes shorter", ErrChanged},
		{"another line", strings.Replace(base, `"B"`, `"C"`, 1), changed + "its last line changed", ErrChanged},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := file(t, base)
			b := mark(s, s.Leaf())
			must.Do(os.WriteFile(s.Name, []byte(c.data), 0o600))
			refused(t, s, b, s.Name, c.data, c.text, again, c.is)
			onlyFiles(t, filepath.Dir(s.Name), "s.jsonl")
		})
	}
	s := file(t, base)
	must.Do(os.WriteFile(s.Name+".new", []byte(base), 0o600))
	if err := os.Rename(s.Name+".new", s.Name); err != nil {
		t.Skip("an open file cannot be replaced here:", err)
	}
	refused(t, s, mark(s, s.Leaf()), s.Name, base, changed+"it was replaced by another file", again, ErrChanged)
	must.Do(os.Remove(s.Name))
	if err := s.Append(mark(s, s.Leaf()), AppendOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
	onlyFiles(t, filepath.Dir(s.Name))
}

// TestAppendWaits: while another process holds the lock nothing is appended, and
// after that it is.
func TestAppendWaits(t *testing.T) {
	s := file(t, base)
	other := holder(t, s.Name)
	b := mark(s, s.Leaf())
	err := s.Append(b, AppendOptions{Who: "ctxtool test", Wait: 1})
	if !errors.Is(err, ErrLocked) || !strings.HasPrefix(err.Error(), s.Name+": locked by ctxtool hold (pid ") {
		t.Errorf("says %v", err)
	}
	holds(t, s.Name, base)
	other.in.Close()
	if err := s.Append(b, AppendOptions{Who: "ctxtool test"}); err != nil {
		t.Error(err)
	}
	holds(t, s.Name, base+string(b.Lines()))
	onlyFiles(t, filepath.Dir(s.Name), "s.jsonl")
}

// TestTrapT19Appending: nothing is glued to a line without newline, whole or not.
func TestTrapT19Appending(t *testing.T) {
	for _, data := range []string{base[:len(base)-1], base[:len(base)-2]} {
		s := file(t, data)
		refused(t, s, mark(s, s.Leaf()), s.Name, data, ": torn tail at offset 214: the last line has no newline", "ctxtool repair", ErrTorn)
	}
}

// TestTrapN2Appending: a file is appended to where current pi takes it as it is: with
// a null line, but not with a late header, nor without the newline that pi would add.
func TestTrapN2Appending(t *testing.T) {
	s := file(t, base+"null\n")
	b := mark(s, s.Leaf())
	if err := s.Append(b, AppendOptions{}); err != nil {
		t.Error(err)
	}
	holds(t, s.Name, base+"null\n"+string(b.Lines()))
	late := baseA + baseHeader + baseB
	s = file(t, late)
	refused(t, s, mark(s, s.Leaf()), s.Name, late, ": pi refuses the file: its session header is not the first record", "ctxtool repair", nil)
	open := base + "null"
	s = file(t, open)
	refused(t, s, mark(s, s.Leaf()), s.Name, open, ": torn tail at offset 338: the last line has no newline", "ctxtool repair", ErrTorn)
}
