package replay_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// session makes a session out of lines like `ID BODY` or `ID<PARENT BODY`; where
// no parent is named it is the entry before. A body is a verb and its arguments,
// see verbs, or the fields of the entry as JSON. Time runs backwards, so that
// whatever sorts by it shows.
func session(version int, lines ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"type":"session","version":%d,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`+"\n", version)
	last := ""
	for i, line := range lines {
		head, body, _ := strings.Cut(line, " ")
		id, parent, named := strings.Cut(head, "<")
		if !named {
			parent = last
		}
		link := "null"
		if parent != "" {
			link = fmt.Sprintf("%q", parent)
		}
		verb, rest, _ := strings.Cut(body, " ")
		if make, ok := verbs[verb]; ok {
			body = make(rest)
		}
		fmt.Fprintf(&b, `{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:%02d:00.000Z",%s}`+"\n", id, link, 59-i, body)
		last = id
	}
	return b.Bytes()
}

// verbs are short ways to say what an entry is.
var verbs = map[string]func(rest string) string{
	"user": func(text string) string {
		return fmt.Sprintf(`"type":"message","message":{"role":"user","content":%q,"timestamp":1}`, text)
	},
	"answer": func(text string) string {
		return fmt.Sprintf(`"type":"message","message":{"role":"assistant","content":[{"type":"text","text":%q}],"provider":"acme","model":"m1","stopReason":"stop","timestamp":1}`, text)
	},
	"result": func(text string) string {
		return fmt.Sprintf(`"type":"message","message":{"role":"toolResult","toolCallId":"c","toolName":"t","content":[{"type":"text","text":%q}],"timestamp":1}`, text)
	},
	"system": func(fields string) string {
		return fmt.Sprintf(`"type":"message","message":{"role":"system",%s,"timestamp":1}`, fields)
	},
	"bash": func(fields string) string {
		return fmt.Sprintf(`"type":"message","message":{"role":"bashExecution","command":"ls",%s,"timestamp":1}`, fields)
	},
	"compaction": func(rest string) string { // KEPT SUMMARY
		kept, text, _ := strings.Cut(rest, " ")
		return fmt.Sprintf(`"type":"compaction","summary":%q,"firstKeptEntryId":%q,"tokensBefore":1`, text, kept)
	},
	"edit": func(rest string) string { // TARGET REPLACEMENT
		target, text, _ := strings.Cut(rest, " ")
		if text != "null" {
			text = fmt.Sprintf(`{"content":%q}`, text)
		}
		return fmt.Sprintf(`"type":"context_edit","targetId":%q,"replacement":%s`, target, text)
	},
	"patch": func(ops string) string { return verbNamed("t", ops) },
	"pair":  func(ops string) string { return verbNamed("compaction", ops) },
	"label": func(rest string) string { // TARGET NAME
		target, name, _ := strings.Cut(rest, " ")
		return fmt.Sprintf(`"type":"label","targetId":%q,"label":%q`, target, name)
	},
	"model": func(id string) string {
		return fmt.Sprintf(`"type":"model_change","provider":"acme","modelId":%q`, id)
	},
}

func verbNamed(transformer, ops string) string {
	return fmt.Sprintf(`"type":"context_transform","schemaVersion":1,"transformerName":%q,"patch":[%s]`, transformer, ops)
}

// Operations of patches, with a reason each.
func cached(op, fields string) string {
	return fmt.Sprintf(`{"op":%q,"scope":"cached","invalidateCacheReason":"r",%s}`, op, fields)
}

var applyS = cached("compaction_apply", `"summary":"P","firstKeptMessageIndex":1,"tokensBefore":1,"timestamp":1`)

// openSession opens a session that session made.
func openSession(t *testing.T, data []byte) *sessionfmt.Session {
	t.Helper()
	s := must.Get(sessionfmt.OpenReader("s.jsonl", bytes.NewReader(data), sessionfmt.Options{}))
	t.Cleanup(func() { s.Close() })
	return s
}

