package main

import (
	"errors"
	"fmt"
	"time"

	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// A limit is one end of a stretch of a session: a point, or a time. The zero
// value limits nothing.
type limit struct {
	sessionfmt.Point // where at is zero
	at               int64
	set              bool
}

// newLimit reads a POINT, or a date with or without a time.
func newLimit(s *sessionfmt.Session, text string, leaf int) (limit, error) {
	if text == "" {
		return limit{}, nil
	}
	if at, ok := parseTime(text); ok {
		return limit{at: at, set: true}, nil
	}
	at, err := findPoint(s, text, leaf)
	return limit{Point: at, set: true}, err
}

// before reports whether a limit ends what another begins before it has begun, as far as
// the two can be compared.
func (l limit) before(from limit) bool {
	switch {
	case !l.set || !from.set || (l.at == 0) != (from.at == 0):
		return false
	case l.at == 0:
		return l.Record < from.Record
	}
	return l.at < from.at
}

// untilTime is the last millisecond of a time that was read from text: a date means that
// day too.
func untilTime(text string, ms int64) int64 {
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		ms += 24*60*60*1000 - 1
	}
	return ms
}

// parseTime reads a date with or without a time, UTC where it does not say, as
// milliseconds since 1970.
func parseTime(text string) (ms int64, ok bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UnixMilli(), true
		}
	}
	return 0, false
}

// from says that a record is not before the limit.
func (l limit) from(rec int, line sessionfmt.Value) bool {
	if !l.set || l.at == 0 {
		return !l.set || rec >= l.Record
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms >= l.at
}

// to says that a record is not behind the limit.
func (l limit) to(rec int, line sessionfmt.Value) bool {
	if !l.set || l.at == 0 {
		return !l.set || rec < l.Record || rec == l.Record && !l.Before
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms <= l.at
}

// request lists what entered between two requests: messages, each as what a
// provider gets it, and by what it came.
func (l *logger) request(leaf int) error {
	got := func(point string) (*replay.Envelope, error) {
		at, err := findLeaf(l.s, point, leaf)
		if err != nil {
			return nil, err
		}
		return l.r.At(at, false)
	}
	now, err := got(pointOfRequest(l.o.request))
	if err != nil {
		return err
	}
	previous := "root"
	if now.RequestIndex > 0 {
		previous = pointOfRequest(now.RequestIndex - 1)
	}
	before, err := got(previous)
	if err != nil {
		return err
	}
	all, err := now.NewItems(before)
	if err != nil {
		return err
	}
	if l.o.format == "jsonl" {
		return render.WriteLines(l.w, all)
	}
	was, err := before.Count(&tokens.Pi)
	if err != nil {
		return err
	}
	is, err := now.Count(&tokens.Pi)
	if err == nil {
		render.WriteEntering(l.w, all, now.RequestIndex, was, is, l.width)
	}
	return err
}

func pointOfRequest(n int) string { return fmt.Sprintf("request:%d", n) }

// fileSize is how long a file is now, in bytes.
func (e *env) fileSize(name string) (int64, error) {
	if name == "-" {
		return 0, errors.New("--follow needs a file")
	}
	info, err := e.disk.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
