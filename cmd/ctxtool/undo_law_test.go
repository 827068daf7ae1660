package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// A mixture applies random commands that change a context to one session, as a user does while an
// agent goes on with it.
type mixture struct {
	r     *rand.Rand
	dir   string
	start []byte          // the session before all commands
	cuts  map[string]bool // by entry of the start, whether its context lacks halves of calls
	said  []string        // commands so far
	grown int             // turns that were added
	clock time.Time
}

// ran runs a command in the folder of the session, some of them in the same millisecond.
func (m *mixture) ran(words ...string) *ran {
	m.clock = m.clock.Add(time.Duration(m.r.IntN(4)) * time.Second)
	in := testEnv(m.dir)
	in.now = func() time.Time { return m.clock }
	return in.ran(words...)
}

// newMixture returns a mixture of a generated session: of pi or with patches, with and without
// compactions.
func newMixture(t *testing.T, seed uint64) *mixture {
	shape := gen.Shape{Seed: seed, Entries: 60, Text: 600, MaxText: 4000, Tools: 0.8, Branch: 0.1, Bash: 0.1, Systems: 0.1,
		Custom: 0.05, Settings: 0.05}
	if seed%2 == 1 {
		shape.Transforms, shape.Ephemerals = 0.1, 0.05
	}
	if seed%3 == 1 {
		shape.CompactEvery, shape.Edits = 25, 0.1
	}
	m := &mixture{r: rand.New(rand.NewPCG(seed, 1)), dir: t.TempDir(), cuts: map[string]bool{},
		clock: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
	m.start = gen.Session(shape)
	for name, data := range map[string][]byte{
		"s.jsonl": m.start, "text": []byte("shorter"), "hook.json": []byte(
			`[{"op":"system_part_set","partName":"a","text":"b","scope":"cached","invalidateCacheReason":"x"}]`),
	} {
		must.Do(os.WriteFile(filepath.Join(m.dir, name), data, 0o600))
	}
	return m
}

// pick returns one of several words.
func (m *mixture) pick(words ...string) string { return words[m.r.IntN(len(words))] }

// session returns the bytes of the session.
func (m *mixture) session() []byte { return must.Get(os.ReadFile(filepath.Join(m.dir, "s.jsonl"))) }

// entryIDs returns the ids of the entries of a session, in order.
func entryIDs(session []byte) (ids []string) {
	for line := range bytes.Lines(session) {
		var entry struct{ Type, ID string }
		if json.Unmarshal(line, &entry) == nil && entry.Type != "session" {
			ids = append(ids, entry.ID)
		}
	}
	return ids
}

// command returns a random command.
func (m *mixture) command() string {
	ids := entryIDs(m.session())
	id := ids[m.r.IntN(len(ids))]
	late := m.pick(id, ids[max(0, len(ids)-1-m.r.IntN(8))])
	flags := m.pick("", "", " --as edits", " --as transform --rules envelope") + m.pick("", "", "", " --no-mark")
	switch m.r.IntN(20) {
	case 0:
		return "reduce s.jsonl --write --window 3000 --policy " +
			m.pick("pi", "gsh", "swe-cli", "y-agent", "claude-code", "codex", "opencode") + flags
	case 1, 2:
		return "reduce s.jsonl --write --pass " + m.pick("truncate:max=200", "superseded", "retry-prune", "strip-thinking",
			"drop-images", "stale-results", "progressive:min-tokens=50", "drop-tools", "drop-bootstrap", "merge-notes") + flags
	case 3:
		return "prune s.jsonl --write --pass prune:protect=" + m.pick("0", "100", "400") + flags
	case 4:
		return "compact s.jsonl --write --pass compact:style=" +
			m.pick("pi,keep=100", "pi,keep=300", "pi,keep=800", "gsh", "swe-cli,keep=6", "y-agent") + flags
	case 5, 6, 7:
		return "edit s.jsonl " + m.pick(id, late) + " --write " + m.pick("--omit", "--omit", "--restore", "--replace text")
	case 8, 9:
		return "patch s.jsonl --write --why x " +
			m.pick("--append-message text", "--remove-tool read", "--set reasoning=low", "--file hook.json") + flags
	case 10:
		return "label s.jsonl " + id + " L" + strconv.Itoa(len(m.said)) + " --write"
	case 11:
		return "branch s.jsonl " + late + " -o b.jsonl"
	case 12, 13:
		return "grow " + ids[len(ids)-1]
	case 14:
		return "grow " + late // the user went back in the tree
	case 15:
		return "repair s.jsonl --write " +
			m.pick("", "--answer-calls", "--provider anthropic", "--provider openai", "--provider google")
	case 16:
		return "migrate s.jsonl --write --compaction " + m.pick("native", "pair", "transform")
	}
	return "undo s.jsonl --write"
}

// grow appends a turn as an agent does: a prompt, an answer with a call, its result, and an answer.
func (m *mixture) grow(parent string) {
	f := must.Get(os.OpenFile(filepath.Join(m.dir, "s.jsonl"), os.O_APPEND|os.O_WRONLY, 0))
	defer f.Close()
	m.grown++
	answer := `"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","timestamp":1,` +
		`"usage":{"input":900,"output":9,"cacheRead":0,"cacheWrite":0,"totalTokens":909}`
	call := fmt.Sprintf("grown%d", m.grown)
	for k, message := range []string{
		`{"role":"user","content":"go on","timestamp":1}`,
		`{"role":"assistant","content":[{"type":"text","text":"I look"},{"type":"toolCall","id":"` + call +
			`","name":"read","arguments":{"path":"a.go"}}],"stopReason":"toolUse",` + answer + `}`,
		`{"role":"toolResult","toolCallId":"` + call + `","toolName":"read","isError":false,"timestamp":1,` +
			`"content":[{"type":"text","text":"` + strings.Repeat("package a ", 40) + `"}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"done"}],"stopReason":"stop",` + answer + `}`,
	} {
		id := fmt.Sprintf("f%02x%05d", k, m.grown)
		fmt.Fprintf(f, `{"type":"message","id":"%s","parentId":"%s","timestamp":"2026-0%d-01T00:00:%02d.000Z",`+
			`"message":%s}`+"\n", id, parent, 2+m.grown%8, k, message)
		parent = id
	}
}

// lost returns the ids of calls of the next request without their results, and of results without
// their calls, where the path of the session has both.
func (m *mixture) lost(name string) (lost []string) {
	var report struct {
		Findings []struct{ Code, Entry string }
	}
	must.Do(json.Unmarshal(m.ran("check", name, "-f", "jsonl").stdout.Bytes(), &report))
	s := must.Get(sessionfmt.Open(filepath.Join(m.dir, name), sessionfmt.Options{}))
	defer s.Close()
	path, _ := s.Path(s.Leaf())
	r := s.NewReader()
	halves := map[string]int{}     // by call, how many of its halves the path has
	calls := map[string][]string{} // by entry, its calls
	for _, rec := range path {
		message := r.Entry(rec).Get("message")
		ids := []string{message.Get("toolCallId").Text()}
		for call := range message.Message().Calls {
			ids = append(ids, call.ID.Text())
		}
		for _, id := range ids {
			halves[id]++
			calls[s.ID(rec)] = append(calls[s.ID(rec)], id)
		}
	}
	for _, f := range report.Findings {
		whole := !slices.ContainsFunc(calls[f.Entry], func(id string) bool { return id != "" && halves[id] < 2 })
		if whole && (f.Code == "result-lost-call" || f.Code == "call-lost-result") {
			lost = append(lost, f.Entry)
		}
	}
	return lost
}

// cut reports whether the context at an entry lacked halves of calls before all commands.
func (m *mixture) cut(id string) bool {
	cut, known := m.cuts[id]
	if !known {
		if at := slices.Index(entryIDs(m.start), id); at >= 0 {
			lines := slices.Collect(bytes.Lines(m.start))
			must.Do(os.WriteFile(filepath.Join(m.dir, "start.jsonl"), bytes.Join(lines[:at+2], nil), 0o600))
			cut = m.lost("start.jsonl") != nil
		}
		m.cuts[id] = cut
	}
	return cut
}

// run runs a command, and reports whether it changed the session.
func (m *mixture) run(line string) bool {
	words := strings.Fields(line)
	switch words[0] {
	case "grow":
		if m.cut(words[1]) || m.inside(words[1]) {
			return false
		}
		m.grow(words[1])
		return true
	case "branch":
		if m.cut(words[2]) {
			return false
		}
		if m.ran(words...).status != exitOK {
			return false
		}
		must.Do(os.Rename(filepath.Join(m.dir, "b.jsonl"), filepath.Join(m.dir, "s.jsonl")))
		return true
	case "label":
	default:
		words = append(words, "--force")
	}
	return m.ran(words...).status == exitOK
}

// inside reports whether an entry is inside a batch: no agent goes back there.
func (m *mixture) inside(id string) bool {
	return strings.Contains(m.ran("branch", "s.jsonl", id, "-o", "-").stderr.String(), "inside a batch")
}

// TestUndoMixtures: whatever commands follow each other, no result is left without its call, and no
// call without its result.
func TestUndoMixtures(t *testing.T) {
	t.Parallel()
	did := map[string]int{}
	for seed := range corpus.Pick(4, 500) {
		m := newMixture(t, uint64(seed))
		if m.lost("s.jsonl") != nil {
			continue // a compaction of the session itself cut there
		}
		for range 60 {
			line := m.command()
			m.said = append(m.said, line)
			if !m.run(line) {
				continue
			}
			name, _, _ := strings.Cut(line, " ")
			did[name]++
			if lost := m.lost("s.jsonl"); lost != nil {
				t.Errorf("seed %d: calls or results of %s are lost after\n%s", seed, lost, strings.Join(m.said, "\n"))
				break
			}
		}
	}
	for _, name := range []string{
		"reduce", "prune", "compact", "edit", "patch", "undo", "branch", "label", "grow", "repair", "migrate",
	} {
		if did[name] == 0 {
			t.Errorf("%s did nothing", name)
		}
	}
}

// TestInsideBatch: what follows an entry inside a batch follows the whole batch.
func TestInsideBatch(t *testing.T) {
	t.Parallel()
	m := newMixture(t, 0)
	ids := entryIDs(m.start)
	m.grow(ids[len(ids)-1])
	m.want(t, "edit s.jsonl f0100001 --omit --write")
	ids = entryIDs(m.session())
	first, end := ids[len(ids)-2], ids[len(ids)-1] // edits of the call and of its result
	note := "s.jsonl: entry " + first + " is inside a batch of changes: using " + end + ", the end of the batch\n"
	m.clock = m.clock.Add(time.Second)
	m.want(t, "edit s.jsonl f0300001 --omit --write") // no part of that batch
	for line, said := range map[string]string{
		"branch s.jsonl " + first + " -o b.jsonl":                                      note,
		"branch s.jsonl " + end + " -o c.jsonl":                                        "",
		"patch s.jsonl --why x --remove-tool read --at " + first:                       note,
		"patch s.jsonl --why x --remove-tool read --as edits -o d.jsonl --at " + first: note,
	} {
		if got := m.want(t, line); got != said {
			t.Errorf("%s: %q, want %q", line, got, said)
		}
	}
	for _, name := range []string{"b.jsonl", "c.jsonl", "d.jsonl"} {
		if all := entryIDs(must.Get(os.ReadFile(filepath.Join(m.dir, name)))); name != "d.jsonl" && all[len(all)-1] != end {
			t.Errorf("%s ends with %s, want %s", name, all[len(all)-1], end)
		}
		if lost := m.lost(name); lost != nil {
			t.Errorf("%s: calls or results of %s are lost", name, lost)
		}
	}
}

// TestUndoPaired: a compaction is undone with the patch that a migration has paired it with.
func TestUndoPaired(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"native", "pair", "transform"} {
		m := newMixture(t, 0)
		before := m.ran("replay", "s.jsonl", "-f", "context", "--rules", "envelope").stdout.String()
		m.want(t, "compact s.jsonl --write --pass compact:keep=300 --as edits")
		m.want(t, "migrate s.jsonl --write --compaction "+mode)
		m.want(t, "undo s.jsonl --write")
		if after := m.ran("replay", "s.jsonl", "-f", "context", "--rules", "envelope").stdout.String(); after != before {
			t.Errorf("%s: the context is\n%s\nand was\n%s", mode, after, before)
		}
	}
}

// want runs a command that must succeed, and returns its messages.
func (m *mixture) want(t *testing.T, line string) string {
	t.Helper()
	words := strings.Fields(line)
	if words[0] != "branch" {
		words = append(words, "--force")
	}
	r := m.ran(words...)
	if r.status != exitOK {
		t.Fatalf("%s: %s", line, &r.stderr)
	}
	return r.stderr.String()
}
