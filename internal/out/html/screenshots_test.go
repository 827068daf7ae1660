package html_test

import (
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ctxtool/internal/test/browser"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

var (
	light  = browser.View{}
	dark   = browser.View{Dark: true}
	narrow = browser.View{Width: 390, Height: 844}
	night  = browser.View{Width: 390, Height: 844, Dark: true}
)

// A view is a page looked at in one way, after statements.
type view struct {
	name    string
	view    browser.View
	prepare string
}

var views = []view{
	{"wide-light", light, "ctxtool.by(-1)"},
	{"wide-dark", dark, "ctxtool.by(-3)"},
	{"messages", light, "ctxtool.by(-2); document.querySelector('[data-tab=messages]').click()"},
	{"mark", dark, "document.querySelector('.mark-C, .mark-T, .mark-E')?.click()"},
	{"page", light, "ctxtool.select(ctxtool.steps[3])"},
	{"search", light, "ctxtool.side.filter = 'all'; document.getElementById('search').value = 'test'; ctxtool.side.search('test'); await new Promise(f => setTimeout(f, 600)); ctxtool.side.step(1)"},
	{"prompt", dark, "document.querySelector('[data-tab=prompt]').click(); await new Promise(f => setTimeout(f, 100)); document.querySelector('#tab-prompt details')?.setAttribute('open', '')"},
	{"message", light, "ctxtool.context.read(ctxtool.context.rows.at(-1))"},
	{"help", dark, "ctxtool.help()"},
	{"narrow-light", narrow, "ctxtool.by(-2)"},
	{"narrow-tree", night, "document.querySelector('#tabbar [data-pane=tree]').click()"},
	{"narrow-context", night, "document.querySelector('#tabbar [data-pane=context]').click()"},
}

var policyViews = []view{{"light", light, ""}, {"dark", dark, "ctxtool.gone()"}, {"narrow", narrow, ""}}

var storeViews = []view{{"light", light, ""}, {"dark", dark, ""}, {"narrow", narrow, ""}}

var screenshots = flag.String("screenshots", "", "folder for pictures of the main views of pages")

// TestScreenshots takes the pictures if a folder for them is named: make screenshots.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("left out: no -screenshots")
	}
	must.Do(os.MkdirAll(*screenshots, 0o777))
	corpus := append(testenv.Shared(t, "corpus"), sessions)[0]
	for _, p := range []struct {
		name, input string
		page        func(input string) (string, error)
		views       []view
	}{
		{"demo", sessions + "/demo.jsonl", renderedPage, views},
		{"real", corpus + "/pi.dev-019dbe19.v3.jsonl", renderedPage, views},
		{"go", corpus + "/auth-go-019e44d4.v3.jsonl", renderedPage, views},
		{"policies", corpus + "/auth-go-019e44d4.v3.jsonl", policies, policyViews},
		{"store", corpus, renderedStore, storeViews},
	} {
		if _, err := os.Stat(p.input); err != nil {
			continue
		}
		page := sync.OnceValues(func() (string, error) { return p.page(p.input) })
		for _, v := range p.views {
			tab := open(t, page, v.view)
			tab.Run(v.prepare + "; await new Promise(f => setTimeout(f, 1600))") // until all is drawn
			must.Do(os.WriteFile(filepath.Join(*screenshots, p.name+"-"+v.name+".png"), tab.Screenshot(), 0o666))
			tab.Silent()
		}
	}
}

func renderedPage(session string) (string, error) {
	return renderPage(session, filepath.Join(folder, filepath.Base(session)+".html"))
}

func renderedStore(dir string) (string, error) {
	_, err := renderPage(dir, filepath.Join(folder, "shot"))
	return filepath.Join(folder, "shot", "index.html"), err
}

func policies(session string) (string, error) {
	return writePage(filepath.Join(folder, "shot.html"), "simulate", session, "--window", "64k")
}
