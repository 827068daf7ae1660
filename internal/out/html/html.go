// Package html writes a session, and the index of a folder of sessions, as self-contained
// HTML pages.
//
// # Format
//
// Data is text: seven bits per ASCII character are a seventh larger than the data, base64 is a third
// larger. A page survives everything that a text file survives, and being served as UTF-8. A chunk is
// decompressed when a part of it becomes visible. Long lists have only their visible rows in the
// document; heights are estimated, then measured, and the visible part does not move.
//
// Data is packed half a megabyte at a time on all CPUs, while the replay runs. Rows need no replay;
// the index and the requests come last, and only they are held in memory.
package html

import (
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	stdhtml "html"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"ctxtool/internal/lens/simulate"
	"ctxtool/internal/out/report"
	"ctxtool/sessionfmt"
)

// A Page is a self-contained page of a session. Its data is compressed, and the browser
// unpacks it as it is shown. The page has all branches, the one to the leaf first.
type Page struct {
	Session  *sessionfmt.Session
	Report   *report.Report // of the session; Write runs it
	Title    string         // of the session; if empty, its file
	File     string         // the name of the session's file
	Index    string         // the address of the index of the page's folder; may be empty
	Redacted bool
	State    string // of the file, for a page that is served: it asks for it, and grows with the session

	// Scan receives every text that is written, with the record that it comes from, -1 for
	// none. It may be called concurrently.
	Scan func(record int, text []byte)

	// Split is the number of bytes of the session that a page has at most, 0 for a single
	// page. With Split, Create creates the pages after the first, numbered from 1, and Name
	// returns the address of each.
	Split  int64
	Create func(page int) (File, error)
	Name   func(page int) string

	chunks  [][2]int // of rows
	entries int      // number of chunks with entries, which are the first ones
}

// A File is a page after the first. It appears under its name when it is committed, unless it was
// aborted before.
type File interface {
	io.Writer
	Commit() error
	Abort()
}

//go:embed *.html *.css *.js lib/*.js.gz
var pageFiles embed.FS

// modules are the scripts of a page, each before those that use it.
var modules = []string{"dom", "store", "model", "windowed", "diff", "markdown", "entry", "talk", "side", "context",
	"chart", "app"}

// chunkSize is the number of bytes of a session that are packed together.
const chunkSize = 512 << 10

