package html_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/browser"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

// A served is ctxtool browse over a folder with copies of sessions.
type served struct {
	*tab
	dir, address string
	process      *exec.Cmd
}

// browse serves some sessions, and opens their index.
func browse(t *testing.T, dir string, flags ...string) *served {
	t.Helper()
	b, err := chromium()
	if err != nil {
		testenv.Skip(t, "%v", err)
	}
	name, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{dir: dir, process: exec.Command(name, append([]string{"browse", "--no-open", dir}, flags...)...)}
	s.process.Env = append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+filepath.Join(folder, "config"), "SSH_CONNECTION=", "TZ=UTC")
	out := must.Get(s.process.StdoutPipe())
	must.Do(s.process.Start())
	t.Cleanup(func() { s.process.Process.Kill(); s.process.Wait() })
	s.address = strings.TrimSpace(must.Get(bufio.NewReader(out).ReadString('\n')))
	opened := b.At(t, s.address, browser.View{})
	t.Cleanup(opened.Close)
	s.tab = &tab{opened, t}
	s.Wait("document.documentElement.dataset.complete === 'true'")
	return s
}

// inside fails if the page has requested anything but from its server.
func (s *served) inside() {
	s.t.Helper()
	for _, address := range s.Requested() {
		if !strings.HasPrefix(address, s.address) {
			s.t.Errorf("the page requests %s", address)
		}
	}
	s.ForgetRequests()
	s.Silent()
}

// copied is a folder with copies of the project's sessions.
func copied(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "sessions")
	must.Do(os.CopyFS(dir, os.DirFS(sessions)))
	return dir
}

// TestBrowse: the index has all sessions, and the costs of ctxtool cost as charts; filters are in the
// address; a search finds texts, and opens a session at what was found.
func TestBrowse(t *testing.T) {
	t.Parallel()
	s := browse(t, copied(t))
	type sum struct{ Total float64 }
	var report struct {
		Lenses struct {
			Cost struct {
				Cost sum
				Rows []struct {
					Project string
					Cost    sum
				}
			}
		}
	}
	cost := exec.Command(must.Get(binary()), "cost", "--since", "2000", "--by", "project", "--json", "-q", s.dir)
	cost.Env = s.process.Env
	must.Do(json.Unmarshal(must.Get(cost.Output()), &report))
	total, dearest := report.Lenses.Cost.Cost.Total, report.Lenses.Cost.Rows[0]
	if total == 0 {
		t.Fatal("the sessions cost nothing")
	}
	s.Holds(fmt.Sprintf("Math.abs([...document.querySelectorAll('.project')].reduce((sum, p) => sum + +p.dataset.cost, 0) - %v) < 1e-9", total))
	s.Holds(fmt.Sprintf("Math.abs(ctxtool.costs.reduce((sum, r) => sum + r.cost, 0) - %v) < 1e-9", total))
	s.Holds("document.querySelectorAll('.day[data-day]').length > 3")
	s.Holds("ctxtool.sessions.length > 20 && ctxtool.rows.length === ctxtool.sessions.length")
	s.Holds("ctxtool.sessions.some(x => x.error) && ctxtool.sessions.find(x => x.file === 'demo.jsonl').cost > 0")

	s.Run("document.querySelector('.project').click()")
	s.Holds(fmt.Sprintf("new URLSearchParams(location.search).get('project') === %q", dearest.Project))
	s.Holds("ctxtool.rows.length < ctxtool.sessions.length && ctxtool.rows.every(x => x.project === document.getElementById('project').value)")
	s.Holds(fmt.Sprintf("Math.abs([...document.querySelectorAll('.day[data-day]')].reduce((sum, d) => sum + +d.dataset.cost, 0) - %v) < 1e-9", dearest.Cost.Total))
	s.Run("history.back()")
	s.Holds("location.search === '' && ctxtool.rows.length === ctxtool.sessions.length")
	s.inside()

	s.Run("document.getElementById('search').value = 'race drains'")
	s.Run("document.getElementById('search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
	s.Wait("document.getElementById('found').dataset.complete === 'true'")
	s.Holds("location.search === '?q=race+drains' && document.querySelectorAll('.hits').length > 0 && document.querySelector('.hit mark').textContent !== ''")
	s.Run("globalThis.before = true; location.reload()")
	s.Wait("!globalThis.before && document.documentElement.dataset.complete === 'true' && document.getElementById('found').dataset.complete === 'true'")
	s.Holds("document.getElementById('search').value === 'race drains'")
	entry := eval[string](s.tab, "[...document.querySelectorAll('.hit')].find(a => a.closest('.hits').querySelector('a').textContent.includes('TestCloseDrains')).getAttribute('href')")
	s.Run(fmt.Sprintf("location.href = %q", entry))
	s.Wait("document.documentElement.dataset.ready === 'true' && globalThis.ctxtool?.model")
	_, id, _ := strings.Cut(entry, "#entry-")
	s.Holds(fmt.Sprintf("ctxtool.row >= 0 && ctxtool.model.id(ctxtool.row) === %q", id))
	s.Holds("document.querySelector('a.up').getAttribute('href') === '../'")
	s.inside()
	must.Do(s.process.Process.Kill())
	s.Wait("document.body.classList.contains('ended')")
}

// TestBrowseGrows: what is appended to a session appears in its page; what the reader looks at stays.
func TestBrowseGrows(t *testing.T) {
	t.Parallel()
	s := browse(t, copied(t))
	s.Run("location.href = ctxtool.sessions.find(x => x.file === 'demo.jsonl').page")
	s.Wait("globalThis.ctxtool?.model && document.documentElement.dataset.ready === 'true'")
	was := eval[int](s.tab, "ctxtool.model.entries")
	leaf := eval[string](s.tab, "ctxtool.model.id(ctxtool.model.head.leaf)")
	s.Run("ctxtool.goto(ctxtool.path[4]); globalThis.same = true")
	selected := eval[int](s.tab, "ctxtool.row")
	say := func(id, parent, text string) {
		f := must.Get(os.OpenFile(filepath.Join(s.dir, "demo.jsonl"), os.O_APPEND|os.O_WRONLY, 0))
		defer f.Close()
		_, err := fmt.Fprintf(f, `{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-11-03T10:00:00.000Z","message":{"role":"user","content":%q}}`+"\n", id, parent, text)
		must.Do(err)
	}
	say("aaaa0001", leaf, "one more thing")
	s.Wait(fmt.Sprintf("ctxtool.model.entries === %d", was+1))
	s.Holds(fmt.Sprintf("same && ctxtool.row === %d && ctxtool.model.id(ctxtool.model.head.leaf) === 'aaaa0001'", selected))
	s.Run("ctxtool.goto(ctxtool.model.head.leaf); document.getElementById('talk-scroll').scrollTop = 1e9")
	s.Holds("document.getElementById('talk-space').textContent.includes('one more thing')")
	say("aaaa0002", "aaaa0001", "and <img src=x onerror=owned=1> another")
	s.Wait(fmt.Sprintf("ctxtool.model.entries === %d", was+2))
	s.Holds("same && document.getElementById('talk-space').textContent.includes('onerror=owned=1> another')")
	s.Holds("typeof owned === 'undefined' && document.querySelectorAll('a.up').length === 1")
	s.inside()
}

// TestBrowseHostile: a session that would run in the page does not, and neither do its hits.
func TestBrowseHostile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(dir, "a<img src=x onerror=owned=1>.jsonl"), []byte(hostileSession()), 0o600))
	s := browse(t, dir)
	s.Run("document.getElementById('search').value = 'owned'; document.getElementById('search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
	s.Wait("document.getElementById('found').dataset.complete === 'true'")
	s.Holds("document.querySelectorAll('.hit').length > 0 && typeof owned === 'undefined' && document.querySelectorAll('img, iframe').length === 0")
	s.Run("location.href = ctxtool.sessions[0].page")
	s.Wait("globalThis.ctxtool?.model && document.documentElement.dataset.ready === 'true'")
	s.Run("for (const row of ctxtool.side.order.rows) { ctxtool.goto(row); await ctxtool.store.row(row) }")
	s.Holds("typeof owned === 'undefined'")
	s.inside()
}

