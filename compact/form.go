package compact

import (
	"errors"
	"fmt"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A Form is how changes of a context are stored in its session.
type Form string

// The forms. Auto is decided by the session: see Decide.
const (
	AsAuto      Form = "auto"
	AsEdits     Form = "edits"     // entries that pi itself knows: context_edit and compaction
	AsTransform Form = "transform" // a patch, of which pi honours a compaction alone
)

// Forms are all forms, the default first.
var Forms = []Form{AsAuto, AsEdits, AsTransform}

// decide settles AsAuto: patches go where patches are. Where a session has none, a
// first one would change the rules by which auto replays it, so that has to be asked
// for: given says that the rules were.
func (f Form) decide(r *replay.Replay, leaf int, given bool) (Form, error) {
	patched := replay.Auto.Decide(r.Session, leaf) == replay.ByEnvelope
	switch {
	case f == AsTransform && !patched && !(given && r.Rules == replay.ByEnvelope):
		return "", &sessionfmt.Error{
			Pos:  sessionfmt.Pos{File: r.Session.Name},
			Err:  errors.New("it has no patches, and today's pi would not honour one"),
			Hint: "--as edits is what pi knows; --rules envelope says that a patch is wanted",
		}
	case f != AsAuto && f != "":
		return f, nil
	case r.Rules == replay.ByEnvelope:
		return AsTransform, nil
	}
	return AsEdits, nil
}

// A refusal is a change that a pass would make, and the form cannot store. It is in no
// sum.
type refusal struct {
	Pass    string `json:"pass"`
	Message int    `json:"message"` // its place in the view
	Record  int    `json:"record"`  // the entry that the message comes from
	Action  Action `json:"action"`
	Why     string `json:"why"`
	Could   Form   `json:"could,omitempty"` // the form that can; empty where none can
}

// In is the view for changes that are stored in a form: what that cannot store no pass
// changes, and the report says so.
func (v *View) In(f Form) *View {
	w := *v
	w.form = f
	return &w
}

// may says that a message can be changed. Where it cannot, the pass's report says why.
func (w *work) may(a Action, i int) bool {
	if w.form == "" {
		return true
	}
	why, could := w.fixed(a, i)
	if why == "" {
		return true
	}
	w.cannot = append(w.cannot, refusal{w.pass, i, w.Messages[i].Origin.Record, a, why, could})
	return false
}

// mayAll is may for messages that change together or not at all.
func (w *work) mayAll(a Action, all []int) bool {
	for _, i := range all {
		if !w.may(a, i) {
			return false
		}
	}
	return true
}

// mayKeep says that a compaction can name the first message that it leaves.
func (w *work) mayKeep(r stretch) bool {
	return r.Kept < 0 || r.To >= len(w.Messages) || w.may(Summarise, r.To)
}

// fixed says why the view's form cannot store a change of a message, and which form
// could; why is empty where it can. To summarise is asked of the first message that
// stays.
func (v *View) fixed(a Action, i int) (why string, could Form) {
	m := &v.Messages[i]
	s, rec := v.session(), m.Origin.Record
	switch {
	case !m.Cached:
		return "it is sent behind the history, and no entry changes it", ""
	case m.Heads || v.form == AsTransform:
		return "", ""
	case m.Origin.Op >= 0:
		return "a patch has put it there, where no edit reaches it", AsTransform
	case s.ID(rec) == "" || s.WrongID(rec) || s.Shadowed(rec):
		return "it has no id by which an entry could name it", AsTransform
	case a != Replace && a != Drop || s.Kind(rec) == sessionfmt.CustomMessage || s.Kind(rec).Replaceable():
		return "", ""
	}
	return fmt.Sprintf("an edit cannot replace what a %s says", m.Kind), AsTransform
}
