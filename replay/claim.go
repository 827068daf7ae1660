package replay

import (
	"slices"
	"strconv"

	"ctxtool/internal/read/dialect/pi"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/rule"
)

// use adds rules to those that the path has used.
func (m *machine) use(by ...rule.Rule) { m.used |= rule.Of(by...) }

// reads marks an entry that has fields which replay does not read.
func (m *machine) reads(line value, members ...string) {
	for name := range line.Members {
		if !slices.Contains(heads, string(name)) && !slices.Contains(members, string(name)) {
			m.use(rule.Unread)
		}
	}
}

var heads = []string{"type", "id", "parentId", "timestamp"}

// piReading returns how certain the context of a session of pi or oh-my-pi is, with the system messages that
// [Envelope.ContextMessages] returns. Prompt and tools are as certain as its messages if the session records
// them; sessions of oh-my-pi only record the prompt of a sub-agent.
func (e *Envelope) piReading() (dialect.Reading, error) {
	o, used, table := &e.r.Options, e.used, pi.Rules
	used |= rule.If(o.Lenient || len(o.Without) > 0, pi.Replaced) | rule.If(e.r.Rules != ByPi, pi.Envelope) |
		rule.If(e.r.Session.Version < 3, pi.Older)
	if e.r.Session.OhMyPi() {
		table = pi.OhMyPi
		used |= rule.If(used.Has(rule.Prompt), pi.Reminder)
	}
	asked, err := e.askedBy(table)
	if err != nil {
		return dialect.Reading{}, err
	}
	c := dialect.Certainty{Messages: "rule"}.Earned(table, used, strconv.Itoa(e.r.Session.Version), asked)
	err = e.doubt(c)
	c.System = "absent"
	if hasSystem(e.state.deltas) {
		c.System = c.Messages
	}
	c.Tools = c.System
	if table == pi.OhMyPi {
		c.Tools = "absent"
	}
	return dialect.Reading{Agent: e.r.Session.Agent(), Certainty: c}, err
}

// askedBy returns the model that the request was sent to, if one of its rules depends on that.
func (e *Envelope) askedBy(t *rule.Table) (asked rule.Asked, err error) {
	if t == nil || !t.Scoped(e.used) {
		return asked, nil
	}
	model, err := e.ModelRef()
	return rule.Asked{Host: model.Provider, Model: model.ID}, err
}
