package codex

import (
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A told is what one line says of the calls around it. The tier of settings counts where that of a usage is absent.
type told struct {
	what                           jsonl.Value // setting, counting or recording; absent for nothing
	model, tier, usage, id, record jsonl.Value // record is the line with the usage
	total                          jsonl.Value // of the session so far
}

// What a line can tell.
var (
	setting   = jsonl.Value("1") // turn_context or thread_settings_applied
	counting  = jsonl.Value("2") // token_count
	recording = jsonl.Value("3") // token_usage_record
)

// tells returns what a line that is no item says of calls.
func tells(l *line, raw jsonl.Value) told {
	switch it := &l.payload; {
	case l.typ.Is("turn_context"):
		return told{what: setting, model: it.model, tier: it.tier}
	case it.thread.raw.Exists():
		return told{what: setting, tier: it.thread.tier}
	case it.info.raw.Exists():
		return told{what: counting, usage: it.info.last, tier: it.tier, record: raw, total: it.info.total}
	case it.usage.Exists():
		return told{what: recording, usage: it.usage, tier: it.tier, id: it.responseID, record: raw}
	}
	return told{}
}

// A used is what lines of a turn say of model, service tier and usage. The tier on a record of usage
// counts before that of the settings.
type used struct {
	model, usage, id, tier, asked jsonl.Value

	line jsonl.Value // with the usage
}

// take takes what the next line says.
func (u *used) take(t told) {
	switch {
	case !t.what.Exists():
	case t.what[0] == setting[0]:
		if t.model.Exists() {
			u.model = t.model
		}
		u.asked = t.tier
	default:
		if t.what[0] == recording[0] {
			u.id = t.id
		}
		u.usage, u.line, u.tier = t.usage, t.record, t.tier
	}
}

// counted returns the usage in pi's terms: what was read from the cache is no part of the input.
func (u *used) counted() (n jsonl.Usage, ok bool) {
	if !u.usage.IsObject() {
		return n, false
	}
	f := u.usage.Ints("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens",
		"total_tokens")
	n = jsonl.Usage{Input: max(0, f[0]-f[1]-f[2]), Output: f[3], CacheRead: f[1], CacheWrite: f[2], Total: f[4],
		Terms: jsonl.TermsOf(jsonl.FirstText(u.tier, u.asked), nil, nil)}
	if n.Terms.Tier == "fast" { // as settings call it
		n.Terms.Tier = "priority"
	}
	return n, true
}

// skim is the dialect's Skim: the time, since any line may begin an answer, and what the line records of calls.
func skim(dst []jsonl.Value, p *jsonl.Picked) []jsonl.Value {
	event := dialect.Skip
	if p.Type.Is("event_msg") {
		if event = events[string(p.Message[0].Inside())]; event == dialect.Skip {
			return dst
		}
	}
	dst = append(dst, p.Timestamp)
	if event == counted || event == thread || p.Type.Is("token_usage_record") || p.Type.Is("turn_context") {
		var l line
		l.read(p.Line)
		t := tells(&l, jsonl.Trim(p.Line))
		dst = append(dst, t.what, t.model, t.tier, t.usage, t.id, t.record, t.total)
	}
	return dst
}

// toldBy returns what a skimmed line tells, nothing for one that cannot be read.
func toldBy(skimmed []jsonl.Value) told {
	if len(skimmed) < 2 {
		return told{}
	}
	v := skimmed[1:]
	return told{v[0], v[1], v[2], v[3], v[4], v[5], v[6]}
}

// callOf is the dialect's Call.
func callOf(s *dialect.Source, lines [][]jsonl.Value) (c jsonl.Call) {
	var u used
	for _, line := range lines {
		u.take(toldBy(line))
	}
	c.Provider, c.Model, c.ResponseID = openai, jsonl.FirstText(u.model, unknown), u.id
	if u.line.Exists() {
		c.Shared = s.Shared(u.line)
	}
	c.Usage, c.Used = u.counted()
	c.Usage = c.Usage.Plausible()
	return c
}
