package export

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	_ "ctxtool/sessionfmt/sqlite"
	"ctxtool/stats"
)

// options are those of an export into a folder.
func options(dir string) *Options {
	o := &Options{Dir: dir, Says: error.Error, Note: func(string, ...any) {}}
	o.Disk.Temporary = func(string, bool) {}
	o.Disk.Sync = func(*os.File) error { return nil }
	o.Stats.Now = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	return o
}

// inputs are the sessions of a folder.
func inputs(t *testing.T, dir string) (all []Input) {
	must.Do((sessionfmt.Disk{}).Walk(dir, func(name string, _ os.DirEntry) {
		if strings.HasSuffix(name, ".jsonl") {
			all = append(all, Input{Path: name, Name: name})
		}
	}))
	if len(all) == 0 {
		t.Fatal("no sessions")
	}
	return all
}

// folder is one with copies of sessions of each agent.
func folder(t *testing.T) string {
	dir := t.TempDir()
	for i, c := range append(corpus.Small(t), corpus.Agents(t)...) {
		if len(c.Data) < 100<<10 && strings.HasSuffix(c.Name, ".jsonl") {
			must.Do(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d-%s", i, filepath.Base(c.Name))), c.Data, 0o600))
		}
	}
	return dir
}

// rowsIn are all rows of an export as Parquet files, as text, by table, in order.
func rowsIn(t *testing.T, dir string) map[string][]string {
	all := map[string][]string{}
	for _, tab := range tables() {
		for _, name := range must.Get(filepath.Glob(filepath.Join(dir, tab.name, "*", "*", "*.parquet"))) {
			f := must.Get(os.Open(name))
			defer f.Close()
			partition, _ := filepath.Rel(filepath.Join(dir, tab.name), filepath.Dir(name))
			file := parquetFile{tab, f, must.Get(f.Stat()).Size()}
			must.Do(file.each(func(row []any) error {
				all[tab.name] = append(all[tab.name], partition+fmt.Sprintf("%#v", row))
				return nil
			}))
		}
		slices.Sort(all[tab.name])
	}
	return all
}

// export exports, and returns what was done.
func export(t *testing.T, o *Options, form string, sessions []Input) *Result {
	t.Helper()
	done, err := Find(form).Export(o, sessions)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// same holds two exports to the same rows.
func same(t *testing.T, what string, got, want map[string][]string) {
	t.Helper()
	for _, tab := range tables() {
		is, was := got[tab.name], want[tab.name]
		if len(is) != len(was) {
			t.Errorf("%s: %d rows of %s, want %d", what, len(is), tab.name, len(was))
			continue
		}
		for i := range is {
			if is[i] != was[i] {
				t.Errorf("%s: %s\n%s, want\n%s", what, tab.name, is[i], was[i])
				break
			}
		}
	}
}

// TestAgain: a second export reads what has changed and nothing else, and gives what one of all does.
// What has gone from the disk stays.
func TestAgain(t *testing.T) {
	t.Parallel()
	dir, out := folder(t), t.TempDir()
	all := inputs(t, dir)
	if done := export(t, options(out), "parquet", all); done.Exported != len(all) || done.Files == 0 {
		t.Errorf("read %d of %d sessions, wrote %d files", done.Exported, len(all), done.Files)
	}
	if done := export(t, options(out), "parquet", all); !done.Unchanged || done.Exported != 0 || done.Rows["sessions"] != int64(len(all)) {
		t.Errorf("nothing has changed: %+v", done)
	}
	grown := all[len(all)/2].Path
	f := must.Get(os.OpenFile(grown, os.O_APPEND|os.O_WRONLY, 0))
	must.Get(f.WriteString(`{"type":"message","id":"ffff0001","parentId":null,"timestamp":"2026-11-03T10:00:00.000Z","message":{"role":"user","content":"More."}}` + "\n"))
	must.Do(f.Close())
	if done := export(t, options(out), "parquet", all); done.Exported != 1 {
		t.Errorf("read %d sessions, and one has grown", done.Exported)
	}
	fresh := t.TempDir()
	export(t, options(fresh), "parquet", all)
	want := rowsIn(t, fresh)
	same(t, "after a session has grown", rowsIn(t, out), want)

	must.Do(os.Remove(all[0].Path))
	must.Do(os.Chtimes(all[1].Path, time.Now(), time.Now()))
	if done := export(t, options(out), "parquet", all[1:]); !done.Unchanged {
		t.Errorf("a new time and a session that is gone: %+v", done)
	}
	same(t, "after a session has gone", rowsIn(t, out), want)
	first := must.Get(filepath.Glob(filepath.Join(out, "sessions", "*", "*", "*.parquet")))[0]
	must.Do(os.Truncate(filepath.Join(first), 10))
	if _, err := Find("parquet").Export(options(out), all[1:]); err != nil && !strings.Contains(err.Error(), "is missing") && !strings.Contains(fmt.Sprintf("%+v", err), first) {
		t.Errorf("a damaged file: %v", err)
	}
}

// TestShards: disjoint parts of sessions, exported into one folder, are all of them.
func TestShards(t *testing.T) {
	t.Parallel()
	dir, whole, parts := folder(t), t.TempDir(), t.TempDir()
	all := inputs(t, dir)
	export(t, options(whole), "parquet", all)
	sum := 0
	for i := range 3 {
		o := options(parts)
		o.Shard = must.Get(ParseShard(fmt.Sprintf("%d/3", i+1)))
		sum += export(t, o, "parquet", all).Exported
	}
	if sum != len(all) {
		t.Errorf("%d sessions in three shards, and there are %d", sum, len(all))
	}
	same(t, "three shards", rowsIn(t, parts), rowsIn(t, whole))
	for shard, want := range map[string]string{"1/4": "--shard I/3", "": "--shard I/3"} {
		o := options(parts)
		if shard != "" {
			o.Shard = must.Get(ParseShard(shard))
		}
		_, err := Find("parquet").Export(o, all)
		if own, ok := errors.AsType[*sessionfmt.Error](err); !ok || !strings.Contains(own.Hint, want) {
			t.Errorf("shard %q beside three: %v", shard, err)
		}
	}
	for _, bad := range []string{"", "1", "0/3", "4/3", "a/b", "1/0", "1/2000"} {
		if _, err := ParseShard(bad); err == nil {
			t.Errorf("%q is a shard", bad)
		}
	}
}

// TestForms: CSV files and a database have the rows of the Parquet files, also after a session has
// grown.
func TestForms(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	all := inputs(t, dir)
	for _, form := range []string{"csv", "sqlite"} {
		out := t.TempDir()
		export(t, options(out), form, all[1:])
		if done := export(t, options(out), form, all); done.Exported != 1 || done.Rows["sessions"] != int64(len(all)) {
			t.Errorf("%s: %+v", form, done)
		}
		want := export(t, options(t.TempDir()), "parquet", all)
		got := export(t, options(out), form, all)
		for table, n := range want.Rows {
			if got.Rows[table] != n {
				t.Errorf("%s has %d rows of %s, and the Parquet files have %d", form, got.Rows[table], table, n)
			}
		}
		if _, err := Find("parquet").Export(options(out), all); err == nil {
			t.Errorf("a folder of %s takes Parquet files", form)
		}
	}
}

// TestManifest: what stops an export is named, and running again recovers it.
func TestManifest(t *testing.T) {
	t.Parallel()
	dir, out := folder(t), t.TempDir()
	all := inputs(t, dir)[:8]
	full := options(out)
	writes := 0
	full.Disk.Sync = func(*os.File) error {
		if writes++; writes > 5 {
			return syscall.ENOSPC
		}
		return nil
	}
	if _, err := Find("parquet").Export(full, all); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	export(t, options(out), "parquet", all)
	want := rowsIn(t, out)
	fresh := t.TempDir()
	export(t, options(fresh), "parquet", all)
	same(t, "after a full disk", want, rowsIn(t, fresh))

	name := options(out).manifestName()
	unlock := must.Get(options(out).Disk.Lock(name, "export", 0))
	if _, err := Find("parquet").Export(options(out), all); !errors.Is(err, sessionfmt.ErrLocked) {
		t.Errorf("beside another export: %v", err)
	}
	unlock()
	data := string(must.Get(os.ReadFile(name)))
	manifest := func(text string) { must.Do(os.WriteFile(name, []byte(text), 0o600)) }
	manifest(data + `{"part":"agent=pi`) // torn
	if done := export(t, options(out), "parquet", all); !done.Unchanged {
		t.Errorf("a torn line: %+v", done)
	}
	manifest(strings.Replace(data, `"version":2`, `"version":0`, 1))
	if done := export(t, options(out), "parquet", all); done.Exported != len(all) {
		t.Errorf("older tables: %+v", done)
	}
	same(t, "after older tables", rowsIn(t, out), want)
	for bad, says := range map[string]string{
		strings.Replace(data, `"version":2`, `"version":9`, 1): "newer than this program",
		"{}\n":               "not a manifest",
		"no JSON\n":          "not a manifest",
		data + "no JSON\n\n": "damaged",
	} {
		manifest(bad)
		if _, err := Find("parquet").Export(options(out), all); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}

// TestTotals: the sums of tables are those of the lenses, of each sample, to the token and the cent.
func TestTotals(t *testing.T) {
	t.Parallel()
	lenses := map[string]bool{"session": true, "cost": true, "compactions": true, "cache": true, "check": true}
	of := options("").Stats
	for _, l := range stats.Lenses {
		if lenses[l.Name] {
			of.Lenses = append(of.Lenses, l)
		}
	}
	compared := 0
	dir := t.TempDir()
	for i, c := range append(corpus.Sample(t), corpus.Agents(t)...) {
		name := filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(c.Name)))
		must.Do(os.WriteFile(name, c.Data, 0o600))
		want, err := of.Read(name)
		o := options("")
		o.Contents = true
		r := must.Get(o.read(Source{Path: name, Session: "s"}, nil))
		if err != nil {
			if len(r.Findings) != 1 || !r.Sessions[0].Damaged {
				t.Errorf("%s cannot be read: %+v", c.Name, r)
			}
			continue
		}
		compared++
		if r.Sessions[0].Copies > want.Cost.Copies { // see TestForks
			continue
		}
		if wrong := totals(r, want); wrong != "" {
			t.Errorf("%s: %s", c.Name, wrong)
		}
		carriedAsRequestsSay(t, c.Name, name, r)
	}
	if compared < 40 {
		t.Errorf("only %d sessions were compared", compared)
	}
}

// totals compares the sums of rows with a report.
func totals(r *Rows, want *stats.Report) string {
	var wrong []string
	equal := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
			wrong = append(wrong, fmt.Sprintf("%s %v, want %v", what, got, want))
		}
	}
	var calls, input, output, read, write, dollars, rebilled, again float64
	onPath := true
	for i := range r.Requests {
		q := &r.Requests[i]
		answers := q.Kind == "answer" || q.RequestNo != nil // a sub-agent's in the file is not on the path
		if onPath = onPath && (q.OnPath || !answers); !q.Copy {
			calls++
			input, output = input+float64(q.InputTokens), output+float64(q.OutputTokens)
			read, write = read+float64(q.CacheReadTokens), write+float64(q.CacheWriteTokens)
			if q.CostUSD != nil {
				dollars += *q.CostUSD
			}
		}
		if q.InputTokens+q.CacheReadTokens+q.CacheWriteTokens == 0 {
			continue // an estimate, which is in no sum beside recorded ones
		}
		rebilled, again = rebilled+float64(q.RebilledTokens), again+q.RebilledUSD
	}
	cost := &want.Cost.CostSum
	equal("calls", calls, float64(cost.Calls.Total))
	equal("input", input, float64(cost.Tokens.Input))
	equal("output", output, float64(cost.Tokens.Output))
	equal("cache reads", read, float64(cost.Tokens.CacheRead))
	equal("cache writes", write, float64(cost.Tokens.CacheWrite))
	equal("dollars", dollars, cost.Cost.Total)
	equal("copies", float64(r.Sessions[0].Copies), float64(want.Cost.Copies))
	if c := want.Cache; onPath && c.Answered > 0 {
		equal("rebilled", float64(r.Sessions[0].RebilledTokens), float64(c.Rebilled.Tokens))
		equal("rebilled dollars", r.Sessions[0].RebilledUSD, c.Rebilled.Cost)
		equal("prompt", float64(r.Sessions[0].PromptTokens), float64(c.Prompt))
	}
	if want.Cache.Answered > 0 {
		equal("rebilled rows", rebilled, float64(r.Sessions[0].RebilledTokens))
		equal("rebilled dollars of rows", again, r.Sessions[0].RebilledUSD)
	}
	own := 0
	for i := range r.Messages {
		if r.Messages[i].MadeBy == nil {
			own++
		}
	}
	equal("messages", float64(own), float64(want.Session.Messages))
	tools := stats.ToolCount{}
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		tools.Calls++
		tools.Asked, tools.Got = tools.Asked+c.ArgsBytes, tools.Got+c.ResultBytes
		if c.Outcome == "error" {
			tools.Error++
		}
	}
	equal("calls of tools", float64(tools.Calls), float64(want.Session.Calls.Calls))
	equal("failed calls", float64(tools.Error), float64(want.Session.Calls.Error))
	equal("bytes of arguments", float64(tools.Asked), float64(want.Session.Calls.Asked))
	equal("bytes of results", float64(tools.Got), float64(want.Session.Calls.Got))
	equal("compactions", float64(len(r.Compactions)), float64(want.Session.Compactions))
	var before, after, lost, measured float64
	for i := range r.Compactions {
		if c := &r.Compactions[i]; c.BeforeTokens != nil {
			measured++
			before, after, lost = before+float64(*c.BeforeTokens), after+float64(*c.AfterTokens), lost+float64(*c.LostConstraints)
		}
	}
	equal("compactions of the path", measured, float64(want.Compactions.Count))
	equal("tokens before compactions", before, float64(want.Compactions.Before))
	equal("tokens after compactions", after, float64(want.Compactions.After))
	kept := want.Compactions.Survival.Constraints
	equal("lost demands", lost, float64(kept.Of-kept.Found))
	severity := map[string]int{}
	for i := range r.Findings {
		severity[r.Findings[i].Severity]++
	}
	equal("errors", float64(severity["error"]), float64(want.Check.Errors))
	equal("warnings", float64(severity["warning"]), float64(want.Check.Warnings))
	texts := map[string]bool{}
	for i := range r.Contents {
		texts[r.Contents[i].SHA256] = true
	}
	for i := range r.Messages {
		if hash := r.Messages[i].SHA256; hash == nil || !texts[*hash] {
			wrong = append(wrong, "a message without its text")
			break
		}
	}
	return strings.Join(wrong, "; ")
}

