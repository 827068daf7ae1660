package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ctxtool/internal/corpus"
	"ctxtool/internal/gen"
)

// demoPage is the page of the demo session.
func demoPage(t *testing.T) string {
	return pageOf(t, filepath.Join(corpus.Root(t), "testdata", "sessions", "demo.jsonl"))
}

// TestPage holds that what a page offers works, without a network and without a word
// on the console.
func TestPage(t *testing.T) {
	browser := newBrowser(t)
	file := demoPage(t)
	for _, test := range []struct {
		name string
		try  func(b *tab)
	}{
		{"stepping", tryStepping}, {"search", trySearch}, {"filter", tryFilter}, {"tree", tryTree}, {"marks", tryMarks}, {"links", tryLinks}, {"forms", tryForms},
		{"theme", tryTheme}, {"keyboard", tryKeyboard}, {"print", tryPrint}, {"switches", trySwitches}, {"address", tryAddress}, {"narrow", tryNarrow},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := open(t, browser, file)
			test.try(b)
			b.silent()
		})
	}
}

// holds holds that an expression is true.
func (b *tab) holds(expression string) {
	b.t.Helper()
	if !eval[bool](b, expression) {
		b.t.Errorf("not so: %s", expression)
	}
}

// steps are the requests of the demo's path, with the one that nobody has sent.
const demoSteps = 17

func tryStepping(b *tab) {
	b.holds(fmt.Sprintf("ctxtool.steps.length === %d && ctxtool.at === %d", demoSteps, demoSteps-1))
	for n := demoSteps - 2; n >= 0; n-- {
		b.keys(kb.ArrowLeft)
		b.holds(fmt.Sprintf("document.getElementById('request-name').textContent === 'Request %d'", n))
		b.holds(fmt.Sprintf("document.getElementById('chart-plot').getAttribute('aria-valuenow') === '%d'", n))
		b.wait("(() => { const at = document.querySelector('#talk .item.current'), box = document.getElementById('talk-scroll').getBoundingClientRect(), r = at?.getBoundingClientRect(); return !!r && r.top < box.bottom && r.bottom > box.top })()")
	}
	b.keys(kb.ArrowLeft)
	b.holds("document.getElementById('request-name').textContent === 'Request 0' && document.getElementById('earlier').disabled")
	b.do(chromedp.Click(chromedp.CSS("#later")))
	b.holds("document.getElementById('request-name').textContent === 'Request 1'")
	b.holds("document.querySelector('.tree .selected, #tree .selected')?.dataset.row === String(ctxtool.row)")
}

func trySearch(b *tab) {
	all := eval[int](b, "ctxtool.side.rows.length")
	b.keys("/")
	b.holds("document.activeElement.id === 'search'")
	b.run("document.getElementById('search').value = ''") // the driver types what a browser would not
	b.keys("CHANGELOG docs")
	b.wait("ctxtool.side.done && ctxtool.side.words.join(' ') === 'changelog docs'")
	b.holds("/match/.test(document.getElementById('shown').textContent)")
	b.holds(fmt.Sprintf("ctxtool.side.rows.length > 0 && ctxtool.side.rows.length < %d", all))
	b.run("for (const row of ctxtool.side.rows) { const text = (await ctxtool.store.raw(row)).toLowerCase(); if (!text.includes('changelog') || !text.includes('docs')) throw new Error('row ' + row) }")
	b.holds("CSS.highlights.get('found').size > 0")
	b.keys(kb.Enter)
	b.holds("ctxtool.side.rows.includes(ctxtool.row)")
	b.keys(kb.Escape)
	b.holds(fmt.Sprintf("ctxtool.side.rows.length === %d && document.getElementById('search').value === ''", all))
	b.run("document.getElementById('search').value = 'nowhere-at-all'; ctxtool.side.search('nowhere-at-all')")
	b.wait("document.getElementById('shown').textContent === '0 matches'")
}

func tryFilter(b *tab) {
	for filter, kinds := range map[string]string{"user": "['user']", "context": "['compaction','context_transform','context_edit','ephemeral','system','branch_summary','model_change','thinking_level_change']"} {
		b.run(fmt.Sprintf("const f = document.getElementById('filter'); f.value = %q; f.dispatchEvent(new Event('change'))", filter))
		b.holds(fmt.Sprintf("ctxtool.side.rows.length > 0 && ctxtool.side.rows.every(row => %s.includes(ctxtool.model.kind(row)))", kinds))
	}
	b.run("const f = document.getElementById('filter'); f.value = 'labeled'; f.dispatchEvent(new Event('change'))")
	b.holds("ctxtool.side.rows.length === ctxtool.model.labels.size && ctxtool.side.rows.length > 0")
	b.run("const f = document.getElementById('filter'); f.value = 'all'; f.dispatchEvent(new Event('change'))")
	b.holds("ctxtool.side.rows.length === ctxtool.model.head.coverage.entries")
}

