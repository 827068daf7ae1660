package compact

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt/jsonl"
)

// call records a call of an answer.
func (x *extractor) call(c activity.Call) {
	d := deed{Deed: c.Deed(cleanPath), why: x.words}
	for _, d.path = range d.Paths {
		d.first = x.sees(d.path)
	}
	code := c.Args.Get("content").Text() + "\n"
	for _, r := range c.Replacements() {
		code += r.New + "\n"
	}
	if d.path != "" && path.Ext(d.path) != ".md" {
		for name := range activity.Definitions(code) {
			x.defined[name] = d.path
		}
	}
	x.todos(c.Args.Get("todos"))
	x.todos(c.Args.Get("plan"))
	x.calls[c.ID] = d
}

// cleanPath returns a path on one line, empty if it is not usable as a path.
func cleanPath(path string) string {
	path = strings.TrimSpace(path)
	if path == "." || path == ".." || strings.ContainsAny(path, "\n\r`") || len(path) > 1000 {
		return ""
	}
	return strings.ToValidUTF8(path, "\uFFFD")
}

// todos records a list of tasks that a tool keeps.
func (x *extractor) todos(list jsonl.Value) {
	for item := range list.Elements {
		var named [4]jsonl.Value // by the names that tools use
		item.Fields(named[:], "content", "text", "step", "title")
		text := oneLine(cmp.Or(named[0].Text(), named[1].Text(), named[2].Text(), named[3].Text()), 200)
		switch status := item.Get("status").Text(); {
		case text == "":
		case status == "completed" || status == "done":
			x.finished(text)
		default:
			x.put(&theTodo, wordsOf(text), text, x.now)
		}
	}
}

// result records the outcome of a call.
func (x *extractor) result(p *piece) {
	d, ok := x.calls[p.ID]
	if !ok {
		d.Deed = activity.Deed{What: p.tool(), Action: activity.Named(p.tool())}
	}
	delete(x.calls, p.ID)
	outcome := activity.OutcomeOf(p.IsError == isError, p.Says)
	if outcome > activity.Error {
		return // the error is not about the file or command
	}
	x.outcome(d, p.Says, outcome == activity.Error, exitOf(p.Says))
}

// outcome records how a call, or a command that the user ran, ended.
func (x *extractor) outcome(d deed, text string, bad bool, exit string) {
	failed := ""
	if bad {
		reason := activity.ErrorLine(text)
		failed = d.Failed(reason)
		said := "`" + failed + "` failed"
		if exit != "" {
			said += " (" + exit + ")"
		}
		if line := oneLine(reason, 200); line != "" {
			said += ": " + line
		}
		x.failed[failed] = note{text: said, at: x.now}
	} else {
		for what := range d.Done {
			delete(x.failed, what)
		}
	}
	for _, c := range d.Commands {
		r := x.runs[c]
		if r == nil {
			r = &CommandFact{Command: c, Judges: tests(c)}
			x.runs[c] = r
		}
		r.Times++
		r.at = x.now
		if !bad || c == failed { // otherwise it may not have run
			r.OK = !bad
		}
		if r.Judges && c == cmp.Or(failed, d.What) {
			r.Verdict = verdict(text)
		}
		if strings.HasPrefix(c, "git ") {
			x.saved(commitsIn(text))
		}
		if strings.HasPrefix(c, "gh ") && strings.HasSuffix(c, " create") || c == "git push" {
			for _, url := range addresses(text[:min(len(text), 4<<10)]) {
				x.put(&theAddress, "", url, x.now)
			}
		}
	}
	if d.path != "" && !bad {
		x.worked(d, text)
	}
}

// references records the sentences of an answer about places in code, and about names that
// calls have defined.
func (x *extractor) references(text string) {
	const fewest = 5 // words; a shorter sentence is a list item, and the one before it gives the context
	about := ""
	for line := range activity.Prose(text) {
		for s := range activity.Sentences(listText(line)) {
			if len(strings.Fields(s)) >= fewest {
				about = s
			}
			for ref := range activity.References(s) {
				x.put(&theReference, ref, oneLine(about, 200), x.now)
			}
			for _, name := range named(s) {
				if path := x.defined[name]; path != "" {
					x.put(&theReference, path+":"+name, oneLine(about, 200), x.now)
				}
			}
		}
	}
}

