package openclaw

//lint:file-ignore U1000 the fields are read by reflection.

import (
	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/read/fields"
)

// lineFields are the fields of the rows of OpenClaw.
type lineFields struct {
	window sessionWindowsLine   `jsonl:"<session_windows>"`
	event  transcriptEventsLine `jsonl:"<transcript_events>"`
}

type sessionWindowsLine struct {
	created_at, session_id, updated_at fields.Read
	session_key, timestamp             fields.Unread
}

type transcriptEventsLine struct {
	created_at                 fields.Read
	seq, session_id, timestamp fields.Unread

	event_json pi.Line
}
