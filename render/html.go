package render

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"ctxtool/internal/report"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// An HTML is a page of a session that needs nothing but a browser: its data is packed
// in it, and unpacked as it is looked at.
type HTML struct {
	Session  *sessionfmt.Session
	Replay   *replay.Replay
	Leaf     int
	Redacted bool

	// Scan sees every text that is written, with the record that it comes from, -1 for
	// none. Several pieces may be scanned at a time.
	Scan func(record int, text []byte)

	report *report.Report
	chunks [][2]int // of rows
}

//go:embed html
var pageFiles embed.FS

// modules are the scripts of a page, each before those that use it.
var modules = []string{"dom", "store", "model", "windowed", "diff", "markdown", "entry", "talk", "side", "context", "chart", "app"}

// chunkSize is how many bytes of a session are packed together.
const chunkSize = 512 << 10

// Write writes the page. It holds no more of it than a few chunks.
func (h *HTML) Write(w io.Writer) error {
	h.report = report.Start(h.Replay)
	h.chunks = h.report.Stretches(chunkSize)
	entries := len(h.chunks)
	read := make(chan error, 1)
	go func() { read <- h.report.Read(h.Leaf) }() // while the entries are packed
	shell, err := newShell(h.title(), "page.html", "page.css", modules)
	if err != nil {
		return err
	}
	if _, err = w.Write(shell.before); err != nil {
		return err
	}
	err = h.pack(w, 0, entries)
	if failed := <-read; err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	h.report.Finish()
	h.chunks = append(h.chunks, h.report.Rest(chunkSize)...)
	if err = h.pack(w, entries, len(h.chunks)); err != nil {
		return err
	}
	if err = h.packed(w, 0, nil); err == nil {
		_, err = w.Write(shell.after)
	}
	return err
}

// title is the name of the page, before anybody has read the session's.
func (h *HTML) title() string { return sessionfmt.Clean(filepath.Base(h.Session.Name)) }

// pack writes chunks, packed on all processors.
func (h *HTML) pack(w io.Writer, from, to int) error {
	numbers := make([]int, 0, to-from)
	for k := from; k < to; k++ {
		numbers = append(numbers, k)
	}
	return inOrder(numbers, func(k int) (*packed, error) {
		p := packers.Get().(*packer)
		defer packers.Put(p)
		return p.chunk(h, k)
	}, func(p *packed, _ bool) error {
		_, err := w.Write(p.text)
		packedTexts.Put(p)
		return err
	})
}

// A PageHead is the head of a page's data: the report's, and where rows are.
type PageHead struct {
	report.Head
	Chunks []int      `json:"chunks"` // the first row of each
	Page   int        `json:"page,omitempty"`
	Pages  []PagePart `json:"pages,omitempty"`
}

// A PagePart is one of the pages of a session that has several, with its chunks, from
// the first to the next page's first.
type PagePart struct {
	File   string `json:"file"`
	Chunks [2]int `json:"chunks"`
}

// packed writes what the page knows of the whole session.
func (h *HTML) packed(w io.Writer, page int, pages []PagePart) error {
	head := PageHead{Head: h.report.Head, Chunks: make([]int, len(h.chunks)), Page: page, Pages: pages}
	head.Redacted = h.Redacted
	for k, c := range h.chunks {
		head.Chunks[k] = c[0]
	}
	p := packers.Get().(*packer)
	defer packers.Put(p)
	for _, part := range []struct {
		id   string
		data any
	}{{"index", &h.report.Index}, {"steps", &h.report.Steps}, {"head", &head}} {
		data, err := json.Marshal(part.data)
		if err != nil {
			return err
		}
		if h.Scan != nil && part.id == "head" {
			h.Scan(-1, data)
		}
		text, err := p.data(nil, part.id, data)
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// A shell is a page without its data: what stands before and after it.
type shell struct{ before, after []byte }

// policy is what a page may do: run its own scripts, show pictures that are in it, and
// nothing else.
const policy = "default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// newShell puts a page together from its files.
func newShell(title, page, style string, modules []string) (*shell, error) {
	read := func(name string) string {
		data, err := pageFiles.ReadFile("html/" + name)
		if err != nil {
			panic(err) // it is in the binary
		}
		return string(data)
	}
	inline := strings.NewReplacer("</script", `\x3c/script`, "<!--", `\x3c!--`) // what would end or hide a script
	libraries := inline.Replace(read("lib/markdown-it.js") + "\n" + read("lib/highlight.js"))
	program := inline.Replace(joinModules(modules, read))
	css := read(style)
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	text := read(page)
	scripts := hash(program)
	if strings.Contains(text, "{{libraries}}") {
		scripts = hash(libraries) + " " + scripts
	}
	fill := strings.NewReplacer(
		"{{policy}}", fmt.Sprintf(policy, scripts, hash(css)),
		"{{title}}", html.EscapeString(title), "{{style}}", css, "{{libraries}}", libraries, "{{program}}", program,
	)
	before, after, _ := bytes.Cut([]byte(fill.Replace(text)), []byte("{{data}}\n"))
	return &shell{before, after}, nil
}

// joinModules makes one script of modules. Each stays by itself: what it imports are
// the names that others return.
func joinModules(names []string, read func(string) string) string {
	imports := regexp.MustCompile(`(?m)^import (\{.*\}) from '\./(.*)\.js'$`)
	exports := regexp.MustCompile(`(?m)^export ((?:async )?(?:function|class|const) (\w+))`)
	var out strings.Builder
	out.WriteString("'use strict'\n")
	for _, name := range names {
		text := read(name + ".js")
		var given []string
		for _, m := range exports.FindAllStringSubmatch(text, -1) {
			given = append(given, m[2])
		}
		text = exports.ReplaceAllString(imports.ReplaceAllString(text, "const $1 = ${2}_js"), "$1")
		fmt.Fprintf(&out, "const %s_js = (() => {\n%sreturn { %s }\n})()\n", name, text, strings.Join(given, ", "))
	}
	return out.String()
}