// worked records that a file was read or changed.
func (x *extractor) worked(d deed, text string) {
	f := x.file(d.path)
	if d.Action == activity.Read || d.Action.Changes() {
		f.Uses++
	}
	if base := path.Base(d.path); d.Action == activity.Read && activity.Manifest(base) {
		for _, name := range activity.Dependencies(base, text) {
			x.needs[name] = true
		}
	}
	switch d.Action {
	case activity.Edit:
		f.edits++
	case activity.Write:
		f.writes++
	default:
		return
	}
	f.changed, f.Created = x.now, f.Created || d.first && d.Action == activity.Write
	f.Said, f.Asked, f.Commit, f.unsaved = d.why, cmp.Or(x.task, x.asked), "", true
}

// saved records commits.
func (x *extractor) saved(all []commit) {
	for _, c := range all {
		x.commits++
		unsaved := x.filesThat(func(f *FileFact) bool { return f.unsaved })
		for _, f := range unsaved {
			f.Commit, f.CommitFiles, f.unsaved = c.subject, len(unsaved), false
		}
		x.put(&theCommit, c.hash, "`"+c.hash+"` on `"+c.branch+"`: "+c.subject, x.now)
	}
}

// filesThat returns the files for which a condition holds, sorted by name.
func (x *extractor) filesThat(is func(f *FileFact) bool) (all []*FileFact) {
	for _, path := range slices.Sorted(maps.Keys(x.uses)) {
		if f := x.uses[path]; is(f) {
			all = append(all, f)
		}
	}
	return all
}

// end adds the notes on deeds, after all messages.
func (x *extractor) end(messages int) {
	if x.open && x.asked != "" {
		x.put(&theTodo, "asked", oneLine(x.asked, 160), x.now)
	}
	if x.last != "" {
		x.put(&theAnswer, "last", oneLine(strings.Join(slices.Collect(activity.Prose(x.last)), " "), 400), x.now)
	}
	x.lastRequest()
	const stale = 3 // number of prompts
	if x.prompts-x.planned > stale {
		x.replan(nil)
	}
	for _, what := range slices.Sorted(maps.Keys(x.failed)) {
		x.put(&theOpen, what, x.failed[what].text, x.failed[what].at)
	}
	for _, c := range slices.Sorted(maps.Keys(x.runs)) {
		r := x.runs[c]
		if !r.Judges || !r.OK {
			x.put(&theCommand, c, "`"+c+"`", r.at)
			continue
		}
		text := fmt.Sprintf("`%s`: %s, the last ", c, phrase.Count(r.Times, "run"))
		switch {
		case r.Verdict == "":
			text += "ok"
		case containsAny(strings.ToLower(r.Verdict), "error", "fail"):
			text += "said: " + r.Verdict
		default:
			text += "ok: " + r.Verdict
		}
		x.put(&theTest, c, text, r.at)
	}
	for _, f := range x.filesThat((*FileFact).isChanged) {
		x.put(&theWork, f.Path, "`"+f.Path+"`: "+f.work(), f.changed)
	}
	for _, f := range x.uncommitted() {
		x.put(&theUnsaved, f.Path, "`"+f.Path+"`", f.called)
	}
	x.places()
	x.put(&theContext, "source",
		fmt.Sprintf("Extracted from %d messages, without a model: what stands here is quoted or counted.",
			messages), x.now)
}

// facts returns what was counted and quoted, for notes.
func (x *extractor) facts() *Facts {
	x.end(x.now)
	x.remove(&theTodo, "asked")
	f := &Facts{
		Goal: x.goal, Asked: x.thread, Answer: x.reply, Open: x.open,
		Decisions: x.factsOf(&theDecision), References: x.factsOf(&theReference), Todo: x.factsOf(&theTodo),
		Done:  x.factsOf(&theDone),
		Steps: x.factsOf(&theStep), Failed: x.factsOf(&theOpen), Commits: x.factsOf(&theCommit),
		Needs: slices.Sorted(maps.Keys(x.needs)),
	}
	for _, one := range x.uncommitted() {
		f.Unsaved = append(f.Unsaved, one.Path)
	}
	for i := range f.Commits {
		_, f.Commits[i].Text, _ = strings.Cut(f.Commits[i].Text, ": ")
	}
	for _, one := range x.filesThat(func(f *FileFact) bool { return f.Uses > 0 }) {
		if one.Record = x.record(one.called); one.isChanged() {
			one.Changes, one.Record = one.edits+one.writes, x.record(one.changed)
		}
		f.Files = append(f.Files, *one)
	}
	sorting.By(f.Files, func(a, b FileFact) int { return b.Changes - a.Changes })
	for _, c := range slices.Sorted(maps.Keys(x.runs)) {
		f.Commands = append(f.Commands, *x.runs[c])
	}
	return f
}

