package keep

import (
	"time"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Schema is that of a Report.
const Schema = "ctxtool/keep/1"

// A Report is what was kept, schema ctxtool/keep/1.
type Report struct {
	Schema  string `json:"schema"`
	Archive string `json:"archive"`          // its folder, as given
	Dry     bool   `json:"dryRun,omitempty"` // nothing was written
	Files   []Row  `json:"files"`            // in the order of their names

	Now time.Time `json:"-"` // when this is
}

// A Row is a file of a session, or a database of sessions.
type Row struct {
	File string `json:"file"` // as it was found
	// `new`, `grown`, `rewritten` (it has lost something that the archive has), `unchanged`
	State   string `json:"state,omitempty"`
	Size    int64  `json:"size,omitempty"`    // bytes that were copied
	Packed  int64  `json:"packed,omitempty"`  // bytes of the copy
	Older   string `json:"older,omitempty"`   // where the older state of a rewritten one is
	Deletes string `json:"deletes,omitempty"` // the time from which its agent deletes it when it starts
	Error   string `json:"error,omitempty"`   // why it could not be copied
}

// Deletes returns when an agent deletes a session at its next start, by the agent's settings, the zero time
// for never.
func Deletes(disk sessionfmt.Disk, d *dialect.Dialect, settings string, written time.Time) time.Time {
	if d == nil || d.Days == nil || written.IsZero() {
		return time.Time{}
	}
	var set jsonl.Value
	if data, err := disk.ReadFile(settings); err == nil {
		set, _ = jsonl.ParseValue(data)
	}
	days := d.Days(set)
	if days < 0 {
		return time.Time{}
	}
	return written.Add(time.Duration(days * float64(24*time.Hour)))
}
