package check

import (
	"slices"

	"ctxtool/sessionfmt"
)

// A Finding is one thing that is wrong with a file.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"`  // physical line, from 1; absent for the file itself
	Entry    string   `json:"entry,omitempty"` // id
	Text     string   `json:"text"`
	Hides    *Figures `json:"hides,omitempty"` // what the damage keeps out of the context at the leaf
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
	File     string              `json:"file"`
	Version  int                 `json:"version,omitempty"`
	Rules    string              `json:"rules,omitempty"`
	Opens    string              `json:"opens,omitempty"` // what pi does when it opens the file, if it does not just read it
	Context  *Figures            `json:"context,omitempty"`
	Mended   *Figures            `json:"mended,omitempty"` // the context after repair, where there is damage that it mends
	Coverage sessionfmt.Coverage `json:"coverage"`
	Findings []Finding           `json:"findings"`

	unread bool
}

// Unread says that the file could not be read as a session at all.
func (r *Report) Unread() bool { return r.unread }

// Rename gives the file another name in the report.
func (r *Report) Rename(name string) {
	r.File = name
	for k := range r.Findings {
		r.Findings[k].File = name
	}
}

// Worst is the severity of the worst finding, and whether there is one.
func (r *Report) Worst() (worst Severity, any bool) {
	for _, f := range r.Findings {
		worst = max(worst, f.Severity)
	}
	return worst, len(r.Findings) > 0
}

// has says that something of that code was found.
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
	Sound    int `json:"sound"` // without any finding but infos
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
		if f.Unread() {
			r.Totals.Unread++
		}
		if worst, _ := f.Worst(); worst == Info {
			r.Totals.Sound++
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
