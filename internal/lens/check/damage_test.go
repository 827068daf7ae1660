package check

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// largeSession is from how many bytes on a session is too slow to be damaged
// hundreds of times.
func largeSession() int {
	if corpus.Whole() {
		return 1 << 20
	}
	return 64 << 10
}

// TestRepairDamage repairs every session of the corpus, and hundreds that were
// damaged in up to five ways at once: no line is lost, the result is sound, and
// repairing it again changes nothing.
func TestRepairDamage(t *testing.T) {
	n := &tally{outcomes: map[string]int{}}
	for _, c := range corpus.All(t) {
		n.repair(t, c.Name, c.Data)
	}
	small := slices.DeleteFunc(corpus.Sample(t), func(c corpus.Session) bool { return len(c.Data) >= largeSession() })
	t.Logf("sessions as they are: %s", n)
	n = &tally{outcomes: map[string]int{}}
	damages := corpus.Pick(400, 2000)
	for k := range damages {
		c := small[k%len(small)]
		n.repair(t, fmt.Sprintf("%s, damage %d", c.Name, k), damage(c.Data, uint64(k)))
	}
	t.Logf("%d damaged ones: %s", damages, n)
	if n.sound == 0 || n.repaired < damages/2 || n.refused == 0 || n.answered < damages/20 || n.stopped == 0 || len(n.outcomes) < 4 {
		t.Errorf("too little happens to %d damaged ones: %s", damages, n)
	}
}

// TestRepairForeign does the same to sessions of other agents. Their contexts have all that
// they had; the few of which that cannot be proven are refused.
func TestRepairForeign(t *testing.T) {
	sessions := slices.DeleteFunc(append(corpus.Foreign(t), samples()...), func(c corpus.Session) bool {
		return len(c.Data) >= 64<<10 || strings.HasSuffix(c.Name, ".json") || checked(c.Data) == nil // documents, and some that continue another file
	})
	n := &tally{outcomes: map[string]int{}}
	for _, c := range sessions {
		n.repair(t, c.Name, c.Data)
	}
	t.Logf("sessions as they are: %s", n)
	n = &tally{outcomes: map[string]int{}}
	damages := corpus.Pick(250, 600)
	for k := range damages {
		c := sessions[k%len(sessions)]
		n.repair(t, fmt.Sprintf("%s, damage %d", c.Name, k), damage(c.Data, uint64(k)))
	}
	t.Logf("%d damaged ones: %s; %d not proven", damages, n, n.unproven)
	if n.repaired < damages/2 || n.unproven+n.refused > damages/20 || n.outcomes["split"] == 0 {
		t.Errorf("too little happens to %d damaged ones: %s; %d not proven", damages, n, n.unproven)
	}
}

