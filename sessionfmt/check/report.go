package check

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
)

// A Severity is how bad a finding is.
type Severity uint8

// The severities, the mildest first. What changes nothing in any reader is Info;
// what loses something, or makes an agent fail, is Error.
const (
	Info Severity = iota
	Warning
	Error
)

var severityNames = []string{"info", "warning", "error"}

// String is the severity's name.
func (s Severity) String() string { return severityNames[s] }

// MarshalText is String, for JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseSeverity reads the name of a severity.
func ParseSeverity(name string) (Severity, error) {
	if k := slices.Index(severityNames, name); k >= 0 {
		return Severity(k), nil
	}
	return 0, fmt.Errorf("unknown severity %q", sessionfmt.Quote(name))
}

// A Finding is one thing that is wrong with a file.
type Finding struct {
	Code     string   `json:"code"`            // of the [check](checks/README.md)
	Severity Severity `json:"severity"`        // `error`, `warning` or `info`
	File     string   `json:"file"`            // as above
	Line     int      `json:"line,omitempty"`  // where it is, the physical line from 1; absent where it is about the whole file
	Entry    string   `json:"entry,omitempty"` // the entry's id; absent as well
	Text     string   `json:"text"`            // one sentence
	Fix      string   `json:"fix,omitempty"`   // the command that fixes it; `nothing to do`, or `by hand: ` and the command that explains it
	Hides    *Figures `json:"hides,omitempty"` // what the damage keeps out of the context at the leaf; below 0 where it brings something in
}

// Figures are the size of a context, or by how much two differ: messages,
// tokens, and requests answered on the way.
type Figures struct {
	Messages int `json:"messages"`
	Tokens   int `json:"tokens"`
	Requests int `json:"requests"`
}

func (f Figures) less(o Figures) Figures {
	return Figures{f.Messages - o.Messages, f.Tokens - o.Tokens, f.Requests - o.Requests}
}

// A Report is what was found in one file.
type Report struct {
	Schema   string              `json:"schema"`
	File     string              `json:"file"`              // as it was given, or below the folder that was; `-` for standard input
	Version  int                 `json:"version,omitempty"` // of the format; absent where the file cannot be read
	Rules    string              `json:"rules,omitempty"`   // `pi` or `envelope`: by which it was replayed
	Opens    string              `json:"opens,omitempty"`   // what pi does when it opens the file, if it does not just read it: `refuses it`, `runs out of memory`, `shows an empty session`, `fails to build a context` (with these four it has no context of the file), `rewrites it as version 3`, `rewrites it each time`, `adds a newline to it`
	Context  *Figures            `json:"context,omitempty"` // the context at the leaf, where there is damage whose cost can be told
	Repaired *Figures            `json:"mended,omitempty"`  // the same after `ctxtool repair`, if that changes something
	Verdict  Verdict             `json:"verdict"`           // `sound` (neither errors nor warnings), `usable` (warnings that hide nothing of the context, such as aborted answers), `damaged`, `unread`
	Coverage sessionfmt.Coverage `json:"coverage"`          // as of a replay
	Findings []Finding           `json:"findings"`          // in the order of the file; empty for a sound one

}

// A Verdict is whether a session can be used as it is.
type Verdict string

// The verdicts, the best first.
const (
	Sound   Verdict = "sound"   // nothing was found, or infos
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

// Rename gives the file another name in the report.
func (r *Report) Rename(name string) {
	r.File = name
	for k := range r.Findings {
		f := &r.Findings[k]
		f.File, f.Fix = name, r.fix(f)
	}
}

// fix is what fixes a finding. What appends entries needs a session with ids, and nothing
// here writes a version that it does not know.
func (r *Report) fix(f *Finding) string {
	fix := Find(f.Code).Fix()
	switch appends := fix == answers || fix == omits || fix == compacts; {
	case strings.HasPrefix(fix, "ctxtool") && r.Version > 3, fix == omits && f.Entry == "":
		fix = explains + f.Code
	case appends && r.Version == 1:
		fix = migrates
	}
	return strings.NewReplacer("FILE", r.File, "ENTRY", f.Entry).Replace(fix)
}

// Worst is the severity of the worst finding, and whether there is one.
func (r *Report) Worst() (worst Severity, any bool) {
	for _, f := range r.Findings {
		worst = max(worst, f.Severity)
	}
	return worst, len(r.Findings) > 0
}

// has reports whether something of that code was found.
func (r *Report) has(code string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == code })
}

// Reports are what was found in several files, schema ctxtool/check/1.
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

// Together are the reports of several files with their sums.
func Together(reports []*Report) Reports {
	r := Reports{Schema: "ctxtool/check/1", Files: reports}
	for _, f := range reports {
		r.Totals.Files++
		switch f.Verdict {
		case Sound:
			r.Totals.Sound++
		case Usable:
			r.Totals.Usable++
		case Damaged:
			r.Totals.Damaged++
		default:
			r.Totals.Unread++
		}
		for _, found := range f.Findings {
			switch found.Severity {
			case Error:
				r.Totals.Errors++
			case Warning:
				r.Totals.Warnings++
			default:
				r.Totals.Infos++
			}
		}
	}
	return r
}
