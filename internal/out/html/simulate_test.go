package html_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"ctxtool/internal/test/browser"
	"ctxtool/internal/test/gen"
)

// TestPolicyPage holds that a page that compares policies can be used with the keyboard, fits a
// narrow window, and shows what each policy's model would have seen.
func TestPolicyPage(t *testing.T) {
	t.Parallel()
	b := open(t, policyPage, browser.View{})
	b.Run("globalThis.best = ctxtool.chosen")
	for _, test := range []struct {
		name string
		try  func(b *tab)
	}{
		{"stepping", tryPolicySteps}, {"regrets", tryPolicyRegrets}, {"contexts", tryPolicyContexts}, {"keyboard", tryPolicyKeyboard}, {"narrow", tryPolicyNarrow}, {"theme", tryTheme},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.Use(t)
			b.SetView(browser.View{})
			b.Run("ctxtool.choose(best); ctxtool.go(0); document.activeElement.blur()")
			test.try(&tab{b.Tab, t})
			b.Silent()
		})
	}
}

func tryPolicySteps(b *tab) {
	b.Holds("ctxtool.answers.length === 16 && /^gsh is best/.test(document.querySelector('#why li').textContent)")
	b.Holds("/^as billed.*\\$0\\.[0-9]+.*%/.test(document.querySelector('#policies .sim-billed').textContent)")
	b.Keys(kb.End)
	b.Holds("/request 15:/.test(document.getElementById('step').textContent) && document.getElementById('later').disabled")
	b.Keys(kb.ArrowLeft)
	b.Holds("/request 14:/.test(document.getElementById('step').textContent) && document.getElementById('plot').getAttribute('aria-valuenow') === '14'")
	b.Keys(kb.Home)
	b.Holds("/request 0:/.test(document.getElementById('step').textContent) && document.getElementById('earlier').disabled")
	b.Keys(kb.ArrowLeft)
	b.Holds("ctxtool.at === 0")
	b.Click("#later")
	b.Holds("ctxtool.at === 1")
	b.Keys(kb.PageDown)
	b.Holds("ctxtool.at === 11")
	b.Click("#plot")
	b.Holds("ctxtool.at > 5 && ctxtool.at < 10")
	b.Holds("document.querySelectorAll('#plot .sim-line').length === 4 && document.querySelectorAll('#front .sim-dot').length === 4")
}

func tryPolicyRegrets(b *tab) {
	b.Holds("ctxtool.runs[ctxtool.chosen].policy === 'gsh' && ctxtool.runs[ctxtool.chosen].missed.length === 3")
	b.Keys(kb.Home)
	b.Keys("n")
	b.Holds("ctxtool.at === ctxtool.runs[ctxtool.chosen].missed[0].request")
	b.Holds("/^[1-4] regrets? here/.test(document.querySelector('#side h3').textContent) && /removed before request/.test(document.getElementById('side').textContent)")
	b.Keys(kb.End)
	b.Keys("p")
	b.Holds("ctxtool.at <= ctxtool.runs[ctxtool.chosen].missed.at(-1).request")
}

// tryPolicyContexts compares what the list shows with the data: none has all messages, gsh has a
// summary in place of those before its compaction.
func tryPolicyContexts(b *tab) {
	b.Keys(kb.End)
	b.Run("ctxtool.choose(ctxtool.runs.findIndex(r => r.policy === 'none'))")
	b.Holds("ctxtool.seen.length === ctxtool.messages.slice(0, ctxtool.answers.at(-1)).filter(m => m.sent).length && ctxtool.seen.length > 20")
	all := eval[int](b, "ctxtool.seen.length")
	b.Run("ctxtool.choose(ctxtool.runs.findIndex(r => r.policy === 'gsh'))")
	b.Holds(fmt.Sprintf("ctxtool.seen.length < %d && [...document.querySelectorAll('.sim-kind')].some(k => k.textContent === 'summary')", all))
	b.Holds("/ gone/.test(document.getElementById('what').textContent) && !document.querySelector('.sim-lost')")
	b.Keys("r")
	b.Holds(fmt.Sprintf("ctxtool.seen.length === %d && document.querySelector('.sim-lost') !== null", all))
}

