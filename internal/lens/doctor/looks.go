package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctxtool/internal/base/shell"
	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/lens/survival"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/models"
)

// The weights of lines that no request costs anything for: damage comes before all others, and what
// a compaction dropped before what costs less than a cent a request.
const (
	breaks   = 1e6
	hides    = 1e3
	forgets  = 0.01
	mostList = 5 // names in a sentence
)

// fixes are the fixes of package check that change a session with --write.
var fixes = []string{"ctxtool repair ", "ctxtool migrate ", "ctxtool edit ", "ctxtool compact "}

// damaged returns a line for each kind of damage that a command fixes, that hides something, or that the provider
// refuses.
func damaged(r *check.Report) (all []Line) {
	at, counts := map[string]int{}, []int{}
	var kinds []check.Finding
	for _, f := range r.Findings {
		if f.Hides == nil && (f.Severity != check.Error || !strings.HasPrefix(f.Fix, "ctxtool")) || refusedToo(r, f) {
			continue
		}
		k, known := at[f.Code]
		if !known {
			k = len(kinds)
			at[f.Code], kinds, counts = k, append(kinds, f), append(counts, 0)
			kinds[k].Hides = &check.Figures{}
		}
		counts[k]++
		if h := f.Hides; h != nil {
			kinds[k].Hides.Messages += h.Messages
			kinds[k].Hides.Tokens += h.Tokens
		}
	}
	for k, f := range kinds {
		line := Line{Kind: "damage", Text: check.Find(f.Code).Title, Command: f.Fix, Tokens: int64(f.Hides.Tokens),
			weight: hides}
		if check.Find(f.Code).Group == refusals {
			line.Text = f.Text
		}
		if f.Severity == check.Error {
			line.weight = breaks
		}
		line.weight += float64(f.Hides.Tokens)
		if counts[k] > 1 {
			line.Text += fmt.Sprintf(", %d times", counts[k])
		}
		if n := f.Hides.Messages; n > 0 {
			line.Text += fmt.Sprintf(": it hides %s", phrase.Count(n, "message"))
		}
		if slices.ContainsFunc(fixes, func(m string) bool { return strings.HasPrefix(f.Fix, m) }) &&
			!strings.Contains(f.Fix, " -o ") {
			line.Command += " --write"
		}
		all = append(all, line)
	}
	return all
}

// The groups of checks of limits, and of what a provider refuses.
const limits, refusals = "limits", "provider"

// refusedToo reports whether a finding exceeds a limit, and another one says how the provider refuses that.
func refusedToo(r *check.Report, f check.Finding) bool {
	return check.Find(f.Code).Group == limits && slices.ContainsFunc(r.Findings, func(o check.Finding) bool {
		return check.Find(o.Code).Group == refusals && o.Entry == f.Entry
	})
}

// An avoiding is how to avoid breaks of a cause.
type avoiding struct {
	cause cache.Cause
	how   string
}

// avoidable are the causes that a user can avoid.
var avoidable = []avoiding{
	{cache.CauseModel, "stay with one model in a session"},
	{cache.CauseSystem, "keep what changes out of the prompt"},
	{cache.CauseTools, "have all tools from the first request on"},
	{cache.CauseThinking, "stay with one thinking level"},
	{cache.CauseUncached, "keep what changes at the end of the request"},
	{cache.CausePause, "with a cache of an hour, which would have outlived pauses"},
}

// lost returns what the cache has lost, and what of it could be avoided.
func (x *exam) lost() ([]Line, error) {
	t := x.cache
	if t.Rebilled.Tokens == 0 || t.Answered == 0 {
		return nil, nil
	}
	could := make([]cache.Rebilled, len(avoidable))
	for _, l := range t.Breaks {
		k := slices.IndexFunc(avoidable, func(a avoiding) bool { return a.cause == l.Cause })
		if k >= 0 && (l.Cause != cache.CausePause || l.Break.Pause <= hour) {
			could[k].Plus(l.Rebilled)
		}
	}
	sum, worst := cache.Rebilled{}, 0
	for k := range could {
		if avoidable[k].cause == cache.CausePause {
			could[k] = x.kept(could[k])
		}
		sum.Plus(could[k])
		if cmp.Or(cmp.Compare(could[k].Cost, could[worst].Cost),
			cmp.Compare(could[k].Tokens, could[worst].Tokens)) > 0 {
			worst = k
		}
	}
	var why []string
	for _, r := range t.ByReason[:min(mostList, len(t.ByReason))] {
		why = append(why, fmt.Sprintf("%s %s", phrase.Cut(phrase.Clean(r.Name), 40), x.money(r.Rebilled)))
	}
	text := fmt.Sprintf("the cache served %s of the prompts; billed again: %s",
		phrase.Percent(float64(t.Recorded.CacheRead)/float64(max(1, t.Prompt))), strings.Join(why, ", "))
	if sum.Tokens > 0 {
		text += fmt.Sprintf("; %s could be avoided: %s", x.money(sum), avoidable[worst].how)
	} else {
		text += "; none of it could be avoided here"
	}
	return []Line{{
		Kind: "cache", Text: text, Command: "ctxtool cache " + x.Ref + " --broken", Tokens: t.Rebilled.Tokens,
		Cost: x.priced(t.Rebilled.Cost), weight: sum.Cost / float64(t.Answered),
	}}, nil
}

// hour is the longest lifetime that a cache is sold with, in seconds.
const hour = 3600

