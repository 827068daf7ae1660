package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// The lines of a session, and one of a session that was broken off, which a repair moves to the quarantine.
const (
	headLine   = `{"type":"session","version":3,"id":"0190a3c2-0000-7000-8000-000000000000","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	userLine   = `{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"Why?","timestamp":1767225601000}}` + "\n"
	lastLine   = `{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"So."}],"provider":"p","model":"m","usage":{"input":9,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":10},"stopReason":"stop","timestamp":1767225602000}}` + "\n"
	brokenLine = `{"type":"message","id":"cccccccc","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:03.000Z","mess` + "\n"

	soundLines = headLine + userLine + lastLine
	small      = headLine + userLine + brokenLine + lastLine
	brokenOff  = soundLines + brokenLine
)

var lastEntry = must.Get(time.Parse(time.RFC3339, "2026-01-01T00:00:02Z"))

// fileTime is when the file of the session was written last, by its file system.
var fileTime = lastEntry.Add(-time.Hour)

// The plans that the tests carry out.
func repairs(s *sessionfmt.Session) (*Plan, error) {
	return Repair("given", s, check.Options{}, func(*check.Repair) error { return nil })
}

func labels(s *sessionfmt.Session) (*Plan, error) {
	b := s.NewBatch(s.Leaf(), lastEntry.Add(time.Hour))
	b.Add(jsonl.Label, jsonl.Field{Name: "targetId", Value: jsonl.AppendQuoted(nil, s.ID(s.Leaf()))}, jsonl.Field{Name: "label", Value: jsonl.Value(`"x"`)})
	return Entries("label", "given", s, b, nil)
}

func guarded(s *sessionfmt.Session) (*Plan, error) {
	p, err := labels(s)
	if err == nil {
		p.Guarded = true
	}
	return p, err
}

func refusedPlan(s *sessionfmt.Session) (*Plan, error) { return Skip("reduce", "given", s, "why"), nil }

// A brokenWriter fails after some bytes.
type brokenWriter struct{ left int }

