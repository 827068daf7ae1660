package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/phrase"
	"ctxtool/replay"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// likeYAgent computes y-agent's context by category, the verdict of its guard, and what its
// recovery would drop (docs/policies.md 4.1, 4.2, 4.3).
var likeYAgent = like{
	Name:  "y-agent",
	About: "y-agent's eight categories with their budgets, its status lines, its guard and its recovery",
	read:  likeYAgentReport,
}

// A yAgent is a context as y-agent counts it. Tokens are a quarter of the bytes, rounded up once
// per message.
type yAgent struct {
	File       string          `json:"file,omitempty"`
	Session    string          `json:"session,omitempty"`
	Categories []yCategory     `json:"categories"` // all eight, by priority
	Used       int             `json:"used"`       // tokens
	Budget     int             `json:"budget"`     // tokens: what the guard compares with
	BudgetFrom string          `json:"budgetFrom"` // as windowFrom of a reduction
	Status     [2]string       `json:"status"`     // the status provider's line, the guard's
	Guard      compact.Verdict `json:"guard"`
	Recovery   []yRecoveryStep `json:"recovery"` // empty where the guard lets the context pass
	Images     int             `json:"unestimatedBlocks"`
}

// A yCategory is one of y-agent's categories. Budget 0 means none.
type yCategory struct {
	Name     string `json:"category"`
	Priority int    `json:"priority"`
	Budget   int    `json:"budget"`
	Tokens   int    `json:"tokens"`
	Items    int    `json:"items"`
	Over     bool   `json:"over"` // the budget; only for categories that the guard checks

	guarded bool
}

// y-agent's categories, by their places in yCategories.
const (
	ySystem = iota
	yBootstrap
	yMemory
	yKnowledge
	ySkills
	yTools
	yHistory
	yStatus
)

// yCategories are y-agent's own, empty.
var yCategories = []yCategory{
	{Name: "SystemPrompt", Priority: 100, Budget: 8000, guarded: true},
	{Name: "Bootstrap", Priority: 200, Budget: 8000, guarded: true},
	{Name: "Memory", Priority: 300, Budget: 4000},
	{Name: "Knowledge", Priority: 350},
	{Name: "Skills", Priority: 400, Budget: 2000}, // each
	{Name: "Tools", Priority: 500, Budget: 16000, guarded: true},
	{Name: "History", Priority: 600, Budget: 80000, guarded: true},
	{Name: "Status", Priority: 700, Budget: 20}, // what it always counts for
}

// yRetained is how many messages y-agent's compaction keeps.
const yRetained = 10

func likeYAgentReport(l *lensRun, to *likeness) {
	policy, counter := l.Options.basis()
	l.Ends = append(l.Ends, func(e *replay.Envelope) {
		y := yAgent{Session: l.Report.ID, Categories: slices.Clone(yCategories)}
		limit, from, err := policy.Limit(e)
		y.Budget, y.BudgetFrom = int(limit), from
		p, err2 := e.Prompt()
		if err = cmp.Or(err, err2); err != nil {
			l.fail(err)
			return
		}
		y.prompt(p, counter)
		recent, err := y.history(e, counter)
		l.fail(err)
		y.add(yStatus, yCategories[yStatus].Budget)
		y.judge(recent)
		to.YAgent = append(to.YAgent, y)
	})
}

func (y *yAgent) add(category, tokens int) {
	y.Categories[category].Tokens += tokens
	y.Categories[category].Items++
	y.Used += tokens
}

// prompt sorts prompt and tools into categories.
func (y *yAgent) prompt(p *prompt.Prompt, c *tokens.Counter) {
	_, tools := p.Count(c)
	parts, taken := p.CountSplit(c)
	for i, n := range taken {
		category := ySystem
		switch name := parts[i].Name; {
		case name == "skills" || parts[i].Skill != "":
			category = ySkills
		case compact.Bootstrap(parts[i]):
			category = yBootstrap
		}
		y.add(category, n)
	}
	for _, n := range tools {
		y.add(yTools, n)
	}
}

// history sorts the messages into categories, and returns the tokens of the most recent ones, which
// a compaction keeps.
func (y *yAgent) history(e *replay.Envelope, c *tokens.Counter) (recent int, err error) {
	var last []int
	for m, err := range weighedBy(c, e) {
		if err != nil {
			return 0, err
		}
		n := m.Tokens.Total()
		if m.Kind == jsonl.User && m.Skill.Bytes > 0 {
			skill := min(m.Skill.Tokens, n)
			y.add(ySkills, skill)
			n -= skill
		}
		y.add(yHistory, n)
		y.Images += len(m.Images)
		last = append(last, n)
	}
	for _, n := range last[max(0, len(last)-yRetained):] {
		recent += n
	}
	return recent, nil
}

