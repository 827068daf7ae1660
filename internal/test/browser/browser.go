// Package browser opens pages in a Chromium without network access, and records what they write
// to the console and what they request. Only tests use it.
package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ErrNone is the error if no Chromium is installed.
var ErrNone = errors.New("no browser; install chromium")

// names are the names of the program, the fastest to start first.
var names = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// A Browser is a running Chromium. It is safe for concurrent use.
type Browser struct {
	ctx  context.Context
	stop func()

	mu   sync.Mutex
	idle []*Tab // windows cost more time than pages, so they are used again
}

// Start starts a browser that resolves no host names: it reaches this machine alone. The error is ErrNone if none is
// installed.
func Start() (*Browser, error) {
	path := ""
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, ErrNone
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WindowSize(width, height), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		// Chromium would load two pages for the address bar of every window, and start spare
		// processes, which takes longer than the pages under test.
		chromedp.Flag("disable-features", "Translate,WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess"))
	all, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, leave := chromedp.NewContext(all)
	b := &Browser{ctx: ctx, stop: func() { leave(); stop() }}
	if err := chromedp.Do(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return b, nil
}

// Close stops the browser and removes its files.
func (b *Browser) Close() { b.stop() }

const width, height = 1440, 900

// A View is the way a page is displayed. The zero value is a light window of 1440 by 900
// pixels.
type View struct {
	Width, Height int64 // pixels
	Dark          bool  // the reader prefers dark
	NoPolicy      bool  // ignore the page's Content-Security-Policy
}

// A Tab is a page in its own window, with its own storage. It is not safe for concurrent use.
// Failures are fatal to its test.
type Tab struct {
	t       testing.TB
	browser *Browser
	ctx     context.Context
	leave   func()

	mu       sync.Mutex
	address  string
	console  []string
	requests []string // without the page itself
}

// Open opens a file and waits until the page is ready: data-ready of its root is true.
func (b *Browser) Open(t testing.TB, file string, view View) *Tab {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return b.At(t, (&url.URL{Scheme: "file", Path: path}).String(), view)
}

// At is Open for an address.
func (b *Browser) At(t testing.TB, address string, view View) *Tab {
	t.Helper()
	tab := b.tab(t)
	tab.mu.Lock()
	tab.address, tab.console, tab.requests = address, nil, nil
	tab.mu.Unlock()
	tab.SetView(view)
	tab.do(chromedp.Navigate(address))
	tab.Wait("document.documentElement.dataset.ready === 'true'")
	return tab
}

// Use makes failures those of a subtest, until the next call.
func (b *Tab) Use(t testing.TB) { b.t = t }

// tab returns an idle tab, or a new one.
func (b *Browser) tab(t testing.TB) *Tab {
	t.Helper()
	b.mu.Lock()
	if last := len(b.idle) - 1; last >= 0 {
		tab := b.idle[last]
		b.idle = b.idle[:last]
		b.mu.Unlock()
		tab.t = t
		return tab
	}
	b.mu.Unlock()
	tab := &Tab{t: t, browser: b}
	tab.ctx, tab.leave = chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	if err := chromedp.Listen(tab.ctx, tab.record); err != nil {
		t.Fatalf("%v", err)
	}
	tab.do(call(network.Enable, network.EnableParams{}), call(log.Enable, cdp.Empty{}))
	return tab
}

// Close closes the page, and forgets what it has stored.
func (b *Tab) Close() {
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void]("localStorage.clear()"), chromedp.Navigate("about:blank")); err != nil {
		b.leave()
		return
	}
	b.browser.mu.Lock()
	defer b.browser.mu.Unlock()
	b.browser.idle = append(b.browser.idle, b)
}

