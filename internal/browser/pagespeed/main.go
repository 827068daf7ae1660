// Command pagespeed measures a large page in a browser and prints what it finds: see
// make bench. It asserts no times.
package main

import (
	"fmt"
	"log"
	"os"

	"ctxtool/internal/browser"
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

func main() {
	log.SetFlags(0)
	log.SetPrefix("pagespeed: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: pagespeed PAGE")
	}
	info, err := os.Stat(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	chromium, err := browser.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer chromium.Close()
	b := chromium.Open(browser.Program{}, os.Args[1], browser.View{})
	eval := func(expression string) float64 { return browser.Eval[float64](b, expression) }
	ready := eval("performance.getEntriesByName('ready')[0].startTime")
	painted := eval("performance.getEntriesByType('paint').find(p => p.name === 'first-contentful-paint')?.startTime ?? -1")
	step := eval(drawnAfter("ctxtool.by(-1)"))
	far := eval(drawnAfter("ctxtool.select(ctxtool.steps[ctxtool.steps.length / 2 | 0])"))
	s := browser.Eval[struct{ Median, Most, Longest, Far, Farthest, Search float64 }](b, measureScroll)
	memory := eval("performance.memory.usedJSHeapSize / 1e6")
	b.Silent()
	fmt.Printf("a page of %.1f MB, milliseconds: first paint %.0f, ready %.0f; one request back %.0f, to one far away %.0f\n", float64(info.Size())/1e6, painted, ready, step, far)
	fmt.Printf("scrolling: a frame takes %.1f, 5%% more than %.1f, the longest %.1f; all is drawn at a place far away after %.0f, at most %.0f\n", s.Median, s.Most, s.Longest, s.Far, s.Farthest)
	fmt.Printf("a search through everything %.0f; the scripts hold %.0f MB\n", s.Search, memory)
}

// drawnAfter is an expression: how many milliseconds a statement takes until its frame
// is drawn.
func drawnAfter(statement string) string {
	return "(async () => { const from = performance.now(); " + statement + "; await new Promise(requestAnimationFrame); await new Promise(f => setTimeout(f)); return performance.now() - from })()"
}
