package main

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A tab is a page open in a browser that has no network.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	told     []string // what the console says
	requests []string // what the page asks for, itself aside
}

// browsers are what a Chromium is called.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// newBrowser starts a browser for a test and those below it. Without one the test is
// left out, and says so.
func newBrowser(t testing.TB) context.Context {
	t.Helper()
	name := ""
	for _, b := range browsers {
		if path, err := exec.LookPath(b); err == nil {
			name = path
			break
		}
	}
	if name == "" {
		t.Skip("left out: no browser; install chromium")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(name), chromedp.NoSandbox, chromedp.WindowSize(1440, 900),
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND")) // no network
	all, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, leave := chromedp.NewContext(all)
	t.Cleanup(func() { leave(); stop() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", name, err)
	}
	return ctx
}

// An action is something that a browser does.
type action = chromedp.Action[chromedp.Void]

// call is a command of the browser's protocol.
func call[P, R any](command cdp.Command[P, R], params P) action {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, command, params)
		return chromedp.Void{}, err
	}
}

// open opens a page in a tab of its own, and waits until it is ready.
func open(t testing.TB, browser context.Context, file string, actions ...action) *tab {
	t.Helper()
	ctx, leave := chromedp.NewContext(browser)
	t.Cleanup(leave)
	b := &tab{t: t, ctx: ctx}
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	address := (&url.URL{Scheme: "file", Path: path}).String()
	if err := chromedp.Listen(ctx, func(ev any) { b.hear(ev, address) }); err != nil {
		t.Fatal(err)
	}
	b.do(call(network.Enable, network.EnableParams{}), call(log.Enable, cdp.Empty{}))
	b.do(actions...)
	b.do(chromedp.Navigate(address))
	b.wait("document.documentElement.dataset.ready === 'true'")
	return b
}

// hear takes down what the page says and asks for.
func (b *tab) hear(ev any, address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		text := string(ev.Type)
		for _, arg := range ev.Args {
			text += fmt.Sprintf(" %s %s", arg.Value, arg.Description)
		}
		b.told = append(b.told, text)
	case *runtime.EventExceptionThrown:
		text := ev.ExceptionDetails.Text
		if e := ev.ExceptionDetails.Exception; e != nil {
			text += " " + e.Description
		}
		b.told = append(b.told, text)
	case *log.EventEntryAdded:
		b.told = append(b.told, string(ev.Entry.Level)+": "+ev.Entry.Text)
	case *network.EventRequestWillBeSent:
		if to, _, _ := strings.Cut(ev.Request.URL, "#"); to != address && !strings.HasPrefix(to, "data:") {
			b.requests = append(b.requests, to)
		}
	}
}

// silent holds that nothing was said on the console, and nothing asked for.
func (b *tab) silent() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.told {
		b.t.Errorf("the console says: %s", line)
	}
	for _, address := range b.requests {
		b.t.Errorf("the page asks for %s", address)
	}
}

// patience is how long anything may take.
const patience = time.Minute

func (b *tab) do(actions ...action) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// get is what an action gives.
func get[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, patience)
	defer stop()
	out, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// eval is what an expression gives, which may be a promise.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return get(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// run runs statements.
func (b *tab) run(statements string) {
	b.t.Helper()
	eval[bool](b, "(async () => {"+statements+"\nreturn true})()")
}

// wait waits until an expression is true, also on the page that a link leads to.
func (b *tab) wait(expression string) {
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
			b.t.Fatalf("%s: %v; the console says %q", expression, err, b.told)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// keys presses keys, one after the other.
func (b *tab) keys(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// pageOf renders a session as a page.
func pageOf(t testing.TB, session string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "page.html")
	args := append([]string{"render", session, "-f", "html", "-o", out}, flags...)
	if r := ranIn("", args...); r.status != 0 {
		t.Fatalf("ctxtool %s: status %d\n%s", strings.Join(args, " "), r.status, &r.stderr)
	}
	return out
}

// dark has the page think that its reader likes it dark.
func dark() action {
	return call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
}

// sized gives the page a size in pixels.
func sized(width, height int64) action {
	return call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
}
