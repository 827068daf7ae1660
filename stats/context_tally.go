package stats

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/activity"
	"ctxtool/replay"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats/table"
)

// A contextTally counts the request at the point.
type contextTally struct {
	l      *lensRun
	part   *ContextPart
	calls  map[string]string // file paths of reading calls, by call id
	files  []fileReads       // in the order of their first read
	fileAt map[string]int    // by path
}

// fileReads are the reads of a file; newest is the tokens of the last one.
type fileReads struct {
	Reread
	newest int
}

// add adds to a category. It ignores content without tokens.
func (t *contextTally) add(category, name string, tokens, bytes, messages int) {
	if tokens == 0 && bytes == 0 {
		return
	}
	c := t.part.category(category, name)
	c.Tokens += tokens
	c.Bytes += int64(bytes)
	c.Messages += messages
}

// message counts a message of the request.
func (t *contextTally) message(m *weighed) {
	n, b := m.Tokens, m.Bytes
	if m.Ephemeral { // not part of the context
		t.add(inEphemeral, "", n.Total(), b.Total(), 1)
		return
	}
	t.part.Sessions[0].Messages++
	s, from := t.l.Session, m.Origin.Record
	t.part.Largest = keep(t.part.Largest, ContextEntry{
		Entry: sessionfmt.Quote(s.ID(from)), Line: s.Line(from), Kind: m.Kind.String(), Tool: m.Result.Tool,
		Tokens: n.Total(), Bytes: m.Size,
	}, entryTokens)
	switch m.Kind {
	case jsonl.User:
		skill := m.Skill
		skill.Tokens = min(skill.Tokens, n.Text)
		if skill.Bytes > 0 {
			t.add(inSkills, skill.Name, skill.Tokens, skill.Bytes, 1)
		}
		t.add(inUser, "", n.Text-skill.Tokens, b.Text-skill.Bytes, 1)
	case jsonl.Assistant:
		t.add(inAssistant, "", n.Text, b.Text, 1)
	case jsonl.ToolResult:
		t.add(inResults, m.Result.Tool, n.Text, b.Text, 1)
		t.read(m)
	case jsonl.CompactionMessage:
		t.add(inSummaries, "compaction", n.Text, b.Text, 1)
	case jsonl.BranchMessage:
		t.add(inSummaries, "branch", n.Text, b.Text, 1)
	case jsonl.Bash:
		t.add(inShell, "", n.Text, b.Text, 1)
	default:
		category := inCustom
		if m.Hidden {
			category = inUnseen
		}
		t.add(category, "", n.Text, b.Text, 1)
	}
	t.add(inThinking, "", n.Thinking, b.Thinking, 1)
	t.add(inCalls, "", n.Calls, b.Calls, 1)
	t.add(inImages, "", n.Images, b.Images, 1)
	for _, r := range m.Reads {
		t.calls[r.Call] = r.Path
	}
}

// read records the result of a tool that reads a file.
func (t *contextTally) read(m *weighed) {
	name, ok := t.calls[m.Result.Call]
	if !ok {
		return
	}
	delete(t.calls, m.Result.Call)
	if m.Result.Error {
		return
	}
	name = path.Clean(name)
	if folder := t.l.Report.Project; folder != "" {
		name = strings.TrimPrefix(name, path.Clean(folder)+"/")
	}
	f := rowOf(&t.files, t.fileAt, name, fileReads{Reread: Reread{Path: name}})
	f.Times++
	f.Tokens += f.newest
	f.newest, f.Entry = m.Tokens.Total(), sessionfmt.Quote(t.l.Session.ID(m.Origin.Record))
}

// prompt counts prompt and tools.
func (t *contextTally) prompt(e *replay.Envelope) {
	p, err := e.Prompt()
	if t.l.fail(err); err != nil {
		return
	}
	t.part.Sessions[0].PromptKnown = p.Known
	_, tools := p.Count(t.l.Counter)
	parts, taken := p.CountSplit(t.l.Counter)
	for i, part := range parts {
		category, name := inSystem, part.Name
		if part.Skill != "" {
			category = inSkills
		} else if name == "skills" {
			category, name = inSkills, ""
		}
		t.add(category, name, taken[i], len(part.Text), 0)
	}
	for i, tool := range p.Tools {
		t.add(inTools, tool.Name, tools[i], len(tool.Raw), 0)
	}
}

