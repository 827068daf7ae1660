package replay

import (
	"errors"
	"fmt"

	"ctxtool/sessionfmt"
)

// An op is one kind of patch operation (spec/pi-format.md 6.1). A new one is a
// file and a line in ops.
type op struct {
	name   string
	cached bool // it changes what is cached, so it has to say why
	// check says what is wrong with the operation's fields.
	check func(v value) error
	// apply changes the messages of one state at once; at is the op's place:
	// transform, number, stretch of the line.
	apply func(m *machine, s *state, v value, at message) error
	// fold changes prompt, tools or options, when they are asked for.
	fold func(f *folded, v value, by Origin)
}

// ops are the patch operations, in the order of the documentation.
var ops = []*op{
	&systemPartSet,
	&systemPartRemove,
	&systemPartsReplace,
	&toolsReplace,
	&toolsRemove,
	&messagesCachedReplace,
	&messagesUncachedAppend,
	&optionsSet,
	&compactionApply,
}

func findOp(name value) *op {
	for _, o := range ops {
		if name.Is(o.name) {
			return o
		}
	}
	return nil
}

// transform applies a context_transform: all of its ops, or with --lenient and
// a patch that the reference code would reject, none.
func (m *machine) transform(at message) (Effect, error) {
	line, err := m.load.lines.Line(int(at.rec))
	if err != nil {
		return Nothing, err
	}
	patch := line.Get("patch")
	if err := m.checkPatch(int(at.rec), line, patch); err != nil {
		if !m.r.opt.Lenient {
			return Nothing, m.r.stopped(int(at.rec), m.before(), errors.New(err.text))
		}
		m.r.find(err.code, int(at.rec), "%s: the whole patch is skipped", err.text)
		return Nothing, nil
	}
	k, did := int32(0), Patched
	for v := range patch.Elements {
		if o := findOp(v.Get("op")); o != nil {
			if o == &compactionApply {
				did = Compacted
			}
			at.op = k
			at.start, at.size = stretch(line, v)
			m.each(func(s *state) {
				if o.fold != nil {
					s.deltas = append(s.deltas, delta{m: at, op: o})
				} else if err == nil {
					err = o.apply(m, s, v, at)
				}
			})
			if err == nil {
				err = m.watch.did(m, int(k), o)
			}
		}
		k++
	}
	return did, err
}

// before is the id of the entry before the one at hand, for a hint.
func (m *machine) before() string {
	if m.pos > 0 {
		return sessionfmt.Quote(m.r.Session.ID(m.path.at(m.pos - 1)))
	}
	return "root"
}

// A brokenPatch is why a replay has to stop: no trouble with the file itself.
type brokenPatch struct{ error }

func (b brokenPatch) Unwrap() error { return b.error }

// Stopped says that an error is a patch at which a replay has to stop, and no
// trouble with the file.
func Stopped(err error) bool { return err != nil && errors.As(err, new(brokenPatch)) }

// stopped is the error of a replay that has to end at a transform.
func (r *Replay) stopped(rec int, before string, err error) error {
	return &sessionfmt.Error{
		Pos:  r.Session.Pos(rec),
		Err:  brokenPatch{err},
		Hint: fmt.Sprintf("--lenient goes on as the reference code would; --at %s is the last state before it", before),
	}
}

// A patchFault is what is wrong with a patch: the code of the rule, and the op.
type patchFault struct{ code, text string }

func fault(code, format string, args ...any) *patchFault {
	return &patchFault{code, fmt.Sprintf(format, args...)}
}

// checkPatch looks at a transform's patch before anything of it is applied. What
// the reference code lets pass is a fault only without --lenient.
func (m *machine) checkPatch(rec int, line, patch value) *patchFault {
	if v := line.Get("schemaVersion"); !isOne(v) {
		f := fault("patch-schema", "schemaVersion %s is not 1", orMissing(v))
		if !m.r.opt.Lenient {
			return f
		}
		m.r.find(f.code, rec, "%s: applied as if it were", f.text)
	}
	if !patch.IsArray() {
		return fault("patch-shape", "the patch is no list")
	}
	k := 0
	for v := range patch.Elements {
		if f := m.checkOp(rec, k, v); f != nil {
			return f
		}
		k++
	}
	return nil
}

func (m *machine) checkOp(rec, k int, v value) *patchFault {
	name := v.Get("op")
	o := findOp(name)
	if o == nil {
		f := fault("patch-op", "op %d (%s): unknown op", k, orMissing(name))
		if !m.r.opt.Lenient {
			return f
		}
		m.r.find(f.code, rec, "%s: ignored", f.text)
		return nil
	}
	if o.cached && sessionfmt.TrimJS(v.Get("invalidateCacheReason").Text()) == "" {
		return fault("patch-reason", "op %d (%s): changes what is cached without an invalidateCacheReason", k, o.name)
	}
	if err := o.check(v); err != nil {
		return fault("patch-shape", "op %d (%s): %s", k, o.name, err)
	}
	// The scope is not looked at when a patch is applied, but a persisted patch
	// may only hold cached ops.
	switch scope := v.Get("scope"); {
	case !o.cached:
		m.r.find("patch-scope", rec, "op %d (%s): an uncached op in a persisted transform: applied to every request from here on", k, o.name)
	case !scope.Is("cached"):
		m.r.find("patch-scope", rec, "op %d (%s): scope is %s instead of \"cached\"", k, o.name, orMissing(scope))
	}
	return nil
}

func isOne(v value) bool {
	f, ok := v.Float()
	return ok && f == 1
}

func orMissing(v value) string {
	if !v.Exists() {
		return "missing"
	}
	return sessionfmt.Quote(string(v))
}

// needList, needText and optional are the checks that ops share.
func needList(v value, name string, each func(el value) error) error {
	list := v.Get(name)
	if !list.IsArray() {
		return fmt.Errorf("%s is no list", name)
	}
	k := 0
	for el := range list.Elements {
		if err := each(el); err != nil {
			return fmt.Errorf("%s %d: %w", name, k, err)
		}
		k++
	}
	return nil
}

func needText(v value, name string) error {
	if !v.Get(name).IsString() {
		return fmt.Errorf("%s is no string", name)
	}
	return nil
}

// optionalText passes a string, null, or nothing.
func optionalText(v value, name string) error {
	if t := v.Get(name); !t.IsNull() && !t.IsString() {
		return fmt.Errorf("%s is no string", name)
	}
	return nil
}

func optionalNumber(v value, name string) error {
	if n := v.Get(name); !n.IsNull() && !n.IsNumber() {
		return fmt.Errorf("%s is no number", name)
	}
	return nil
}