// TestBrowseOrigin: a page of another origin that knows the address reads nothing of it, shows nothing of it,
// and does not run it.
func TestBrowseOrigin(t *testing.T) {
	t.Parallel()
	s := browse(t, copied(t))
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><html data-ready=true><body></body></html>")
	}))
	defer other.Close()
	evil := must.Get(chromium()).At(t, other.URL, browser.View{})
	defer evil.Close()
	for what, script := range map[string]string{
		"fetch":         `(await fetch(at)).text()`,
		"opaque fetch":  `fetch(at, {mode: 'no-cors'}).then(r => r.text())`,
		"other headers": `(await fetch(at, {headers: {'X-Own': '1'}})).text()`,
		"frame":         `new Promise(done => { const f = document.createElement('iframe'); f.onload = () => { try { done(f.contentDocument?.body?.textContent || '') } catch (e) { done('') } }; f.src = at; document.body.append(f) })`,
		"script":        `new Promise(done => { const x = document.createElement('script'); x.onload = () => done('ran'); x.onerror = () => done(''); x.src = at + 'sessions'; document.head.append(x) })`,
		"image":         `new Promise(done => { const x = new Image(); x.onload = () => done('shown'); x.onerror = () => done(''); x.src = at })`,
		"events":        `new Promise(done => { const x = new EventSource(at + 'sessions'); x.onmessage = e => done(e.data); x.onerror = () => done('') })`,
		"style":         `new Promise(done => { const x = document.createElement('link'); x.rel = 'stylesheet'; x.onload = () => done('styled'); x.onerror = () => done(''); x.href = at; document.head.append(x) })`,
		"window":        `new Promise(done => { const w = open(at); setTimeout(() => { try { done(w?.document?.body?.textContent || '') } catch (e) { done('') } }, 500) })`,
	} {
		read := browser.Eval[string](evil, fmt.Sprintf("(async () => { const at = %q; try { return String(await (async () => %s)()) } catch { return '' } })()", s.address, "await "+strings.TrimPrefix(script, "await ")))
		if read != "" && !strings.HasPrefix(read, "forbidden") {
			t.Errorf("%s reads %.80q", what, read)
		}
	}
	s.Holds("ctxtool.sessions.length > 0") // and the page itself goes on
}
