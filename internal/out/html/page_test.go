package html_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"ctxtool/internal/test/browser"
	"ctxtool/internal/test/gen"
)

// TestPage holds that what a page offers works, without a network and without a word
// on the console. The page is loaded once, which takes longer than most of what is tried.
func TestPage(t *testing.T) {
	t.Parallel()
	b := open(t, demoPage, browser.View{})
	for _, test := range []struct {
		name string
		try  func(b *tab)
	}{
		{"stepping", tryStepping}, {"search", trySearch}, {"filter", tryFilter}, {"tree", tryTree}, {"marks", tryMarks}, {"links", tryLinks}, {"forms", tryForms},
		{"theme", tryTheme}, {"keyboard", tryKeyboard}, {"print", tryPrint}, {"switches", trySwitches}, {"address", tryAddress}, {"narrow", tryNarrow},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.Use(t)
			b.SetView(browser.View{})
			b.Run("ctxtool.closeDialog(); ctxtool.side.filter = 'all'; ctxtool.side.search(''); ctxtool.follow(ctxtool.model.head.leaf); ctxtool.select(ctxtool.steps.at(-1)); document.activeElement.blur()")
			test.try(&tab{b.Tab, t})
			b.Silent()
		})
	}
}

// steps are the requests of the demo's path, with the one that nobody has sent.
const demoSteps = 17

func tryStepping(b *tab) {
	b.Holds(fmt.Sprintf("ctxtool.steps.length === %d && ctxtool.at === %d", demoSteps, demoSteps-1))
	for n := demoSteps - 2; n >= 0; n-- {
		b.Keys(kb.ArrowLeft)
		b.Holds(fmt.Sprintf("document.getElementById('request-name').textContent === 'Request %d'", n))
		b.Holds(fmt.Sprintf("document.getElementById('chart-plot').getAttribute('aria-valuenow') === '%d'", n))
		b.Wait("(() => { const at = document.querySelector('#talk .item.current'), box = document.getElementById('talk-scroll').getBoundingClientRect(), r = at?.getBoundingClientRect(); return !!r && r.top < box.bottom && r.bottom > box.top })()")
	}
	b.Keys(kb.ArrowLeft)
	b.Holds("document.getElementById('request-name').textContent === 'Request 0' && document.getElementById('earlier').disabled")
	b.Click("#later")
	b.Holds("document.getElementById('request-name').textContent === 'Request 1'")
	b.Holds("document.querySelector('.tree .selected, #tree .selected')?.dataset.row === String(ctxtool.row)")
}

func trySearch(b *tab) {
	all := eval[int](b, "ctxtool.side.rows.length")
	b.Keys("/")
	b.Holds("document.activeElement.id === 'search'")
	b.Run("document.getElementById('search').value = ''") // the driver types what a browser would not
	b.Keys("CHANGELOG docs")
	b.Wait("ctxtool.side.done && ctxtool.side.words.join(' ') === 'changelog docs'")
	b.Holds("/match/.test(document.getElementById('shown').textContent)")
	b.Holds(fmt.Sprintf("ctxtool.side.rows.length > 0 && ctxtool.side.rows.length < %d", all))
	b.Run("for (const row of ctxtool.side.rows) { const text = (await ctxtool.store.raw(row)).toLowerCase(); if (!text.includes('changelog') || !text.includes('docs')) throw new Error('row ' + row) }")
	b.Holds("CSS.highlights.get('found').size > 0")
	b.Keys(kb.Enter)
	b.Holds("ctxtool.side.rows.includes(ctxtool.row)")
	b.Keys(kb.Escape)
	b.Holds(fmt.Sprintf("ctxtool.side.rows.length === %d && document.getElementById('search').value === ''", all))
	b.Run("document.getElementById('search').value = 'nowhere-at-all'; ctxtool.side.search('nowhere-at-all')")
	b.Wait("document.getElementById('shown').textContent === '0 matches'")
}

