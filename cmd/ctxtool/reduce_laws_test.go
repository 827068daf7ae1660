package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// largeEnough is from how many tokens on a session is worth reducing.
const largeEnough = 20_000

// largeSessions are the sessions over 20,000 tokens, those of old formats migrated first:
// nothing is appended to them. They are found once.
func largeSessions(t *testing.T) []corpus.Session {
	t.Helper()
	large.once.Do(func() { large.sessions = findLarge(t) })
	return large.sessions
}

var large struct {
	once     sync.Once
	sessions []corpus.Session
}

func findLarge(t *testing.T) (all []corpus.Session) {
	t.Helper()
	dir := t.TempDir()
	long := gen.Shape{Entries: 500, Text: 400, MaxText: 8000, Tools: 0.8, Bash: 0.1, Custom: 0.1, Images: 0.05, Labels: 0.05, Settings: 0.1}
	compacted := long
	compacted.CompactEvery, compacted.Checkpoints, compacted.Systems, compacted.Edits = 350, true, 0.05, 0.1
	patched := compacted
	patched.CompactEvery, patched.Transforms, patched.Settings = 0, 0.1, 1
	candidates := corpus.Shared(t)
	for k, shape := range []gen.Shape{long, compacted, patched} {
		shape.Seed = uint64(k)
		candidates = append(candidates, corpus.Session{Name: fmt.Sprintf("gen/large-%d", k), Data: gen.Session(shape)})
	}
	for i, c := range candidates {
		if len(c.Data) < largeEnough { // a token is some bytes
			continue
		}
		name := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
		must.Do(os.WriteFile(name, c.Data, 0o600))
		now := filepath.Join(dir, fmt.Sprintf("%d-now.jsonl", i))
		if _, status := said(t, "migrate", name, "-o", now); status == exitOK {
			if data, err := os.ReadFile(now); err == nil { // none where it was of the current shape
				c.Data = data
			}
		}
		s, e := leafContext(t, c, replay.Options{})
		if s == nil {
			continue
		}
		if n, err := e.Count(&tokens.Pi); err == nil && n.Messages > largeEnough {
			all = append(all, c)
		}
		s.Close()
	}
	return all
}

// leafContext is the context at a session's leaf, nil where there is none.
func leafContext(t *testing.T, c corpus.Session, opt replay.Options) (*sessionfmt.Session, *replay.Envelope) {
	t.Helper()
	s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
	if err != nil {
		return nil, nil
	}
	opt.Leaf = s.Leaf()
	e, err := replay.New(s, opt).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		s.Close()
		return nil, nil
	}
	return s, e
}

// reducingsEach is how many of them each large session is reduced in in the quick run.
const reducingsEach = 2

// reducings are the ways in which contexts are made smaller, by name: each policy with a
// window small enough for it to act, in both forms.
func reducings() (all [][]string) {
	for _, p := range compact.Policies {
		for _, form := range []string{"--as edits --rules pi", "--as edits", "--as transform --rules envelope"} {
			all = append(all, append([]string{"--policy", p.Name, "--window", "20000"}, strings.Fields(form)...))
		}
	}
	return all
}

// TestReduceLargeSessions: whatever policy reduces a session, what was there stays byte
// for byte, check finds nothing new, the context is what was planned, doing it again
// appends nothing, undo brings the context back, and pi builds from edits the context that
// we promised.
func TestReduceLargeSessions(t *testing.T) {
	t.Parallel()
	all := largeSessions(t)
	written, promised := map[string][]byte{}, map[string]*compact.Reduction{}
	did := map[string]int{}
	for k, c := range all {
		before := findingsOf(t, c)
		for _, flags := range dealt(k, reducingsEach, reducings()) {
			r := &reduceRun{t: t, name: c.Name + " " + strings.Join(flags, " "), was: c, flags: flags, found: before}
			if !r.run() {
				continue
			}
			did[flags[1]]++
			if r.form == compact.AsEdits && r.rules == replay.ByPi {
				written[r.name], promised[r.name] = r.now, r.planned
				written[r.name+" undone"], promised[r.name+" undone"] = r.undone, r.before
			}
		}
	}
	for _, p := range compact.Policies {
		if did[p.Name] < corpus.Least(t, 2, 0) {
			t.Errorf("%s has reduced %d sessions only", p.Name, did[p.Name])
		}
	}
	t.Logf("%d sessions over %d tokens; reduced, by policy: %v", len(all), largeEnough, did)
	sessions, messages := 0, 0
	for name, pi := range corpus.Pi(t, written) {
		sessions, messages = sessions+1, messages+comparePromise(t, name, promised[name], pi, written[name])
	}
	t.Logf("pi builds %d contexts of %d messages as promised", sessions, messages)
}