// factsOf returns the notes of a kind, in the order in which they were first put.
func (x *extractor) factsOf(k *kind) (all []Fact) {
	for _, n := range x.of(k) {
		all = append(all, Fact{n.key, n.text, x.record(n.at)})
	}
	return all
}

// record returns the record of a message by its number, -1 for 0, which is an earlier summary.
func (x *extractor) record(number int) int {
	if number == 0 {
		return -1
	}
	return int(x.records[number-1])
}

// places adds notes on the files that tools were called with. Names that no list can hold are quoted like Go
// strings, among the other paths.
func (x *extractor) places() {
	f := x.files.files()
	known := map[string]bool{}
	for _, list := range []struct {
		kind  *kind
		paths []string
	}{{&theModified, f.Modified}, {&theRead, f.Read}} {
		for _, path := range list.paths {
			if known[path] = true; path == cleanPath(path) {
				x.put(list.kind, "", path, x.file(path).called)
			} else {
				path = spelled(path)
				x.put(&thePlace, path, "`"+path+"`", 0)
			}
		}
	}
	for _, f := range x.filesThat(func(f *FileFact) bool { return f.named && !known[f.Path] }) {
		x.put(&thePlace, f.Path, "`"+f.Path+"`", f.called)
	}
}

// spelled returns a path as a Go string on one line.
func spelled(path string) string { return strings.ReplaceAll(strconv.Quote(path), "`", `\x60`) }

// follow adds a prompt to the thread of the last request. says reports whether it has enough words to be a
// request.
func (x *extractor) follow(prompt string, says bool) {
	const (
		much    = 8 // words
		longest = 4 // prompts; the first is what the others are about
	)
	words, agreed := len(strings.Fields(prompt)), agrees(prompt)
	switch {
	case agreed && words < 2, !agreed && !says:
		return
	case !agreed:
		x.task = x.asked
		if words >= much {
			x.thread = nil
		}
	}
	if len(x.thread) == longest {
		x.thread = slices.Delete(x.thread, 1, 2)
	}
	x.thread = append(x.thread, oneLine(prompt, 400))
}

// lastRequest adds the direction from the last request, unless that is the goal, and removes
// repetitions.
func (x *extractor) lastRequest() {
	asked := x.of(&theRequest)
	if len(asked) == 0 {
		return
	}
	last := asked[0]
	for _, n := range asked {
		if n.at >= last.at {
			last = n
		}
	}
	goal := ""
	for _, n := range x.of(&theGoal) {
		goal += n.text + "\n"
	}
	said := func(text string) bool { return strings.Contains(goal, strings.TrimSuffix(text, " …")) }
	if !said(last.text) {
		text := last.text
		if x.asked != "" {
			text = x.asked
		}
		x.put(&theDirection, "last", text, last.at)
	}
	for _, n := range append(asked, x.of(&theWish)...) {
		if said(n.text) || n.kind == &theRequest && n.key == last.key {
			x.remove(n.kind, n.key)
		}
	}
}

// uncommitted returns the files that have changed since the last commit, none without a commit.
func (x *extractor) uncommitted() []*FileFact {
	return x.filesThat(func(f *FileFact) bool { return f.unsaved && x.commits > 0 })
}

func (f *FileFact) isChanged() bool { return f.edits+f.writes > 0 }

// work returns how often a file was changed.
func (f *FileFact) work() string {
	switch {
	case f.writes == 0:
		return phrase.Count(f.edits, "edit")
	case f.edits == 0:
		return phrase.Count(f.writes, "write")
	}
	return phrase.Count(f.edits, "edit") + ", " + phrase.Count(f.writes, "write")
}