// kept returns what a cache of an hour would have saved of what pauses had billed again: less than that,
// since it costs more to write all else. It is nothing where no such cache is sold.
func (x *exam) kept(pauses cache.Rebilled) cache.Rebilled {
	rest := x.cache.Recorded.CacheWrite - x.cache.Recorded.CacheWrite1h - pauses.Tokens
	if rest <= 0 || !x.model.Priced() {
		return cache.Rebilled{}
	}
	more := x.price(models.Usage{CacheWrite: 1, CacheWrite1h: 1}) - x.price(models.Usage{CacheWrite: 1})
	pauses.Cost -= more * float64(rest)
	if pauses.Cost <= 0 {
		return cache.Rebilled{}
	}
	return pauses
}

// money returns what was billed again, in dollars where there are prices.
func (x *exam) money(r cache.Rebilled) string {
	if r.Unpriced > 0 || !x.model.Priced() {
		return phrase.Short(r.Tokens) + " tokens"
	}
	return phrase.Dollars(r.Cost)
}

// removing are the commands of agents that remove an MCP server.
var removing = map[string]string{"claude": "claude mcp remove ", "codex": "codex mcp remove ",
	"gemini": "gemini mcp remove "}

// An offering is tools or skills that requests carry, and that go together.
type offering struct {
	names  []string
	tokens int // of a request
	used   bool
}

// carried returns the MCP servers, other tools and skills that the next request carries and nothing has used.
func (x *exam) carried() (all []Line, err error) {
	now, err := x.end.Prompt()
	if err != nil {
		return nil, err
	}
	carried := map[string]bool{}
	for _, t := range now.Tools {
		carried[t.Name] = true
	}
	servers, rest := map[string]*offering{}, map[string]*offering{"tool": {}, "skill": {}}
	for _, o := range x.Figures.Context.Offered {
		server := serverOf(o.Name)
		if o.Kind == "file" || o.Kind != "skill" && !carried[o.Name] {
			continue
		}
		group := rest[o.Kind]
		if o.Kind == "tool" && server != "" {
			if servers[server] == nil {
				servers[server] = &offering{}
			}
			group = servers[server]
			group.used = group.used || o.Used > 0
		}
		if o.Used == 0 {
			group.names = append(group.names, o.Name)
			group.tokens += o.Tokens
		}
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		group, remove := servers[name], removing[x.Agent]
		if group.used || remove == "" { // what is left of it is tools like others
			rest["tool"].names = append(rest["tool"].names, group.names...)
			rest["tool"].tokens += group.tokens
			continue
		}
		text := fmt.Sprintf("the MCP server %s has %s that nothing called", phrase.Clean(name),
			phrase.Count(len(group.names), "tool"))
		l := x.unused("tools", text, group, remove+shell.Quote(name))
		l.Saves = group.tokens
		all = append(all, l)
	}
	for _, kind := range []string{"tool", "skill"} {
		if group := rest[kind]; len(group.names) > 0 {
			names := strings.Join(group.names[:min(mostList, len(group.names))], ", ")
			more := phrase.If(len(group.names) > mostList, " and %d more", len(group.names)-mostList)
			text := fmt.Sprintf("%s that nothing used: %s%s", phrase.Count(len(group.names), kind),
				phrase.Clean(names), more)
			all = append(all, x.unused(kind+"s", text, group, "ctxtool stats "+x.Ref+" --lens context"))
		}
	}
	return slices.DeleteFunc(all, func(l Line) bool { return !x.matters(int(l.Tokens)) }), nil
}

// serverOf returns the MCP server in the prefix of a tool's name, empty if there is none.
func serverOf(tool string) string {
	server, _, ok := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
	if !ok {
		return ""
	}
	return server
}

// unused returns the line of what requests carry for nothing.
func (x *exam) unused(kind, text string, o *offering, command string) Line {
	each := x.carrying(int64(o.tokens))
	text += fmt.Sprintf("; %s tokens of each request", phrase.Short(int64(o.tokens)))
	if x.model.Priced() {
		text += ", " + phrase.Dollars(each)
	}
	return Line{Kind: kind, Text: text, Command: command, Tokens: int64(o.tokens), weight: each}
}

// drops are the compactions of the path so far.
type drops struct {
	survival.Follower
	last *survival.Boundary
	err  error
}

// step takes a step of the path, which may be a compaction.
func (x *exam) step(r *replay.Replay, s replay.Step) {
	d := &x.drops
	b, err := d.Step(r, s)
	d.last, d.err = cmp.Or(b, d.last), cmp.Or(d.err, err)
}

// summarized returns what the summary of the last compaction of the path lacks.
func (x *exam) summarized() ([]Line, error) {
	is := x.drops.last
	if is == nil {
		return nil, x.drops.err
	}
	var lacks []string
	for _, of := range []struct {
		what string
		survival.Kept
	}{{"demand", is.Constraints}, {"open failure", is.Errors}, {"command", is.Commands}, {"file", is.Paths}} {
		if lost := of.Of - of.Found; lost > 0 {
			lacks = append(lacks, fmt.Sprintf("%d of %s", lost, phrase.Count(of.Of, of.what)))
		}
	}
	if lacks == nil || x.drops.err != nil {
		return nil, x.drops.err
	}
	return []Line{{
		Kind: "compaction",
		Text: fmt.Sprintf("the last compaction replaced %s; its summary lacks %s",
			phrase.Count(len(is.Gone), "message"), strings.Join(lacks, ", ")),
		Command: "ctxtool lost " + x.Ref, weight: forgets,
	}}, nil
}