// Write writes the page, or all pages of a session that is split: each has some of the entries,
// and everything else. It holds a few chunks in memory.
func (h *Page) Write(w io.Writer) error {
	h.chunks = h.Report.Begin(chunkSize)
	kind := sessionPage
	if h.State != "" {
		kind = servedPage
	}
	shell := kind.shell(sessionfmt.Clean(cmp.Or(h.Title, h.File)))
	if h.Split == 0 || h.Session.Size() <= h.Split {
		return h.writePage(w, shell, 0, [2]int{0, len(h.chunks)}, nil)
	}
	pages := h.pages()
	for _, c := range h.chunks { // each page has the index of all
		if _, err := h.Report.Rows(nil, c, nil); err != nil {
			return err
		}
	}
	var files []File // none appears before all are written
	defer func() {
		for _, f := range files {
			f.Abort()
		}
	}()
	for k, part := range pages {
		if k > 0 {
			f, err := h.Create(k)
			if err != nil {
				return err
			}
			files, w = append(files, f), f
		}
		if err := h.writePage(w, shell, k, part.Chunks, pages); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// writePage writes a page with the entries of some chunks. The first one finds the other rows.
func (h *Page) writePage(w io.Writer, shell *shell, page int, chunks [2]int, pages []Part) error {
	if _, err := w.Write(shell.before); err != nil {
		return err
	}
	err := h.pack(w, h.chunks[chunks[0]:chunks[1]], chunks[0])
	if page == 0 {
		if failed := h.Report.Wait(); err == nil {
			err = failed
		}
		if err == nil {
			err = h.Report.Finish()
		}
	}
	if err != nil {
		return err
	}
	if page == 0 {
		h.entries = len(h.chunks)
		h.chunks = append(h.chunks, h.Report.Rest(chunkSize)...)
	}
	scan := h.Scan
	if page > 0 {
		h.Scan = nil // the common data is scanned once
	}
	defer func() { h.Scan = scan }()
	if err := h.pack(w, h.chunks[h.entries:], h.entries); err != nil {
		return err
	}
	if err := h.whole(w, page, pages); err != nil {
		return err
	}
	_, err = w.Write(shell.after)
	return err
}

func (h *Page) pages() (pages []Part) {
	from, size := 0, int64(0)
	for k, c := range h.chunks {
		for i := c[0]; i < c[1]; i++ {
			size += int64(h.Session.LineSize(i)) + 1
		}
		if size >= h.Split-chunkSize/2 || k == len(h.chunks)-1 {
			pages = append(pages, Part{h.Name(len(pages)), [2]int{from, k + 1}})
			from, size = k+1, 0
		}
	}
	return pages
}

// pack writes chunks, the first of which has that number, packed on all CPUs.
func (h *Page) pack(w io.Writer, chunks [][2]int, first int) error {
	numbers := make([]int, len(chunks))
	for k := range numbers {
		numbers[k] = first + k
	}
	return packAll(w, numbers, func(p *packer, k int) error { return p.chunk(h, k) })
}

// A Head is the head of a page's data: that of the report, and where rows are.
type Head struct {
	report.Head
	Chunks []int  `json:"chunks"` // the first row of each
	Index  string `json:"index,omitempty"`
	State  string `json:"state,omitempty"` // of the file, if the page is served
	Page   int    `json:"page,omitempty"`
	Pages  []Part `json:"pages,omitempty"`
}

// A Part is one of the pages of a session that has several, with its chunks, from
// the first to the next page's first.
type Part struct {
	File   string `json:"file"`
	Chunks [2]int `json:"chunks"`
}

// whole writes the data of the whole session.
func (h *Page) whole(w io.Writer, page int, pages []Part) error {
	head := Head{Head: h.Report.Head, Chunks: make([]int, len(h.chunks)), Index: h.Index, State: h.State, Page: page,
		Pages: pages}
	head.File, head.Redacted = h.File, h.Redacted
	for k, c := range h.chunks {
		head.Chunks[k] = c[0]
	}
	if h.Scan != nil {
		data, err := json.Marshal(&head)
		if err != nil {
			return err
		}
		h.Scan(-1, data)
	}
	head.Title = h.Title // from an entry, which is scanned
	parts := []part{{"index", &h.Report.Index}, {"steps", &h.Report.Steps}, {"head", &head}}
	return packAll(w, parts, func(p *packer, d part) error { return p.value(h.level(), d) })
}

// A part is a value in the data of a page, with the id of its element.
type part struct {
	id    string
	value any
}

// A shell is a page without its data: the text before and after the data.
type shell struct{ before, after []byte }

// policy is the content security policy of a page: it may run its own scripts and show its
// own images, and nothing else.
const policy = "default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// served is what the policy of a page has that is served: it may ask its server, and nobody else.
const served = "; connect-src 'self'"

// A kind is a kind of page, assembled from its files once.
type kind func() string

// The kinds of pages: of a session, of an index, both of these as they are served, and of a comparison of
// policies.
var (
	sessionPage = newKind("page.html", policy, modules, libraries...)
	servedPage  = newKind("page.html", policy+served, append(slices.Clip(modules), "grow"), libraries...)
	storePage   = newKind("index.html", policy, []string{"dom", "store", "windowed", "index", "list"})
	browsePage  = newKind("index.html", policy+served, []string{"dom", "store", "windowed", "index", "browse"})
	policyPage  = newKind("simulate.html", policy, []string{"dom", "store", "windowed", "policies", "simulate"})
)

var libraries = []string{"lib/markdown-it.js.gz", "lib/highlight.js.gz"}

func newKind(page, policy string, modules []string, libraries ...string) kind {
	return sync.OnceValue(func() string { return assemble(page, policy, modules, libraries) })
}

func (k kind) shell(title string) *shell {
	before, after, _ := strings.Cut(strings.ReplaceAll(k(), titleMark, stdhtml.EscapeString(title)), dataMark)
	return &shell{[]byte(before), []byte(after)}
}

// Placeholders for the title and the data of a page.
const (
	titleMark = "{{title}}"
	dataMark  = "{{data}}\n"
)

// templates are the pages, and what they share.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(pageFiles, "*.html")) // they are in the binary
})