// carriedAsRequestsSay counts, request by request, in how many each message was and what it cost
// there, which the rows know from where it came and went.
func carriedAsRequestsSay(t *testing.T, what, name string, r *Rows) {
	o := options("")
	must.Do(o.Stats.Facts(name, func(f *stats.Facts) error {
		m := &maker{Facts: f, o: o, own: map[int32]int32{}, onPath: make([]bool, f.Session.Len()),
			account: must.Get(accountOf(f))}
		m.number()
		m.carry()
		requests, dollars := make([]int64, len(m.messages)), make([]float64, len(m.messages))
		for _, k := range f.Book.Replayed {
			q, one := &f.Book.Requests[k], &m.requests[k]
			if m.rows[k] < 0 {
				t.Errorf("%s: the request that line %d answers has no row", what, f.Session.Line(int(q.Record)))
			}
			fresh := map[int32]bool{}
			for _, number := range one.came {
				fresh[number] = true
			}
			for i := range q.Messages().Len() {
				number := q.Messages().Number(i)
				if !q.Messages().Piece(i).Sent() {
					continue
				}
				requests[number]++
				rate := one.rate[0]
				if fresh[number] {
					rate = one.rate[1]
				}
				dollars[number] += rate * m.tokens(q, number)
			}
		}
		for number := range m.messages {
			p := &m.messages[number]
			if p.set && (p.requests != requests[number] || math.Abs(p.dollars-dollars[number]) > 1e-9) {
				t.Errorf("%s: message %d is in %d requests for $%g, want %d for $%g", what, number, p.requests, p.dollars, requests[number], dollars[number])
				return nil
			}
		}
		return nil
	}))
}

