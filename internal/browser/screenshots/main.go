// Command screenshots makes pictures of the main views of pages; see make screenshots.
// It skips sessions that do not exist.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"ctxtool/internal/browser"
)

// sessions are the sessions whose pages are shown.
var sessions = []struct{ name, file string }{
	{"demo", "testdata/sessions/demo.jsonl"},
	{"real", "../shared/corpus/pi.dev-019dbe19.v3.jsonl"},
	{"go", "../shared/corpus/auth-go-019e44d4.v3.jsonl"},
}

// stores are folders, of which the first that exists is shown.
var stores = []string{"../shared/corpus", "testdata/sessions"}

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

func main() {
	log.SetFlags(0)
	log.SetPrefix("screenshots: ")
	ctxtool := flag.String("ctxtool", "bin/ctxtool", "the binary that makes the pages")
	out := flag.String("o", "screenshots", "folder for the pictures")
	only := flag.String("only", "", "take only this one: demo, real, go, policies or store")
	flag.Parse()
	if err := run(*ctxtool, *out, *only); err != nil {
		log.Fatal(err)
	}
}

func run(ctxtool, out, only string) error {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	pages, err := os.MkdirTemp("", "screenshots")
	if err != nil {
		return err
	}
	defer os.RemoveAll(pages)
	chromium, err := browser.Start()
	if err != nil {
		return err
	}
	defer chromium.Close()
	for _, s := range sessions {
		if only != "" && only != s.name || !exists(s.file) {
			continue
		}
		page := filepath.Join(pages, s.name+".html")
		if err := write(ctxtool, page, "render", s.file); err != nil {
			return err
		}
		if err := shoot(chromium, page, filepath.Join(out, s.name), views); err != nil {
			return err
		}
	}
	if last := sessions[len(sessions)-1].file; (only == "" || only == "policies") && exists(last) {
		page := filepath.Join(pages, "policies.html")
		if err := write(ctxtool, page, "simulate", last, "--window", "64k"); err != nil {
			return err
		}
		if err := shoot(chromium, page, filepath.Join(out, "policies"), policyViews); err != nil {
			return err
		}
	}
	for _, dir := range stores {
		if only != "" && only != "store" || !exists(dir) {
			continue
		}
		store := filepath.Join(pages, "store")
		if err := write(ctxtool, store, "render", dir); err != nil {
			return err
		}
		return shoot(chromium, filepath.Join(store, "index.html"), filepath.Join(out, "store"), storeViews)
	}
	return nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// write runs ctxtool to write a page.
func write(ctxtool, page string, args ...string) error {
	if out, err := exec.Command(ctxtool, append(args, "-f", "html", "-o", page)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", args, err, out)
	}
	return nil
}

// shoot writes a picture of each view of a page to a file whose name begins with
// prefix.
func shoot(chromium *browser.Browser, page, prefix string, views []view) error {
	for _, v := range views {
		b := chromium.Open(browser.Program{}, page, v.view)
		b.Run(v.prepare + "; await new Promise(f => setTimeout(f, 1600))") // until all is drawn
		if err := os.WriteFile(prefix+"-"+v.name+".png", b.Screenshot(), 0o666); err != nil {
			return err
		}
		b.Silent()
		b.Close()
	}
	return nil
}