func tryTree(b *tab) {
	b.run(`const other = ctxtool.side.order.rows.find(row => !ctxtool.onPath(row))
		ctxtool.side.filter = 'all'
		ctxtool.side.refresh()
		ctxtool.side.show(other)
		globalThis.other = other`)
	b.wait("document.getElementById('tree-' + other) !== null")
	b.run("document.getElementById('tree-' + other).click()")
	b.holds("ctxtool.onPath(other) && ctxtool.row === other && ctxtool.leaf !== ctxtool.model.head.leaf")
	b.wait("document.querySelector('#talk [data-row=\"' + other + '\"]') !== null")
	b.holds("document.querySelector('#talk .ways .ref') !== null || ctxtool.talk.rows.some(row => ctxtool.model.children(row).length > 1)")
}

func tryMarks(b *tab) {
	marks := eval[[]string](b, "[...document.querySelectorAll('.mark')].map(m => m.textContent)")
	if !strings.Contains(strings.Join(marks, ""), "C") || !strings.Contains(strings.Join(marks, ""), "E") {
		b.t.Errorf("the chart has marks %q", marks)
	}
	b.do(chromedp.Click(chromedp.CSS(".mark-C")))
	b.holds("ctxtool.model.kind(ctxtool.row) === 'compaction'")
	b.wait("document.querySelector('#talk .item.current .who')?.textContent === 'Compaction'")
	b.do(chromedp.Click(chromedp.CSS("#chart-plot")))
	b.holds(fmt.Sprintf("ctxtool.at === %d", demoSteps/2))
}

// tryForms looks at an entry that the context has in another form.
func tryForms(b *tab) {
	b.run("ctxtool.select(ctxtool.steps.find(k => { ctxtool.choose(k, ctxtool.model.steps.leaf[k]); return ctxtool.forms.size > 0 }))")
	b.holds("ctxtool.forms.size > 0")
	b.run("const [row] = [...ctxtool.forms.keys()]; ctxtool.goto(row, {keep: true}); await ctxtool.store.row(row); await new Promise(f => setTimeout(f, 200))")
	b.run("[...document.querySelectorAll('#talk .item.current .tag')].find(t => t.textContent === 'other text in context').click(); await new Promise(f => setTimeout(f, 200))")
	b.holds("document.getElementById('dialog').open && document.querySelectorAll('#dialog .diff .added, #dialog .diff .removed').length > 0")
}

func tryLinks(b *tab) {
	b.run("ctxtool.ask('https://example.org/x'); await 0")
	b.holds("document.getElementById('dialog').open && document.querySelector('.address').textContent === 'https://example.org/x'")
	b.holds("document.querySelectorAll('.choices button').length === 2")
	b.keys(kb.Escape)
	b.holds("!document.getElementById('dialog').open")
	b.run("ctxtool.ask('javascript:alert(1)'); await 0")
	b.holds("document.querySelectorAll('.choices button').length === 1")
}

func tryTheme(b *tab) {
	light := eval[string](b, "getComputedStyle(document.body).backgroundColor")
	b.keys("d")
	b.holds(fmt.Sprintf("getComputedStyle(document.body).backgroundColor !== %q && document.documentElement.dataset.theme === 'dark'", light))
	b.keys("d")
	b.holds(fmt.Sprintf("getComputedStyle(document.body).backgroundColor === %q", light))
	b.do(dark())
	b.run("delete document.documentElement.dataset.theme; localStorage.clear()")
	b.holds(fmt.Sprintf("getComputedStyle(document.body).backgroundColor !== %q", light))
}

// tryKeyboard goes through the page with the tab key alone: everything can be reached,
// and shows that it has been.
func tryKeyboard(b *tab) {
	seen := map[string]bool{}
	for range 60 {
		b.keys(kb.Tab)
		seen[eval[string](b, "document.activeElement.id || document.activeElement.className")] = true
		b.holds("document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none'")
	}
	for _, id := range []string{"theme", "print", "help", "chart-plot", "search", "filter", "tree-scroll", "talk-scroll", "outputs"} {
		if !seen[id] {
			b.t.Errorf("the tab key does not come to %s: %v", id, seen)
		}
	}
	b.keys("1")
	b.holds("document.activeElement.id === 'tree-scroll'")
	row := eval[int](b, "ctxtool.row")
	b.keys(kb.ArrowUp)
	b.holds(fmt.Sprintf("ctxtool.row !== %d && document.getElementById('tree-scroll').getAttribute('aria-activedescendant') === 'tree-' + ctxtool.row", row))
	b.keys("2")
	b.holds("document.activeElement.id === 'talk-scroll'")
	b.keys("3")
	b.holds("document.activeElement.id === 'request-name'")
	b.keys("?")
	b.holds("document.getElementById('dialog').open && /search/.test(document.getElementById('dialog-body').textContent)")
	b.keys(kb.Escape)
	b.holds("!document.getElementById('dialog').open")
}

