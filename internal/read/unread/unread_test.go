package unread

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// named are the agents that have to be known by name, with where one of their sessions is.
var named = map[string]string{
	"Continue": ".continue/sessions/8d3c-1.json", "Crush": ".local/share/crush/projects.json",
	"Amp": ".local/share/amp/threads/T-1.json", "Goose": ".local/share/goose/sessions/sessions.db",
	"Kimi":  ".kimi-code/sessions/wd_w_1/session_1/state.json",
	"Droid": ".factory/sessions/-w/8d3c.jsonl", "Kiro": ".kiro/sessions/cli/8d3c.jsonl",
	"Vibe": ".vibe/logs/session/session_1/messages.jsonl", "Hermes": ".hermes/state.db",
	"Antigravity": ".gemini/antigravity-cli/conversations/8d3c.db",
	"Cursor":      ".cursor/chats/0123/8d3c/store.db",
}

// TestFind: each agent's store is found in the home, by itself, with the number of sessions where names tell it, and
// none where the folder has no session.
func TestFind(t *testing.T) {
	none := func(string) string { return "" }
	same := func(name string) string { return name }
	for agent, file := range named {
		home := t.TempDir()
		name := filepath.Join(home, filepath.FromSlash(file))
		must.Do(os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(os.WriteFile(name, []byte("{}"), 0o600))
		found := Find(none, home, same)
		if len(found) != 1 || found[0].Agent != agent || found[0].Hint == "" ||
			!strings.HasPrefix(name, found[0].Folder) {
			t.Errorf("%s: %+v", agent, found)
			continue
		}
		if info := must.Get(os.Stat(found[0].Folder)); info.IsDir() != (found[0].Sessions == 1) {
			t.Errorf("%s: %d sessions", agent, found[0].Sessions)
		}
		must.Do(os.Remove(name))
		if left := Find(none, home, same); filepath.Dir(name) == found[0].Folder && len(left) > 0 {
			t.Errorf("%s: an empty store is %+v", agent, left)
		}
	}
	if found := Find(none, "", same); len(found) > 0 {
		t.Errorf("without a home: %+v", found)
	}
}

// TestFindElsewhere: variables name other places.
func TestFindElsewhere(t *testing.T) {
	dir := t.TempDir()
	for variable, file := range map[string]string{
		"CONTINUE_GLOBAL_DIR": "sessions/8d3c-1.json", "XDG_DATA_HOME": "amp/threads/T-1.json",
		"XDG_CONFIG_HOME": "Cursor/User/globalStorage/state.vscdb", "GOOSE_PATH_ROOT": "data/sessions/sessions.db",
		"KIMI_CODE_HOME": "sessions/a/session_b", "HERMES_HOME": "state.db",
	} {
		name := filepath.Join(dir, variable, filepath.FromSlash(file))
		must.Do(os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(os.WriteFile(name, nil, 0o600))
		found := Find(func(key string) string {
			if key == variable {
				return filepath.Join(dir, variable)
			}
			return ""
		}, filepath.Join(dir, "home"), func(name string) string { return name })
		if len(found) != 1 || !strings.HasPrefix(name, found[0].Folder) {
			t.Errorf("%s: %+v", variable, found)
		}
	}
}

// TestAgents: each row has a source, and what can be done where it has a store.
func TestAgents(t *testing.T) {
	for _, a := range agents {
		if a.Source == "" || a.Stores != nil && a.Hint == "" {
			t.Errorf("%s has no source or no hint", a.Name)
		}
		if a.Folders == nil && a.Files == nil && a.Tables == nil {
			t.Errorf("%s has no signature", a.Name)
		}
	}
	for name := range named {
		if !slices.ContainsFunc(agents, func(a Agent) bool { return a.Name == name && a.Stores != nil }) {
			t.Errorf("%s is not known", name)
		}
	}
}
