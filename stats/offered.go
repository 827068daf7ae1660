package stats

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"ctxtool/internal/said"
	"ctxtool/replay"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt/jsonl"
)

// An offer is something that requests of a path carry for the model to use: a tool, a skill
// that the prompt lists, or a context file in it.
type offer struct {
	Kind     string `json:"kind"`           // `tool`, `skill`, `file`
	Name     string `json:"name"`           // of a file its path
	Path     string `json:"path,omitempty"` // the file of a skill
	Tokens   int    `json:"tokens"`         // of one request, on average
	Requests int    `json:"requests"`       // answered ones that had it
	Total    int    `json:"total"`          // tokens of all of them
	Used     int    `json:"used"`           // calls of a tool, loads of a skill; 0 of files, which are there without being asked for
	Since    int    `json:"since"`          // requests that had it after its last use; all where it has none

	now bool // the request has it
	per int  // tokens of the request
}

// The kinds of offers, in the order in which they are shown.
var offerKinds = []string{"tool", "skill", "file"}

// An offerLook follows offers along the path.
type offerLook struct {
	l       *lensRun
	follows replay.Prompting
	at      map[[2]string]int // places in the part, by kind and name
}

// lookAtOffers hangs it on a session that knows some of its prompt: it wants answers, which
// cost a reading of the path.
func lookAtOffers(l *lensRun) {
	o := &offerLook{l: l, at: map[[2]string]int{}}
	l.Indexed = append(l.Indexed, func() error {
		known, err := o.known()
		if known {
			l.Answers = append(l.Answers, o.answer)
			l.Steps = append(l.Steps, o.prompted)
			l.Ends = append(l.Ends, func(*replay.Envelope) error { l.Report.Context.orderOffers(); return nil })
		}
		return err
	})
}

// known reports whether the session or a baseline says anything of prompt and tools.
func (o *offerLook) known() (bool, error) {
	if o.l.Options.Replay.Baseline != nil {
		return true, nil
	}
	for i := range o.l.Session.Len() {
		switch o.l.Session.Kind(i) {
		case jsonl.System, jsonl.Transform:
			return true, nil
		case jsonl.Compaction:
			if line, err := o.l.line(i); err != nil || line.Get("systemMessage").IsObject() {
				return true, err
			}
		}
	}
	return false, nil
}

// answer counts the request that an answer is to, and what the answer uses.
func (o *offerLook) answer(a *replay.Account, m *jsonl.Message, _ *jsonl.Usage) error {
	changed, err := o.follows.Follow(a.Step)
	if err != nil {
		return err
	}
	if changed {
		o.declared(&o.follows.Now)
	}
	all := o.l.Report.Context.Offered
	for i := range all {
		if p := &all[i]; p.now {
			p.Requests++
			p.Since++
			p.Total += p.per
		}
	}
	for call := range m.Calls {
		o.use("tool", call.Name.Text())
		if file := loaded(call); file != "" {
			for i := range all {
				if all[i].Kind == "skill" && sameFile(file, all[i].Path) {
					all[i].use()
				}
			}
		}
	}
	return nil
}

// prompted counts a skill whose instructions a prompt begins with.
func (o *offerLook) prompted(a *replay.Account) error {
	if o.l.Session.Kind(a.Record) != jsonl.User || !slices.ContainsFunc(o.l.Report.Context.Offered, func(p offer) bool { return p.Kind == "skill" }) {
		return nil
	}
	line, err := o.l.line(a.Record)
	if err != nil {
		return err
	}
	if rest, ok := strings.CutPrefix(line.Get("message").Get("content").ContentText(), `<skill name="`); ok {
		name, _, _ := strings.Cut(rest, `"`)
		o.use("skill", name)
	}
	return nil
}

