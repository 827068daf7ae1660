package dialect

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A Reading tells how a session is read. All reports on sessions have it.
type Reading struct {
	// the writer: `pi`, `oh-my-pi`, `codex`, `claude`, `gemini`, `qwen`, `gsh`, `swe-cli`, `y-agent`,
	// `opencode`, `opencode2`, `kilo`, `openclaw`, `copilot`, `cline`
	Agent string `json:"agent,omitempty"`
	// how certain the parts of a context are; for pi in `replay` only
	Certainty *Certainty `json:"certainty,omitempty"`
}

// Reading returns how a session of a dialect is read, by the rules that it used, the version of the program
// that wrote it, and who was asked; no dialect is pi's.
func (d *Dialect) Reading(used rule.Set, version string, asked ...rule.Asked) Reading {
	r := Reading{Agent: d.Agent()}
	if d != nil {
		r.Certainty = d.Certainty.Earned(d.Rules, used, version, asked...)
	}
	return r
}

// Earned returns the certainty with messages that are exact if all rules used were compared with a version
// of the program, and else with the names of those that were not. Of a version of which no request was compared,
// that is all it says.
func (c Certainty) Earned(t *rule.Table, used rule.Set, version string, asked ...rule.Asked) *Certainty {
	if t == nil {
		return &c
	}
	left := t.Uncompared(used, version, asked...)
	if len(left) == 0 {
		c.Messages = "exact"
	}
	switch known := slices.Contains(t.Versions(), version); {
	case len(left) > 0 && !known && !versionLike.MatchString(version): // it may be any text of the file
		c.Uncompared = []string{unnamed}
	case len(left) > 0 && !known:
		c.Uncompared = []string{"version " + version}
	default:
		for _, r := range left {
			c.Uncompared = append(c.Uncompared, t.Info(r).Name)
		}
	}
	return &c
}

// versionLike is a version of a program.
var versionLike = regexp.MustCompile(`^[0-9]+(\.[0-9A-Za-z+-]{1,16}){0,4}$`)

// unnamed stands for the version of a program that is not in its files.
const unnamed = "a version that the file does not name"

// OhMyPi is the name of oh-my-pi, which writes sessions in pi's format.
const OhMyPi = "oh-my-pi"

// Variant returns how a session of a variant of pi is read: by pi's rules, which were compared with pi alone.
// The system prompt and the tools are not in its files.
func Variant(agent string) Reading {
	return Reading{Agent: agent, Certainty: &Certainty{Messages: "rule", System: "absent", Tools: "absent",
		Uncompared: []string{unnamed}}}
}

// String names the agent, and describes the certainty in words.
func (r Reading) String() string {
	s, c := "a session of "+r.Agent, r.Certainty
	if c == nil {
		return s
	}
	left := ""
	switch n := len(c.Uncompared); {
	case n > mostNamed:
		left = fmt.Sprintf(" (not compared: %s and %d more)", strings.Join(c.Uncompared[:mostNamed], ", "), n-mostNamed)
	case n > 0:
		left = " (not compared: " + strings.Join(c.Uncompared, ", ") + ")"
	}
	s += ": messages " + inWords[c.Messages] + left
	if c.System == c.Tools {
		return s + ", system prompt and tools " + inWords[c.System]
	}
	return s + ", system prompt " + inWords[c.System] + ", tools " + inWords[c.Tools]
}

// mostNamed is how many rules a sentence names.
const mostNamed = 4

// inWords are the certainties in a sentence.
var inWords = map[string]string{"exact": "exact", "rule": "by rule", "absent": "not in the file"}

// A Database is an SQLite database with the sessions of an agent. A session is read as lines:
// its row in the table of sessions, and its rows in other tables. A line is an object of the
// columns, after the name of the table as table, and before the time of the row as timestamp.
type Database struct {
	Files    string   // the names of databases, a pattern of [path/filepath.Match]
	Sessions string   // the table with a row for each session
	ID       string   // the column of that table with the id of the session
	Parent   string   // the column of that table with the session that a sub-agent works for
	Needs    []string // the columns of that table without which a session cannot be told from others
	// Rows are tables with what a session has. Those of the first one count that has rows of the
	// session, and begins as it should.
	Rows []Table
	// Time is when a row was written, milliseconds since 1970, 0 if that is not known.
	Time func(line jsonl.Value) int64
}

// A Table is one with rows of sessions.
type Table struct {
	Name    string
	Session string   // the column with the id of what its rows belong to
	Order   []string // the columns by which they are ordered
	Begins  string   // how the type of the first row begins, empty for anything
	Needs   []string // the columns without which rows say nothing
	// Sequence is a table that has, in columns of the same names, the session and the greatest Order of its rows, which
	// are numbered from 0: where they are not all there, this table does not count. Empty for rows without numbers.
	Sequence string
	// Packed is a column with what the column Unpacked has in other rows, packed by zstd. Empty for
	// none.
	Packed, Unpacked string
	Parts            *Table // has more rows, which belong to a row of this one, and follow it
}
