package replay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"

	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An op is one kind of patch operation (docs/session-format.md 6.1). A new one is a file and an
// entry in ops.
type op struct {
	name   string
	cached bool // it changes cached content, so it must have a reason
	does   Operation
	// check validates the operation's fields.
	check func(v value) error
	// apply changes the messages of one state immediately.
	apply func(m *machine, s *state, c *Change) error
	// fold changes prompt, tools or options when they are read.
	fold func(f *prompt.Fold, v value, by origin.Origin)
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

// transform applies all ops of a context_transform. With --lenient it applies none if the
// reference code would reject the patch.
func (m *machine) transform(at Piece) (Effect, error) {
	line, err := m.load.lines.Line(int(at.rec))
	if err != nil {
		return Nothing, err
	}
	patch := line.Get("patch")
	if err := m.checkPatch(int(at.rec), line, patch); err != nil {
		if !m.r.Options.Lenient {
			return Nothing, m.r.stopped(int(at.rec), m.before(), errors.New(err.text))
		}
		m.r.addFinding(err.code, int(at.rec), "%s: the whole patch is skipped", err.text)
		return Nothing, nil
	}
	k, did := int32(0), Patched
	if line.Get("transformerName").Is("compaction") {
		did = Compacted
	}
	for v := range patch.Elements {
		if o := findOp(v.Get("op")); o != nil {
			if o == &compactionApply {
				did = Compacted
			}
			at.op = k
			at.start, at.size = span(line, v)
			if err := m.do(Change{Do: o.does, By: at.Origin(), piece: at, op: o, v: v}); err != nil {
				return did, err
			}
		}
		k++
	}
	return did, nil
}

// before returns the id of the previous entry, for a hint.
func (m *machine) before() string {
	if m.pos > 0 {
		return sessionfmt.Quote(m.r.Session.ID(m.path.at(m.pos - 1)))
	}
	return "root"
}

// A brokenPatch is the reason that a replay stops.
type brokenPatch struct{ error }

func (b brokenPatch) Unwrap() error { return b.error }

// Stopped reports whether an error is a patch at which a replay stops, rather than a failure to
// read the file.
func Stopped(err error) bool { return err != nil && errors.As(err, new(brokenPatch)) }

// stopped returns the error of a replay that stops at a transform.
func (r *Replay) stopped(rec int, before string, err error) error {
	return &sessionfmt.Error{
		Pos:  r.Session.Pos(rec),
		Err:  brokenPatch{err},
		Hint: fmt.Sprintf("--lenient continues as the reference code does; --at %s is the last state before it", before),
	}
}

// A patchFault is what is wrong with a patch: the finding's code, and the text.
type patchFault struct{ code, text string }

func fault(code, format string, args ...any) *patchFault {
	return &patchFault{code, fmt.Sprintf(format, args...)}
}

// checkPatch validates a transform's patch before any of it is applied. What the reference code
// accepts is a fault only without --lenient.
func (m *machine) checkPatch(rec int, line, patch value) *patchFault {
	if v := line.Get("schemaVersion"); !isOne(v) {
		f := fault("patch-schema", "schemaVersion must be 1, not %s", orMissing(v))
		if !m.r.Options.Lenient {
			return f
		}
		m.r.addFinding(f.code, rec, "%s: applied as if it were", f.text)
	}
	if !patch.IsArray() {
		return fault("patch-shape", "the patch must be an array")
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
		if !m.r.Options.Lenient {
			return f
		}
		m.r.addFinding(f.code, rec, "%s: ignored", f.text)
		return nil
	}
	if o.cached && jsonl.TrimJS(v.Get("invalidateCacheReason").Text()) == "" {
		return fault("patch-reason", "op %d (%s): invalidateCacheReason is required", k, o.name)
	}
	if err := o.check(v); err != nil {
		return fault("patch-shape", "op %d (%s): %s", k, o.name, err)
	}
	// The scope is not used when a patch is applied, but a persisted patch may only hold cached
	// ops.
	switch scope := v.Get("scope"); {
	case !o.cached:
		m.r.addFinding("patch-scope", rec, "op %d (%s): an uncached op in a persisted transform applies to every later request", k, o.name)
	case !scope.Is("cached"):
		m.r.addFinding("patch-scope", rec, "op %d (%s): scope must be \"cached\", not %s", k, o.name, orMissing(scope))
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

// requireArray checks that a field is an array, and each of its elements.
func requireArray(v value, name string, each func(el value) error) error {
	list := v.Get(name)
	if !list.IsArray() {
		return fmt.Errorf("%s must be an array", name)
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

func requireString(v value, name string) error {
	if !v.Get(name).IsString() {
		return fmt.Errorf("%s must be a string", name)
	}
	return nil
}

// optionalString accepts a string, null or a missing field.
func optionalString(v value, name string) error {
	if t := v.Get(name); !t.IsNull() && !t.IsString() {
		return fmt.Errorf("%s must be a string", name)
	}
	return nil
}

func optionalNumber(v value, name string) error {
	if n := v.Get(name); !n.IsNull() && !n.IsNumber() {
		return fmt.Errorf("%s must be a number", name)
	}
	return nil
}

// compactionApply puts a summary in place of the cached messages before an index. An index
// below 0 or missing counts as 0, a fraction is truncated, and one beyond the end keeps only
// the summary.
var compactionApply = op{
	name:   "compaction_apply",
	cached: true,
	check: func(v value) error {
		if err := requireString(v, "summary"); err != nil {
			return err
		}
		return optionalNumber(v, "firstKeptMessageIndex")
	},
	does: OpCut,
	apply: func(m *machine, s *state, c *Change) error {
		v, at := c.v, c.piece
		f, ok := v.Get("firstKeptMessageIndex").Float()
		if cached := s.msgs.shown; s == m.current() && ok && (f < 0 || f > float64(cached) || f != math.Trunc(f)) {
			m.r.addFinding("patch-index", int(at.rec), "op %d (compaction_apply): firstKeptMessageIndex is %s in a list of %d messages: below 0 counts as 0, beyond the end keeps nothing, a fraction is truncated",
				at.op, v.Get("firstKeptMessageIndex"), cached)
		}
		first := s.msgs.index(int(max(0, min(f, float64(s.msgs.n)))))
		at.form, at.kind = opSummary, jsonl.CompactionMessage
		if err := m.size(&at); err != nil {
			return err
		}
		if was := s.msgs; s == m.current() {
			c.Removed = was.first(first)
		}
		s.msgs.cut(first, at)
		return nil
	},
}

var errNoMessage = errors.New("must be a message")

func checkMessages(v value) error {
	return requireArray(v, "messages", func(el value) error {
		if !el.IsObject() {
			return errNoMessage
		}
		return nil
	})
}

// patchMessage returns the message v in the op at.
func patchMessage(v, op value, at Piece) Piece {
	at.form = patchGiven
	at.kind = v.Get("role").RoleKind()
	if at.kind == jsonl.System { // an ordinary provider message here
		at.kind = jsonl.OtherMessage
	}
	start, size := span(op, v)
	at.start, at.size = at.start+start, size
	return at
}

var messagesUncachedAppend = op{
	name:  "messages_uncached_append",
	check: checkMessages,
	does:  OpAppend,
	apply: func(m *machine, s *state, c *Change) error {
		for el := range c.v.Get("messages").Elements {
			msg := patchMessage(el, c.v, c.piece)
			if err := m.size(&msg); err != nil {
				return err
			}
			s.uncached = append(s.uncached, msg)
		}
		return nil
	},
}

// optionsSet sets the given options. Null keeps the old value, so an option cannot be cleared.
var optionsSet = op{
	name:   "options_set",
	cached: true,
	check: func(v value) error {
		return cmp.Or(optionalString(v, "reasoning"), optionalNumber(v, "temperature"), optionalNumber(v, "maxTokens"))
	},
	does: OpSet,
	fold: func(f *prompt.Fold, v value, _ origin.Origin) {
		set := func(to *value, name string) {
			if got := v.Get(name); !got.IsNull() {
				*to = bytes.Clone(got)
			}
		}
		set(&f.Options.Reasoning, "reasoning")
		set(&f.Options.Temperature, "temperature")
		set(&f.Options.MaxTokens, "maxTokens")
	},
}

var systemPartSet = op{
	name:   "system_part_set",
	cached: true,
	check: func(v value) error {
		return cmp.Or(requireString(v, "partName"), optionalString(v, "text"))
	},
	does: OpSet,
	fold: func(f *prompt.Fold, v value, by origin.Origin) {
		f.SetPart(v.Get("partName").Text(), v.Get("text").Text(), by)
	},
}

var systemPartRemove = op{
	name:   "system_part_remove",
	cached: true,
	check:  func(v value) error { return requireString(v, "partName") },
	does:   OpSet,
	fold: func(f *prompt.Fold, v value, _ origin.Origin) {
		f.RemoveParts(v.Get("partName").Text())
	},
}

var systemPartsReplace = op{
	name:   "system_parts_replace",
	cached: true,
	check: func(v value) error {
		return requireArray(v, "parts", func(p value) error {
			return cmp.Or(requireString(p, "name"), optionalString(p, "text"))
		})
	},
	does: OpSet,
	fold: func(f *prompt.Fold, v value, by origin.Origin) {
		f.ReplaceParts()
		for p := range v.Get("parts").Elements {
			f.Parts = append(f.Parts, prompt.NewPart(p.Get("name").Text(), p.Get("text").Text(), by))
		}
	},
}

var toolsReplace = op{
	name:   "tools_replace",
	cached: true,
	check: func(v value) error {
		return requireArray(v, "tools", func(t value) error { return requireString(t, "name") })
	},
	does: OpSet,
	fold: func(f *prompt.Fold, v value, by origin.Origin) {
		f.ReplaceTools()
		for t := range v.Get("tools").Elements {
			f.Tools = append(f.Tools, prompt.NewTool(bytes.Clone(t), by))
		}
	},
}

var toolsRemove = op{
	name:   "tools_remove",
	cached: true,
	check: func(v value) error {
		return requireArray(v, "toolNames", func(value) error { return nil })
	},
	does: OpSet,
	fold: func(f *prompt.Fold, v value, _ origin.Origin) {
		for name := range v.Get("toolNames").Elements {
			f.RemoveTools(name)
		}
	},
}