// finish completes the part from the counts.
func (t *contextTally) finish() {
	p := t.part
	c := &p.Sessions[0]
	for i := range p.Categories {
		if p.Categories[i].Category != inEphemeral {
			c.Counted += p.Categories[i].Tokens
			c.Bytes += p.Categories[i].Bytes
		}
	}
	c.Tokens = c.Usage.Tokens
	p.category(inRest, "").Tokens = c.Tokens - c.Counted
	c.Share = share(c.Tokens, c.Window)
	p.order()
	again := &p.Rereads
	for _, f := range t.files {
		if f.Times > 1 {
			again.Files++
			again.Tokens += f.Tokens
			again.Largest = append(again.Largest, f.Reread)
		}
	}
	again.Largest = largest(again.Largest, most, rereadTokens)
}

// An Offer is something that requests of a path provide for the model to use: a tool, a skill that the prompt
// lists, or a context file in it.
type Offer struct {
	Kind     string `json:"kind"`           // `tool`, `skill`, `file`
	Name     string `json:"name"`           // of a file its path
	Path     string `json:"path,omitempty"` // the file of a skill
	Tokens   int    `json:"tokens"`         // of one request, on average
	Requests int    `json:"requests"`       // answered ones that had it
	Total    int    `json:"total"`          // tokens of all of them
	// calls of a tool, loads of a skill; 0 for files, which are always included
	Used  int `json:"used"`
	Since int `json:"since"` // requests that had it after its last use, or all

	now  int // how often the request has it
	per  int // tokens of the request
	from int // number of requests when these were set
}

// settle accounts for the requests since these were set.
func (p *Offer) settle(requests int) {
	if n := requests - p.from; p.now > 0 {
		p.Requests, p.Since, p.Total = p.Requests+n, p.Since+n, p.Total+n*p.per
	}
	p.from = requests
}

// The kinds of offers, in the order in which they are shown.
var offerKinds = []string{"tool", "skill", "file"}

// An offerLook follows offers along the path.
type offerLook struct {
	l        *lensRun
	at       map[[2]string]int // indexes in the part, by kind and name
	skills   []int             // indexes of skills
	load     *replay.Reader
	prompt   prompt.State                      // hash of the last request
	parts    map[*prompt.Part][]*offeredInPart // sections of the prompt with offers
	requests int                               // number of answered requests so far
}

// An offeredInPart is a section of a part that offers something.
type offeredInPart struct {
	row     int
	length  int // its own tokens
	tokens  int // its share of the tokens of the whole part
	largest bool
}

// lookAtOffers adds an offerLook for a session with a known prompt: it needs the answers, for which the path is
// read once more.
func lookAtOffers(l *lensRun) {
	o := &offerLook{l: l, at: map[[2]string]int{}, parts: map[*prompt.Part][]*offeredInPart{}}
	l.Indexed = append(l.Indexed, func() {
		if o.known() {
			l.Requests = true
			l.Ends = append(l.Ends, func(*replay.Envelope) { o.read() })
		}
	})
}

// known reports whether the session or a baseline records any prompt or tools.
func (o *offerLook) known() bool {
	if o.l.Options.Replay.Baseline != nil {
		return true
	}
	for i := range o.l.Session.Len() {
		switch o.l.Session.Kind(i) {
		case jsonl.System, jsonl.Transform:
			return true
		case jsonl.Compaction:
			if o.l.line(i).Get("systemMessage").IsObject() {
				return true
			}
		}
	}
	return false
}

// read follows the entries of the path.
func (o *offerLook) read() {
	had := uint64(0) // the hash of the last prompt
	o.load = o.l.Book.Replay.NewReader()
	for i := range o.l.Path {
		a := &o.l.Path[i]
		o.prompted(int(a.Record))
		q := o.l.answered(a)
		if q == nil {
			continue
		}
		if now := &o.l.Book.Prompts[q.Prompt]; now.Text != had {
			o.declared(&now.State)
			had = now.Text
		}
		if o.requests++; len(o.at) > 0 {
			o.answer(o.l.message(a.Record))
		}
	}
	for i := range o.l.Report.Context.Offered {
		o.l.Report.Context.Offered[i].settle(o.requests)
	}
	o.l.Report.Context.orderOffers()
}