// reducedAt is the time of what is appended.
var reducedAt = time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)

// A reduceRun reduces one session in one way.
type reduceRun struct {
	t     *testing.T
	name  string
	was   corpus.Session
	flags []string
	found map[string]int

	form            compact.Form
	rules           replay.Rules
	now, undone     []byte
	planned, before *compact.Reduction
	file            string
}

// run reports whether anything was appended.
func (r *reduceRun) run() bool {
	t := r.t
	r.file = filepath.Join(t.TempDir(), "s.jsonl")
	r.put(r.was.Data)
	e, plan := r.plan()
	if plan == nil || r.form == compact.AsEdits && r.rules == replay.Auto && e.Replay().Rules == replay.ByPi {
		return false // the same as by pi's rules
	}
	r.does("reduce", append(r.flags, "--force", "--write", "--now", reducedAt.Format(time.RFC3339))...)
	r.now = r.bytes()
	if len(plan.Changes) == 0 {
		if !bytes.Equal(r.now, r.was.Data) {
			t.Errorf("%s: it has nothing to do, and appends", r.name)
		}
		return false
	}
	if !bytes.HasPrefix(r.now, r.was.Data) || len(r.now) == len(r.was.Data) {
		t.Errorf("%s: nothing is appended, or not after what was there", r.name)
		return false
	}
	r.planned = plan
	r.kept("reduced", plan.View)
	r.nothingNew("reduced")

	r.does("reduce", append(r.flags, "--force", "--write", "--now", "2027-01-02T03:05:05Z")...)
	if !bytes.Equal(r.bytes(), r.now) {
		t.Errorf("%s: a second run appends %d bytes", r.name, len(r.bytes())-len(r.now))
		r.put(r.now)
	}
	r.does("undo", "--write", "--now", "2027-01-02T03:06:05Z")
	if !bytes.HasPrefix(r.bytes(), r.now) {
		t.Errorf("%s: undo changes what was there", r.name)
	}
	before := must.Get(compact.NewView(e, nil))
	r.undone, r.before = r.bytes(), &compact.Reduction{View: before}
	r.kept("undone", before)
	r.nothingNew("undone")
	return true
}

