package stats

import (
	"strings"
	"time"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/store"
)

// Only says which sessions and calls are looked at; the zero value means all. A
// session fits that is of the agent, belongs to the project and has an entry within the time, or,
// where a model is named, a call of it within the time. The lens cost counts no
// other calls.
type Only struct {
	Since, Until int64  // milliseconds since 1970, both within; 0 where there is no limit
	Project      string // text in the name of the project's folder
	Model        string // text in a model's name
	Agent        string // that wrote the session, by its name
}

// time reports whether a record of that time is within the limits; without any all are.
func (o *Only) time(ms int64, dated bool) bool {
	if o.Since == 0 && o.Until == 0 {
		return true
	}
	return dated && ms >= o.Since && (o.Until == 0 || ms <= o.Until)
}

// model reports whether the name of a model has the text.
func (o *Only) model(name string) bool { return strings.Contains(name, o.Model) }

// Fits reports whether the session is one of those that were asked for: see Options.Only.
func (r *Report) Fits() bool { return r.fits }

// fit looks at a record, until one is found that was asked for.
func (l *lensRun) fit(f *callRecord) {
	if l.Report.fits || !f.Kind.IsEntry() || l.Only.Model != "" && !(f.Paid() && l.Only.model(f.modelName())) {
		return
	}
	ms, dated := f.Time.Millis()
	l.Report.fits = l.Only.time(ms, dated)
}

// MayFit reports whether a file may have sessions or calls that o selects. It only looks at
// its time and its header. The entries that a fork copied are older than its header.
func (o *Only) MayFit(disk sessionfmt.Disk, name string) bool {
	if o.Since != 0 {
		if info, err := disk.Stat(name); err == nil && info.Mode().IsRegular() && info.ModTime().UnixMilli() < o.Since {
			return false
		}
	}
	if o.Until == 0 && o.Project == "" && o.Agent == "" {
		return true
	}
	h := store.ReadHeader(disk, name)
	if h == (store.HeaderInfo{}) {
		return true // reading will tell
	}
	began, err := time.Parse(time.RFC3339, h.Timestamp)
	if o.Until != 0 && h.Parent == "" && err == nil && began.UnixMilli() > o.Until {
		return false
	}
	return strings.Contains(h.CWD, o.Project) && (o.Agent == "" || o.Agent == h.Agent)
}
