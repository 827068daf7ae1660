package show

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"testing"

	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/test/agents"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
	_ "ctxtool/sessionfmt/sqlite"
)

// TestEarned: of each session, no request prints that its messages are exact if one of the rules that it
// used is taken out of the table of compared rules.
func TestEarned(t *testing.T) {
	var names []string
	for _, pattern := range []string{"testdata/sessions/good/*", "testdata/agents/*/*.jsonl", "testdata/dialects/*",
		"replay/testdata/oh-my-pi/*/session.jsonl"} {
		names = append(names, must.Get(filepath.Glob(filepath.Join(corpus.Root(t), pattern)))...)
	}
	// not of Claude Code, whose records prove requests without rules
	for _, packed := range []string{"cline/testdata/recorded/3.0.65", "codex/testdata/recorded/0.123.0",
		"copilot/testdata/recorded/1.0.102", "opencode/testdata/recorded/1.18.33",
		"opencode/testdata/kilo/recorded/7.7.7", "pi/testdata/recorded/1.5.2"} {
		names = append(names, recordedSessions(t, packed)...)
	}
	for _, pattern := range []string{"vectors/pi-1.5/*.jsonl", "vectors/codex/*/rollout*", "vectors/opencode/*/opencode.db", "vectors/agents/kilo/kilo.db"} {
		found := testenv.Shared(t, pattern)
		for _, name := range found {
			if !sessionfmt.IsDatabase(sessionfmt.Disk{}, name) {
				names = append(names, name)
				continue
			}
			must.Do(sessionfmt.InDatabase(sessionfmt.Disk{}, name, func(id string, _ jsonl.Value, _ *dialect.Dialect, _ bool) {
				names = append(names, id)
			}))
		}
	}
	exact, sure := map[string]int{}, []byte(`"certainty":{"messages":"exact"`)
	for _, name := range names {
		s, err := sessionfmt.Open(name, sessionfmt.Options{})
		if err != nil {
			continue // what else is in the folder
		}
		table, agent := &pi.Rules, "pi"
		if d := s.Dialect(); d != nil {
			table, agent = &d.Rules, d.Name
		} else if s.OhMyPi() {
			table, agent = &pi.OhMyPi, dialect.OhMyPi
		}
		r := replay.New(s, replay.Options{})
		for rec := range s.Len() {
			if !s.Answers(rec) {
				continue
			}
			e, stopped, err := r.Reach(sessionfmt.Before(rec))
			must.Do(err)
			if stopped != nil || !bytes.Contains(printed("json", Report{Envelope: e}), sure) {
				continue
			}
			exact[agent]++
			for one := range e.Rules().All {
				whole := *table
				*table = whole.Without(one)
				if bytes.Contains(printed("json", Report{Envelope: e}), sure) {
					t.Errorf("%s: request %d is exact without the rule %q", name, e.RequestIndex, whole.Info(one).Name)
				}
				*table = whole
			}
		}
		s.Close()
	}
	for _, agent := range []string{"pi", "cline", "codex", "copilot", "opencode", "kilo"} {
		if exact[agent] == 0 {
			t.Errorf("no request of %s is exact: %v", agent, exact)
		}
	}
	t.Log(exact)
}

// recordedSessions are sessions of a recording of the bench: some, or with CTXTOOL_WHOLE all of them.
func recordedSessions(t *testing.T, packed string) (names []string) {
	t.Helper()
	for _, dir := range agents.Unpack(t, filepath.Join(corpus.Root(t), "internal/read/dialect", packed+".tar.zst")) {
		must.Do(filepath.WalkDir(filepath.Join(dir, "home"), func(name string, d fs.DirEntry, err error) error {
			if info, failed := d.Info(); err == nil && failed == nil && info.Mode().IsRegular() && info.Size() < 100<<10 {
				names = append(names, name)
			}
			return err
		}))
	}
	return names[:min(len(names), corpus.Pick(12, len(names)))]
}

// TestUnread: what no rule reads is never exact, whatever was compared.
func TestUnread(t *testing.T) {
	table := rule.NewTable(nil, []rule.Compared{{Rule: rule.Unread, Version: "1", Requests: 9, Equal: 9}})
	if left := table.Uncompared(rule.Of(rule.Unread), "1"); len(left) != 1 {
		t.Error(left)
	}
}