func tryFilter(b *tab) {
	for filter, kinds := range map[string]string{"user": "['user']", "context": "['compaction','context_transform','context_edit','ephemeral','system','branch_summary','model_change','thinking_level_change']"} {
		b.Run(fmt.Sprintf("const f = document.getElementById('filter'); f.value = %q; f.dispatchEvent(new Event('change'))", filter))
		b.Holds(fmt.Sprintf("ctxtool.side.rows.length > 0 && ctxtool.side.rows.every(row => %s.includes(ctxtool.model.kind(row)))", kinds))
	}
	b.Run("const f = document.getElementById('filter'); f.value = 'labeled'; f.dispatchEvent(new Event('change'))")
	b.Holds("ctxtool.side.rows.length === ctxtool.model.labels.size && ctxtool.side.rows.length > 0")
	b.Run("const f = document.getElementById('filter'); f.value = 'all'; f.dispatchEvent(new Event('change'))")
	b.Holds("ctxtool.side.rows.length === ctxtool.model.head.coverage.entries")
}

func tryTree(b *tab) {
	b.Run(`const other = ctxtool.side.order.rows.find(row => !ctxtool.onPath(row))
		ctxtool.side.filter = 'all'
		ctxtool.side.refresh()
		ctxtool.side.show(other)
		globalThis.other = other`)
	b.Wait("document.getElementById('tree-' + other) !== null")
	b.Run("document.getElementById('tree-' + other).click()")
	b.Holds("ctxtool.onPath(other) && ctxtool.row === other && ctxtool.leaf !== ctxtool.model.head.leaf")
	b.Wait("document.querySelector('#talk [data-row=\"' + other + '\"]') !== null")
	b.Holds("document.querySelector('#talk .ways .ref') !== null || ctxtool.talk.rows.some(row => ctxtool.model.children(row).length > 1)")
}

func tryMarks(b *tab) {
	marks := eval[[]string](b, "[...document.querySelectorAll('.mark')].map(m => m.textContent)")
	if !strings.Contains(strings.Join(marks, ""), "C") || !strings.Contains(strings.Join(marks, ""), "E") {
		b.t.Errorf("the chart has marks %q", marks)
	}
	b.Click(".mark-C")
	b.Holds("ctxtool.model.kind(ctxtool.row) === 'compaction'")
	b.Wait("document.querySelector('#talk .item.current .who')?.textContent === 'Compaction'")
	b.Click("#chart-plot")
	b.Holds(fmt.Sprintf("ctxtool.at === %d", demoSteps/2))
}

// tryForms looks at an entry that the context has in another form.
func tryForms(b *tab) {
	b.Run("ctxtool.select(ctxtool.steps.find(k => { ctxtool.choose(k, ctxtool.model.steps.leaf[k]); return ctxtool.forms.size > 0 }))")
	b.Holds("ctxtool.forms.size > 0")
	b.Run("const [row] = [...ctxtool.forms.keys()]; ctxtool.goto(row, {keep: true}); await ctxtool.store.row(row); await new Promise(f => setTimeout(f, 200))")
	b.Run("[...document.querySelectorAll('#talk .item.current .tag')].find(t => t.textContent === 'other text in context').click(); await new Promise(f => setTimeout(f, 200))")
	b.Holds("document.getElementById('dialog').open && document.querySelectorAll('#dialog .diff .added, #dialog .diff .removed').length > 0")
}

func tryLinks(b *tab) {
	b.Run("ctxtool.ask('https://example.org/x'); await 0")
	b.Holds("document.getElementById('dialog').open && document.querySelector('.address').textContent === 'https://example.org/x'")
	b.Holds("document.querySelectorAll('.choices button').length === 2")
	b.Keys(kb.Escape)
	b.Holds("!document.getElementById('dialog').open")
	b.Run("ctxtool.ask('javascript:alert(1)'); await 0")
	b.Holds("document.querySelectorAll('.choices button').length === 1")
}