func readFile(name string) string {
	data, err := pageFiles.ReadFile(name)
	if err != nil {
		panic(err) // likewise
	}
	return string(data)
}

// unpacked returns a text that is packed by gzip.
func unpacked(packed string) string {
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		panic(err) // likewise
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// assemble assembles a page from its files, without title and data.
func assemble(page, policy string, modules, libraries []string) string {
	var scripts []string
	for _, name := range libraries {
		scripts = append(scripts, unpacked(readFile(name)))
	}
	if len(scripts) > 0 {
		scripts = []string{strings.Join(scripts, "\n")}
	}
	scripts = append(scripts, joinModules(modules))
	inline := strings.NewReplacer("</script", `\x3c/script`, "<!--", `\x3c!--`) // text that would end or hide a script
	hashes := make([]string, len(scripts))
	for i := range scripts {
		scripts[i] = inline.Replace(scripts[i])
		hashes[i] = hash(scripts[i])
	}
	css := readFile("page.css")
	var out strings.Builder
	err := templates().ExecuteTemplate(&out, page, map[string]any{
		"Title": titleMark, "Data": strings.TrimSuffix(dataMark, "\n"), "Scripts": scripts, "Style": css,
		"Policy": fmt.Sprintf(policy, strings.Join(hashes, " "), hash(css)),
	})
	if err != nil {
		panic(err) // likewise
	}
	return out.String()
}

// hash returns a source of a content security policy: a script or style with that text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// joinModules makes one script of modules. Each is a function; its imports are names that
// other modules return.
func joinModules(names []string) string {
	imports := regexp.MustCompile(`(?m)^import (\{.*\}) from '\./(.*)\.js'$`)
	exports := regexp.MustCompile(`(?m)^export ((?:async )?(?:function|class|const) (\w+))`)
	var out strings.Builder
	out.WriteString("'use strict'\n")
	for _, name := range names {
		text := readFile(name + ".js")
		var given []string
		for _, m := range exports.FindAllStringSubmatch(text, -1) {
			given = append(given, m[2])
		}
		text = exports.ReplaceAllString(imports.ReplaceAllString(text, "const $1 = ${2}_js"), "$1")
		fmt.Fprintf(&out, "const %s_js = (() => {\n%sreturn { %s }\n})()\n", name, text, strings.Join(given, ", "))
	}
	return out.String()
}

// WriteStore writes the index of a folder of sessions.
func WriteStore(w io.Writer, s *report.Store) error {
	return writeData(w, storePage.shell(sessionfmt.Clean(s.Title)), s)
}

// ServeStore writes the index of a folder as it is served: the page asks for its sessions.
func ServeStore(w io.Writer, s *report.Store) error {
	return writeData(w, browsePage.shell(sessionfmt.Clean(s.Title)), s)
}

// WriteSimulation writes a page that compares policies.
func WriteSimulation(w io.Writer, p *simulate.Page) error {
	return writeData(w, policyPage.shell(sessionfmt.Clean(p.Title)), p)
}

// writeData writes a page whose data is one value.
func writeData(w io.Writer, shell *shell, v any) error {
	if _, err := w.Write(shell.before); err != nil {
		return err
	}
	if err := packAll(w, []part{{"head", v}},
		func(p *packer, d part) error { return p.value(hardest, d) }); err != nil {
		return err
	}
	_, err := w.Write(shell.after)
	return err
}
