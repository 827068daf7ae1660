package compact

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// ten is a text of ten of pi's tokens.
var ten = strings.Repeat("x", 40)

// edit is a context_edit entry; a replacement of nothing omits.
func edit(target int, replacement any) testMessage {
	return testMessage{"type": "context_edit", "targetId": fmt.Sprintf("m%07d", target), "replacement": replacement}
}

// TestPiCutChecks are the checks of docs/session-format.md 9.3.
func TestPiCutChecks(t *testing.T) {
	setting := testMessage{"type": "thinking_level_change", "thinkingLevel": "high"}
	hundred := strings.Repeat("x", 400)
	put := func(messages ...testMessage) testMessage {
		return testMessage{"type": "context_transform", "schemaVersion": 1, "transformerName": "t", "patch": []testMessage{{"op": "messages_cached_replace", "messages": messages, "scope": "cached", "invalidateCacheReason": "r"}}}
	}
	for _, test := range []struct {
		name            string
		in              []testMessage
		keep            int
		kept            int // the entry, -1 where there is nothing to compact
		history, prefix int
	}{
		{"turn", []testMessage{user(ten), answer(ten), user(ten), answer(ten)}, 20, 2, 2, 0},
		{"split", []testMessage{user(ten), answer(ten), user(ten), answer(ten)}, 10, 3, 2, 1},
		{"all of it", []testMessage{user(ten), answer(ten)}, 100, -1, 0, 0},
		{"setting", []testMessage{user(ten), answer(ten), setting, user(ten)}, 10, 2, 0, 2},
		{"recovered", []testMessage{user(ten), answer(ten), user(hundred), answer(ten), edit(3, nil)}, 50, 3, 2, 1},
		{"more after it", []testMessage{user(ten), answer(ten), user(hundred), answer(ten), edit(3, nil), {"type": "custom_message", "customType": "x", "content": "y", "display": true}}, 50, 2, 2, 0},
		{"replaced", []testMessage{user(ten), answer(ten), user(ten), answer(ten), edit(3, nil), edit(2, testMessage{"content": hundred})}, 50, 2, 2, 0},
		{"between messages of one patch", []testMessage{put(user(ten), answer(ten), user(ten), answer(ten))}, 20, 0, 2, 0},
		{"between such and what follows", []testMessage{put(user(ten), answer(ten)), user(ten)}, 10, 1, 2, 0},
	} {
		v := of(t, test.in...)
		cut := v.piCut(test.keep)
		kept := -1
		if cut.Why == "" {
			kept = v.session().Find(fmt.Sprintf("m%07d", test.kept))
		}
		if want := kept; cut.Kept != want || (cut.Why != "") != (test.kept < 0) || len(cut.History) != test.history || len(cut.Prefix) != test.prefix {
			t.Errorf("%s: keeps from record %d, %d and %d to summarise, %q", test.name, cut.Kept, len(cut.History), len(cut.Prefix), cut.Why)
		}
	}
}

// TestTrapCuts: cases in which pi's cut is not the obvious one.
func TestTrapCuts(t *testing.T) {
	hundred := strings.Repeat("x", 400)
	setting := testMessage{"type": "model_change", "provider": "p", "modelId": "m"}
	note := testMessage{"type": "custom_message", "customType": "x", "content": hundred, "display": true}
	hidden := testMessage{"role": "bashExecution", "command": "ls", "output": hundred, "excludeFromContext": true, "exitCode": 0}
	own := testMessage{"type": "compaction", "id": "k1", "summary": "one", "firstKeptEntryId": "k1", "tokensBefore": 1}
	again := testMessage{"type": "compaction", "id": "k2", "summary": "two", "firstKeptEntryId": "k2", "tokensBefore": 1}
	turn := []testMessage{user(ten), answer(ten)}
	with := func(more ...testMessage) []testMessage { return append(slices.Clone(turn), more...) }
	for _, test := range []struct {
		trap    string
		in      []testMessage
		keep    int
		to      int // the first message that stays, -1 where there is nothing to compact
		history int
		prefix  int
	}{
		{"N4", with(user(ten), answer("", call("c", "x", `{}`)), result("c", hundred)), 50, 3, 2, 1},
		{"T32", with(user(ten), answer("", call("c", "x", `{}`)), result("c", hundred)), 50, 3, 2, 1},
		{"T33", with(setting, user(ten), answer(ten)), 20, 2, 0, 2},
		{"T34", with(user(ten), note), 50, 3, 3, 0},
		{"N5", with(testMessage{"role": "user", "content": []any{image()}}, answer(ten)), 1200, 2, 2, 0},
		{"T35", with(user(ten), answer(ten)), 20, 2, 2, 0},
		{"T35", with(user(ten), answer(ten)), 21, 1, 0, 1},
		{"T27", with(hidden, user(ten)), 100, 2, 2, 0},
		{"N24", with(own, user(ten), answer(ten), again, user(ten), answer(ten), user(ten)), 10, 3, 2, 0},
	} {
		cut := of(t, test.in...).piCut(test.keep)
		if cut.To != test.to || len(cut.History) != test.history || len(cut.Prefix) != test.prefix {
			t.Errorf("%s: cuts before message %d, %d and %d to summarise, want %d, %d and %d", test.trap, cut.To, len(cut.History), len(cut.Prefix), test.to, test.history, test.prefix)
		}
	}
}

