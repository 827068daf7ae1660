// Package html_test reads pages as ctxtool render writes them, in a browser.
package html_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ctxtool/internal/test/browser"
	"ctxtool/internal/test/testenv"
)

// sessions are the project's own.
const sessions = "../../../testdata/sessions"

// What the tests share: each is made when the first test asks for it.
var (
	folder   string // removed at the end, as closing is called
	closing  = func() {}
	chromium = sync.OnceValues(func() (*browser.Browser, error) {
		b, err := browser.Start()
		if err == nil {
			closing = b.Close
		}
		return b, err
	})
	binary     = sync.OnceValues(build)
	demoPage   = sync.OnceValues(func() (string, error) { return renderPage(sessions+"/demo.jsonl", filepath.Join(folder, "demo.html")) })
	policyPage = sync.OnceValues(func() (string, error) {
		return writePage(filepath.Join(folder, "policies.html"), "simulate", sessions+"/demo.jsonl", "--window", "4000", "--policy", "recorded,none,gsh,swe-cli")
	})
	policiesPage = sync.OnceValues(func() (string, error) {
		return writePage(filepath.Join(folder, "store.html"), "simulate", sessions+"/demo.jsonl", sessions+"/good", "--window", "4000", "--policy", "recorded,none,gsh", "--sweep", "protect=100,500,2000")
	})
	storePage = sync.OnceValues(func() (string, error) {
		out := filepath.Join(folder, "store")
		_, err := renderPage(sessions, out)
		return filepath.Join(out, "index.html"), err
	})
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	var err error
	if folder, err = os.MkdirTemp("", "pages"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	defer func() { closing() }()
	return m.Run()
}

// build builds ctxtool.
func build() (string, error) {
	// The go command caches what tests find by the files and folders that they open
	// themselves: those that the binary is made of and reads are not among them yet.
	err := filepath.WalkDir("../../..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		return "", err
	}
	name := filepath.Join(folder, "bin", "ctxtool")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", name, "ctxtool/cmd/ctxtool").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return name, nil
}

// renderPage renders a session or a folder of them, and returns the output.
func renderPage(session, output string, flags ...string) (string, error) {
	return writePage(output, append([]string{"render", session}, flags...)...)
}

// writePage runs ctxtool to write a page, and returns the output.
func writePage(output string, args ...string) (string, error) {
	name, err := binary()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(name, append(args, "-f", "html", "-o", output)...)
	cmd.Env = append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+filepath.Join(folder, "config"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return output, nil
}

// A tab is a page in a test.
type tab struct {
	*browser.Tab
	t *testing.T
}

// open opens a page, and skips the test where there is no browser.
func open(t *testing.T, page func() (string, error), view browser.View) *tab {
	t.Helper()
	b, err := chromium()
	if errors.Is(err, browser.ErrNone) {
		testenv.Skip(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := page()
	if err != nil {
		t.Fatal(err)
	}
	opened := b.Open(t, file, view)
	t.Cleanup(opened.Close)
	return &tab{opened, t}
}

// openSession opens the page of a session.
func openSession(t *testing.T, session string, flags ...string) *tab {
	t.Helper()
	return open(t, func() (string, error) { return renderPage(session, filepath.Join(t.TempDir(), "page.html"), flags...) }, browser.View{})
}

// openText opens the page of a session with that name and text.
func openText(t *testing.T, name, text string) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return openSession(t, file)
}

// eval is the value of an expression.
func eval[V any](b *tab, expression string) V {
	b.t.Helper()
	return browser.Eval[V](b.Tab, expression)
}