// answer counts the offered tools, skills and files that an answer uses.
func (o *offerLook) answer(m *jsonl.Message) {
	all := o.l.Report.Context.Offered
	for c := range activity.Calls(m) {
		o.use("tool", c.Tool)
		for _, i := range o.skills {
			if sameFile(c.Command, all[i].Path) || c.Action == activity.Read && sameFile(c.Path(), all[i].Path) {
				o.useAt(i)
			}
		}
	}
}

// prompted counts a skill whose instructions a prompt begins with.
func (o *offerLook) prompted(rec int) {
	if o.l.Session.Kind(rec) != jsonl.User || len(o.skills) == 0 {
		return
	}
	_, name, _ := activity.CutSkill([]byte(o.l.line(rec).Get("message").Get("content").ContentText()))
	o.use("skill", name)
}

// declared registers the offers of the prompt from the next request on.
func (o *offerLook) declared(now *prompt.State) {
	var parts []prompt.Part
	var added []*prompt.Part
	o.prompt.PartsDiffer(now, func(_ int, was, is *prompt.Part) {
		if was == is {
			return
		}
		for _, s := range o.parts[was] {
			o.offer(s.row, -1, -s.tokens)
		}
		delete(o.parts, was)
		if is != nil {
			parts, added = append(parts, *is), append(added, is)
		}
	})
	o.prompt.ToolsDiffer(now, func(_ int, was, is *prompt.Tool) {
		if was != is {
			o.tool(now, was, -1)
			o.tool(now, is, 1)
		}
	})
	o.l.fail(o.load.Texts(parts))
	for i, is := range added {
		o.part(is, parts[i:i+1])
	}
	for is, sections := range o.parts { // changes elsewhere can change how a part is rounded
		rest := now.Taken(is, o.l.Counter)
		for _, s := range sections {
			rest -= s.length
		}
		for _, s := range sections {
			tokens := s.length
			if s.largest {
				tokens += rest
			}
			if s.row >= 0 && tokens != s.tokens {
				o.offer(s.row, 0, tokens-s.tokens)
			}
			s.tokens = tokens
		}
	}
	o.prompt = *now
}

// part adds the sections of a part, if one of them is an offer. Their tokens are set later.
func (o *offerLook) part(is *prompt.Part, text []prompt.Part) {
	some := prompt.Prompt{Parts: prompt.Split(text)}
	if !slices.ContainsFunc(some.Parts, func(p prompt.Part) bool { return p.File != "" }) {
		return
	}
	each, _ := some.Count(o.l.Counter)
	largest := slices.Index(each, slices.Max(each))
	for i, p := range some.Parts {
		s := &offeredInPart{row: -1, length: each[i], largest: i == largest}
		if p.Skill != "" {
			s.row = o.row("skill", p.Skill, p.File)
		} else if p.File != "" {
			s.row = o.row("file", p.File, "")
		}
		o.offer(s.row, 1, 0)
		o.parts[is] = append(o.parts[is], s)
	}
}

// tool adds or removes a tool.
func (o *offerLook) tool(in *prompt.State, t *prompt.Tool, n int) {
	if t != nil && (in.Implemented == nil || in.Implemented[t.Name]) {
		o.offer(o.row("tool", t.Name, ""), n, n*(&prompt.Prompt{Tools: []prompt.Tool{*t}}).Counts(o.l.Counter).Tools)
	}
}

// row returns the index of an offer, adding it if necessary.
func (o *offerLook) row(kind, name, path string) int {
	c, key := o.l.Report.Context, [2]string{kind, name}
	if _, ok := o.at[key]; !ok && kind == "skill" {
		o.skills = append(o.skills, len(c.Offered))
	}
	rowOf(&c.Offered, o.at, key, Offer{Kind: kind, Name: name, Path: path})
	return o.at[key]
}

