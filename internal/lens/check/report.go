package check

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
)

// A Severity is the severity of a finding.
type Severity uint8

// The severities in ascending order. Info is damage that no reader notices; Error is damage
// that loses content or makes an agent fail.
const (
	Info Severity = iota
	Warning
	Error
)

var severityNames = []string{"info", "warning", "error"}

// String returns the severity's name.
func (s Severity) String() string { return severityNames[s] }

// MarshalText returns the name, for JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (s *Severity) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSeverity(string(text))
	return err
}

// ParseSeverity returns the severity with that name, or an error.
func ParseSeverity(name string) (Severity, error) {
	if k := slices.Index(severityNames, name); k >= 0 {
		return Severity(k), nil
	}
	return 0, fmt.Errorf("unknown severity %q", sessionfmt.Quote(name))
}

// A Finding is damage at one place of a file.
type Finding struct {
	Code     string   `json:"code"`            // of the [check](checks/README.md)
	Severity Severity `json:"severity"`        // `error`, `warning` or `info`
	File     string   `json:"file"`            // as above, or a file that the session continues
	Line     int      `json:"line,omitempty"`  // the physical line, from 1; absent for the whole file
	Entry    string   `json:"entry,omitempty"` // the entry's id; absent if no entry has the damage
	Text     string   `json:"text"`            // one sentence
	// the command that fixes it, `nothing to do`, or `by hand: ` and the command that explains it
	Fix string `json:"fix,omitempty"`
	// what the damage hides from the context at the leaf, or `bridged` from a resume; negative if it adds
	Hides *Figures `json:"hides,omitempty"`
}

// Figures are the size of a context, or the difference between two: messages, tokens, and
// the answered requests on its path.
type Figures struct {
	Messages int `json:"messages"`
	Tokens   int `json:"tokens"`
	Requests int `json:"requests"`
}

func (f Figures) less(o Figures) Figures {
	return Figures{f.Messages - o.Messages, f.Tokens - o.Tokens, f.Requests - o.Requests}
}

// A Report holds the findings of one file.
type Report struct {
	Schema string `json:"schema"`
	File   string `json:"file"` // the name as given, or below the given folder; `-` for standard input
	dialect.Reading
	Version int    `json:"version,omitempty"` // of the format; absent if the file cannot be read
	Rules   string `json:"rules,omitempty"`   // the replay rules: `pi` or `envelope`
	// what pi does when it opens the file, absent if it only reads it: `refuses it`, `runs out of memory`,
	// `shows an empty session`, `fails to build a context` (no context in these four cases), `rewrites it
	// as version 3`, `rewrites it each time`, `adds a newline to it`
	Opens string `json:"opens,omitempty"`
	// the context at the leaf; present if the effect of the damage is known
	Context *Figures `json:"context,omitempty"`
	// the context at the leaf after `ctxtool repair`, if that changes it
	Repaired *Figures `json:"mended,omitempty"`
	// `sound` (no errors or warnings), `usable` (warnings that hide nothing, such as aborted answers),
	// `damaged`, `unread`
	Verdict  Verdict             `json:"verdict"`
	Coverage sessionfmt.Coverage `json:"coverage"` // the lines read, as in a replay
	// at least `--min`, in file order, then those in files that the session continues
	Findings []Finding `json:"findings"`

	Foreign  bool   `json:"-"` // another agent's format, which is never written
	ownLines bool   // a repair can read the session
	provider string // of Options
}

// A Verdict tells how usable a session is.
type Verdict string

// The verdicts, from best to worst.
const (
	Sound   Verdict = "sound"   // no findings, or only infos
	Usable  Verdict = "usable"  // warnings that hide nothing of the context, such as aborted answers
	Damaged Verdict = "damaged" // errors, or warnings that hide something
	Unread  Verdict = "unread"  // the file cannot be read as a session
)

// judge sets the verdict.
func (r *Report) judge() {
	worst, _ := r.Worst()
	hides := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Hides != nil })
	switch {
	case worst == Error || hides:
		r.Verdict = Damaged
	case worst == Warning:
		r.Verdict = Usable
	default:
		r.Verdict = Sound
	}
}

// Rename changes the name of the file in the report. Findings in files that it continues keep
// the names of those.
func (r *Report) Rename(name string) {
	was := r.File
	r.File = name
	for k := range r.Findings {
		f := &r.Findings[k]
		if f.File == was {
			f.File = name
		}
		f.Fix = r.fix(f)
	}
}

// fix returns the command that fixes a finding, as Check.Fix does. Commands that append
// entries need a session with ids and a known version. Another agent's session is repaired
// elsewhere if its lines can be, and else fixed in its conversion.
func (r *Report) fix(f *Finding) string {
	fix := Find(f.Code).Fix()
	switch appends := fix == answers || fix == omits || fix == compacts; {
	case r.Foreign && r.ownLines && Find(f.Code).mend&(splits|foreign) != 0:
		fix += " -o NEW.jsonl"
	case fix == accepts && r.Foreign:
		fix = "ctxtool import FILE -o - | ctxtool repair --provider PROVIDER - -o NEW.jsonl"
	case strings.HasPrefix(fix, "ctxtool") && r.Foreign:
		fix = explains + f.Code
		if !appends {
			fix = converts
		}
	case strings.HasPrefix(fix, "ctxtool") && r.Version > 3, fix == omits && f.Entry == "":
		fix = explains + f.Code
	case appends && r.Version == 1:
		fix = migrates
	}
	return strings.NewReplacer("FILE", r.File, "ENTRY", f.Entry, "PROVIDER", r.provider).Replace(fix)
}

// Worst returns the severity of the worst finding, and reports whether there is one.
func (r *Report) Worst() (worst Severity, any bool) {
	for _, f := range r.Findings {
		worst = max(worst, f.Severity)
	}
	return worst, len(r.Findings) > 0
}

// Gravest returns the highest severity of what reading or replaying a session found, Info if that is nothing.
func Gravest(found []sessionfmt.Finding) (worst Severity) {
	for _, f := range found {
		severity := Error // of what is no check
		if c := Find(f.Code); c != nil {
			severity = c.Severity
		}
		worst = max(worst, severity)
	}
	return worst
}

// has reports whether there is a finding with that code.
func (r *Report) has(code string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == code })
}

// Reports are the reports of several files, schema ctxtool/check/1.
type Reports struct {
	Schema string    `json:"schema"`
	Files  []*Report `json:"files"`
	Totals Totals    `json:"totals"`
}

// Totals are sums over files.
type Totals struct {
	Files    int `json:"files"`
	Sound    int `json:"sound"`
	Usable   int `json:"usable"`
	Damaged  int `json:"damaged"`
	Unread   int `json:"unread"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

// List drops the findings below a severity from the lists. Verdicts and totals stay.
func (r Reports) List(least Severity) {
	for _, f := range r.Files {
		f.Findings = slices.DeleteFunc(f.Findings, func(f Finding) bool { return f.Severity < least })
	}
}

// Together returns the reports of several files with their totals.
func Together(reports []*Report) Reports {
	r := Reports{Schema: "ctxtool/check/1", Files: reports}
	for _, f := range reports {
		r.Totals.Files++
		t := &r.Totals
		*map[Verdict]*int{Sound: &t.Sound, Usable: &t.Usable, Damaged: &t.Damaged, Unread: &t.Unread}[f.Verdict]++
		for _, found := range f.Findings {
			*[]*int{Info: &t.Infos, Warning: &t.Warnings, Error: &t.Errors}[found.Severity]++
		}
	}
	return r
}