// declared takes what the prompt offers from the next request on.
func (o *offerLook) declared(p *prompt.Prompt) {
	c := o.l.Report.Context
	for i := range c.Offered {
		c.Offered[i].now, c.Offered[i].per = false, 0
	}
	have := func(kind, name, path string, tokens int) {
		row := rowOf(&c.Offered, o.at, [2]string{kind, name}, offer{Kind: kind, Name: name, Path: path})
		row.now = true
		row.per += tokens
	}
	parts, tokens := p.CountSplit(o.l.Counter)
	for i, part := range parts {
		switch {
		case part.Skill != "":
			have("skill", part.Skill, part.File, tokens[i])
		case part.File != "":
			have("file", part.File, "", tokens[i])
		}
	}
	_, tools := p.Count(o.l.Counter)
	for i, tool := range p.Tools {
		have("tool", tool.Name, "", tools[i])
	}
}

// use counts a use of an offer, where there is one of that name.
func (o *offerLook) use(kind, name string) {
	if i, ok := o.at[[2]string{kind, name}]; ok {
		o.l.Report.Context.Offered[i].use()
	}
}

func (p *offer) use() { p.Used, p.Since = p.Used+1, 0 }

// loaded is the file that a call reads, or the command in which it may do so.
func loaded(call *jsonl.Block) string {
	if file := replay.ReadPath(call.Name, call.Args); file != "" {
		return file
	}
	for _, argument := range said.CommandArguments {
		if command := call.Args.Get(argument); command.IsString() {
			return command.Text()
		}
	}
	return ""
}

// sameFile reports whether a path or a command names a skill's file: by its last two
// elements, since it may do so from any folder.
func sameFile(text, file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	return file != "" && strings.Contains(strings.ReplaceAll(text, `\`, "/"), path.Join(path.Base(path.Dir(file)), path.Base(file)))
}

// addOffers adds those of one session to those of several.
func (p *ContextPart) addOffers(one []offer) {
	for _, q := range one {
		k := slices.IndexFunc(p.Offered, func(o offer) bool { return o.Kind == q.Kind && o.Name == q.Name })
		if k < 0 {
			k = len(p.Offered)
			p.Offered = append(p.Offered, offer{Kind: q.Kind, Name: q.Name, Path: q.Path})
		}
		addUp(&p.Offered[k], &q)
	}
	p.orderOffers()
}

// orderOffers puts the offers in order: by kind, those first that nothing used, the ones
// that took the most tokens first. Those of no request are left out.
func (p *ContextPart) orderOffers() {
	p.Offered = slices.DeleteFunc(p.Offered, func(o offer) bool { return o.Requests == 0 })
	for i := range p.Offered {
		o := &p.Offered[i]
		o.Tokens = (o.Total + o.Requests/2) / o.Requests
	}
	slices.SortStableFunc(p.Offered, func(a, b offer) int {
		return cmp.Or(
			slices.Index(offerKinds, a.Kind)-slices.Index(offerKinds, b.Kind),
			min(a.Used, 1)-min(b.Used, 1), b.Total-a.Total, cmp.Compare(a.Name, b.Name))
	})
}

// Unused is how many tools no request called and skills none loaded, and how many tokens
// they take: of one request, and of all.
func (p *ContextPart) Unused() (n, tokens, total int) {
	for _, o := range p.Offered {
		if o.Used == 0 && o.Kind != "file" {
			n, tokens, total = n+1, tokens+o.Tokens, total+o.Total
		}
	}
	return n, tokens, total
}

// offerSheet is what requests offered, and how often it was used.
func (p *ContextPart) offerSheet() Sheet {
	s := Sheet{
		Title: "tools, skills and context files in the requests of the path", Few: fewRows,
		Columns: columns("what", "name*", p.unit()+":tokens", "requests:number", "in all:tokens", "used:number", "unused for:number"),
	}
	for _, o := range p.Offered {
		var used, since any
		if o.Kind != "file" {
			used, since = int64(o.Used), int64(o.Since)
		}
		s.row(o.Kind, o.Name, p.tokens(o.Tokens), o.Requests, p.tokens(o.Total), used, since)
	}
	if n, tokens, total := p.Unused(); n > 0 {
		s.Notes = []string{fmt.Sprintf("Never used: %d tools and skills, of %d tokens a request, %d in all.", n, tokens, total)}
	}
	return s
}
