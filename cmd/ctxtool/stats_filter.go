package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// A filter is flags that say which sessions and calls are counted.
type filter struct{ since, until, project, model string }

func (o *filter) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "", "only sessions with an entry, and only calls, from this `DATE` or time on")
	f.StringVar(&o.until, "until", "", "only sessions with an entry, and only calls, up to this `DATE`, that day too, or time")
	f.StringVar(&o.project, "project", "", "only sessions whose project's folder has this `TEXT` in its name")
	f.StringVar(&o.model, "only-model", "", "only sessions with a call, and only calls, of models with this `TEXT` in their name")
}

func (o *filter) check() (only stats.Only, err error) {
	only.Project, only.Model = o.project, o.model
	if only.Since, err = timeFlag("since", o.since); err != nil {
		return only, err
	}
	if only.Until, err = timeFlag("until", o.until); err != nil {
		return only, err
	}
	only.Until = untilTime(o.until, only.Until)
	if only.Until != 0 && only.Until < only.Since {
		return only, fmt.Errorf("--until %s is before --since %s", sessionfmt.Quote(o.until), sessionfmt.Quote(o.since))
	}
	return only, nil
}

// timeFlag is a flag's time in milliseconds since 1970, 0 where it was not given.
func timeFlag(name, text string) (ms int64, err error) {
	if text == "" {
		return 0, nil
	}
	ms, ok := parseTime(text)
	if !ok {
		return 0, fmt.Errorf("--%s %q: want a date as 2026-01-31, or a time as 2026-01-31T12:00:00Z", name, sessionfmt.Quote(text))
	}
	return ms, nil
}

// mayFit rules out, before it is read, a file that was last changed before the time
// that was asked for, and one whose header says a later time or another project. What
// a fork took over is older than its header.
func (e *env) mayFit(o *stats.Only, name string) bool {
	if o.Since != 0 {
		if info, err := e.disk.Stat(name); err == nil && info.Mode().IsRegular() && info.ModTime().UnixMilli() < o.Since {
			return false
		}
	}
	if o.Until == 0 && o.Project == "" {
		return true
	}
	h := e.disk.ReadHeader(name)
	if h == (sessionfmt.HeaderInfo{}) {
		return true // reading will tell
	}
	began, err := time.Parse(time.RFC3339, h.Timestamp)
	if o.Until != 0 && h.Parent == "" && err == nil && began.UnixMilli() > o.Until {
		return false
	}
	return strings.Contains(h.CWD, o.Project)
}
