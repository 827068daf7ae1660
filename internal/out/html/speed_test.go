package html_test

import (
	"os"
	"testing"

	"ctxtool/internal/test/browser"
)

// measureScroll scrolls through a page as a reader does, and gives the times of its
// frames in milliseconds: the median, the one that 5 in 100 exceed, and the longest;
// how long it takes until all is drawn at a place far away, and until a search
// through everything is done; and what the scripts hold.
const measureScroll = `(async () => {
	const box = document.getElementById('talk-scroll'), frame = () => new Promise(requestAnimationFrame), times = []
	const drawn = async () => { const from = performance.now(); do { await frame() } while (document.querySelector('#talk .waiting')); return performance.now() - from }
	box.scrollTop = box.scrollHeight / 3
	await drawn()
	let last = performance.now()
	for (let n = 0; n < 300; n++) {
		box.scrollTop += 120
		await frame()
		const now = performance.now()
		times.push(now - last)
		last = now
	}
	const far = []
	for (let n = 1; n < 10; n++) { box.scrollTop = box.scrollHeight * (n * 7 % 10) / 10; far.push(await drawn()) }
	const from = performance.now()
	ctxtool.side.search('recovers 4711')
	while (!ctxtool.side.done) await frame()
	const search = performance.now() - from
	times.sort((a, b) => a - b)
	far.sort((a, b) => a - b)
	return {
		'ms/frame': times[150], 'ms/frame-p95': times[285], 'ms/frame-longest': times[299],
		'ms/drawn-far-away': far[4], 'ms/drawn-far-away-longest': far[8], 'ms/search': search,
		'MB/scripts': performance.memory.usedJSHeapSize / 1e6,
	}
})()`

// BenchmarkBrowse measures the page $CTXTOOL_BENCH_HTML in a browser; see make bench.
func BenchmarkBrowse(b *testing.B) {
	page := os.Getenv("CTXTOOL_BENCH_HTML")
	chromium, err := chromium()
	if page == "" || err != nil {
		b.Skip("left out: no CTXTOOL_BENCH_HTML, or no browser: ", err)
	}
	for b.Loop() {
		tab := chromium.Open(b, page, browser.View{})
		for _, m := range []struct{ unit, expression string }{
			{"ms/first-paint", "performance.getEntriesByType('paint').find(p => p.name === 'first-contentful-paint')?.startTime ?? -1"},
			{"ms/ready", "performance.getEntriesByName('ready')[0].startTime"},
			{"ms/one-request-back", drawnAfter("ctxtool.by(-1)")},
			{"ms/request-far-away", drawnAfter("ctxtool.select(ctxtool.steps[ctxtool.steps.length / 2 | 0])")},
		} {
			b.ReportMetric(browser.Eval[float64](tab, m.expression), m.unit)
		}
		for unit, figure := range browser.Eval[map[string]float64](tab, measureScroll) {
			b.ReportMetric(figure, unit)
		}
		tab.Silent()
		tab.Close()
	}
}

// drawnAfter is an expression: how many milliseconds a statement takes until its frame
// is drawn.
func drawnAfter(statement string) string {
	return "(async () => { const from = performance.now(); " + statement + "; await new Promise(requestAnimationFrame); await new Promise(f => setTimeout(f)); return performance.now() - from })()"
}