var errFull = errors.New("no room")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestTargets carries plans out to every target, and compares what is then in the folder: after an error exactly what
// was there before.
func TestTargets(t *testing.T) {
	later := lastEntry.Add(Recent)
	for _, c := range []struct {
		name    string
		session string
		plan    func(s *sessionfmt.Session) (*Plan, error)
		target  Target
		sync    int    // the call of Disk.Sync that fails, 0 for none
		others  string // an existing file
		want    string // the error, else the files and what the plan says of them
	}{
		{"nowhere", small, repairs, Target{}, 0, "", "s.jsonl=old"},
		{"an entry", soundLines, labels, Target{Write: true}, 0, "", "s.jsonl=old+1 written=given"},
		{"an entry of a guarded plan", soundLines, guarded, Target{Write: true}, 0, "", "s.jsonl=old+1 written=given"},
		{"a guarded plan, in use", soundLines, guarded, Target{Write: true, Now: at(later.Add(-1))}, 0, "",
			"given: was written to in the last minutes: may be in use (end the agent's session first; --force appends anyway)"},
		{"an unguarded plan, in use", soundLines, labels, Target{Write: true, Now: at(later.Add(-1))}, 0, "", "s.jsonl=old+1 written=given"},
		{"a guarded plan by force", soundLines, guarded, Target{Write: true, Force: true, Now: at(later.Add(-1))}, 0, "", "s.jsonl=old+1 written=given"},
		{"a clock before the entry asks the file", soundLines, guarded, Target{Write: true, Now: at(lastEntry.Add(-Recent - 1))}, 0, "", "s.jsonl=old+1 written=given"},
		{"repair", small, repairs, Target{Write: true}, 0, "", "s.jsonl=sound s.jsonl.orig-1=old s.jsonl.quarantine-1=line written=s.jsonl kept=s.jsonl.orig-1 quarantine=s.jsonl.quarantine-1"},
		{"repair, in use", small, repairs, Target{Write: true, Now: at(later.Add(-1))}, 0, "",
			"given: was written to in the last minutes: may be in use (end the agent's session first; --force replaces it anyway)"},
		{"repair of a session whose last line is broken off asks the file", brokenOff, repairs, Target{Write: true, Now: at(later.Add(-1))}, 0, "",
			"s.jsonl=sound s.jsonl.orig-1=old s.jsonl.quarantine-1=line written=s.jsonl kept=s.jsonl.orig-1 quarantine=s.jsonl.quarantine-1"},
		{"and is refused", brokenOff, repairs, Target{Write: true, Now: at(fileTime.Add(Recent - 1))}, 0, "", "may be in use"},
		{"the file is old enough", brokenOff, repairs, Target{Write: true, Now: at(fileTime.Add(Recent))}, 0, "",
			"s.jsonl=sound s.jsonl.orig-1=old s.jsonl.quarantine-1=line written=s.jsonl kept=s.jsonl.orig-1 quarantine=s.jsonl.quarantine-1"},
		{"repair with nothing to do", soundLines, repairs, Target{Write: true}, 0, "", "s.jsonl=old"},
		{"repair of nothing to a file", soundLines, repairs, Target{Output: "o"}, 0, "", "o=old s.jsonl=old written=o"},
		{"a quarantine of that name", small, repairs, Target{Write: true, Quarantine: "q"}, 0, "", "q=line s.jsonl=sound s.jsonl.orig-1=old written=s.jsonl kept=s.jsonl.orig-1 quarantine=q"},
		{"a quarantine that exists", small, repairs, Target{Write: true, Quarantine: "q"}, 0, "q", "q: already exists: the quarantine must be a new file"},
		{"to a file", small, repairs, Target{Output: "o"}, 0, "", "o=sound o.quarantine-1=line s.jsonl=old written=o quarantine=o.quarantine-1"},
		{"to a file beside another quarantine", small, repairs, Target{Output: "o"}, 0, "o.quarantine-1", "o=sound o.quarantine-1=other o.quarantine-2=line s.jsonl=old written=o quarantine=o.quarantine-2"},
		{"to a file that exists", small, repairs, Target{Output: "o"}, 0, "o", "o=sound o.quarantine-1=line s.jsonl=old written=o quarantine=o.quarantine-1"},
		{"to the session itself", small, repairs, Target{Output: "s.jsonl"}, 0, "", "s.jsonl=sound s.jsonl.quarantine-1=line written=s.jsonl quarantine=s.jsonl.quarantine-1"},
		{"into a folder that is missing", small, repairs, Target{Output: "a/b/o"}, 0, "", "a/b/o: no such file or directory"},
		{"into a folder to make", soundLines, repairs, Target{Output: "a/b/o", Pack: true}, 0, "", "a/b/o=old s.jsonl=old written=a/b/o"},
		{"to standard output", small, repairs, Target{Output: "-", Stdout: &bytes.Buffer{}}, 0, "", "-=sound s.jsonl=old s.jsonl.quarantine-1=line written=- quarantine=s.jsonl.quarantine-1"},
		{"to a full output", small, repairs, Target{Output: "-", Stdout: &brokenWriter{100}}, 0, "", "no room"},
		{"entries to a file", soundLines, labels, Target{Output: "o"}, 0, "", "o=old+1 s.jsonl=old written=o"},
		{"a refused plan", soundLines, refusedPlan, Target{Write: true}, 0, "", "s.jsonl=old"},
		{"a disk that fails at the first file", small, repairs, Target{Write: true}, 1, "", "disk"},
		{"a disk that fails at the second", small, repairs, Target{Output: "o"}, 2, "", "disk"},
		{"a disk that fails at the third", small, repairs, Target{Output: "o"}, 3, "", "disk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, "s.jsonl")
			must.Do(os.WriteFile(name, []byte(c.session), 0o600))
			must.Do(os.Chtimes(name, lastEntry, fileTime))
			if c.others != "" {
				must.Do(os.WriteFile(filepath.Join(dir, c.others), []byte("other"), 0o600))
			}
			synced, ready := 0, 0
			target := c.target
			if target.Now == nil {
				target.Now = at(later)
			}
			target.Disk = sessionfmt.Disk{Dir: dir, Sync: func(*os.File) error {
				if synced++; synced == c.sync {
					return errors.New("disk")
				}
				return nil
			}}
			target.Ready = func() error { ready++; return nil }
			before := listed(dir, c.session)
			p, err := target.Make(func() (*sessionfmt.Session, error) {
				return sessionfmt.Open("s.jsonl", sessionfmt.Options{Disk: target.Disk})
			}, c.plan)
			got := listed(dir, c.session)
			if err != nil {
				if got != before {
					t.Errorf("after the error there is %s, before %s", got, before)
				}
				got = err.Error()
				var placed *sessionfmt.Error
				if errors.As(err, &placed) && placed.Hint != "" {
					got += " (" + placed.Hint + ")"
				}
				got = strings.ReplaceAll(got, dir+"/", "")
			} else {
				if out, ok := target.Stdout.(*bytes.Buffer); ok {
					got = "-=" + named(out.String(), c.session) + " " + got
				}
				for _, part := range [][2]string{{" written=", p.Written}, {" kept=", p.Kept}, {" quarantine=", p.Quarantine}} {
					if part[1] != "" {
						got += part[0] + strings.TrimPrefix(part[1], dir+"/")
					}
				}
			}
			if got != c.want && !(err != nil && strings.Contains(got, c.want)) {
				t.Errorf("%s, want\n%s", got, c.want)
			}
			if p.Rewrite != nil && err == nil {
				lost := strings.Count(c.session, brokenLine)
				if p.Changed != 0 || p.Added != 0 || p.Removed != lost || p.Quarantined != lost {
					t.Errorf("counts %+v", p.Rewrite)
				}
			}
			if wrote := p.Written != ""; wrote && ready != 2 || ready == 0 {
				t.Errorf("ready was asked %d times", ready)
			}
			p.Close()
		})
	}
}

