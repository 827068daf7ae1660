// Package export writes sessions for other programs: as tables for engines that query them, and in
// formats of exchange. A form is a line in Targets.
//
// The rows of tables are made from the facts of the lenses (stats.Facts), and one mechanism writes
// them in all forms: a struct per table, of which tags name the columns.
//
// # Figures
//
// Requests are a tree. How many requests had a message, and what it cost in them, is added over the
// subtree where it was added and subtracted over the subtree where it was removed, so the work is
// linear in additions and removals. A request pays for fresh messages what its cache did not serve,
// and for the others the rest.
//
// # Parts
//
// A part is the files that are written together: of one agent and day, of at most 500 sessions or 256
// MB. Its rows of unchanged sessions are copied from the old files. A manifest has a line for a part
// before a file of it gets its name, and another after the last did; a part that is only begun, or
// whose files have other sizes, is written again from its sessions. Sessions are read in parallel,
// those above 16 MB one at a time, and written as their rows are made.
package export

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// A Target is a form in which sessions are exported.
type Target struct {
	Name  string
	About string // a line for help

	// Whole reports that whole messages are written, so that sessions are read as redacted.
	Whole bool
	// Export writes sessions.
	Export func(o *Options, sessions []Input) (*Result, error)
}

// Targets are all targets; the first is the default.
var Targets = []*Target{
	{"parquet", "tables in partitions agent=/date=, for DuckDB, Spark, Trino, ClickHouse", false,
		tablesAs(parquetForm)},
	{"sqlite", "the same tables in one database", false, tablesAs(sqliteForm)},
	{"csv", "the same tables, each a file", false, tablesAs(csvForm)},
	{"atif", "a trajectory for each branch of a session, in the Agent Trajectory Interchange Format", true,
		each(trajectories)},
	{"jsonl", "requests (--as chat) or turns (--as sft) with their answers, a line each, for " +
		"evaluation and fine-tuning", true, each(lines)},
}

// Find returns the target of a name.
func Find(name string) *Target {
	if i := slices.IndexFunc(Targets, func(t *Target) bool { return t.Name == name }); i >= 0 {
		return Targets[i]
	}
	return nil
}

// Options say how sessions are exported.
type Options struct {
	Dir      string // of the output
	Contents bool   // with the texts of messages
	Shard    Shard
	Disk     sessionfmt.Disk
	Stats    stats.Options            // how sessions are read
	Text     func(text string) string // redacts a text; nil to leave it
	Says     func(err error) string   // the reason why a session cannot be read
	As       string                   // chat or sft, of the target jsonl
	Search   func(line []byte) error  // fails if a line of whole messages has a secret; nil to look for none
	Note     func(format string, args ...any)
	Progress func(done, of int64) // may be nil
	Large    func(is bool)        // called before a large session is read for tables, and after it; may be nil
}

// An Input is a session to export.
type Input struct {
	Path string // by which it is opened
	Name string // as the command line or its folder names it
}

// A Result describes what was exported, schema ctxtool/export/1.
type Result struct {
	Schema    string           `json:"schema"`
	Dir       string           `json:"dir"`
	Sessions  int              `json:"sessions"`         // of this shard that were named
	Exported  int              `json:"exported"`         // of these, those that were read: the others have not changed
	Unread    int              `json:"unread,omitempty"` // of those, the ones that cannot be read
	Files     int              `json:"files"`            // written
	Rows      map[string]int64 `json:"rows"`             // of the whole export, by table
	Unchanged bool             `json:"unchanged"`        // nothing was written
}

// A Shard is one of several disjoint parts of sessions, by a hash of their ids.
type Shard struct{ Index, Of int }

// ParseShard reads a shard: 1/4 to 4/4.
func ParseShard(text string) (s Shard, err error) {
	index, of, _ := strings.Cut(text, "/")
	s.Index, err = strconv.Atoi(index)
	n, wrong := strconv.Atoi(of)
	if s.Of = n; cmp.Or(err, wrong) != nil || n < 1 || n > mostShards || s.Index < 1 || s.Index > n {
		return s, fmt.Errorf("%q: must be I/N, with I from 1 to N, and N at most %d",
			sessionfmt.Quote(text), mostShards)
	}
	return s, nil
}

// mostShards is how many machines may export into one folder.
const mostShards = 999

// String returns the shard as file names have it.
func (s Shard) String() string { return fmt.Sprintf("%dof%d", max(1, s.Index), max(1, s.Of)) }

// has reports whether the session of an id is in the shard.
func (s Shard) has(id string) bool {
	h := fnv.New64a()
	h.Write([]byte(id))
	return s.Of <= 1 || h.Sum64()%uint64(s.Of) == uint64(s.Index-1)
}

// program returns the version of the program that exports.
func program() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return cmp.Or(info.Main.Version, "unknown")
}

// errNone is the error if there is nothing to export.
var errNone = errors.New("no sessions to export")