// tryPrint prints all of the path, and nothing but the path.
func tryPrint(b *tab) {
	b.run("for (const row of ctxtool.talk.rows) if (row >= 0) await ctxtool.store.row(row)\nctxtool.spread()\nawait new Promise(f => setTimeout(f, 300))")
	b.holds("document.querySelectorAll('#talk .item').length === ctxtool.talk.rows.length")
	b.run("ctxtool.talk.list.all = false; ctxtool.talk.list.update()")
	paper := get(b, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		out, err := cdp.Call(ctx, t, page.PrintToPDF, page.PrintToPDFParams{})
		return out.Data, err
	})
	if !bytes.HasPrefix(paper, []byte("%PDF")) || len(paper) < 20_000 {
		b.t.Errorf("printing gives %d bytes", len(paper))
	}
	b.holds("document.querySelectorAll('#talk .item').length > 0")
}

func trySwitches(b *tab) {
	b.run("ctxtool.select(ctxtool.steps[2])")
	b.wait("document.querySelector('#talk .card .output pre') !== null")
	b.keys("o")
	b.wait("document.querySelector('#talk .card .output pre') === null")
	b.keys("o")
	b.keys("t")
	b.wait("document.querySelector('#talk details[open] > .prose') !== null || !/Thinking/.test(document.getElementById('talk-space').textContent)")
	all := eval[int](b, "ctxtool.talk.rows.length")
	b.run("ctxtool.select(ctxtool.steps.at(-1))")
	b.keys("c")
	b.holds(fmt.Sprintf("ctxtool.talk.rows.length < %d", all))
	b.keys("c")
	b.holds(fmt.Sprintf("ctxtool.talk.rows.length === %d", all))
}

func tryAddress(b *tab) {
	b.run("ctxtool.select(ctxtool.steps[4])")
	b.holds("decodeURIComponent(location.hash) === '#entry-' + ctxtool.model.id(ctxtool.row)")
	b.run("globalThis.there = ctxtool.row; ctxtool.select(ctxtool.steps[0]); location.hash = '#entry-' + ctxtool.model.id(there); await new Promise(f => setTimeout(f, 100))")
	b.holds("ctxtool.row === there")
	b.run("location.hash = '#request-3'; await new Promise(f => setTimeout(f, 100))")
	b.holds("document.getElementById('request-name').textContent === 'Request 3'")
}

func tryNarrow(b *tab) {
	b.do(sized(390, 844))
	for _, pane := range []string{"tree", "context", "talk"} {
		b.do(chromedp.Click(chromedp.CSS("#tabbar [data-pane=" + pane + "]")))
		b.holds(fmt.Sprintf("[...document.querySelectorAll('.pane')].filter(p => p.offsetWidth > 0).map(p => p.id).join() === %q", pane))
	}
	b.holds("document.documentElement.scrollWidth <= 390")
}

// storeOf renders a folder, and gives its index.
func storeOf(t testing.TB, dir string) string {
	t.Helper()
	out := t.TempDir()
	if r := ranIn("", "render", dir, "-f", "html", "-o", out); r.status != 0 {
		t.Fatalf("status %d\n%s", r.status, &r.stderr)
	}
	return filepath.Join(out, "index.html")
}

