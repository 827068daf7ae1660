package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"ctxtool/internal/corpus"
)

// TestPageScreens makes pictures of the main views in the folder that
// CTXTOOL_SCREENSHOTS names, for people to look at: see make screenshots.
func TestPageScreens(t *testing.T) {
	dir := os.Getenv("CTXTOOL_SCREENSHOTS")
	if dir == "" {
		t.Skip("left out: CTXTOOL_SCREENSHOTS names no folder")
	}
	browser := newBrowser(t)
	sessions := map[string]string{"demo": filepath.Join(corpus.Root(t), "testdata", "sessions", "demo.jsonl")}
	for name, file := range map[string]string{"real": "pi.dev-019dbe19.v3.jsonl", "go": "auth-go-019e44d4.v3.jsonl"} {
		if path := filepath.Join(corpus.Root(t), "..", "shared", "corpus", file); exists(path) {
			sessions[name] = path
		}
	}
	views := []struct {
		name          string
		width, height int64
		dark          bool
		prepare       string
	}{
		{"wide-light", 1440, 900, false, "ctxtool.by(-1)"},
		{"wide-dark", 1440, 900, true, "ctxtool.by(-3)"},
		{"messages", 1440, 900, false, "ctxtool.by(-2); document.querySelector('[data-tab=messages]').click()"},
		{"mark", 1440, 900, true, "document.querySelector('.mark-C, .mark-T, .mark-E')?.click()"},
		{"page", 1440, 900, false, "ctxtool.select(ctxtool.steps[3])"},
		{"search", 1440, 900, false, "ctxtool.side.filter = 'all'; document.getElementById('search').value = 'test'; ctxtool.side.search('test'); await new Promise(f => setTimeout(f, 600)); ctxtool.side.step(1)"},
		{"prompt", 1440, 900, true, "document.querySelector('[data-tab=prompt]').click(); await new Promise(f => setTimeout(f, 100)); document.querySelector('#tab-prompt details')?.setAttribute('open', '')"},
		{"message", 1440, 900, false, "ctxtool.context.read(ctxtool.context.rows.at(-1))"},
		{"help", 1440, 900, true, "ctxtool.help()"},
		{"narrow-light", 390, 844, false, "ctxtool.by(-2)"},
		{"narrow-tree", 390, 844, true, "document.querySelector('#tabbar [data-pane=tree]').click()"},
		{"narrow-context", 390, 844, true, "document.querySelector('#tabbar [data-pane=context]').click()"},
	}
	for session, file := range sessions {
		if only := os.Getenv("CTXTOOL_SCREENS"); only != "" && only != session {
			continue
		}
		page := pageOf(t, file)
		for _, v := range views {
			actions := []action{sized(v.width, v.height)}
			if v.dark {
				actions = append(actions, dark())
			}
			b := open(t, browser, page, actions...)
			b.run(v.prepare + "; await new Promise(f => setTimeout(f, 1600))")
			picture := get(b, chromedp.CaptureScreenshot())
			if err := os.WriteFile(filepath.Join(dir, session+"-"+v.name+".png"), picture, 0o666); err != nil {
				t.Fatal(err)
			}
			b.silent()
		}
	}
}

// TestStoreScreens makes pictures of the index of a store, as TestPageScreens does.
func TestStoreScreens(t *testing.T) {
	dir := os.Getenv("CTXTOOL_SCREENSHOTS")
	if dir == "" {
		t.Skip("left out: CTXTOOL_SCREENSHOTS names no folder")
	}
	browser := newBrowser(t)
	store := filepath.Join(corpus.Root(t), "..", "shared", "corpus")
	if !exists(store) {
		store = filepath.Join(corpus.Root(t), "testdata", "sessions")
	}
	index := storeOf(t, store)
	for name, actions := range map[string][]action{
		"light": {sized(1440, 900)}, "dark": {sized(1440, 900), dark()}, "narrow": {sized(390, 844)},
	} {
		b := open(t, browser, index, actions...)
		if err := os.WriteFile(filepath.Join(dir, "store-"+name+".png"), get(b, chromedp.CaptureScreenshot()), 0o666); err != nil {
			t.Fatal(err)
		}
		b.silent()
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
