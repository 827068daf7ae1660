package migrate

import (
	"strings"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// compactionK is a compaction of userA to userC with members that its patch has no
// place for, and patchK the beginning of that patch, up to its id.
const (
	compactionK = `{"type":"compaction","id":"k","parentId":"c","timestamp":"2026-01-01T00:00:04.000Z","summary":"S\u0041\/","firstKeptEntryId":"b","tokensBefore":1.50,"details":{"readFiles":["x"]},"fromHook":false}`
	patchK      = `{"type":"context_transform","schemaVersion":1,"transformerName":"compaction","patch":[{"op":"compaction_apply","scope":"cached","summary":"S\u0041\/","timestamp":1767225604000,"firstKeptMessageIndex":1,"tokensBefore":1.50,"invalidateCacheReason":"compaction"}],"display":{"title":"Compaction"}`
	userD       = `{"type":"message","id":"d","parentId":"k","timestamp":"2026-01-01T00:00:05.000Z","message":{"role":"user","content":"D"}}`
	labelK      = `{"type":"label","id":"l","parentId":"d","timestamp":"2026-01-01T00:00:06.000Z","targetId":"k","label":"cut"}`
)

// compaction is a compaction with that id, below another entry.
func compaction(id, parent, kept, rest string) string {
	return `{"type":"compaction","id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-01-01T00:00:07.000Z","summary":"S` + id + `","firstKeptEntryId":"` + kept + `"` + rest + `}`
}

// patch is the patch of such a compaction.
func patch(s, index, id, parent string) string {
	return `{"type":"context_transform","schemaVersion":1,"transformerName":"compaction","patch":[{"op":"compaction_apply","scope":"cached","summary":"S` + s + `","timestamp":1767225607000,"firstKeptMessageIndex":` + index +
		`,"invalidateCacheReason":"compaction"}],"display":{"title":"Compaction"},"id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-01-01T00:00:07.000Z"}`
}

// numbered has numbers for ids.
func numbered(line string) string {
	return strings.NewReplacer(`"id":"k"`, `"id":8`, `"parentId":"a"`, `"parentId":7`, `"firstKeptEntryId":"a"`, `"firstKeptEntryId":7`).Replace(line)
}

var compactions = []rule{
	{
		name: "pair",
		opt:  Options{Compaction: Pair},
		in:   []string{head3, userA, userB, userC, compactionK, userD, labelK, ""},
		out: []string{
			head3, userA, userB, userC,
			patchK + `,"id":"84ced7f0","parentId":"c","timestamp":"2026-01-01T00:00:04.000Z"}`,
			strings.Replace(compactionK, `"parentId":"c"`, `"parentId":"84ced7f0"`, 1), userD, labelK,
		},
	}, {
		name: "transform: id, children and labels stay, and so does what only the compaction says",
		opt:  Options{Compaction: Transform},
		in:   []string{head3, userA, userB, userC, compactionK, userD, labelK, ""},
		out: []string{
			head3, userA, userB, userC,
			patchK + `,"id":"k","parentId":"c","timestamp":"2026-01-01T00:00:04.000Z","details":{"readFiles":["x"]},"fromHook":false}`,
			userD, labelK,
		},
	}, {
		name: "auto in a file with patches; what is shadowed stays alone",
		in: []string{
			head3, userA, patch("x", "0", "t", "a"), compaction("k", "t", "a", ""), compaction("m", "k", "m", ""), "",
		},
		out: []string{
			head3, userA, patch("x", "0", "t", "a"), compaction("k", "t", "a", ""),
			patch("m", "2", "3bc5c2c3", "k"), compaction("m", "3bc5c2c3", "m", ""),
		},
	}, {
		name:   "a checkpoint",
		opt:    Options{Compaction: Pair},
		in:     []string{head3, userA, compaction("k", "a", "a", `,"systemMessage":{"role":"system","content":"P"}`), ""},
		native: []string{"it carries a checkpoint"},
	}, {
		name:   "system messages that it drops",
		opt:    Options{Compaction: Pair},
		in:     []string{head3, strings.Replace(userA, "user", "system", 1), userB, compaction("k", "b", "b", ""), ""},
		native: []string{"it drops system messages"},
	}, {
		name:   "one that brings back what another had cut",
		opt:    Options{Compaction: Pair},
		in:     []string{head3, userA, userB, userC, compaction("k", "c", "c", ""), compaction("m", "k", "b", ""), ""},
		native: []string{"another compaction on its path", "it keeps messages that an earlier compaction cut"},
	}, {
		name: "one on another branch does not matter",
		opt:  Options{Compaction: Transform},
		in:   []string{head3, userA, userB, userC, compaction("k", "c", "c", ""), compaction("m", "c", "b", ""), ""},
		out: []string{
			head3, userA, userB, userC, patch("k", "2", "k", "c"), patch("m", "1", "m", "c"),
		},
	}, {
		name:   "one before one that stays",
		opt:    Options{Compaction: Transform},
		in:     []string{head3, userA, userB, userC, compaction("k", "c", "b", ""), userD, compaction("m", "d", "c", `,"systemMessage":{"role":"system"}`), ""},
		native: []string{"another compaction on its path", "it carries a checkpoint"},
	}, {
		name:   "a patch alone right before one that stays would shadow it",
		opt:    Options{Compaction: Transform},
		in:     []string{head3, userA, userB, userC, compaction("k", "c", "b", ""), compaction("m", "k", "c", `,"systemMessage":{"role":"system"}`), ""},
		native: []string{"another compaction on its path", "it carries a checkpoint"},
	}, {
		name:   "an edit that omits the summary",
		opt:    Options{Compaction: Pair},
		in:     []string{head3, userA, compaction("k", "a", "a", ""), `{"type":"context_edit","id":"e","parentId":"k","targetId":"k","replacement":null}`, ""},
		native: []string{"an edit targets it"},
	}, {
		name: "an edit from above the kept entries is forgotten",
		opt:  Options{Compaction: Pair},
		in: []string{
			head3, userA, `{"type":"context_edit","id":"b","parentId":"a","targetId":"c","replacement":null}`, userC, compaction("k", "c", "c", ""), "",
		},
		native: []string{"it keeps messages that an earlier compaction cut, or undoes an edit"},
	}, {
		name: "an edit that one compaction forgets, and the next one brings back",
		opt:  Options{Compaction: Pair},
		in: []string{
			head3, userA, userB, `{"type":"context_edit","id":"e","parentId":"b","targetId":"z","replacement":null}`, strings.Replace(userC, `"parentId":"b"`, `"parentId":"e"`, 1),
			strings.Replace(compaction("k", "c", "c", ""), "2026", "", 1), compaction("m", "k", "e", ""), strings.NewReplacer(`"a"`, `"z"`, "null", `"m"`).Replace(userA), "",
		},
		native: []string{"it has no valid time", "it drops or restores an edit"},
	}, {
		name: "an omitted message is kept first, and comes back",
		opt:  Options{Compaction: Pair},
		in: []string{
			head3, userA, userB, userC, `{"type":"context_edit","id":"e","parentId":"c","targetId":"b","replacement":null}`, compaction("k", "e", "b", ""),
			`{"type":"context_edit","id":"f","parentId":"k","targetId":"b","replacement":{"content":"back"}}`, "",
		},
		native: []string{"the first message that it keeps is omitted"},
	}, {
		name: "ids that are numbers",
		opt:  Options{Compaction: Transform},
		in:   []string{head3, strings.Replace(userA, `"a"`, `7`, 1), numbered(compaction("k", "a", "a", "")), ""},
		out:  []string{head3, strings.Replace(userA, `"a"`, `7`, 1), numbered(patch("k", "0", "k", "a"))},
	}, {
		name: "no id",
		opt:  Options{Compaction: Transform},
		in:   []string{head3, userA, strings.Replace(compaction("k", "a", "a", ""), `"id":"k",`, "", 1), ""},
		out:  []string{head3, userA, patch("k", "0", "3933a028", "a")},
	}, {
		name:   "no time",
		opt:    Options{Compaction: Pair},
		in:     []string{head3, userA, strings.Replace(compaction("k", "a", "a", ""), "2026", "", 1), ""},
		native: []string{"it has no valid time"},
	}, {
		name:   "a member that would be the patch's own",
		opt:    Options{Compaction: Transform},
		in:     []string{head3, userA, compaction("k", "a", "a", `,"display":"x"`), ""},
		native: []string{"it has a field"},
	}, {
		name:   "after a patch that stops the replay",
		opt:    Options{Compaction: Pair},
		in:     []string{head3, userA, `{"type":"context_transform","id":"b","parentId":"a"}`, userC, compaction("k", "c", "c", ""), ""},
		native: []string{"no replay reaches it"},
	}, {
		name: "messages that no provider gets do not count",
		opt:  Options{Compaction: Transform},
		in:   []string{head3, strings.Replace(userA, "user", "nobody", 1), userB, userC, compaction("k", "c", "c", ""), ""},
		out:  []string{head3, strings.Replace(userA, "user", "nobody", 1), userB, userC, patch("k", "1", "k", "c")},
	}, {
		name: "version 1, to 2",
		opt:  Options{To: 2, Compaction: Pair},
		in:   []string{head1, `{"type":"message","message":{"role":"user","content":"A"}}`, `{"type":"compaction","timestamp":"2026-01-01T00:00:07.000Z","summary":"Sk","firstKeptEntryIndex":1}`, ""},
		out: []string{
			strings.TrimSuffix(head1, "}") + `,"version":2}`,
			`{"type":"message","message":{"role":"user","content":"A"},"id":"acda1e2c","parentId":null}`,
			patch("k", "0", "dd95c33e", "acda1e2c"),
			`{"type":"compaction","timestamp":"2026-01-01T00:00:07.000Z","summary":"Sk","id":"13aa4cd6","parentId":"dd95c33e","firstKeptEntryId":"acda1e2c"}`,
		},
	},
}

func TestCompactions(t *testing.T) {
	for _, tt := range compactions {
		t.Run(tt.name, tt.check)
	}
}

// TestGrown: what current pi gets when the compactions are gone from its sight.
func TestGrown(t *testing.T) {
	s := open(t, "s.jsonl", []byte(strings.Join([]string{head3, userA, userB, userC, compactionK, userD}, "\n")))
	r := migrated(t, s, Options{Compaction: Transform})
	var sizes []int
	for _, e := range []struct {
		s    *replay.Replay
		leaf int
	}{{replay.New(r.was, replay.Options{Rules: replay.ByPi}), r.was.Leaf()}, {replay.New(r.is, replay.Options{Rules: replay.ByPi}), r.is.Leaf()}} {
		env := must.Get(e.s.At(sessionfmt.After(e.leaf)))
		n := must.Get(env.Count(&tokens.Pi))
		sizes = append(sizes, n.Total)
	}
	if r.plan.Grown != sizes[1]-sizes[0] || r.plan.Grown == 0 {
		t.Errorf("grown by %d, want %v", r.plan.Grown, sizes)
	}
}

// TestGoldenFiles holds whole files in all modes.
func TestGoldenFiles(t *testing.T) {
	for _, name := range []string{"v1", "v2"} {
		s := open(t, name, ownSession(t, "sessions/good/"+name+".jsonl"))
		for _, mode := range modes {
			golden.Equal(t, "testdata/"+name+"-"+string(mode)+".jsonl", migrated(t, s, Options{Compaction: mode}).out)
		}
	}
}
