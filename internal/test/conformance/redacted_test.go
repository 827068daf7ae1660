package conformance

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/redact"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen/tables"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	_ "ctxtool/sessionfmt/sqlite" // reads databases
)

// firstPrompt is in the sessions of each agent. Secrets replace it.
const firstPrompt = "List the files."

// The pieces of secrets that rules find, and what a prompt with them becomes.
var (
	secretPieces = []string{"R4nd0mT0k3nV4lu3", "4eC39HqLyjW", "Kq7zP2mW", "quill@corp"}
	secretPrompt = "Deploy with ghp_" + secretPieces[0] + "F0rT3st5Onl9aBcDeFgH and sk_live_" + secretPieces[1] +
		"DarjtT1zdp7dc9Z,\\npassword: " + secretPieces[2] + "x9Rt4Lb8, from zebedee." + secretPieces[3] +
		"-mail.org in /home/zebedeeq/src."
	redactedPrompt = "Deploy with [redacted:github-pat-1] and [redacted:stripe-access-token-1],\\npassword: " +
		"[redacted:generic-api-key-1], from [redacted:email-1] in /home/user-1/src."
)

// prompted reports whether a session has that prompt.
func prompted(c corpus.Session) bool { return bytes.Contains(c.Data, []byte(firstPrompt)) }

// redacted holds the ways to redact a session to one another: the copy that redact writes, the session read as if it
// were redacted, as render, export and mcp do, and that session in a database, if its agent has one. All show the same
// messages, of all agents the same prompt, and no secret.
func (a Agent) redacted(t *testing.T, c corpus.Session) {
	if !prompted(c) {
		return
	}
	data := strings.ReplaceAll(string(c.Data), firstPrompt, secretPrompt)
	r := must.Get(redact.New(redact.Options{}))
	var from io.Reader = strings.NewReader(data)
	for pass := range r.Passes(nil) {
		var to bytes.Buffer
		must.Do(pass(&to, from))
		from = &to
	}
	copied := string(must.Get(io.ReadAll(from)))
	for _, piece := range secretPieces {
		if strings.Contains(copied, piece) || !strings.Contains(data, piece) {
			t.Errorf("%s: the copy has the secret %s: %s", c.Name, piece, copied)
		}
	}
	read := func(s *sessionfmt.Session, err error) []string {
		defer must.Get(s, err).Close()
		return messages(t, c.Name, s)
	}
	want := read(sessionfmt.OpenReader(c.Name, strings.NewReader(copied), sessionfmt.Options{}))
	if prompt := strings.Join(want, "\n"); !strings.Contains(prompt, redactedPrompt) {
		t.Errorf("%s: the messages are %s, want %s", c.Name, prompt, redactedPrompt)
	}
	through := sessionfmt.Options{Through: r.Passes(nil)}
	if got := read(sessionfmt.OpenReader(c.Name, strings.NewReader(data), through)); !slices.Equal(got, want) {
		t.Errorf("%s: read through redaction: %s", c.Name, differ(got, want))
	}
	if !strings.HasPrefix(data, `{"table"`) {
		return
	}
	stored := 0
	name := filepath.Join(t.TempDir(), databaseNames[strings.TrimRight(a.Name, "2")])
	must.Do(must.Get(tables.Database(name, numbered(data), false))())
	must.Do(sessionfmt.InDatabase(sessionfmt.Disk{}, name, func(name string, _ jsonl.Value, _ *dialect.Dialect, _ bool) {
		stored++
		if got := read(sessionfmt.Open(name, through)); !slices.Equal(got, want) {
			t.Errorf("%s: in a database: %s", c.Name, differ(got, want))
		}
	}))
	if stored != 1 {
		t.Errorf("%s: %d sessions in a database", c.Name, stored)
	}
}

// numbered returns rows with the columns by which databases order them.
func numbered(rows string) (all []byte) {
	n := 0
	for row := range strings.Lines(rows) {
		n++
		for _, column := range []string{"seq", "time_created", "time_updated"} {
			if !strings.Contains(row, `"`+column+`"`) {
				row = fmt.Sprintf(`{%q:%d,%s`, column, n, row[1:])
			}
		}
		all = append(all, row...)
	}
	return all
}

// databaseNames are the names of databases, by agent.
var databaseNames = map[string]string{"opencode": "opencode.db", "kilo": "kilo.db", "openclaw": "openclaw-agent.sqlite"}
