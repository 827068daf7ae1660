package stats

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"ctxtool/internal/lens/reuse"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Facts are the single items that lenses add up, from which the rows of tables are made. They are valid while
// the session is open.
type Facts struct {
	Report   *Report
	About    Summary
	Session  *sessionfmt.Session
	Replay   *replay.Replay
	Book     *ledger.Ledger    // ledger with the requests of all branches
	Point    int               // record at which the path ends
	Calls    []Call            // model calls, by the lens cost, in file order
	Tools    []ToolCall        // tool calls, by the lens session, in the order of the calls
	Own      CostSum           // cost of the calls that no other session owns, each counted once
	Compacts []int             // records that are compactions, by the lens session
	Findings []Finding         // findings of the lens check
	Removed  map[int32]Removal // what removed messages from the context of the path, by number

	origins sessionfmt.Origins
	answer  Call              // data of the record that is being read
	reuse   *reuse.Retrievals // open results
	names   map[string]string // texts that recur, by their JSON
}

// A Call is a call of a model.
type Call struct {
	Record int
	// Key is equal for copies of a call, in any process, except if the copies have other ids and times than
	// their original.
	Key    uint64
	Kind   string // as in the JSON of CostKinds, in the singular
	Source string // source of the cost: billed, estimated, computed, or empty if unknown
	Model  string // `provider/id`
	Cost   float64
	Usage  jsonl.Usage // as recorded
	Stop   string      // why the answer ended
	Missed string      // the provider's reason for not using its cache
	Copied bool        // copied from another session, which owns it, or from another record of this one

	ResponseID, Provider string
}

// A ToolCall is a call of a tool with its result.
type ToolCall struct {
	Record  int    // record of the answer that calls it
	Result  int    // record of the result, -1 for none
	ID      string // the provider's id
	Tool    string
	Action  string // kind of action: read, edit, run and so on; empty for others
	Subject string // its command, pattern or file, or a part of it
	Outcome string
	Used    *bool // whether a later answer uses something that only the result said; nil if no answer follows
	Asked   int64 // bytes of its arguments
	Got     int64 // bytes of the result's content
}

// A Removal is the entry that removed a message from the context, and how.
type Removal struct {
	By  int // record
	Did replay.Effect
}

var (
	callKinds = [...]string{
		answerCall: "answer", toolCall: "tool", summaryCall: "summary", warmingCall: "warming", otherCall: "other",
		subAgentCall: "subagent",
	}
	costSources = [...]string{billed: "billed", estimated: "estimated", computed: "computed", unpriced: ""}
)

// Facts reads a session like Read does, with everything that tables need, and passes its facts to see. The
// lenses, the point and the selection in o are ignored.
func (o Options) Facts(name string, see func(*Facts) error) error {
	f := &Facts{Removed: map[int32]Removal{}, names: map[string]string{}, reuse: reuse.AllRetrievals()}
	begin := Lens{read: func(l *lensRun) { l.each = f }}
	end := Lens{read: func(l *lensRun) { f.read(l, see) }}
	o.Lenses = []*Lens{&begin, &sessionLens, &costLens, {read: f.About.look}, &compactionsLens, &checkLens, &end}
	o.At, o.By, o.Only, o.Entries, o.Family = "", []string{"model"}, Only{}, nil, nil
	_, err := o.Read(name)
	return err
}

// read registers readers for what the facts need besides the lenses.
func (f *Facts) read(l *lensRun, see func(*Facts) error) {
	l.Requests, l.Hashes = true, true
	l.Records = append(l.Records, func(p *jsonl.Picked) {
		f.answer = Call{}
		if p.Kind.IsTurn() {
			f.reuse.Message(p.Said())
		}
		if p.Kind != jsonl.Assistant {
			return
		}
		f.answer.Stop = f.name(p.Said().Stop)
		if bytes.Contains(p.Line, []byte("cache_miss_reason")) {
			f.answer.Missed = f.name(p.Line.Get("message").Get("diagnostics").Get("cache_miss_reason").Get("type"))
		}
	})
	var before replay.Messages
	l.Steps = append(l.Steps, func(s replay.Step) {
		now := s.Messages()
		if s.Did != replay.Added {
			for _, number := range before.Without(now) {
				f.Removed[number] = Removal{s.Record, s.Did}
			}
			for _, number := range now.Without(before) {
				delete(f.Removed, number)
			}
		}
		before = now
	})
	l.Last = append(l.Last, func() {
		f.Report, f.Session, f.Replay, f.Book, f.Point = l.Report, l.Session, l.Replay, l.Book, l.Point
		for i := range l.Report.Cost.calls {
			c := &l.Report.Cost.calls[i]
			one := &f.Calls[i]
			one.Record, one.Kind, one.Source, one.Cost = int(c.record), callKinds[c.kind],
				costSources[c.pricing], c.dollars
			one.Model = l.Report.Cost.Rows[c.row].Model
			u := &one.Usage // a later entry may have replaced it
			u.Input, u.Output, u.CacheRead, u.CacheWrite = c.input, c.output, c.cacheRead, c.cacheWrite
			if one.Copied = c.id.Copy || c.again; !one.Copied {
				f.Own.add(c)
			}
		}
		for i := range f.Tools {
			f.Tools[i].Used = f.reuse.Used(f.Tools[i].ID)
		}
		f.origins = l.Origins
		if l.err == nil {
			l.fail(see(f))
		}
	})
}

// called records a model call, and the text that identifies it in any process, unlike the hash in
// models.CallID.
func (f *Facts) called(c *callRecord, u *jsonl.Usage, text []byte) {
	if f == nil {
		return
	}
	one := f.answer
	one.Key, one.Usage, one.ResponseID, one.Provider = keyOf(text), *u, c.ResponseID.Text(), f.name(c.Provider)
	f.Calls = append(f.Calls, one)
}

func keyOf(text []byte) uint64 {
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:])
}

// copied replaces the identifying text of call i, a copy, by that of its original.
func (f *Facts) copied(i int, text []byte) {
	if f != nil && text != nil {
		f.Calls[i].Key = keyOf(text)
	}
}

// Copied reports whether a record was copied from another session.
func (f *Facts) Copied(rec int) bool {
	_, copied := f.origins.Copied(rec)
	return copied
}

// name interns a text that recurs.
func (f *Facts) name(v jsonl.Value) string {
	name, ok := f.names[string(v)]
	if !ok {
		name = v.Text()
		f.names[string(v)] = name
	}
	return name
}

// mostSubject limits the subject of a call, bytes.
const mostSubject = 300

// uses records a tool call, and returns its number.
func (f *Facts) uses(record int, b *jsonl.Block) int {
	if f == nil {
		return 0
	}
	c := activity.New(b.Name.Text(), b.ID.Text(), b.Args)
	f.Tools = append(f.Tools, ToolCall{
		Record: record, Result: -1, ID: c.ID, Tool: f.name(b.Name), Action: c.Action.String(),
		Subject: outline.FirstWords(c.Beginning(mostSubject)), Asked: int64(len(b.Args)),
	})
	return len(f.Tools) - 1
}

// settles records the result of a tool call by its number.
func (f *Facts) settles(at int, r *strangeResult) {
	if f != nil {
		c := &f.Tools[at]
		c.Result, c.Outcome, c.Got = r.record, r.outcome.String(), r.got
	}
}