func tryTheme(b *tab) {
	light := eval[string](b, "getComputedStyle(document.body).backgroundColor")
	b.Keys("d")
	b.Holds(fmt.Sprintf("getComputedStyle(document.body).backgroundColor !== %q && document.documentElement.dataset.theme === 'dark'", light))
	b.Keys("d")
	b.Holds(fmt.Sprintf("getComputedStyle(document.body).backgroundColor === %q", light))
	b.SetView(browser.View{Dark: true})
	b.Run("delete document.documentElement.dataset.theme; localStorage.clear()")
	b.Holds(fmt.Sprintf("getComputedStyle(document.body).backgroundColor !== %q", light))
}

// tryKeyboard uses the page with the tab key alone: everything can be reached,
// and shows that it has been.
func tryKeyboard(b *tab) {
	seen := map[string]bool{}
	for range 60 {
		b.Keys(kb.Tab)
		seen[eval[string](b, "document.activeElement.id || document.activeElement.className")] = true
		b.Holds("document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none'")
	}
	for _, id := range []string{"theme", "print", "help", "chart-plot", "search", "filter", "tree-scroll", "talk-scroll", "outputs"} {
		if !seen[id] {
			b.t.Errorf("the tab key does not come to %s: %v", id, seen)
		}
	}
	b.Keys("1")
	b.Holds("document.activeElement.id === 'tree-scroll'")
	row := eval[int](b, "ctxtool.row")
	b.Keys(kb.ArrowUp)
	b.Holds(fmt.Sprintf("ctxtool.row !== %d && document.getElementById('tree-scroll').getAttribute('aria-activedescendant') === 'tree-' + ctxtool.row", row))
	at := eval[int](b, "ctxtool.at")
	b.Keys(kb.ArrowLeft) // to the request before, as everywhere
	b.Holds(fmt.Sprintf("ctxtool.at === %d", at-1))
	b.Keys("2")
	b.Holds("document.activeElement.id === 'talk-scroll'")
	b.Keys("3")
	b.Holds("document.activeElement.id === 'request-name'")
	b.Keys("?")
	b.Holds("document.getElementById('dialog').open && /search/.test(document.getElementById('dialog-body').textContent)")
	b.Keys(kb.Escape)
	b.Holds("!document.getElementById('dialog').open")
}

// tryPrint prints all of the path, and nothing but the path.
func tryPrint(b *tab) {
	b.Run("for (const row of ctxtool.talk.rows) if (row >= 0) await ctxtool.store.row(row)\nctxtool.spread()\nawait new Promise(f => setTimeout(f, 300))")
	b.Holds("document.querySelectorAll('#talk .item').length === ctxtool.talk.rows.length")
	b.Run("ctxtool.talk.list.all = false; ctxtool.talk.list.update()")
	paper := b.PDF()
	if !bytes.HasPrefix(paper, []byte("%PDF")) || len(paper) < 20_000 {
		b.t.Errorf("printing gives %d bytes", len(paper))
	}
	b.Holds("document.querySelectorAll('#talk .item').length > 0")
}

func trySwitches(b *tab) {
	b.Run("ctxtool.select(ctxtool.steps[2])")
	b.Wait("document.querySelector('#talk .card .output pre') !== null")
	b.Keys("o")
	b.Wait("document.querySelector('#talk .card .output pre') === null")
	b.Keys("o")
	b.Keys("t")
	b.Wait("document.querySelector('#talk details[open] > .prose') !== null || !/Thinking/.test(document.getElementById('talk-space').textContent)")
	all := eval[int](b, "ctxtool.talk.rows.length")
	b.Run("ctxtool.select(ctxtool.steps.at(-1))")
	b.Keys("c")
	b.Holds(fmt.Sprintf("ctxtool.talk.rows.length < %d", all))
	b.Keys("c")
	b.Holds(fmt.Sprintf("ctxtool.talk.rows.length === %d", all))
}