func at(when time.Time) func() time.Time { return func() time.Time { return when } }

// listed are the files of a folder with what they contain.
func listed(dir, session string) string {
	var all []string
	must.Do(filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, strings.TrimPrefix(name, dir+"/")+"="+named(string(must.Get(os.ReadFile(name))), session))
		}
		return err
	}))
	return strings.Join(all, " ")
}

func named(text, session string) string {
	switch {
	case text == session:
		return "old"
	case text == soundLines:
		return "sound"
	case text == brokenLine:
		return "line"
	case strings.HasPrefix(text, session):
		return fmt.Sprint("old+", strings.Count(text[len(session):], "\n"))
	}
	return text
}

// TestAgain: what another process appends between reading and writing is read, and the plan made again; not without
// Again, and not if the plan becomes another one.
func TestAgain(t *testing.T) {
	other := `{"type":"label","id":"dddddddd","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:04.000Z","targetId":"aaaaaaaa","label":"y"}` + "\n"
	first := func(s *sessionfmt.Session) (*Plan, error) {
		b := s.NewBatch(s.Leaf(), lastEntry)
		b.Add(jsonl.Label, jsonl.Field{Name: "targetId", Value: jsonl.Value(`"aaaaaaaa"`)}, jsonl.Field{Name: "label", Value: jsonl.Value(`"x"`)})
		return Entries("label", "given", s, b, nil)
	}
	for _, c := range []struct {
		name  string
		plan  func(s *sessionfmt.Session) (*Plan, error)
		again bool
		fails error // of the second plan
		want  string
	}{
		{"the same change", first, true, nil, ""}, {"without Again", first, false, nil, "changed"}, {"another change", labels, true, nil, "changed"},
		{"a second plan that fails", first, true, errFull, "no room"},
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, "s.jsonl")
		must.Do(os.WriteFile(name, []byte(soundLines), 0o600))
		plans := 0
		target := Target{Write: true, Again: c.again, Now: at(lastEntry.Add(time.Hour))}
		p, err := target.Make(func() (*sessionfmt.Session, error) { return sessionfmt.Open(name, sessionfmt.Options{}) },
			func(s *sessionfmt.Session) (*Plan, error) {
				if plans++; plans == 2 && c.fails != nil {
					return nil, c.fails
				}
				p, err := c.plan(s)
				if plans == 1 {
					f := must.Get(os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0))
					must.Get(f.WriteString(other))
					must.Do(f.Close())
				}
				return p, err
			})
		p.Close()
		text := string(must.Get(os.ReadFile(name)))
		switch {
		case c.want == "":
			if err != nil || plans != 2 || p.Written != "given" || !strings.HasPrefix(text, soundLines+other) || !strings.Contains(text, `"parentId":"dddddddd"`) {
				t.Errorf("%s: %v, %d plans\n%s", c.name, err, plans, text)
			}
		case err == nil || !strings.Contains(err.Error(), c.want) || text != soundLines+other:
			t.Errorf("%s: %v, want %s\n%s", c.name, err, c.want, text)
		}
		if locks := must.Get(filepath.Glob(filepath.Join(dir, "*"))); len(locks) != 1 {
			t.Errorf("%s: left %s", c.name, locks)
		}
	}
}

