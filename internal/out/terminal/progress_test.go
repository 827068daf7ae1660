package terminal

import (
	"bytes"
	"testing"
	"time"
)

// TestProgress: nothing in the first second, then how much is done and how long the rest
// takes, and no trace at the end.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := &Progress{W: &out, Name: "s.jsonl", Bytes: true, Now: func() time.Time { return now }}
	for _, step := range []struct {
		at         time.Duration
		done, size int64
		want       string
	}{
		{0, 0, 4.7e9, ""},
		{900 * time.Millisecond, 3e8, 4.7e9, ""},
		{4 * time.Second, 1.2e9, 4.7e9, "\rs.jsonl: 1.2 of 4.7 GB, 12 s left\x1b[K"},
		{4100 * time.Millisecond, 1.3e9, 4.7e9, ""}, // too soon after the last
		{5 * time.Second, 4.7e9, 4.7e9, "\rs.jsonl: 4.7 of 4.7 GB, almost done\x1b[K"},
	} {
		now = time.Unix(0, 0).Add(step.at)
		out.Reset()
		if p.Show(step.done, step.size); out.String() != step.want {
			t.Errorf("after %v: %q, want %q", step.at, out.String(), step.want)
		}
	}
	out.Reset()
	if p.End(); out.String() != "\r\x1b[K" {
		t.Errorf("at the end: %q", out.String())
	}
}

// TestProgressLeft: estimates in the unit that suits them, and a line that fits.
func TestProgressLeft(t *testing.T) {
	for _, c := range []struct {
		done, size int64
		width      int
		want       string
	}{
		{1, 4, 0, "\rsessions: 1 of 4, 30 s left\x1b[K"},
		{1, 61, 0, "\rsessions: 1 of 61, 10 min left\x1b[K"},
		{1, 1001, 0, "\rsessions: 1 of 1001, 2 h 46 min left\x1b[K"},
		{1, 4, 20, "\r1 of 4, 30 s left\x1b[K"},
	} {
		var out bytes.Buffer
		now := time.Unix(100, 0)
		p := &Progress{W: &out, Width: c.width, Name: "sessions", Now: func() time.Time { return now }}
		p.Show(0, c.size)
		now = now.Add(10 * time.Second)
		if p.Show(c.done, c.size); out.String() != c.want {
			t.Errorf("%d of %d: %q, want %q", c.done, c.size, out.String(), c.want)
		}
	}
}

// TestCleanerColour: colours stay where the text is in some, and nothing else does.
func TestCleanerColour(t *testing.T) {
	var out bytes.Buffer
	c := &Cleaner{W: &out, Colour: true}
	c.Write([]byte("\x1b[1;31mred\x1b[0m \x1b]0;title\x07 \x1b[2J\n"))
	if want := "\x1b[1;31mred\x1b[0m \uFFFD]0;title\uFFFD \uFFFD[2J\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
