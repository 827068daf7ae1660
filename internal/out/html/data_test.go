package html_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctxtool/internal/out/html"
	"ctxtool/internal/out/report"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// reportOf is the report of a session, not begun.
func reportOf(s *sessionfmt.Session) *report.Report {
	return report.New(replay.New(s, replay.Options{}), s.Leaf())
}

// htmlOf is the page of a session.
func htmlOf(t *testing.T, s corpus.Session) []byte {
	t.Helper()
	opened, err := sessionfmt.OpenReader(s.Name, bytes.NewReader(s.Data), sessionfmt.Options{})
	if err != nil {
		t.Skip(err)
	}
	defer opened.Close()
	var out bytes.Buffer
	h := html.Page{Session: opened, Report: reportOf(opened), File: "s.jsonl"}
	if err := h.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestHTML holds of every session that its page is that of an empty one but for the
// packed data, and so loads nothing either; that it is the same whenever it is made; and
// that it has the data at most 1.3 times as large as the packed session.
func TestHTML(t *testing.T) {
	empty := htmlOf(t, corpus.Session{Name: "empty", Data: []byte(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}` + "\n")})
	bare := withoutData(t, empty)
	if at := regexp.MustCompile(`(?i)(?:src|href|action)\s*=\s*["']?\s*https?:|url\(\s*["']?\s*https?:|@import\s+["'(u]`).Find(bare); at != nil {
		t.Errorf("a page has %q", at)
	}
	if at := regexp.MustCompile(`\{\{(policy|title|style|data|libraries|program)\}\}`).Find(bare); at != nil {
		t.Errorf("%s in it has not been filled", at)
	}
	again := 100_000
	if corpus.Whole() {
		again = 400_000
	}
	for _, s := range corpus.All(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			page := htmlOf(t, s)
			if len(s.Data) < again && !bytes.Equal(page, htmlOf(t, s)) {
				t.Error("made again, it is another")
			}
			if !bytes.Equal(withoutData(t, page), bare) {
				t.Error("more than its data is its own")
			}
			if len(s.Data) <= 200_000 {
				return
			}
			data := len(page) - len(empty)
			if most := deflated(t, s.Data) * 13 / 10; data > most {
				t.Errorf("the data has %d bytes, more than %d; the session %d", data, most, len(s.Data))
			}
		})
	}
}

// withoutData is a page without its elements of packed data, in which nothing can be
// markup.
func withoutData(t *testing.T, page []byte) (bare []byte) {
	t.Helper()
	n := 0
	for {
		before, rest, found := bytes.Cut(page, []byte(`<script type="text/plain" id="`))
		if bare = append(bare, before...); !found {
			break
		}
		data, rest, _ := bytes.Cut(rest, []byte("</script>\n"))
		if k := bytes.IndexAny(data, "<\r\x00"); k >= 0 {
			t.Errorf("%q in packed data", data[k])
		}
		page = rest
		n++
	}
	if n == 0 {
		t.Error("a page without data")
	}
	return bare
}

// deflated is how many bytes data has as gzip packs it.
func deflated(t *testing.T, data []byte) int {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, 6)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(data)
	w.Close()
	return out.Len()
}

// TestHTMLPolicy holds that a page allows its own scripts and nothing else.
func TestHTMLPolicy(t *testing.T) {
	page := string(htmlOf(t, corpus.Own(t)[0]))
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil {
		t.Fatal("the page has no policy")
	}
	for _, want := range []string{"default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy[1], want) {
			t.Errorf("the policy %q lacks %q", policy[1], want)
		}
	}
	if strings.Contains(policy[1], "unsafe") || strings.Contains(policy[1], "http") {
		t.Errorf("the policy %q allows too much", policy[1])
	}
	if n := strings.Count(policy[1], "sha256-"); n != 3 {
		t.Errorf("the policy has %d hashes, not those of two scripts and a style", n)
	}
	if strings.Contains(page, " style=\"") || regexp.MustCompile(`\son[a-z]+="`).MatchString(page[:strings.Index(page, "<script")]) {
		t.Error("the page has styles or handlers in its elements")
	}
}

// TestHTMLLibraries holds the libraries of pages to the sums that are written down.
func TestHTMLLibraries(t *testing.T) {
	readme, err := os.ReadFile("lib/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"markdown-it.js", "highlight.js"} {
		packed, err := os.ReadFile("lib/" + name + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		data := must.Get(io.ReadAll(must.Get(gzip.NewReader(bytes.NewReader(packed)))))
		if sum := fmt.Sprintf("%x", sha256.Sum256(data)); !strings.Contains(string(readme), sum) {
			t.Errorf("lib/README.md does not say that %s has the sum %s", name, sum)
		}
	}
}

// TestHTMLSources holds that no script writes HTML, or runs text.
func TestHTMLSources(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML|DOMParser`)
	for _, f := range files {
		if f.IsDir() || !strings.HasSuffix(f.Name(), ".js") {
			continue
		}
		data, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if at := forbidden.Find(data); at != nil {
			t.Errorf("%s has %s", f.Name(), at)
		}
	}
}

// TestHTMLSplit holds that the pages of a split session have each entry once between
// them, and name each other.
func TestHTMLSplit(t *testing.T) {
	var session bytes.Buffer
	if err := gen.Write(&session, gen.Shape{Bytes: 6 << 20, Tools: 0.5, Branch: 0.02, Text: 300, MaxText: 4000}); err != nil {
		t.Fatal(err)
	}
	opened, err := sessionfmt.OpenReader("s.jsonl", &session, sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	pages := map[int]*bytes.Buffer{0: {}}
	h := html.Page{
		Session: opened, Report: reportOf(opened), File: "s.jsonl", Split: 2 << 20, Name: func(page int) string { return fmt.Sprintf("./p%d.html", page) },
	}
	committed := 0
	h.Create = func(page int) (html.File, error) {
		pages[page] = new(bytes.Buffer)
		return &file{Writer: pages[page], committed: &committed}, nil
	}
	if err := h.Write(pages[0]); err != nil {
		t.Fatal(err)
	}
	if committed != len(pages)-1 {
		t.Errorf("%d of %d pages committed", committed, len(pages)-1)
	}
	if len(pages) != 3 {
		t.Fatalf("%d pages, not 3", len(pages))
	}
	seen := map[string]int{}
	for k := range len(pages) {
		for _, m := range regexp.MustCompile(`id="(c\d+)">`).FindAllSubmatch(pages[k].Bytes(), -1) {
			seen[string(m[1])]++
		}
	}
	for name, n := range seen {
		if n != 1 && n != len(pages) { // all have the messages that are no entries
			t.Errorf("%s is in %d pages", name, n)
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d chunks", len(seen))
	}
}

// A file is a page in memory that takes so many bytes; 0 is no limit.
type file struct {
	io.Writer
	most      int
	committed *int
}

func (f *file) Write(p []byte) (int, error) {
	if f.most > 0 {
		if f.most -= len(p); f.most <= 0 {
			return 0, errors.New("the disk is full")
		}
	}
	return f.Writer.Write(p)
}

func (f *file) Commit() error {
	*f.committed++
	return nil
}

func (f *file) Abort() {}

// TestSplitFails: if one of several pages cannot be written, none appears under its name.
func TestSplitFails(t *testing.T) {
	data := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), "testdata/sessions/demo.jsonl")))
	for broken := range 3 {
		opened := must.Get(sessionfmt.OpenReader("s.jsonl", bytes.NewReader(bytes.Repeat(data, 40)), sessionfmt.Options{}))
		defer opened.Close()
		committed := 0
		page := func(k int) *file {
			f := &file{Writer: io.Discard, committed: &committed}
			if k == broken {
				f.most = 20 << 10
			}
			return f
		}
		h := html.Page{
			Session: opened, Report: reportOf(opened), File: "s.jsonl", Split: 1 << 20,
			Name:   func(page int) string { return "p" },
			Create: func(k int) (html.File, error) { return page(k), nil },
		}
		if err := h.Write(page(0)); err == nil || committed > 0 {
			t.Errorf("page %d fails: %v, %d pages committed", broken, err, committed)
		}
	}
}

// TestPacked holds that packed data is text that HTML leaves alone.
func TestPacked(t *testing.T) {
	var all []byte
	for i := range 1 << 16 {
		all = append(all, byte(i*i>>3), byte(i>>8))
	}
	text := html.Spelled(all)
	if bytes.ContainsAny(text, "\x00\r<") {
		t.Error("a byte of it ends or changes the element that it stands in")
	}
	for _, c := range text {
		if c >= 0x80 {
			t.Fatalf("%q is no ASCII", c)
		}
	}
	if most := len(all) * 119 / 100; len(text) > most {
		t.Errorf("%d bytes became %d, more than %d", len(all), len(text), most)
	}
}
