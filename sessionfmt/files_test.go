package sessionfmt_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

const (
	threeHead = `{"type":"session","version":3,"id":"0190a3c2-0000-7000-8000-000000000000","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	threeUser = `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"Why?"}}` + "\n"
	threeSaid = `{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"So."}]}}` + "\n"
	three     = threeHead + threeUser + threeSaid
)

func compressed(ending, text string) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch ending {
	case ".gz":
		w = gzip.NewWriter(&out)
	case ".zst":
		w = must.Get(zstd.NewWriter(&out))
	default:
		return []byte(text)
	}
	must.Get(io.WriteString(w, text))
	must.Do(w.Close())
	return out.Bytes()
}

// TestReplace replaces a file as it is compressed, and refuses one that was written to since it was read, before or
// while the new one is written.
func TestReplace(t *testing.T) {
	failed := errors.New("no text")
	for _, ending := range []string{"", ".gz", ".zst"} {
		for _, c := range []struct {
			name          string
			before, while string // what somebody else writes
			write         error
			want          string
		}{
			{"alone", "", "", nil, ""}, {"written to before", "x", "", nil, "changed"}, {"written to in between", "", "x", nil, "changed"}, {"not written", "", "", failed, "no text"},
		} {
			dir := t.TempDir()
			name := filepath.Join(dir, "s.jsonl"+ending)
			old := compressed(ending, three)
			must.Do(os.WriteFile(name, old, 0o640))
			s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
			add := func(text string) {
				if text != "" {
					old = append(bytes.Clone(old), text...)
					must.Do(os.WriteFile(name, old, 0o640))
				}
			}
			add(c.before)
			kept, err := s.Replace(sessionfmt.AppendOptions{}, func(w io.Writer) error {
				add(c.while)
				return errors.Join(must1(io.WriteString(w, threeHead)), c.write)
			})
			s.Close()
			got := must.Get(os.ReadFile(name))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || !bytes.Equal(got, old) || kept != "" || len(must.Get(os.ReadDir(dir))) != 1 {
					t.Errorf("%s%s: %v, kept %q", c.name, ending, err, kept)
				}
				continue
			}
			if err != nil || !bytes.Equal(must.Get(os.ReadFile(kept)), old) || must.Get(os.Stat(name)).Mode() != 0o640 {
				t.Fatalf("%s%s: %v, kept %q", c.name, ending, err, kept)
			}
			is := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
			if text := string(must.Get(io.ReadAll(is.Plain()))); text != threeHead || is.Packed() != (ending != "") || ending == "" != bytes.Equal(got, []byte(threeHead)) {
				t.Errorf("%s%s: %q", c.name, ending, text)
			}
			is.Close()
		}
	}
	s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(three), sessionfmt.Options{}))
	var at *sessionfmt.Error
	if _, err := s.Replace(sessionfmt.AppendOptions{}, nil); !errors.As(err, &at) || at.Error() != "s: cannot replace a stream" || at.Hint == "" {
		t.Error(err)
	}
}

func must1(_ int, err error) error { return err }

// TestWithin: with folders to stay in, files of these alone are opened and described, by whatever name and link.
func TestWithin(t *testing.T) {
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, name := range []string{"a/sub", "b", "out"} {
		must.Do(os.MkdirAll(in(name), 0o755))
	}
	for _, name := range []string{"a/f", "a/sub/f", "b/f", "out/f"} {
		must.Do(os.WriteFile(in(name), []byte(name), 0o644))
	}
	for link, to := range map[string]string{"a/same": "f", "a/over": in("b/f"), "a/leave": in("out/f"), "a/none": in("a/gone"), "c": in("b"), "out/back": in("a/f")} {
		if err := os.Symlink(to, in(link)); err != nil {
			testenv.Skip(t, "no symbolic links")
		}
	}
	disk := sessionfmt.Disk{Dir: dir}
	for _, root := range []string{"a", "c"} {
		disk.Within = append(disk.Within, must.Get(os.OpenRoot(in(root))))
	}
	for _, c := range []struct {
		name, want string
		err        error
	}{
		{in("a/f"), "a/f", nil}, {"a/f", "a/f", nil}, {"a/sub/../f", "a/f", nil}, {"a/sub/f", "a/sub/f", nil}, {"a/same", "a/f", nil}, {"c/f", "b/f", nil}, {"b/f", "", sessionfmt.ErrOutside},
		{"a/over", "b/f", nil}, {"out/back", "", sessionfmt.ErrOutside}, {"out/f", "", sessionfmt.ErrOutside}, {"a/../out/f", "", sessionfmt.ErrOutside}, {"a/leave", "", sessionfmt.ErrOutside},
		{"a/gone", "", fs.ErrNotExist}, {"a/none", "", nil}, {"/", "", sessionfmt.ErrOutside}, {"out/gone", "", sessionfmt.ErrOutside},
	} {
		got, err := disk.ReadFile(c.name)
		info, stat := disk.Stat(c.name)
		if string(got) != c.want || c.err != nil && !errors.Is(err, c.err) || (err == nil) != (c.want != "") || (stat == nil) != (err == nil) || info != nil && info.Size() != int64(len(c.want)) {
			t.Errorf("%s: %q, %v; described: %v; want %q, %v", c.name, got, err, stat, c.want, c.err)
		}
	}
	stop := errors.New("stop")
	disk.Stop = func() error { return stop }
	if _, err := disk.ReadFile("a/f"); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestWeave writes what a session holds before the entries that follow it, and the rest at the end.
func TestWeave(t *testing.T) {
	for _, between := range []int{0, 1, 2} {
		s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(three), sessionfmt.Options{}))
		with := s.Copy()
		hold := func(parent, n int) (lines string) {
			b := with.NewBatch(parent, time.UnixMilli(0))
			for range n {
				b.Add(jsonl.CustomEntry, jsonl.Field{Name: "customType", Value: jsonl.Value(`"x"`)})
			}
			must.Do(with.Hold(b))
			return string(b.Lines())
		}
		user, said := with.Find("aaaaaaaa"), with.Find("bbbbbbbb")
		end := hold(said, 1)
		want := three + end
		if between > 0 {
			lines := hold(user, between)
			last := with.ID(with.Len() - 1)
			with.Reparent(said, with.Len()-1)
			want = threeHead + threeUser + lines + strings.Replace(threeSaid, `"parentId":"aaaaaaaa"`, `"parentId":"`+last+`"`, 1) + end
		}
		var out bytes.Buffer
		must.Do(with.Weave(&out))
		if out.String() != want {
			t.Errorf("with %d between:\n%s\nwant\n%s", between, out.String(), want)
		}
		full := errors.New("full")
		for room := range 4 + between {
			if err := with.Weave(&fullAfter{room, full}); !errors.Is(err, full) {
				t.Errorf("with room for %d writes: %v", room, err)
			}
		}
	}
}

// A fullAfter takes so many lines.
type fullAfter struct {
	lines int
	err   error
}

func (w *fullAfter) Write(p []byte) (int, error) {
	if w.lines == 0 {
		return 0, w.err
	}
	w.lines -= bytes.Count(p, []byte{'\n'})
	return len(p), nil
}

// TestQuote: text of a session in a message is short, and nothing that a terminal obeys.
func TestQuote(t *testing.T) {
	long := strings.Repeat("x", 80)
	for _, c := range [][2]string{
		{"", ""}, {"plain ~", "plain ~"}, {"a\tb\nc\x1b[31m\x7f", "a\ufffdb\ufffdc\ufffd[31m\ufffd"}, {"é\u202e\u200f\xff", "é\ufffd\ufffd\ufffd"}, {long, long},
		{long + "x", long[:77] + "..."}, {long[:76] + "éééé", long[:76] + "..."}, {long[:75] + "éxxxx", long[:75] + "..."}, {long[:70] + "日本語日本語", long[:70] + "..."},
	} {
		if got := sessionfmt.Quote(c[0]); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
	for _, c := range []struct {
		pos  sessionfmt.Pos
		want string
	}{
		{sessionfmt.Pos{}, ""}, {sessionfmt.Pos{File: "f"}, "f: "}, {sessionfmt.Pos{File: "f", Line: 3}, "f:3: "}, {sessionfmt.Pos{File: "f", Line: 3, Entry: "e"}, "f:3: entry e: "},
	} {
		e := &sessionfmt.Error{Pos: c.pos, Err: fs.ErrExist}
		if e.Error() != c.want+fs.ErrExist.Error() || !errors.Is(e, fs.ErrExist) {
			t.Errorf("%+v: %q", c.pos, e.Error())
		}
	}
	for _, c := range []struct {
		c    sessionfmt.Coverage
		want string
	}{
		{sessionfmt.Coverage{}, "0 lines, 0 entries, 0 skipped"}, {sessionfmt.Coverage{Lines: 1, Entries: 1}, "1 line, 1 entry, 0 skipped"},
		{sessionfmt.Coverage{Lines: 2, Entries: 2, Skipped: 3, Unknown: map[string]int{"b": 1, "a": 2}}, "2 lines, 2 entries, 3 skipped, 2 of unknown type a, 1 of unknown type b"},
	} {
		if got := c.c.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if got := fmt.Sprint(sessionfmt.Errorf("%d", 7).In("f").Hinted("h").Hint); got != "h" {
		t.Error(got)
	}
}

// TestVersions: entries are appended to sessions of the versions that pi reads as they are, and of no others.
func TestVersions(t *testing.T) {
	for _, c := range []struct{ version, want string }{
		{`"version":1,`, "the format is version 1"}, {``, "the format is version 1"}, {`"version":2,`, ""}, {`"version":3,`, ""}, {`"version":4,`, "version 4, the latest supported is 3"},
	} {
		name := filepath.Join(t.TempDir(), "s.jsonl")
		text := strings.Replace(three, `"version":3,`, c.version, 1)
		must.Do(os.WriteFile(name, []byte(text), 0o600))
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		b := s.NewBatch(s.Leaf(), time.UnixMilli(0))
		b.Add(jsonl.Label, jsonl.Field{Name: "targetId", Value: jsonl.Value(`"aaaaaaaa"`)})
		err := s.Append(b, sessionfmt.AppendOptions{})
		got := string(must.Get(os.ReadFile(name)))
		if c.want == "" && (err != nil || !strings.HasPrefix(got, text) || got == text) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || got != text) {
			t.Errorf("%s %v", c.version, err)
		}
		s.Close()
	}
}

// TestInvalidBytes: lines with bytes that are not UTF-8 are findings at their line, in sessions of every agent.
func TestInvalidBytes(t *testing.T) {
	claude := `{"type":"user","uuid":"u%d","parentUuid":%s,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","version":"2.1.100","message":{"role":"user","content":"%s"}}` + "\n"
	for name, text := range map[string]string{
		"pi":     strings.Replace(three, "So.", "S\xffo.", 1),
		"claude": fmt.Sprintf(claude, 1, "null", "a") + fmt.Sprintf(claude, 2, `"u1"`, "b") + fmt.Sprintf(claude, 3, `"u2"`, "\xff"),
	} {
		s := must.Get(sessionfmt.OpenReader(name, strings.NewReader(text), sessionfmt.Options{}))
		var found []string
		for _, f := range s.Findings {
			if f.Code == "invalid-utf8" {
				found = append(found, fmt.Sprint(f.Line, f.Entry))
			}
		}
		if want := map[string]string{"pi": "3 bbbbbbbb", "claude": "3 u3"}[name]; len(found) != 1 || !strings.HasPrefix(found[0], want[:1]) || !strings.HasSuffix(found[0], want[2:]) {
			t.Errorf("%s: %q, want %s", name, found, want)
		}
		line := must.Get(s.NewReader().Line(s.Leaf()))
		if !strings.Contains(string(line), "\ufffd") {
			t.Errorf("%s: %s", name, line)
		}
	}
}
