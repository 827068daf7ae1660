package codex

import (
	"path/filepath"
	"strings"
	"time"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// owner returns the session that a thread works for. All threads of a session have its id as session_id, which
// older versions do not write: there it is the thread that started this one.
func owner(_ string, first jsonl.Value) string {
	meta := payloadOf(first)
	f := meta.All("id", "session_id", "source", "thread_source", "parent_thread_id")
	by := f[2].Get("subagent")
	if !by.Exists() && !f[3].Is("subagent") {
		return ""
	}
	for _, id := range []jsonl.Value{f[1], by.Get("thread_spawn").Get("parent_thread_id"), f[4]} {
		if id.IsString() && id.Text() != f[0].Text() {
			return id.Text()
		}
	}
	return ""
}

// slack is how far the times in names of rollouts, which are local ones, can be from others.
const slack = 26 * time.Hour

// nests returns all folders of rollouts: each thread has a file in that of its day.
func nests(name, _ string) (all []dialect.Nest) {
	start, dated := stamped(name)
	may := func(file string, written time.Time) bool {
		at, ok := stamped(file)
		switch {
		case !strings.HasPrefix(filepath.Base(file), rollout):
			return false
		case !ok || !dated:
			return true
		}
		return !at.Before(start.Add(-slack)) && (written.Before(start.Add(-slack)) || !at.After(written.Add(slack)))
	}
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		for _, folder := range folders {
			if filepath.Base(dir) == folder {
				for _, beside := range folders {
					all = append(all, dialect.Nest{Dir: filepath.Join(filepath.Dir(dir), beside), Deep: true, May: may})
				}
				return all
			}
		}
		if dir == filepath.Dir(dir) {
			return []dialect.Nest{{Dir: filepath.Dir(name), May: may}}
		}
	}
}

// stamped returns the time in the name of a rollout.
func stamped(name string) (at time.Time, ok bool) {
	rest, _ := strings.CutPrefix(filepath.Base(name), rollout)
	if len(rest) < len(stamp) {
		return at, false
	}
	at, err := time.Parse(stamp, rest[:len(stamp)])
	return at, err == nil
}