// TestTrapT54BothReadAndEdited: a file both read and edited is only a modified one.
func TestTrapT54BothReadAndEdited(t *testing.T) {
	v := of(t, user("q"), answer("", call("1", "read", `{"path":"é"}`), call("2", "read", `{"path":"Z"}`), call("3", "edit", `{"path":"a"}`), call("4", "read", `{"path":"a"}`), call("5", "bash", `{"path":"b"}`)),
		result("1", "x"), result("2", "x"), result("3", "x"), result("4", "x"), result("5", "x"))
	files := v.files(v.live(), -1).files()
	if fmt.Sprint(files.Read, files.Modified) != "[Z é] [a]" {
		t.Errorf("%v", files)
	}
	for _, order := range [][]string{{"a", "ab", "b", "é", "\ud7ff", "😀", "😁", "\ue000", "\uffff"}} {
		for i, x := range order {
			for k, y := range order {
				if got := byUnits(x, y); got != cmp.Compare(i, k) {
					t.Errorf("%q and %q: %d", x, y, got)
				}
			}
		}
	}
	if got := files.String(); got != "\n\n<read-files>\nZ\né\n</read-files>\n\n<modified-files>\na\n</modified-files>" {
		t.Errorf("%q", got)
	}
}

// forPi are sessions that pi reads as we do, by name: pi shows an empty session after a
// scalar, and takes ids that are numbers.
func forPi(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, s := range corpus.Sample(t) {
		if !strings.Contains(s.Name, "scalar-last") && !strings.Contains(s.Name, "nonstring-id") {
			all[s.Name] = s.Data
		}
	}
	return all
}

//go:embed testdata/picuts.mjs
var piCutsScript []byte

// A piCutting is how pi would compact a session, keeping that many tokens at its end. Kept is empty
// if it would do nothing.
type piCutting struct {
	Keep            int
	Kept            string          // the id of the first kept entry
	History, Prefix int             // messages to be summarised
	Tokens          int             // of the context before
	Previous        json.RawMessage // summary
	ReadFiles       []string
	ModifiedFiles   []string
	Throws          string
}

// TestPiCuts: pi's own code cuts where we do, whatever it is to keep.
func TestPiCuts(t *testing.T) {
	sessions := forPi(t)
	compared, cuts, named := 0, 0, 0
	for name, pi := range corpus.OfPi[struct{ Cuts []piCutting }](t, piCutsScript, sessions) {
		v := viewOf(t, corpus.Session{Name: name, Data: sessions[name]}, replay.Options{Rules: replay.ByPi})
		if v == nil {
			continue
		}
		for _, want := range pi.Cuts {
			if want.Throws != "" {
				continue
			}
			compared++
			cut := v.piCut(want.Keep)
			if want.Kept == "" {
				if cut.Why == "" {
					t.Errorf("%s: keeping %d: pi does nothing, we keep from %s", name, want.Keep, v.session().ID(cut.Kept))
				}
				continue
			}
			cuts++
			id := ""
			if cut.Kept >= 0 {
				id = v.session().ID(cut.Kept)
			}
			if sameEntry(v.session(), id, want.Kept) != nil || len(cut.History) != want.History || len(cut.Prefix) != want.Prefix {
				t.Errorf("%s: keeping %d: pi keeps from %s, and summarises %d and %d; we from %s %d and %d, %s",
					name, want.Keep, want.Kept, want.History, want.Prefix, id, len(cut.History), len(cut.Prefix), cut.Why)
			}
			if cut.previous >= 0 {
				if got := quoted(v.earlier(cut.previous)); !bytes.Equal(got, want.Previous) {
					t.Errorf("%s: keeping %d: previous summary %.40s, pi has %.40s, %v", name, want.Keep, got, want.Previous, v.texts.err)
				}
			} else if string(want.Previous) != `""` {
				t.Errorf("%s: keeping %d: no previous summary", name, want.Keep)
			}
			files := v.files(append(slices.Clone(cut.History), cut.Prefix...), cut.previous).files()
			if !slices.Equal(files.Read, want.ReadFiles) || !slices.Equal(files.Modified, want.ModifiedFiles) {
				t.Errorf("%s: keeping %d: files %+v, pi has %q and %q, %v", name, want.Keep, files, want.ReadFiles, want.ModifiedFiles, v.texts.err)
			}
			named += len(files.Read) + len(files.Modified)
			if strings.Contains(name, "/bad/") {
				continue // of an answer without id the usage does not count
			}
			if u, err := v.Envelope.Size(); err != nil || u.Stored() != want.Tokens {
				t.Errorf("%s: %d tokens, pi has %d, %v", name, u.Stored(), want.Tokens, err)
			}
		}
	}
	t.Logf("%d cuts of %d compared, %d files", cuts, compared, named)
	if cuts < 100 {
		t.Errorf("only %d cuts of %d compared", cuts, compared)
	}
}

// sameEntry says where two ids differ: those of version 1 files are made up.
func sameEntry(s *sessionfmt.Session, id, want string) error {
	if id == want || s.Version < 2 {
		return nil
	}
	return fmt.Errorf("%s is not %s", id, want)
}
