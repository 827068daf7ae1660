package dialect

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/base/lazy"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A Reading states how a session was read. All reports on sessions include it.
type Reading struct {
	// the writer: `pi`, `oh-my-pi`, `codex`, `claude`, `gemini`, `qwen`, `gsh`, `swe-cli`, `y-agent`,
	// `opencode`, `opencode2`, `kilo`, `openclaw`, `copilot`, `cline`
	Agent string `json:"agent,omitempty"`
	// how certain the parts of a context are; for pi in `replay` only
	Certainty *Certainty `json:"certainty,omitempty"`
}

// Reading returns how a session of a dialect was read, given the rules that it used, the version of the program
// that wrote it, and the models that were asked. A nil Dialect is pi's.
func (d *Dialect) Reading(used rule.Set, version string, asked ...rule.Asked) Reading {
	r := Reading{Agent: d.Agent()}
	if d != nil {
		r.Certainty = d.Certainty.Earned(d.Rules, used, version, asked...)
	}
	return r
}

// Earned returns the certainty after comparing: messages are exact if all used rules were compared with a
// version of the program; otherwise it names those that were not. If no request of the version was compared, it
// only states that.
func (c Certainty) Earned(t *rule.Table, used rule.Set, version string, asked ...rule.Asked) *Certainty {
	if t == nil {
		return &c
	}
	left := t.Uncompared(used, version, asked...)
	if len(left) == 0 {
		c.Messages = "exact"
	}
	switch known := slices.Contains(t.Versions(), version); {
	case len(left) > 0 && !known && !versionLike().MatchString(version): // it may be any text in the file
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

// versionLike matches a version of a program.
var versionLike = lazy.Regexp(`^[0-9]+(\.[0-9A-Za-z+-]{1,16}){0,4}$`)

// unnamed stands for the version of a program that does not write it into its files.
const unnamed = "a version that the file does not name"

// OhMyPi is the name of oh-my-pi, which writes sessions in pi's format.
const OhMyPi = "oh-my-pi"

// Variant returns how a session of a variant of pi was read: by pi's rules, which were compared with pi alone.
// Its files lack the system prompt and the tools.
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

// mostNamed is the number of rules that a sentence names.
const mostNamed = 4

// inWords describes each certainty for a sentence.
var inWords = map[string]string{"exact": "exact", "rule": "by rule", "absent": "not in the file"}

// A Database describes an SQLite database with an agent's sessions. A session is read as lines: its row in the
// table of sessions, then its rows in other tables. A line is an object with the name of the table as table,
// the columns, and the time of the row as timestamp.
type Database struct {
	Files    string   // names of databases, a pattern of [path/filepath.Match]
	Sessions string   // table with a row for each session
	ID       string   // its column with the id of the session
	Parent   string   // its column with the session that a sub-agent works for
	Needs    []string // columns without which sessions cannot be told apart
	// Rows lists the tables with a session's content. The first one counts that has rows of the session and
	// begins as it should.
	Rows []Table
	// Time returns when a row was written, milliseconds since 1970; 0 if unknown.
	Time func(line jsonl.Value) int64
}

// A Table is a table with rows of sessions.
type Table struct {
	Name    string
	Session string   // column with the id of the owner of a row
	Order   []string // columns by which rows are ordered
	Begins  string   // beginning of the type of the first row; empty for any
	Needs   []string // columns that are required
	// Sequence names a table that has, in columns of the same names, the session and the greatest Order of its
	// rows, which are numbered from 0: if rows are missing, this table does not count. Empty for rows without
	// numbers.
	Sequence string
	// Packed names a column that holds, compressed with zstd, what the column Unpacked has in other rows. Empty
	// for none.
	Packed, Unpacked string
	Parts            *Table // a table with more rows, each of which belongs to a row of this one and follows it
}
