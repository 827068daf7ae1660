package origin

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// notes are what other programs noted about commits.
type notes struct {
	lines    map[string]string   // of git-ai, by commit
	sessions map[string][]string // of Entire, by commit
}

// noted reads the notes of git-ai and the trailers of Entire on the commits of the lines.
func (r *Repo) noted(files []*trace) *notes {
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
	said, _ := r.gitIn(r.Top, strings.Join(ids, "\n"), "log", "--stdin", "--no-walk",
		"--format=%H %(trailers:key=Entire-Checkpoint,valueonly,separator=%x20)")
	refs, _ := r.git("for-each-ref", "--format=%(refname)", "refs/heads/entire/checkpoints", "refs/entire/checkpoints",
		"refs/remotes/*/entire/checkpoints/**")
	checkpoints := map[string][]string{}
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		for _, id := range words[min(1, len(words)):] {
			if _, known := checkpoints[id]; !known {
				checkpoints[id] = r.checkpoint(strings.Fields(refs), id)
			}
			n.sessions[words[0]] = append(n.sessions[words[0]], checkpoints[id]...)
		}
	}
	return n
}

// checkpoint returns the sessions of a checkpoint of Entire, if it is here: a folder of a branch that has all of them,
// below the first two letters of the id, or a ref of its own.
func (r *Repo) checkpoint(refs []string, id string) (sessions []string) {
	if len(id) < 3 || strings.ContainsFunc(id, func(c rune) bool { return !strings.ContainsRune(wordLetters, c) }) {
		return nil
	}
	for _, ref := range refs {
		dir := id[:2] + "/" + id[2:]
		if path.Base(ref) == id {
			dir = "."
		}
		list, _ := r.git("ls-tree", "-r", "--name-only", ref, "--", dir)
		for name := range strings.Lines(list) {
			if name = strings.TrimSpace(name); path.Base(name) == "metadata.json" {
				text, _ := r.git("cat-file", "blob", ref+":"+name)
				v, err := jsonl.ParseValue([]byte(text))
				if id := v.Get("session_id"); err == nil && id.IsString() && !slices.Contains(sessions, id.Text()) {
					sessions = append(sessions, id.Text())
				}
			}
		}
	}
	return sessions
}

const wordLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// of returns the notes about a line.
func (n *notes) of(t *trace, i int) (all []Note) {
	b, ours := t.blamed[i], ""
	if b.commit == nil {
		return nil
	}
	if w := t.writer(i); w != nil {
		ours = w.of.owner()
	}
	if text := n.lines[b.commit.ID]; text != "" {
		session := gitAI(text, b.path, b.number)
		verdict := "names another session"
		switch {
		case session == ours:
			verdict = "agrees"
		case session == "":
			verdict = "names no session"
		case ours == "":
			verdict = "names a session"
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

// gitAI returns the session that a note of git-ai names for a line of a file, empty for none. A note lists files,
// below each the keys of prompts with ranges of lines, and after a line of dashes the meaning of the keys.
func gitAI(note, file string, number int) string {
	list, meta, _ := strings.Cut(note, "\n---")
	in, key := false, ""
	for line := range strings.Lines(list) {
		words := strings.Fields(strings.ReplaceAll(line, ",", " "))
		if !strings.HasPrefix(line, " ") || len(words) == 0 {
			in = strings.Trim(strings.TrimRight(line, "\r\n"), `"`) == file
			continue
		}
		for _, part := range words[1:] {
			first, last, _ := strings.Cut(part, "-")
			from, _ := strconv.Atoi(first)
			if to, _ := strconv.Atoi(cmp.Or(last, first)); in && from <= number && number <= to {
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
