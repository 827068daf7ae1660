package replay

import (
	"slices"
	"strconv"

	"ctxtool/internal/dialect"
	"ctxtool/internal/rule"
)

// The rules of pi besides those that all agents have.
const (
	noMessage     rule.Rule = rule.Own + iota // a message entry without a message
	excluded                                  // a command that is kept from the model
	hook                                      // a message of a hook, of version 2
	checkpointed                              // a compaction with prompt and tools
	keepsNone                                 // one that keeps nothing before it
	keepsUnknown                              // one whose first kept entry is not on the path
	keepsLater                                // one whose first kept entry has no message
	editOfNothing                             // an edit without a replacement
	editOfUnknown                             // an edit of an entry that is not there
	otherRole                                 // a message of a role that no provider gets
	older                                     // a file of version 1 or 2
	ephemeral                                 // messages of one request, of the envelope rules
	transform                                 // a patch, of these
	shadowed                                  // a compaction that repeats a patch, of these
	envelope                                  // the envelope rules
	replaced                                  // options or entries given on the command line
	deletion                                  // an entry of a variant of pi that removes others
	restart                                   // one that begins again
	archived                                  // a compaction of one that keeps old turns as text and pictures
	rewritten                                 // a result that one replaced in the file, after requests had it
)

// PiRules are the rules by which pi builds a context, and what was compared. Its files do not name the
// version of the program: what stands for it is that of the format.
var PiRules = rule.NewTable(map[rule.Rule]rule.Info{
	noMessage: {Name: "entry without message"}, excluded: {Name: "excluded command"}, hook: {Name: "hook message"},
	checkpointed: {Name: "checkpoint"}, keepsNone: {Name: "compaction that keeps nothing"},
	keepsUnknown: {Name: "unknown first kept entry"}, keepsLater: {Name: "first kept entry without message"},
	editOfNothing: {Name: "edit without replacement"}, editOfUnknown: {Name: "edit of an unknown entry"},
	otherRole: {Name: "message of another role"}, older: {Name: "older format"},
	ephemeral: {Name: "ephemeral messages"}, transform: {Name: "transform"}, shadowed: {Name: "shadowed compaction"},
	envelope: {Name: "envelope rules"}, replaced: {Name: "options given"},
	deletion: {Name: "deletion"}, restart: {Name: "reset"},
	archived: {Name: "archive of old turns"}, rewritten: {Name: "rewritten result", Missing: true},
}, piCompared)

// use adds rules to those of the path.
func (m *machine) use(by ...rule.Rule) { m.used |= rule.Of(by...) }

// reads marks an entry that has other members than the head and these.
func (m *machine) reads(line value, members ...string) {
	for name := range line.Members {
		if !slices.Contains(heads, string(name)) && !slices.Contains(members, string(name)) {
			m.use(rule.Unread)
		}
	}
}

var heads = []string{"type", "id", "parentId", "timestamp"}

// piReading returns how sure the context of a session of pi's is, as [Envelope.ContextMessages] has it.
// Prompt and tools are as sure as its messages where the session has them.
func (e *Envelope) piReading() (dialect.Reading, error) {
	o, used := &e.r.Options, e.used
	used |= rule.If(o.Lenient || len(o.Without) > 0, replaced) | rule.If(e.r.Rules != ByPi, envelope) |
		rule.If(e.r.Session.Version < 3, older)
	asked, err := e.askedBy(PiRules)
	if err != nil {
		return dialect.Reading{}, err
	}
	c := dialect.Certainty{Messages: "rule"}.Earned(PiRules, used, strconv.Itoa(e.r.Session.Version), asked)
	err = e.doubt(c)
	c.System = "absent"
	if hasSystem(e.state.deltas) {
		c.System = c.Messages
	}
	c.Tools = c.System
	return dialect.Reading{Agent: "pi", Certainty: c}, err
}

// askedBy returns who the request asks, if one of its rules depends on that.
func (e *Envelope) askedBy(t *rule.Table) (asked rule.Asked, err error) {
	if t == nil || !t.Scoped(e.used) {
		return asked, nil
	}
	model, err := e.ModelRef()
	return rule.Asked{Host: model.Provider, Model: model.ID}, err
}