// TestBase: a session that continues another file is read again when that one grows.
func TestBase(t *testing.T) {
	t.Parallel()
	dir, out := folder(t), t.TempDir()
	const meta = `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":%q,"cwd":"/work"%s}}` + "\n"
	const asked = `{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go"}]}}` + "\n"
	first := fmt.Sprintf(meta, "p1", "") + asked
	base := fmt.Sprintf(`,"history_base":{"thread_id":"p1","end_byte_offset":%d,"end_ordinal_exclusive":9}`, len(first))
	for id, text := range map[string]string{"p1": first, "p2": fmt.Sprintf(meta, "p2", base) + asked} {
		must.Do(os.WriteFile(filepath.Join(dir, "rollout-2026-01-01T00-00-00-"+id+".jsonl"), []byte(text), 0o600))
	}
	all := inputs(t, dir)
	export(t, options(out), "parquet", all)
	continued := 0
	for i, in := range all {
		session, err := sessionfmt.Open(in.Path, sessionfmt.Options{})
		if err != nil {
			continue
		}
		bases := session.Bases()
		session.Close()
		for _, base := range bases {
			continued++
			f := must.Get(os.OpenFile(base, os.O_APPEND|os.O_WRONLY, 0))
			must.Get(fmt.Fprintf(f, `{"type":"custom","id":"f%07x","parentId":null,"timestamp":"2026-11-03T10:00:00.000Z","data":1}`+"\n", i))
			must.Do(f.Close())
			if done := export(t, options(out), "parquet", []Input{in}); done.Exported != 1 {
				t.Errorf("%s has grown, and %s, which continues it, was not read again", base, in.Path)
			}
		}
	}
	if continued == 0 {
		t.Error("no session continues another file")
	}
	export(t, options(out), "parquet", all)
	fresh := t.TempDir()
	export(t, options(fresh), "parquet", all)
	same(t, "after all have grown", rowsIn(t, out), rowsIn(t, fresh))
}
