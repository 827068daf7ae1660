package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// TestLines: a line is a request that was answered, or a turn, which ends with an answer without calls.
// Each answer of a turn is to be learned in one line only.
func TestLines(t *testing.T) {
	for _, as := range []string{AsChat, AsSFT} {
		total, learned := 0, map[string]int{}
		for _, c := range corpus.Sample(t) {
			files, _ := exported(t, "jsonl", &Options{As: as}, c)
			for name, data := range files {
				for line := range bytes.Lines(data) {
					var of struct {
						Messages []struct {
							Role      string
							Content   any
							Weight    *int
							ToolCalls []any `json:"tool_calls"`
						}
						Tools    []any
						Metadata struct{ Entry string }
					}
					d := json.NewDecoder(bytes.NewReader(line))
					must.Do(d.Decode(&of))
					total++
					last := of.Messages[len(of.Messages)-1]
					if last.Role != "assistant" || last.Weight != nil {
						t.Fatalf("%s, %s: a line ends with %+v", c.Name, name, last)
					}
					if as == AsSFT && last.ToolCalls != nil {
						t.Errorf("%s: a turn ends with calls", c.Name)
					}
					prompt := 0
					for k, m := range of.Messages {
						if m.Role == "user" {
							prompt = k
						}
					}
					for k, m := range of.Messages {
						if early := as == AsSFT && m.Role == "assistant" && k < prompt; early != (m.Weight != nil) {
							t.Errorf("%s: message %d of a line has the weight %v", c.Name, k, m.Weight)
						}
					}
					if entry := of.Metadata.Entry; entry != "" && !strings.Contains(c.Name, "duplicate-id") {
						learned[c.Name+entry]++
					}
				}
			}
		}
		for entry, n := range learned {
			if n > 1 {
				t.Errorf("%s: %s is the answer of %d lines", as, entry, n)
			}
		}
		if least := map[string]int{AsChat: 300, AsSFT: 100}[as]; total < least {
			t.Errorf("%s: only %d lines", as, total)
		}
		t.Logf("%s: %d lines", as, total)
	}
}

// TestSearched: nothing of a line in which a secret is found is written, and the file is not there.
func TestSearched(t *testing.T) {
	secret := errors.New("a secret")
	var out bytes.Buffer
	s := &searched{Writer: &out, search: func(line []byte) error {
		if bytes.Contains(line, []byte("key=abc")) {
			return secret
		}
		return nil
	}}
	for _, part := range []string{"a lin", "e\nanother\nhalf: ke", "y=", "abc"} {
		must.Get(s.Write([]byte(part)))
	}
	if _, err := s.Write([]byte("d\n")); !errors.Is(err, secret) || out.String() != "a line\nanother\n" {
		t.Errorf("%v after %q", err, out.String())
	}
	o := &Options{As: AsChat, Search: func([]byte) error { return secret }}
	o.Dir = t.TempDir()
	for _, c := range corpus.Own(t) {
		if c.Name == "sessions/demo.jsonl" {
			if _, err := Find("jsonl").Export(prepared(o), stored(t, c)); !errors.Is(err, secret) {
				t.Errorf("the export ends with %v", err)
			}
		}
	}
	if files := listed(o.Dir); len(files) > 0 {
		t.Errorf("there is %v", files)
	}
}