func tryAddress(b *tab) {
	b.Run("ctxtool.select(ctxtool.steps[4])")
	b.Holds("decodeURIComponent(location.hash) === '#entry-' + ctxtool.model.id(ctxtool.row)")
	b.Run("globalThis.there = ctxtool.row; ctxtool.select(ctxtool.steps[0]); location.hash = '#entry-' + ctxtool.model.id(there); await new Promise(f => setTimeout(f, 100))")
	b.Holds("ctxtool.row === there")
	b.Run("location.hash = '#request-3'; await new Promise(f => setTimeout(f, 100))")
	b.Holds("document.getElementById('request-name').textContent === 'Request 3'")
}

func tryNarrow(b *tab) {
	b.SetView(browser.View{Width: 390, Height: 844})
	for _, pane := range []string{"tree", "context", "talk"} {
		b.Click("#tabbar [data-pane=" + pane + "]")
		b.Holds(fmt.Sprintf("[...document.querySelectorAll('.pane')].filter(p => p.offsetWidth > 0).map(p => p.id).join() === %q", pane))
	}
	b.Holds("document.documentElement.scrollWidth <= 390")
}

// TestStorePage holds that the index of a store can be searched and sorted, and leads
// to pages that work.
func TestStorePage(t *testing.T) {
	t.Parallel()
	b := open(t, storePage, browser.View{})
	all := eval[int](b, "ctxtool.rows.length")
	b.Holds("ctxtool.sessions.some(s => s.error) && ctxtool.sessions.some(s => s.findings) && ctxtool.rows.length === ctxtool.sessions.length")
	for _, column := range []string{"Cost", "Requests", "Context", "Session"} {
		b.Run(fmt.Sprintf("document.querySelector('[data-column=%s] button').click()", column))
		b.Holds(fmt.Sprintf("/ending/.test(document.querySelector('[data-column=%s]').getAttribute('aria-sort'))", column))
	}
	b.Run("document.querySelector('[data-column=Cost] button').click()")
	b.Holds("ctxtool.rows.every((s, i) => i === 0 || s.cost <= ctxtool.rows[i - 1].cost)")
	b.Keys("/")
	b.Run("document.getElementById('search').value = ''")
	b.Keys("CloseDrains")
	b.Holds(fmt.Sprintf("ctxtool.rows.length > 0 && ctxtool.rows.length < %d", all))
	b.Run("document.querySelector('.session-row a').click()")
	b.Wait("document.documentElement?.dataset.ready === 'true' && document.getElementById('talk') !== null")
	b.Holds("/TestCloseDrains/.test(document.getElementById('title').textContent)")
	b.ForgetRequests() // of the page that the link leads to
	b.Silent()
}

// TestPageSplit holds that the pages of a split session lead to each other's entries.
func TestPageSplit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "large.jsonl")
	shape := gen.Shape{Bytes: 5 << 20, Tools: 0.5, Text: 300, MaxText: 4000}
	if err := gen.WriteFile(file, shape); err != nil {
		t.Fatal(err)
	}
	b := openSession(t, file, "--split", "2")
	b.Holds("document.querySelectorAll('#pages a').length === 3 && ctxtool.steps.length > 100")
	b.Run("ctxtool.select(ctxtool.steps[3])") // before which all is here
	b.Holds("ctxtool.store.here(ctxtool.row)")
	b.Run("ctxtool.select(ctxtool.steps.at(-2)); await new Promise(f => setTimeout(f, 200))")
	b.Wait("/This entry is on another page/.test(document.getElementById('talk-space').textContent)")
	b.Holds("document.getElementById('ctx-total').dataset.n > 0")
	id := eval[string](b, "ctxtool.model.id(ctxtool.row)")
	b.Run("document.querySelector('#talk .item.current .note a').click()")
	b.Wait("document.documentElement?.dataset.ready === 'true' && globalThis.ctxtool?.model.head.page > 0")
	b.Holds(fmt.Sprintf("ctxtool.model.id(ctxtool.row) === %q && ctxtool.store.here(ctxtool.row)", id))
	b.Wait("document.querySelector('#talk .item.current .body') !== null")
	b.ForgetRequests() // of the other page
	b.Silent()
}