// judge sets y-agent's verdict on its context and the steps of its recovery; recent are the tokens
// that a compaction keeps.
func (y *yAgent) judge(recent int) {
	for i := range y.Categories {
		c := &y.Categories[i]
		c.Over = c.guarded && c.Tokens > c.Budget
	}
	y.Status[0] = yStatusLine(y.Used, y.Budget, y.Categories)
	y.Guard = compact.Judge(y.Used, y.Budget)
	y.Status[1] = y.Guard.Status(y.Used, y.Budget)
	y.Recovery = yRecovery(y.Used, y.Budget, y.Categories, recent)
}

// yStatusLine returns the text of y-agent's status provider. It includes Knowledge in the sum, but
// does not name it.
func yStatusLine(used, budget int, categories []yCategory) string {
	percent := 0.0
	if budget > 0 {
		percent = float64(used) * 100 / float64(budget)
	}
	line := fmt.Sprintf("[Context Status] %d/%d tokens used (%.0f%%)", used, budget, percent)
	var named []string
	for i, c := range categories {
		if c.Tokens > 0 && i != yKnowledge {
			named = append(named, fmt.Sprintf("%s=%d", strings.TrimSuffix(c.Name, "Prompt"), c.Tokens))
		}
	}
	if len(named) > 0 {
		line += " | " + strings.Join(named, ", ")
	}
	if percent > 90 {
		line += " WARNING: context nearly full, consider compaction"
	}
	return line
}

// A yRecoveryStep is one of the steps in which y-agent makes room.
type yRecoveryStep struct {
	Step  string          `json:"step"`  // compact History, drop Bootstrap, drop Tools
	Drops int             `json:"drops"` // tokens
	Left  int             `json:"left"`  // tokens; the summary is not among them
	Guard compact.Verdict `json:"guard"` // on what is left
}

// yRecovery returns what y-agent would drop. It stops when the guard sees no overflow. If the context
// is critical after the last step, y-agent fails.
func yRecovery(used, budget int, categories []yCategory, recent int) []yRecoveryStep {
	steps := []yRecoveryStep{}
	for _, s := range []struct {
		step  string
		drops int
	}{
		{"compact History", categories[yHistory].Tokens - recent},
		{"drop Bootstrap", categories[yBootstrap].Tokens},
		{"drop Tools", categories[yTools].Tokens},
	} {
		if v := compact.Judge(used, budget); v.Percent < 85 {
			break
		}
		used -= s.drops
		v := compact.Judge(used, budget)
		steps = append(steps, yRecoveryStep{s.step, s.drops, used, v})
	}
	return steps
}

// sheet returns a table of the categories, with y-agent's status below it.
func (y *yAgent) sheet() Sheet {
	s := Sheet{Columns: columns("category", "priority:number", "tokens:tokens", "budget:tokens", "items:number", "")}
	for i, c := range y.Categories {
		over := ""
		switch {
		case c.Over:
			over = "over"
		case i == ySkills:
			over = "budget of each"
		case i == yStatus:
			over = "fixed"
		}
		s.row(c.Name, c.Priority, unless0(About(c.Tokens)), unless0(c.Budget), unless0(c.Items), over)
	}
	s.row("used", nil, unless0(About(y.Used)), y.Budget, nil, y.Guard.Verdict)
	s.Notes = append(s.Notes, fmt.Sprintf("The guard's budget is %d tokens (%s).", y.Budget, phrase.WindowFrom(y.BudgetFrom)), y.Status[0])
	s.Notes = append(s.Notes, strings.Split(y.Status[1], "\n")...)
	for _, r := range y.Recovery {
		s.Notes = append(s.Notes, fmt.Sprintf("Recovery: %s frees ~%d tokens, ~%d are left (%s).", r.Step, r.Drops, r.Left, r.Guard.Verdict))
	}
	if n := len(y.Recovery); n > 0 && y.Recovery[n-1].Guard.Verdict == "critical" {
		s.Notes = append(s.Notes, fmt.Sprintf("UnrecoverableOverflow: %d tokens over.", y.Recovery[n-1].Guard.Over))
	}
	if y.Images > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d images are not in the estimate: y-agent counts none.", y.Images))
	}
	return s
}

// yAgentSheet returns a table of the fullest of several contexts.
func yAgentSheet(all []yAgent) Sheet {
	s := Sheet{Columns: columns("session*", "used:tokens", "of:share", "verdict", "over budget", "after recovery")}
	var some []yAgent
	some, s.Notes = fullest(all, func(y yAgent) int { return y.Used })
	s.Notes = append(s.Notes, windowRule)
	for _, y := range some {
		var over []string
		for _, c := range y.Categories {
			if c.Over {
				over = append(over, c.Name)
			}
		}
		after := ""
		if n := len(y.Recovery); n > 0 {
			after = y.Recovery[n-1].Guard.Verdict
		}
		s.row(cmp.Or(y.File, y.Session), About(y.Used), share(y.Used, int64(y.Budget)), y.Guard.Verdict, strings.Join(over, ", "), after)
	}
	return s
}