// replayed is the envelope at the leaf.
func replayed(t *testing.T, data []byte, opt replay.Options) (*replay.Envelope, error) {
	t.Helper()
	s := openSession(t, data)
	opt.Leaf = s.Leaf()
	return replay.New(s, opt).At(sessionfmt.After(s.Leaf()))
}

// short says what messages are: their text, or summary, after their role where
// that is none of user, assistant and toolResult.
func short(v jsonl.Value) string {
	text := v.Get("content").Text()
	for b := range v.Get("content").Elements {
		text += b.Get("text").Text() + b.Get("name").Text()
	}
	text += v.Get("summary").Text() + v.Get("command").Text()
	switch role := v.Get("role").Text(); role {
	case "user", "assistant", "toolResult":
		return text
	default:
		return role + ":" + text
	}
}

// context is what the model's context holds, system messages aside, which are
// sys:SECTIONS.
func context(t *testing.T, e *replay.Envelope) string {
	t.Helper()
	var all []string
	for m, err := range e.ContextMessages() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, short(m.Raw))
	}
	return strings.Join(all, " ")
}

// sent is what a provider gets.
func sent(t *testing.T, e *replay.Envelope) []string {
	t.Helper()
	var all []string
	for m, err := range e.ProviderMessages() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, short(m.Raw))
	}
	return all
}

// A trap is a session, and the context that each set of rules makes of it.
type trap struct {
	trap     string // by the specs' numbers
	entries  []string
	version  int // 3 when 0
	pi       string
	envelope string // what stops the replay at p, right after u1, after !
	lenient  string // the reference's answer, where it differs from ours
	found    string // codes of findings under envelope rules
	warned   string // and with --lenient
}

// check holds one set of rules to a trap.
func (c trap) check(t *testing.T, opt replay.Options, want string) (found string) {
	t.Helper()
	e, err := replayed(t, session(cmp.Or(c.version, 3), c.entries...), opt)
	if reason, stops := strings.CutPrefix(want, "!"); stops {
		checkStop(t, err, reason)
		return c.found
	}
	if err != nil {
		t.Fatalf("rules %s: %v", opt.Rules, err)
	}
	if got := context(t, e); got != want {
		t.Errorf("rules %s, lenient %v: %q, want %q", opt.Rules, opt.Lenient, got, want)
	}
	var codes []string
	for _, f := range e.Replay().AllFindings() {
		if !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	return strings.Join(codes, " ")
}

// checkStop: a replay that stops says at which entry, why, and what helps.
func checkStop(t *testing.T, err error, reason string) {
	t.Helper()
	var at *sessionfmt.Error
	if !errors.As(err, &at) || at.Pos.Entry != "p" || !strings.Contains(err.Error(), reason) {
		t.Errorf("%v, want it to stop at p: %s", err, reason)
	} else if !strings.Contains(at.Hint, "--lenient") || !strings.Contains(at.Hint, "--at u1") {
		t.Errorf("hint %q names no way on", at.Hint)
	}
}

// TestTraps: what is easily got wrong, one line each (docs/traps.md).
func TestTraps(t *testing.T) {
	for _, c := range slices.Concat(compactionTraps, patchTraps, editTraps, treeTraps) {
		t.Run(c.trap, func(t *testing.T) {
			c.check(t, replay.Options{Rules: replay.ByPi}, c.pi)
			if got := c.check(t, replay.Options{Rules: replay.ByEnvelope}, c.envelope); got != c.found {
				t.Errorf("findings %q, want %q", got, c.found)
			}
			if c.lenient == "" {
				return
			}
			if got := c.check(t, replay.Options{Rules: replay.ByEnvelope, Lenient: true}, c.lenient); got != c.warned {
				t.Errorf("findings with --lenient %q, want %q", got, c.warned)
			}
		})
	}
}