// FuzzRepair does the same to whatever comes. The sessions that it starts from are
// repaired as they are by TestRepairDamage: they are seeds only where fuzzing is asked for.
func FuzzRepair(f *testing.F) {
	f.Add(file(head3, user("a", "")))
	f.Add(file(`{"type":"session_meta","payload":{}}`)) // another agent's
	for _, data := range seeds {
		f.Add([]byte(data))
	}
	if flag.Lookup("test.fuzz").Value.String() != "" {
		for _, c := range corpus.Small(f) {
			f.Add(c.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n := &tally{outcomes: map[string]int{}}
		n.repair(t, "fuzzed", data)
	})
}

// A tally counts what has become of sessions and of their lines.
type tally struct {
	sound, repaired, refused, unread int // sessions
	unproven                         int // of other agents, whose contexts would not be the same or more
	answered, stopped                int // of which unpaired calls were answered, or no request can be made
	outcomes                         map[string]int
}

func (n *tally) String() string {
	return fmt.Sprintf("%d sound, %d repaired, %d refused, %d no sessions; calls answered in %d, no request in %d; lines: %v",
		n.sound, n.repaired, n.refused, n.unread, n.answered, n.stopped, n.outcomes)
}

// repair repairs a session and holds the result to all that is promised of it.
func (n *tally) repair(t *testing.T, name string, data []byte) {
	t.Helper()
	s, _ := checkedOpen(data)
	if s == nil {
		n.unread++
		return
	}
	defer s.Close()
	r, err := NewRepair(s)
	if err != nil {
		n.refused++
		if s.Dialect() == nil && !strings.Contains(err.Error(), "is newer than 3") && !strings.Contains(err.Error(), "it would be read as") {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	defer r.Close()
	if _, _, _, err := r.Proof(everything()); err != nil {
		n.unproven++
		if s.Dialect() == nil || !strings.Contains(err.Error(), "after the repair, its context") {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	out, quarantine := rewritten(r)
	for line, outcome := range outcomes(data, out, quarantine) {
		n.outcomes[outcome]++
		if outcome == "lost" {
			t.Errorf("%s: line %d is lost", name, line)
		}
	}
	if n.repaired++; r.Sound() {
		n.repaired--
		n.sound++
		if !bytes.Equal(out, data) {
			t.Errorf("%s: sound, and not the same", name)
		}
	}
	is := opened(t, name, out)
	defer is.Close()
	if again, rest := repairedOf(t, name, is); !bytes.Equal(again, out) || len(rest) > 0 {
		t.Errorf("%s: repaired again it is not the same", name)
	}
	n.answer(t, name, r, is)
}

// answer has a repair, which makes a session, answer calls too: none is left without a
// result in the next request.
func (n *tally) answer(t *testing.T, name string, r *Repair, is *sessionfmt.Session) {
	t.Helper()
	if err := r.AnswerCalls(time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)); err != nil {
		n.stopped++ // a patch at which a replay stops, or an old version
		return
	}
	if r.tail != nil {
		n.answered++
		if _, _, _, err := r.Proof(everything()); err != nil {
			t.Errorf("%s: calls answered: %v", name, err)
			return
		}
		out, _ := rewritten(r)
		is = opened(t, name, out)
		defer is.Close()
	}
	if why := unpaired(is); why != "" {
		t.Errorf("%s: calls answered: %s", name, why)
	}
}

func everything() Options {
	choice := must.Get(Choose(nil, nil))
	return Options{Choice: choice, Open: sessionfmt.Options{Workers: 1}}
}

// checked checks a session in memory; nil where it is none.
func checked(data []byte) *Report {
	s, report := checkedOpen(data)
	if s != nil {
		s.Close()
	}
	return report
}

// checkedOpen is checked with the session left open.
func checkedOpen(data []byte) (*sessionfmt.Session, *Report) {
	x := newSubject("s.jsonl", everything())
	s, err := sessionfmt.OpenReader("s.jsonl", bytes.NewReader(data), x.opening())
	if err != nil {
		return nil, nil
	}
	x.run(s)
	x.weigh()
	return s, x.report
}

func rewritten(r *Repair) (out, quarantine []byte) {
	var to, rest bytes.Buffer
	must.Do(sessionfmt.Rewrite(r.Changes, &to, &rest))
	return to.Bytes(), rest.Bytes()
}

// repaired repairs a session in memory.
func repaired(t *testing.T, name string, data []byte) (out, quarantine []byte) {
	t.Helper()
	s := opened(t, name, data)
	defer s.Close()
	return repairedOf(t, name, s)
}

// opened opens what was or can be repaired.
func opened(t *testing.T, name string, data []byte) *sessionfmt.Session {
	t.Helper()
	s, err := sessionfmt.OpenReader("s.jsonl", bytes.NewReader(data), sessionfmt.Options{Workers: 1})
	if err != nil {
		t.Fatalf("%s: the repaired file: %v", name, err)
	}
	return s
}

func repairedOf(t *testing.T, name string, s *sessionfmt.Session) (out, quarantine []byte) {
	t.Helper()
	r, err := NewRepair(s)
	if err != nil {
		t.Fatalf("%s: the repaired file: %v", name, err)
	}
	defer r.Close()
	return rewritten(r)
}

// outcomes returns what happened to each line that is not blank, by line.
func outcomes(data, out, quarantine []byte) map[int]string {
	whole, bare, away := map[string]int{}, map[string]int{}, map[string]int{}
	for line := range bytes.SplitSeq(out, []byte{'\n'}) {
		whole[string(line)]++
		bare[unlinked(line)]++
	}
	for line := range bytes.SplitSeq(quarantine, []byte{'\n'}) {
		away[string(line)]++
	}
	take := func(from map[string]int, line string) bool {
		from[line]--
		return from[line] >= 0
	}
	found := map[int]string{}
	var open []int
	lines := bytes.Split(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte{'\n'})
	for k, line := range lines { // those that are there as they were come first; a repaired line may equal one that went
		switch {
		case jsonl.TrimJS(string(line)) == "":
		case take(away, string(line)):
			found[k+1] = "quarantined"
		case take(whole, string(line)):
			take(bare, unlinked(line))
			found[k+1] = "kept"
		default:
			open = append(open, k)
		}
	}
	for _, k := range open {
		switch {
		case take(bare, unlinked(lines[k])):
			found[k+1] = "linked"
		case split(lines[k], func(piece []byte) bool { return take(bare, unlinked(piece)) || take(away, string(piece)) }):
			found[k+1] = "split"
		default:
			found[k+1] = "lost"
		}
	}
	return found
}

// split reports that a line is nothing but pieces that are there.
func split(line []byte, there func(piece []byte) bool) bool {
	for line = bytes.TrimSpace(line); len(line) > 0; line = bytes.TrimSpace(line) {
		n, ok := jsonl.ValueLen(line)
		if !ok || !there(line[:n:n]) {
			return false
		}
		line = line[n:]
	}
	return true
}

// unlinked returns a line without the fields that link entries.
func unlinked(line []byte) string {
	v, err := jsonl.ParseValue(bytes.TrimSpace(line))
	if err != nil || !v.IsObject() {
		return string(line)
	}
	var none []jsonl.Field
	for _, name := range []string{"id", "parentId", "targetId", "firstKeptEntryId", "firstKeptEntryIndex", "fromId"} {
		none = append(none, jsonl.Field{Name: name})
	}
	if v.Get("type").Is("session") {
		none = append(none, jsonl.Field{Name: "version"})
	}
	return string(v.AppendEdited(nil, none...))
}

// unpaired says what is wrong with the calls and results of the next request.
func unpaired(s *sessionfmt.Session) string {
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return err.Error()
	}
	open := map[string][]bool{} // of a call's id, whether an entry makes it: what a patch says no entry takes back
	for m, err := range e.Sources(func(replay.Message) bool { return true }) {
		if err != nil {
			return err.Error()
		}
		ours, stop := m.Origin.Op < 0, m.Raw.Get("stopReason")
		switch {
		case m.Kind == jsonl.ToolResult:
			id := m.Raw.Get("toolCallId").Text()
			if calls := open[id]; len(calls) > 0 {
				open[id] = calls[1:]
			} else if ours {
				return fmt.Sprintf("the result on line %d has no call", s.Line(m.Origin.Record))
			}
		case m.Kind == jsonl.Assistant && !stop.Is("error") && !stop.Is("aborted"):
			for el := range m.Raw.Get("content").Elements {
				if el.Get("type").Is("toolCall") {
					id := el.Get("id").Text()
					open[id] = append(open[id], ours)
				}
			}
		}
	}
	for id, calls := range open {
		if slices.Contains(calls, true) {
			return fmt.Sprintf("the call %q has no result", id)
		}
	}
	return ""
}

// damage damages a session, the same way for the same seed.
func damage(data []byte, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 4))
	lines := bytes.Split(slices.Clone(data), []byte{'\n'})
	for range 1 + r.IntN(5) {
		k := r.IntN(len(lines))
		lines = harms[r.IntN(len(harms))](r, lines, k)
		if len(lines) == 0 {
			lines = [][]byte{nil}
		}
	}
	return bytes.Join(lines, []byte{'\n'})
}

// harms are what may happen to line k of a file.
var harms = []func(r *rand.Rand, lines [][]byte, k int) [][]byte{
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // bytes cut out
		from := r.IntN(len(lines[k]) + 1)
		to := from + r.IntN(len(lines[k])-from+1)
		lines[k] = append(slices.Clone(lines[k][:from]), lines[k][to:]...)
		return lines
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // a byte flipped
		if len(lines[k]) > 0 {
			lines[k] = slices.Clone(lines[k])
			lines[k][r.IntN(len(lines[k]))] ^= 1 << r.IntN(8)
		}
		return lines
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // two lines swapped
		j := r.IntN(len(lines))
		lines[k], lines[j] = lines[j], lines[k]
		return lines
	},
	func(_ *rand.Rand, lines [][]byte, k int) [][]byte { // glued to the next
		if k+1 < len(lines) {
			lines[k] = slices.Concat(lines[k], lines[k+1])
			lines = slices.Delete(lines, k+1, k+2)
		}
		return lines
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // torn, and the next glued to it
		if k+1 < len(lines) {
			lines[k] = slices.Concat(lines[k][:r.IntN(len(lines[k])+1)], lines[k+1])
			lines = slices.Delete(lines, k+1, k+2)
		}
		return lines
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // there twice
		return slices.Insert(lines, r.IntN(len(lines)+1), lines[k])
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // a stretch of lines there twice
		to := min(len(lines), k+1+r.IntN(20))
		return slices.Insert(lines, to, slices.Clone(lines[k:to])...)
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // lines lost
		return slices.Delete(lines, k, min(len(lines), k+1+r.IntN(3)))
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // a name changed to that of another entry
		member := []string{"id", "parentId", "targetId", "firstKeptEntryId"}[r.IntN(4)]
		other, _ := jsonl.ParseValue(lines[r.IntN(len(lines))])
		return withMember(lines, k, member, slices.Clone(other.Get("id")))
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // a name changed to what it cannot be
		member := []string{"id", "parentId", "version", "message", "replacement", "stopReason"}[r.IntN(6)]
		v := []string{"", "null", "7", `""`, `"nowhere"`, `{}`, "false", `"4 or so"`}[r.IntN(8)]
		return withMember(lines, k, member, jsonl.Value(v))
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // a line that is not an entry is inserted
		v := []string{"null", "0", "42", `"text"`, "[1,{}]", " \t", "\r", "\xc2\xa0", "\v{}", "\xef\xbb\xbf", "{}", `{"type":"session","id":"x"}`}[r.IntN(12)]
		return slices.Insert(lines, k, []byte(v))
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // the end cut off
		lines[k] = slices.Clone(lines[k][:r.IntN(len(lines[k])+1)])
		return lines[:k+1]
	},
	func(_ *rand.Rand, lines [][]byte, _ int) [][]byte { // a byte order mark
		return append([][]byte{append([]byte("\xef\xbb\xbf"), lines[0]...)}, lines[1:]...)
	},
	func(r *rand.Rand, lines [][]byte, k int) [][]byte { // carriage returns
		for j := k; j < min(len(lines), k+1+r.IntN(10)); j++ {
			if len(lines[j]) > 0 && !strings.HasSuffix(string(lines[j]), "\r") {
				lines[j] = append(slices.Clone(lines[j]), '\r')
			}
		}
		return lines
	},
}

// withMember gives line k another member of that name, or takes it away.
func withMember(lines [][]byte, k int, name string, v jsonl.Value) [][]byte {
	if old, err := jsonl.ParseValue(lines[k]); err == nil && old.IsObject() {
		lines[k] = old.AppendEdited(nil, jsonl.Field{Name: name, Value: v})
	}
	return lines
}