// TestNotReady: nothing is opened, or written, once Ready fails.
func TestNotReady(t *testing.T) {
	for fails := range 3 {
		name, opened, asked := filepath.Join(t.TempDir(), "s.jsonl"), 0, 0
		must.Do(os.WriteFile(name, []byte(soundLines), 0o600))
		target := Target{Write: true, Now: at(lastEntry.Add(time.Hour)), Ready: func() error {
			if asked++; asked == fails {
				return errFull
			}
			return nil
		}}
		p, err := target.Make(func() (*sessionfmt.Session, error) {
			opened++
			return sessionfmt.Open(name, sessionfmt.Options{})
		}, labels)
		text := string(must.Get(os.ReadFile(name)))
		if wrote := text != soundLines; errors.Is(err, errFull) != (fails > 0) || wrote != (fails == 0) || opened != min(1, (fails+1)%3+fails/2) && fails != 1 || fails == 1 && opened != 0 {
			t.Errorf("fails at %d: %v, opened %d times, written %v", fails, err, opened, wrote)
		}
		if fails == 2 && !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%v does not name the session", err)
		}
		if p != nil {
			p.Close()
		}
	}
	target := Target{Now: at(lastEntry)}
	if _, err := target.Make(func() (*sessionfmt.Session, error) { return nil, errFull }, labels); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if _, err := target.Make(func() (*sessionfmt.Session, error) {
		return sessionfmt.OpenReader("s", strings.NewReader(soundLines), sessionfmt.Options{})
	}, func(*sessionfmt.Session) (*Plan, error) { return nil, errFull }); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

// TestBrokenPromise: what breaks its promise, or cannot be read back, is not written.
func TestBrokenPromise(t *testing.T) {
	for name, change := range map[string]func(p *Plan){
		"a promise": func(p *Plan) { p.promise = func(*sessionfmt.Session) error { return errFull } },
		"no session": func(p *Plan) {
			p.fresh, p.batch = func(w io.Writer) error { return errFull }, nil
			p.promise = keeps(p.s, p.s.Leaf())
		},
		"another context": func(p *Plan) { p.promise = keeps(p.s, 1) },
	} {
		file := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(file, []byte(soundLines), 0o600))
		target := Target{Write: true, Now: at(lastEntry.Add(time.Hour))}
		p, err := target.Make(func() (*sessionfmt.Session, error) { return sessionfmt.Open(file, sessionfmt.Options{}) },
			func(s *sessionfmt.Session) (*Plan, error) {
				p, err := labels(s)
				change(p)
				return p, err
			})
		if err == nil || string(must.Get(os.ReadFile(file))) != soundLines {
			t.Errorf("%s: %v", name, err)
		}
		if name == "another context" && !strings.Contains(fmt.Sprint(err), "the context would change: ") {
			t.Error(err)
		}
		p.Close()
	}
}
