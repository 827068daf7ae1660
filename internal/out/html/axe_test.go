package html_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/browser"
	"ctxtool/internal/test/testenv"
)

// TestPageAxe holds that axe finds nothing serious in any view, light or dark.
func TestPageAxe(t *testing.T) {
	axe, err := os.ReadFile(axeFile())
	if err != nil {
		testenv.Skip(t, "no axe-core; make axe fetches it")
	}
	t.Parallel()
	light, dark := browser.View{NoPolicy: true}, browser.View{NoPolicy: true, Dark: true} // axe is a script of its own
	narrow := browser.View{NoPolicy: true, Width: 390, Height: 844}
	narrowDark := narrow
	narrowDark.Dark = true
	type view struct {
		name    string
		view    browser.View
		prepare string
	}
	for _, page := range []struct {
		name  string
		page  func() (string, error)
		views []view // one after the other
	}{
		{"store", storePage, []view{{"light", light, ""}, {"dark", dark, ""}}},
		{"policies", policyPage, []view{{"light", light, ""}, {"dark", dark, "ctxtool.gone()"}, {"narrow", narrow, ""}}},
		{"policies of a store", policiesPage, []view{{"light", light, ""}, {"dark", dark, ""}}},
		{"session", demoPage, []view{
			{"light", light, "ctxtool.by(-3)"},
			{"messages", light, "document.querySelector('[data-tab=messages]').click()"},
			{"search", light, "ctxtool.side.search('test'); while (!ctxtool.side.done) await new Promise(requestAnimationFrame)"},
			{"dialog", light, "ctxtool.side.search(''); ctxtool.help()"},
			{"dark", dark, "ctxtool.closeDialog(); document.querySelector('[data-tab=overview]').click(); ctxtool.by(-8)"},
			{"prompt", dark, "document.querySelector('[data-tab=prompt]').click()"},
			{"narrow", narrow, "document.querySelector('[data-tab=overview]').click(); ctxtool.select(ctxtool.steps.at(-2))"},
			{"narrow context", narrowDark, "ctxtool.focus('context', 'request-name')"},
		}},
	} {
		t.Run(page.name, func(t *testing.T) {
			t.Parallel()
			b := open(t, page.page, light)
			b.Run(string(axe) + "\nglobalThis.axe = axe")
			for _, v := range page.views {
				b.SetView(v.view)
				b.Run(v.prepare)
				b.Wait("!document.querySelector('.waiting')")
				b.Run(`for (let n = 0; n < 2; n++) { await new Promise(requestAnimationFrame); await Promise.all(document.getAnimations().map(a => a.finished.catch(() => {}))) }`)
				for _, f := range eval[[]string](b, violations) {
					if strings.HasPrefix(f, "serious") || strings.HasPrefix(f, "critical") {
						t.Errorf("%s: %s", v.name, f)
					} else {
						t.Logf("%s: %s", v.name, f)
					}
				}
			}
		})
	}
}

const violations = `axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.impact + ': ' + v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map(n => n.target + ' ' + n.failureSummary).join(' | ')))`

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