// TestStorePage holds that the index of a store can be searched and sorted, and leads
// to pages that work.
func TestStorePage(t *testing.T) {
	browser := newBrowser(t)
	b := open(t, browser, storeOf(t, filepath.Join(corpus.Root(t), "testdata", "sessions")))
	all := eval[int](b, "ctxtool.rows.length")
	b.holds("ctxtool.sessions.some(s => s.error) && ctxtool.sessions.some(s => s.findings) && ctxtool.rows.length === ctxtool.sessions.length")
	for _, column := range []string{"Cost", "Requests", "Context", "Session"} {
		b.run(fmt.Sprintf("document.querySelector('[data-column=%s] button').click()", column))
		b.holds(fmt.Sprintf("/ending/.test(document.querySelector('[data-column=%s]').getAttribute('aria-sort'))", column))
	}
	b.run("document.querySelector('[data-column=Cost] button').click()")
	b.holds("ctxtool.rows.every((s, i) => i === 0 || s.cost <= ctxtool.rows[i - 1].cost)")
	b.keys("/")
	b.run("document.getElementById('search').value = ''")
	b.keys("CloseDrains")
	b.holds(fmt.Sprintf("ctxtool.rows.length > 0 && ctxtool.rows.length < %d", all))
	b.run("document.querySelector('.session-row a').click()")
	b.wait("document.documentElement?.dataset.ready === 'true' && document.getElementById('talk') !== null")
	b.holds("/TestCloseDrains/.test(document.getElementById('title').textContent)")
	b.mu.Lock()
	b.requests = nil // the page that the link leads to
	b.mu.Unlock()
	b.silent()
}

// TestPageSplit holds that the pages of a split session lead to each other's entries.
func TestPageSplit(t *testing.T) {
	browser := newBrowser(t)
	file := filepath.Join(t.TempDir(), "large.jsonl")
	shape := gen.Shape{Bytes: 5 << 20, Tools: 0.5, Text: 300, MaxText: 4000}
	if err := gen.WriteFile(file, shape); err != nil {
		t.Fatal(err)
	}
	b := open(t, browser, pageOf(t, file, "--split", "2"))
	b.holds("document.querySelectorAll('#pages a').length === 3 && ctxtool.steps.length > 100")
	b.run("ctxtool.select(ctxtool.steps[3])") // before which all is here
	b.holds("ctxtool.store.here(ctxtool.row)")
	b.run("ctxtool.select(ctxtool.steps.at(-2)); await new Promise(f => setTimeout(f, 200))")
	b.wait("/This entry is on another page/.test(document.getElementById('talk-space').textContent)")
	b.holds("document.getElementById('ctx-total').dataset.n > 0")
	id := eval[string](b, "ctxtool.model.id(ctxtool.row)")
	b.run("document.querySelector('#talk .item.current .note a').click()")
	b.wait("document.documentElement?.dataset.ready === 'true' && globalThis.ctxtool?.model.head.page > 0")
	b.holds(fmt.Sprintf("ctxtool.model.id(ctxtool.row) === %q && ctxtool.store.here(ctxtool.row)", id))
	b.wait("document.querySelector('#talk .item.current .body') !== null")
	b.mu.Lock()
	b.requests = nil // the other page
	b.mu.Unlock()
	b.silent()
}

// TestPageAxe holds that axe finds nothing serious in any view, light or dark.
func TestPageAxe(t *testing.T) {
	axe, err := os.ReadFile(axeFile())
	if err != nil {
		t.Skip("left out: no axe-core; make axe fetches it")
	}
	browser := newBrowser(t)
	demo, store := demoPage(t), storeOf(t, filepath.Join(corpus.Root(t), "testdata", "sessions"))
	for _, view := range []struct {
		name    string
		actions []action
		prepare string
	}{
		{"store", nil, ""}, {"store dark", []action{dark()}, ""},
		{"light", nil, "ctxtool.by(-3)"}, {"dark", []action{dark()}, "ctxtool.by(-8)"}, {"messages", nil, "document.querySelector('[data-tab=messages]').click()"},
		{"prompt", []action{dark()}, "document.querySelector('[data-tab=prompt]').click()"}, {"dialog", nil, "ctxtool.help()"}, {"search", nil, "ctxtool.side.search('test'); await new Promise(f => setTimeout(f, 400))"},
		{"narrow", []action{sized(390, 844)}, "ctxtool.by(-1)"}, {"narrow context", []action{sized(390, 844), dark()}, "ctxtool.focus('context', 'request-name')"},
	} {
		t.Run(view.name, func(t *testing.T) {
			file := demo
			if strings.HasPrefix(view.name, "store") {
				file = store
			}
			b := open(t, browser, file, append(view.actions, call(page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}))...)
			b.run(view.prepare + "; await new Promise(f => setTimeout(f, 400))")
			eval[bool](b, string(axe)+";true")
			found := eval[[]string](b, `axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.impact + ': ' + v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map(n => n.target + ' ' + n.failureSummary).join(' | ')))`)
			for _, f := range found {
				if strings.HasPrefix(f, "serious") || strings.HasPrefix(f, "critical") {
					t.Error(f)
				} else {
					t.Log(f)
				}
			}
		})
	}
}

// axeFile is where make axe puts axe-core.
func axeFile() string {
	dir := os.Getenv("AXE_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(cache, "ctxtool-axe")
	}
	return filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
}
