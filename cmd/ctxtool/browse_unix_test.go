//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// A browsing is ctxtool browse as a process.
type browsing struct {
	t       *testing.T
	address string
	mu      sync.Mutex
	stderr  bytes.Buffer
}

func (b *browsing) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stderr.Write(p)
}

// says waits until the process has said something.
func (b *browsing) says(what string) {
	b.t.Helper()
	said := ""
	for range 500 {
		b.mu.Lock()
		said = b.stderr.String()
		b.mu.Unlock()
		if strings.Contains(said, what) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Errorf("it says %q, not %q", said, what)
}

func startBrowse(t *testing.T, environ []string, args ...string) *browsing {
	t.Helper()
	b := &browsing{t: t}
	c := exec.Command("ctxtool", append([]string{"browse"}, args...)...)
	c.Env = append(os.Environ(), append([]string{"HOME=" + t.TempDir(), "SSH_CONNECTION=", "BROWSER=true"}, environ...)...)
	c.Stderr = b
	out := must.Get(c.StdoutPipe())
	must.Do(c.Start())
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	b.address = strings.TrimSpace(must.Get(bufio.NewReader(out).ReadString('\n')))
	return b
}

// get returns what is served, and its status.
func (b *browsing) get(path string) (status int, text string) {
	b.t.Helper()
	a, err := http.Get(b.address + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer a.Body.Close()
	return a.StatusCode, string(must.Get(io.ReadAll(a.Body)))
}

// TestBrowseAddress: the address is printed whatever the port and the browser.
func TestBrowseAddress(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(corpus.Root(t), "testdata", "sessions", "good")
	other := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	defer other.Close()
	port := other.Addr().(*net.TCPAddr).Port
	b := startBrowse(t, nil, dir, "--port", fmt.Sprint(port), "--no-open")
	b.says(fmt.Sprintf("port %d is taken: serving on port", port))
	if status, _ := b.get(""); status != 200 {
		t.Errorf("status %d", status)
	}
	b = startBrowse(t, nil, dir, "--port", "0", "--no-open")
	if status, _ := b.get(""); status != 200 {
		t.Errorf("--port 0: status %d", status)
	}
	b = startBrowse(t, []string{"SSH_CONNECTION=10.0.0.1 1 10.0.0.2 22", "BROWSER=false"}, dir)
	b.says("over ssh: run ssh -L ")
	b = startBrowse(t, []string{"BROWSER=/nowhere/browser"}, dir)
	b.says("no browser was opened")
	opened := filepath.Join(t.TempDir(), "opened")
	script := filepath.Join(t.TempDir(), "browser")
	must.Do(os.WriteFile(script, []byte("#!/bin/sh\necho \"$1\" > "+opened+"\n"), 0o700))
	b = startBrowse(t, []string{"BROWSER=" + script}, dir)
	for range 500 {
		if text, _ := os.ReadFile(opened); len(text) > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if text := strings.TrimSpace(string(must.Get(os.ReadFile(opened)))); text != b.address {
		t.Errorf("the browser gets %q, not %q", text, b.address)
	}
}

// TestBrowseServes: sessions, pages and hits; a session that cannot be read is a row; nothing is written.
func TestBrowseServes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(os.CopyFS(dir, os.DirFS(filepath.Join(corpus.Root(t), "testdata", "sessions", "good"))))
	must.Do(os.WriteFile(filepath.Join(dir, "broken.jsonl"), []byte("this is not a session\n"), 0o600))
	before := fmt.Sprint(must.Get(os.ReadDir(dir)))
	b := startBrowse(t, nil, dir, "--no-open")
	_, index := b.get("")
	if !strings.Contains(index, "connect-src 'self'") || strings.Contains(index, "default-src 'self'") {
		t.Error("the policy of the index is another one")
	}
	_, lines := b.get("sessions")
	rows := map[string]string{}
	for line := range strings.Lines(lines) {
		var row struct{ File, Page, Error string }
		must.Do(json.Unmarshal([]byte(line), &row))
		if rows[row.File] = row.Page; row.File == "broken.jsonl" && row.Error == "" {
			t.Error("a session that cannot be read has no error")
		}
	}
	if len(rows) < 10 || rows["broken.jsonl"] != "" {
		t.Errorf("%d rows: %v", len(rows), rows)
	}
	if status, page := b.get(rows["cache.jsonl"]); status != 200 || !strings.Contains(page, "connect-src 'self'") {
		t.Errorf("a page has status %d", status)
	}
	for path, want := range map[string]int{"s/999": 404, "s/-1": 404, "s/x": 404, "s/": 404, "watch/999": 404, "../": 403, "found": 400, "found?q=x&since=never": 400, "else": 404} {
		if status, text := b.get(path); status != want || strings.Contains(text, dir) {
			t.Errorf("%s: status %d, want %d: %s", path, status, want, text)
		}
	}
	must.Do(os.Remove(filepath.Join(dir, "cache.jsonl")))
	if status, text := b.get(rows["cache.jsonl"]); status != 500 || !strings.Contains(text, "no such file") {
		t.Errorf("a session that is gone: status %d: %s", status, text)
	}
	must.Do(os.WriteFile(filepath.Join(dir, "cache.jsonl"), nil, 0o600))
	if after := fmt.Sprint(must.Get(os.ReadDir(dir))); after != before {
		t.Errorf("%s", after)
	}
}

// TestBrowseRedacts: with --redact nothing that is served has a secret, and with --fail-on-secret nothing is
// served that has one.
func TestBrowseRedacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const secret = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
	text := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"the token is SECRET here"}}
`
	must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(strings.ReplaceAll(text, "SECRET", secret)), 0o600))
	b := startBrowse(t, nil, dir, "--no-open")
	if _, lines := b.get("sessions"); !strings.Contains(lines, secret) {
		t.Error("the secret is not in the index")
	}
	b = startBrowse(t, nil, dir, "--no-open", "--redact")
	for _, path := range []string{"sessions", "found?q=token"} {
		if status, lines := b.get(path); status != 200 || strings.Contains(lines, secret) || !strings.Contains(lines, "the token is") {
			t.Errorf("%s: status %d: %s", path, status, lines)
		}
	}
	b = startBrowse(t, nil, dir, "--no-open", "--fail-on-secret")
	for _, path := range []string{"sessions", "s/0", "found?q=token"} {
		if status, text := b.get(path); status != 409 || strings.Contains(text, secret) || !strings.Contains(text, "--redact") {
			t.Errorf("%s: status %d: %s", path, status, text)
		}
	}
}

// TestBrowseArguments: what is not a folder is an error.
func TestBrowseArguments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), nil, 0o600))
	for _, args := range [][]string{{"s.jsonl"}, {"nowhere"}, {"--port", "x"}, {"--port", "65536"}} {
		if r := ranIn(dir, append([]string{"browse", "--no-open"}, args...)...); r.status != exitUsage || r.stdout.Len() > 0 {
			t.Errorf("%v: status %d: %s", args, r.status, &r.stderr)
		}
	}
}