// tryPolicyKeyboard uses the page with the tab key alone.
func tryPolicyKeyboard(b *tab) {
	seen := map[string]bool{}
	for range 24 {
		b.Keys(kb.Tab)
		seen[eval[string](b, "document.activeElement.id || document.activeElement.tagName")] = true
		b.Holds("document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none'")
	}
	for _, id := range []string{"theme", "plot", "BUTTON", "later", "removed", "seen-scroll", "side"} {
		if !seen[id] {
			b.t.Errorf("the tab key does not come to %s: %v", id, seen)
		}
	}
	b.Run("document.querySelectorAll('#policies button')[1].focus()")
	b.Keys(kb.Enter)
	b.Holds("ctxtool.runs[ctxtool.chosen].policy === 'none' && document.activeElement.getAttribute('aria-pressed') === 'true'")
	b.Keys(kb.ArrowDown)
	b.Holds("ctxtool.runs[ctxtool.chosen].policy === 'gsh' && document.activeElement.textContent === 'gsh'")
	at := eval[int](b, "ctxtool.at")
	b.Keys(kb.ArrowRight)
	b.Holds(fmt.Sprintf("ctxtool.at === %d", min(15, at+1)))
}

func tryPolicyNarrow(b *tab) {
	b.SetView(browser.View{Width: 400, Height: 844})
	b.Holds("document.documentElement.scrollWidth <= 400 && [...document.querySelectorAll('main *')].every(e => e.closest('svg') || e.getBoundingClientRect().right <= 401)")
	b.Run("document.getElementById('side').scrollIntoView()")
	b.Holds("document.getElementById('seen-scroll').clientHeight >= 200")
}

// TestPoliciesPage holds that the page of several sessions has their spreads and differences.
func TestPoliciesPage(t *testing.T) {
	t.Parallel()
	b := open(t, policiesPage, browser.View{})
	b.Holds("document.querySelectorAll('#spreads table').length === 4 && document.querySelectorAll('#spreads svg').length === 4 * ctxtool.runs.length")
	b.Holds("document.querySelectorAll('#pairs tbody tr').length === ctxtool.differing.length && ctxtool.differing.length > 0")
	b.Holds("document.getElementById('step').offsetWidth === 0 && document.getElementById('plot').offsetWidth === 0")
	b.Keys(kb.ArrowDown)
	b.Holds("document.querySelector('#policies .sim-chosen button').textContent === ctxtool.runs[ctxtool.chosen].policy")
	b.SetView(browser.View{Width: 400, Height: 844})
	b.Holds("document.documentElement.scrollWidth <= 400")
	b.Silent()
}

// TestPolicyPageLarge holds that a step among thousands of requests draws only the rows in view; the log has
// its time.
func TestPolicyPageLarge(t *testing.T) {
	t.Parallel()
	b := open(t, func() (string, error) {
		file := filepath.Join(t.TempDir(), "large.jsonl")
		if err := gen.WriteFile(file, gen.Shape{Entries: 9000, Tools: 0.8, Text: 200, MaxText: 2000}); err != nil {
			return "", err
		}
		return writePage(filepath.Join(t.TempDir(), "large.html"), "simulate", file, "--window", "50k", "--policy", "none,gsh,swe-cli,y-agent")
	}, browser.View{})
	b.Holds("ctxtool.answers.length > 3500")
	b.Keys(kb.End)
	took := time.Duration(eval[float64](b, "(() => { const from = performance.now(); for (let i = 0; i < 20; i++) ctxtool.go(ctxtool.at - 1); return performance.now() - from })()") / 20 * float64(time.Millisecond))
	t.Logf("a step takes %v", took)
	b.Holds("document.querySelectorAll('.sim-row').length > 5 && document.querySelectorAll('.sim-row').length < 200")
	b.Silent()
}
