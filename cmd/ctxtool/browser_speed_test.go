package main

import (
	"os"
	"testing"
)

// measureScroll scrolls through a page as a reader does, and gives the times of its
// frames in milliseconds: the median, the one that 5 in 100 exceed, and the longest;
// then how long it takes until all is drawn at a place far away, and until a search
// through everything is done.
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
	return {Median: times[150], Most: times[285], Longest: times[299], Far: far[4], Farthest: far[8], Search: search}
})()`

// TestPageSpeed measures a large page in the browser, and prints what it finds: see
// make bench. It asserts no times.
func TestPageSpeed(t *testing.T) {
	session := os.Getenv("CTXTOOL_BENCH_PAGE")
	if session == "" {
		t.Skip("left out: CTXTOOL_BENCH_PAGE names no session; make bench sets it")
	}
	browser := newBrowser(t)
	file := pageOf(t, session)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, browser, file)
	ready := eval[float64](b, "performance.getEntriesByName('ready')[0].startTime")
	painted := eval[float64](b, "performance.getEntriesByType('paint').find(p => p.name === 'first-contentful-paint')?.startTime ?? -1")
	step := eval[float64](b, "(async () => { const from = performance.now(); ctxtool.by(-1); await new Promise(requestAnimationFrame); await new Promise(f => setTimeout(f)); return performance.now() - from })()")
	far := eval[float64](b, "(async () => { const from = performance.now(); ctxtool.select(ctxtool.steps[ctxtool.steps.length / 2 | 0]); await new Promise(requestAnimationFrame); await new Promise(f => setTimeout(f)); return performance.now() - from })()")
	s := eval[struct{ Median, Most, Longest, Far, Farthest, Search float64 }](b, measureScroll)
	memory := eval[float64](b, "performance.memory.usedJSHeapSize / 1e6")
	b.silent()
	t.Logf("a page of %.1f MB, milliseconds: first paint %.0f, ready %.0f; one request back %.0f, to one far away %.0f", float64(info.Size())/1e6, painted, ready, step, far)
	t.Logf("scrolling: a frame takes %.1f, 5%% more than %.1f, the longest %.1f; all is drawn at a place far away after %.0f, at most %.0f", s.Median, s.Most, s.Longest, s.Far, s.Farthest)
	t.Logf("a search through everything %.0f; the scripts hold %.0f MB", s.Search, memory)
}
