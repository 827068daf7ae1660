package origin

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// A Note is what another program noted about a line.
type Note struct {
	By      string `json:"by"`                // `git-ai`, `Entire`
	Session string `json:"session,omitempty"` // the session that it names
	// `agrees`, `names another session`, `names a session` (none is found here), `names no session` (one is found here)
	Verdict string `json:"verdict"`
}

// notes are what other programs noted about commits.
type notes struct {
	lines    map[string]string   // of git-ai, by commit
	sessions map[string][]string // of Entire, by commit
}

// noted reads the notes of git-ai and the trailers of Entire on the commits of the lines.
func (r *Repo) noted(files []*traced) *notes {
	n := &notes{map[string]string{}, map[string][]string{}}
	var ids []string
	for _, t := range files {
		for _, b := range t.blamed {
			if b.commit != nil {
				ids = append(ids, b.commit.ID)
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	list, _ := r.git("notes", "--ref=refs/notes/ai", "list")
	for line := range strings.Lines(list) {
		blob, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, ours := slices.BinarySearch(ids, commit); ours {
			n.lines[commit], _ = r.git("cat-file", "blob", blob)
		}
	}
	said, _ := r.gitIn(r.Top, []byte(strings.Join(ids, "\n")), "log", "--stdin", "--no-walk",
		"--format=%H %(trailers:key=Entire-Checkpoint,valueonly,separator=%x20)")
	checkpoints := map[string][]string{}
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		for _, id := range words[min(1, len(words)):] {
			if _, known := checkpoints[id]; !known {
				checkpoints[id] = r.checkpoint(id)
			}
			n.sessions[words[0]] = append(n.sessions[words[0]], checkpoints[id]...)
		}
	}
	return n
}

// checkpoint returns the sessions of a checkpoint of Entire, if its branch is here.
func (r *Repo) checkpoint(id string) (sessions []string) {
	if len(id) < 3 || strings.Trim(id, "0123456789abcdef") != "" {
		return nil
	}
	for _, ref := range [...]string{"refs/heads/entire/checkpoints/v1", "refs/remotes/origin/entire/checkpoints/v1"} {
		list, _ := r.git("ls-tree", "-r", "--name-only", ref, "--", id[:2]+"/"+id[2:])
		for name := range strings.Lines(list) {
			name = strings.TrimSpace(name)
			if strings.HasSuffix(name, "/metadata.json") {
				text, _ := r.git("cat-file", "blob", ref+":"+name)
				if v, err := jsonl.ParseValue([]byte(text)); err == nil && v.Get("session_id").IsString() {
					sessions = append(sessions, v.Get("session_id").Text())
				}
			}
		}
	}
	return sessions
}

// of returns the notes about a line.
func (n *notes) of(t *traced, i int) (all []Note) {
	b, ours := t.blamed[i], ""
	if b.commit == nil {
		return nil
	}
	if m := t.matches[i]; m.by >= 0 {
		of := t.writes[m.by].of
		ours = cmp.Or(of.Owner, of.ID)
	}
	if text := n.lines[b.commit.ID]; text != "" {
		session := gitAI(text, b.path, b.number)
		verdict := "names no session"
		switch {
		case session == "" && ours == "":
			verdict = "agrees"
		case session != "" && ours == "":
			verdict = "names a session"
		case session != "" && session == ours:
			verdict = "agrees"
		case session != "":
			verdict = "names another session"
		}
		all = append(all, Note{"git-ai", session, verdict})
	}
	if sessions := n.sessions[b.commit.ID]; len(sessions) > 0 && ours != "" {
		note := Note{"Entire", sessions[0], "names another session"}
		if slices.ContainsFunc(sessions, func(id string) bool { return strings.HasSuffix(id, ours) }) { // after a date
			note = Note{"Entire", ours, "agrees"}
		}
		all = append(all, note)
	}
	return all
}

// gitAI returns the session that a note of git-ai names for a line of a file, empty for none. A note has the files,
// below each the keys of prompts with ranges of lines, and after a line of dashes what the keys stand for.
func gitAI(note, path string, number int) string {
	list, meta, _ := strings.Cut(note, "\n---")
	in, key := false, ""
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, " ") {
			in = strings.Trim(line, `"`) == path
			continue
		}
		words := strings.Fields(line)
		for _, part := range strings.Split(strings.Join(words[min(1, len(words)):], ","), ",") {
			first, last, ranged := strings.Cut(part, "-")
			from, _ := strconv.Atoi(first)
			to := from
			if ranged {
				to, _ = strconv.Atoi(last)
			}
			if in && from <= number && number <= to {
				key = words[0]
			}
		}
	}
	v, err := jsonl.ParseValue([]byte(strings.TrimSpace(meta)))
	if key == "" || err != nil {
		return key
	}
	return cmp.Or(v.Get("prompts").Get(key).Get("agent_id").Get("id").Text(), key)
}
