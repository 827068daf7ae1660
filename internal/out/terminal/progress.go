package terminal

import (
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// When progress is shown: from the first moment at which work is worth a word, and how
// often after that.
const (
	patience = time.Second
	pace     = 200 * time.Millisecond
)

// A Progress is a line that shows how far work is, and how long it takes from there.
// It is drawn over itself, and only once work has taken a second.
type Progress struct {
	W     io.Writer
	Width int // columns of the terminal, 0 if unknown
	Name  string
	Bytes bool // what is counted are bytes
	Now   func() time.Time

	start, shown time.Time
	from         int64 // that was done at the start
}

// Show shows how much is done.
func (p *Progress) Show(done, size int64) {
	now := p.Now()
	if p.start.IsZero() {
		p.start, p.from = now, done
	}
	if now.Sub(p.start) < patience || now.Sub(p.shown) < pace {
		return
	}
	p.shown = now
	line := fmt.Sprintf("%s, %s", amount(done, size, p.Bytes), p.left(now, done, size))
	if room := p.Width - 1 - utf8.RuneCountInString(line) - len(": "); room >= utf8.RuneCountInString(p.Name) ||
		p.Width == 0 {
		line = p.Name + ": " + line
	}
	fmt.Fprintf(p.W, "\r%s\x1b[K", line)
}

// End removes the line.
func (p *Progress) End() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.W, "\r\x1b[K")
	}
}

// left returns how long the rest takes at the speed so far.
func (p *Progress) left(now time.Time, done, size int64) string {
	if done <= p.from || size <= done {
		return "almost done"
	}
	rest := time.Duration(float64(now.Sub(p.start)) * float64(size-done) / float64(done-p.from))
	switch seconds := int(rest.Seconds() + 0.999); {
	case seconds >= 3600:
		return fmt.Sprintf("%d h %d min left", seconds/3600, seconds/60%60)
	case seconds >= 90:
		return fmt.Sprintf("%d min left", (seconds+30)/60)
	default:
		return fmt.Sprintf("%d s left", seconds)
	}
}

// amount returns how much of something is done, bytes in the unit that suits all of them.
func amount(done, size int64, bytes bool) string {
	if !bytes {
		return fmt.Sprintf("%d of %d", done, size)
	}
	unit, name := 1e6, "MB"
	if size >= 1e9 {
		unit, name = 1e9, "GB"
	}
	return fmt.Sprintf("%.1f of %.1f %s", float64(done)/unit, float64(size)/unit, name)
}