// plan is what the flags ask for, planned by the packages.
func (r *reduceRun) plan() (*replay.Envelope, *compact.Reduction) {
	policy, err := compact.FindPolicy(r.flags[1])
	if err != nil {
		r.t.Fatal(err)
	}
	r.rules = replay.Auto
	for k, flag := range r.flags {
		switch flag {
		case "--as":
			r.form = compact.Form(r.flags[k+1])
		case "--rules":
			if r.rules, err = replay.ParseRules(r.flags[k+1]); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	_, e := leafContext(r.t, r.was, replay.Options{Rules: r.rules, Window: 20_000})
	if e == nil {
		return nil, nil
	}
	extract := must.Get(compact.OpenSummarizer("extract", compact.SummaryOptions{}))
	job := compact.Job{Command: "reduce", Policy: policy, Form: r.form, GivenRules: r.rules != replay.Auto, Summarize: extract, Time: reducedAt}
	plan, err := job.Plan(e)
	if err != nil {
		r.t.Errorf("%s: %v", r.name, err)
	}
	return e, plan
}

// does runs a command over the file.
func (r *reduceRun) does(command string, flags ...string) {
	if done := ranIn("", append([]string{command, r.file}, flags...)...); done.status != exitOK {
		r.t.Errorf("%s: %s: status %d: %s", r.name, command, done.status, &done.stderr)
	}
}

// kept holds that the context of the file is a view.
func (r *reduceRun) kept(when string, view *compact.View) {
	s, e := leafContext(r.t, corpus.Session{Name: r.name, Data: r.bytes()}, replay.Options{Rules: r.rules})
	if s == nil {
		r.t.Errorf("%s: %s, it cannot be replayed", r.name, when)
		return
	}
	defer s.Close()
	if err := compact.Kept(view, e); err != nil {
		r.t.Errorf("%s: %s: %v", r.name, when, err)
	}
}

// nothingNew holds that check finds in the file what it found before.
func (r *reduceRun) nothingNew(when string) {
	for what, n := range findingsOf(r.t, corpus.Session{Name: r.name, Data: r.bytes()}) {
		if n > r.found[what] {
			r.t.Errorf("%s: %s, check finds %d times %s, and not %d", r.name, when, n, what, r.found[what])
		}
	}
}

// findingsOf are the warnings and errors of check, how many of each.
func findingsOf(t *testing.T, c corpus.Session) map[string]int {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(os.WriteFile(name, c.Data, 0o600))
	out, _ := said(t, "check", name, "-f", "json")
	var report struct {
		Files []struct {
			Findings []struct{ Code, Severity string }
		}
	}
	if err := json.Unmarshal(out, &report); err != nil || len(report.Files) != 1 {
		t.Fatalf("%s: check: %v: %.200s", c.Name, err, out)
	}
	all := map[string]int{}
	for _, f := range report.Files[0].Findings {
		all[f.Severity+" "+f.Code]++
	}
	return all
}

func (r *reduceRun) put(data []byte) {
	must.Do(os.WriteFile(r.file, data, 0o600))
}

func (r *reduceRun) bytes() []byte {
	return must.Get(os.ReadFile(r.file))
}

// comparePromise holds that the messages which pi sends are those of a plan, and says how
// many there are.
func comparePromise(t *testing.T, name string, p *compact.Reduction, pi corpus.PiAnswer, file []byte) (n int) {
	t.Helper()
	if pi.Read.Throws != "" || pi.Open.Throws != "" || pi.Open.After != string(file) {
		t.Errorf("%s: pi fails on it, or changes it: %s%s", name, pi.Read.Throws, pi.Open.Throws)
		return 0
	}
	var sent []json.RawMessage
	must.Do(json.Unmarshal(pi.Read.LLM, &sent))
	sent = slices.DeleteFunc(sent, func(m json.RawMessage) bool { return jsonl.Value(m).Get("role").Is("system") })
	for i := range p.View.Messages {
		if !p.View.Live(i) {
			continue
		}
		if n == len(sent) {
			t.Errorf("%s: pi sends %d messages only", name, n)
			return n
		}
		if differ := promiseDiffers(p, i, jsonl.Value(sent[n]).Get("content")); differ != "" {
			t.Errorf("%s: message %d: %s", name, n, differ)
			return n
		}
		n++
	}
	if n != len(sent) {
		t.Errorf("%s: pi sends %d messages, expected %d", name, len(sent), n)
	}
	return n
}

// promiseDiffers says how what pi sends differs from a message of a plan.
func promiseDiffers(p *compact.Reduction, i int, content jsonl.Value) string {
	want := p.View.Content(i)
	if got, want := asList(content), asList(want); !bytes.Equal(got, want) {
		return fmt.Sprintf("promised %.300s\n pi sends %.300s", want, got)
	}
	return ""
}

// asList is a content in JavaScript's spelling; a text stands for the list of it.
func asList(content jsonl.Value) []byte {
	if content.IsString() {
		content = fmt.Appendf(nil, `[{"type":"text","text":%s}]`, content)
	}
	return content.AppendMinified(nil)
}