// record records what the page writes to the console and requests.
func (b *Tab) record(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		text := string(e.Type)
		for _, arg := range e.Args {
			text += fmt.Sprintf(" %s %s", arg.Value, arg.Description)
		}
		b.console = append(b.console, text)
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += " " + thrown.Description
		}
		b.console = append(b.console, text)
	case *log.EventEntryAdded:
		b.console = append(b.console, string(e.Entry.Level)+": "+e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if to, _, _ := strings.Cut(e.Request.URL, "#"); to != b.address && !strings.HasPrefix(to, "data:") {
			b.requests = append(b.requests, to)
		}
	}
}

// Silent fails if the page has written to the console or requested anything.
func (b *Tab) Silent() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.console {
		b.t.Errorf("on the console: %s", line)
	}
	for _, address := range b.requests {
		b.t.Errorf("the page requests %s", address)
	}
}

// Requested returns what the page has requested.
func (b *Tab) Requested() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// ForgetRequests forgets the requests so far, which following a link makes.
func (b *Tab) ForgetRequests() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests = nil
}

// patience is the timeout of all actions.
const patience = 3 * time.Minute

// get returns the result of an action.
func get[R any](b *Tab, action chromedp.Action[R]) R {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		b.Silent()
		b.t.Fatalf("%v", err)
	}
	return result
}

func (b *Tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, action := range actions {
		get(b, action)
	}
}

// call returns a command of the browser's protocol.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, command, params)
		return chromedp.Void{}, err
	}
}

// SetView changes the view.
func (b *Tab) SetView(v View) {
	b.t.Helper()
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	b.do(
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
		call(page.SetBypassCSP, page.SetBypassCSPParams{Enabled: v.NoPolicy}),
	)
	if v.Width == 0 {
		v.Width, v.Height = width, height
	}
	b.do(call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.Width, Height: v.Height, DeviceScaleFactor: 1, Mobile: v.Width < 600}))
}

// Eval returns the value of an expression, or what it resolves to if it is a promise.
func Eval[V any](b *Tab, expression string) V {
	b.t.Helper()
	return get(b, chromedp.Evaluate[V](expression, chromedp.EvalAwaitPromise))
}

// Run runs statements, which may use await.
func (b *Tab) Run(statements string) {
	b.t.Helper()
	get(b, chromedp.Evaluate[chromedp.Void]("(async () => {"+statements+"\n})()", chromedp.EvalAwaitPromise))
}

// soon is how long a page may take to react to a key or a click: a frame, or on a busy machine
// many.
const soon = 10 * time.Second

// Holds fails unless an expression becomes true soon.
func (b *Tab) Holds(expression string) {
	b.t.Helper()
	for end := time.Now().Add(soon); !Eval[bool](b, expression); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Errorf("false: %s", expression)
			return
		}
	}
}

// Wait waits until an expression is true, possibly on another page after following a link.
func (b *Tab) Wait(expression string) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	for {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && is {
			return
		}
		select {
		case <-ctx.Done():
			b.Silent()
			b.t.Fatalf("false for %v: %s (%v)", patience, expression, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Keys presses keys one after the other; package kb has names for keys without characters.
func (b *Tab) Keys(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// Click clicks on the first element that matches a CSS selector, once it can be hit and stays where it is. The
// browser takes a click at a place: while a changed view is laid out, it could miss.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Wait(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q)
		if (!e) return false
		e.scrollIntoView({block: "nearest", inline: "nearest"})
		const r = e.getBoundingClientRect(), at = [innerWidth, r.x, r.y, r.width, r.height].join()
		const hit = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)
		const stays = e.lastSeenAt === at && hit && (e.contains(hit) || hit.contains(e))
		e.lastSeenAt = at
		return stays
	})()`, selector))
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// Screenshot returns the contents of the window as PNG.
func (b *Tab) Screenshot() []byte {
	b.t.Helper()
	return get(b, chromedp.CaptureScreenshot())
}

// PDF returns the page printed.
func (b *Tab) PDF() []byte {
	b.t.Helper()
	return get(b, chromedp.PrintToPDF())
}