// offer changes how often the request has an offer, and its tokens.
func (o *offerLook) offer(at, n, tokens int) {
	if at >= 0 {
		p := &o.l.Report.Context.Offered[at]
		p.settle(o.requests)
		p.now, p.per = p.now+n, p.per+tokens
	}
}

// use counts a use of an offer, if one has that name.
func (o *offerLook) use(kind, name string) {
	if i, ok := o.at[[2]string{kind, name}]; ok {
		o.useAt(i)
	}
}

func (o *offerLook) useAt(i int) {
	p := &o.l.Report.Context.Offered[i]
	p.settle(o.requests)
	p.Used, p.Since = p.Used+1, 0
}

// sameFile reports whether a path or a command names a skill's file, by its last two elements, since relative
// paths depend on the folder.
func sameFile(text, file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	return file != "" &&
		strings.Contains(strings.ReplaceAll(text, `\`, "/"), path.Join(path.Base(path.Dir(file)), path.Base(file)))
}

// addOffers adds those of one session to those of several.
func (p *ContextPart) addOffers(one []Offer) {
	at := map[[2]string]int{}
	for i, o := range p.Offered {
		at[[2]string{o.Kind, o.Name}] = i
	}
	for _, q := range one {
		addUp(rowOf(&p.Offered, at, [2]string{q.Kind, q.Name}, Offer{Kind: q.Kind, Name: q.Name, Path: q.Path}), &q)
	}
	p.orderOffers()
}

// orderOffers sorts the offers: by kind, unused ones first, the ones with the most tokens first. It drops those
// without a request.
func (p *ContextPart) orderOffers() {
	p.Offered = slices.DeleteFunc(p.Offered, func(o Offer) bool { return o.Requests == 0 })
	for i := range p.Offered {
		o := &p.Offered[i]
		o.Tokens = (o.Total + o.Requests/2) / o.Requests
	}
	sorting.By(p.Offered, func(a, b Offer) int {
		return cmp.Or(
			slices.Index(offerKinds, a.Kind)-slices.Index(offerKinds, b.Kind),
			min(a.Used, 1)-min(b.Used, 1), b.Total-a.Total, cmp.Compare(a.Name, b.Name))
	})
}

// Unused returns the tools that no request called and the skills that none loaded, by name, and the tokens that
// they take: of one request, and of all.
func (p *ContextPart) Unused() (names []string, tokens, total int) {
	for _, o := range p.Offered {
		if o.Used == 0 && o.Kind != "file" {
			names, tokens, total = append(names, o.Name), tokens+o.Tokens, total+o.Total
		}
	}
	return names, tokens, total
}

// offerSheet returns the table of what requests offered, and how often it was used.
func (p *ContextPart) offerSheet() table.Sheet {
	title := "tools, skills and context files in the requests of the path"
	s := table.Sheet{Title: title, Few: fewRows}
	s.Table = table.Of(p.Offered, []col[*Offer]{
		{Name: "what", Value: func(o *Offer) any { return o.Kind }},
		{Name: "name", Flex: true, Value: func(o *Offer) any { return o.Name }},
		{Name: p.unit(), Unit: table.Tokens, Value: func(o *Offer) any { return p.tokens(o.Tokens) }},
		{Name: "requests", Unit: table.Number, Value: func(o *Offer) any { return o.Requests }},
		{Name: "in all", Unit: table.Tokens, Value: func(o *Offer) any { return p.tokens(o.Total) }},
		{Name: "used", Unit: table.Number, Value: func(o *Offer) any { return table.If(o.Kind != "file", o.Used) }},
		{Name: "unused for", Unit: table.Number,
			Value: func(o *Offer) any { return table.If(o.Kind != "file", o.Since) }},
	})
	if names, tokens, total := p.Unused(); len(names) > 0 {
		list := strings.Join(names[:min(most, len(names))], ", ")
		if more := len(names) - most; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		s.Notes = []string{fmt.Sprintf("Never used: %s. Together %d tokens per request, %d in all.", list,
			tokens, total)}
	}
	return s
}
