package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/reuse"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

type cacheOptions struct {
	readFlags
	all, collapse bool
	broken        bool
	failOver      string

	limit   float64 // value of failOver; negative for none
	percent bool    // limit is in percent of tokens, not in dollars
	replay.Options
}

func (o *cacheOptions) define(f *flagSet) {
	o.readFlags.flags(f, "text", "jsonl", "csv")
	f.BoolVar(&o.all, "all", false, "report the requests of all branches")
	f.BoolVar(&o.collapse, "collapse-system", false, "send later system messages first, whatever the model takes")
	f.BoolVar(&o.broken, "broken", false, "only requests, or sessions, with rebilled tokens")
	f.StringVar(&o.failOver, "fail-over", "", "exit with 1 if more than `AMOUNT` was rebilled: 0.50 dollars, or 10%")
	f.before(o.check)
	f.models(&o.Models)
}

// check reads the flags, before any input is opened.
func (o *cacheOptions) check() error {
	o.limit = -1
	if o.failOver == "" {
		return nil
	}
	text, percent := strings.CutSuffix(o.failOver, "%")
	limit, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil || !(limit >= 0) || percent && (limit > 100 || strings.HasPrefix(text, "$")) {
		return fmt.Errorf("--fail-over %q: must be dollars, such as 0.50, or a share, such as 10%%",
			sessionfmt.Quote(o.failOver))
	}
	o.limit, o.percent = limit, percent
	return nil
}

func runCache(e *env, o *cacheOptions, args []string) error {
	e.anywhere = true
	files, err := e.sessions(args)
	if err != nil {
		return usage(err)
	}
	o.Rules = o.by
	if len(files) != 1 || len(args) > 0 && e.isDir(args[0]) {
		return o.accounts(e, files)
	}
	s, err := e.open(files[0].path)
	if err != nil {
		return err
	}
	r, report, err := o.of(s)
	if err != nil {
		return err
	}
	if err := o.reply(e, r, show.CacheForms.Of(report)); err != nil {
		return err
	}
	e.noteStop(report.Stopped, "the requests after it have no expected figures")
	if err := report.Err(); err != nil {
		return err
	}
	return found(o.over(e, report.Total))
}

func (o *cacheOptions) of(s *sessionfmt.Session) (*replay.Replay, *cache.Report, error) {
	opt := o.Options
	opt.Leaf = s.Leaf()
	r := replay.New(s, opt)
	l, err := ledger.Read(r, ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi})
	if err != nil {
		return nil, nil, err
	}
	account := cache.Options{Leaf: s.Leaf(), All: o.all, Broken: o.broken}
	if o.collapse {
		account.InPlace = &models.InPlace{}
	}
	report, err := cache.Account(l, account)
	return r, report, err
}

// accounts writes the reports on several sessions, and their sum. A session that cannot be read is
// a row with its error.
func (o *cacheOptions) accounts(e *env, files []listedFile) error {
	all := inParallel(e, files, func(f listedFile, _ func(done, size int64)) cache.Total { return o.session(e, f) })
	broken := brokenOf(all, func(t cache.Total) string { return t.Error })
	if err := noneBroken(o.strict, broken, len(all), "have no figures"); err != nil {
		return err
	}
	sum := cache.Sum(all)
	if o.broken {
		all = slices.DeleteFunc(all, func(t cache.Total) bool { return t.Error == "" && t.Rebilled.Tokens == 0 })
	}
	err := e.print(&o.answer, paths(files), show.CachesForms.Of(show.Caches{All: all, Sum: sum}))
	if err = cmp.Or(err, noneRead(broken, len(files))); err != nil {
		return err
	}
	over := false
	for _, t := range append(all, *sum) {
		over = o.over(e, &t) || over
	}
	return found(over)
}

func (o *cacheOptions) session(e *env, f listedFile) (row cache.Total) {
	err := e.within(f, func(s *sessionfmt.Session) error {
		r, report, err := o.of(s)
		if err == nil {
			row, err = *report.Total, noFindings(o.strict, f.name, len(r.AllFindings()))
		}
		return err
	})
	if err != nil {
		row = cache.Total{Prices: models.Date, Error: e.reason(err)}
	}
	row.Schema, row.File = "ctxtool/cache.session/2", e.fileName(f.name)
	return row
}

// over reports whether more was rebilled than --fail-over allows, or could have been: tokens without a known
// price exceed any limit in dollars. It notes the amount.
func (o *cacheOptions) over(e *env, t *cache.Total) bool {
	again, text := t.Rebilled, ""
	switch {
	case o.limit < 0:
	case o.percent && float64(again.Tokens)*100 > o.limit*float64(t.Prompt):
		text = phrase.Percent(float64(again.Tokens)/float64(t.Prompt)) + " of the prompt tokens rebilled"
	case !o.percent && again.Unpriced > 0:
		text = phrase.Count(int(again.Unpriced), "token") + " rebilled without a known price"
	case !o.percent && again.Cost > o.limit:
		text = fmt.Sprintf("$%.4f rebilled", again.Cost)
	}
	if text != "" {
		name := t.File + phrase.If(t.Sessions > 0, "all sessions")
		e.note("%s--fail-over %s: %s", phrase.If(name != "", "%s: ", name), sessionfmt.Quote(o.failOver), text)
	}
	return text != ""
}

type lostOptions struct {
	readFlags
	at    string
	limit int
}

func (o *lostOptions) define(f *flagSet) {
	o.readFlags.flags(f, "text", "jsonl")
	f.StringVar(&o.at, "at", "", "report the path to `POINT`")
	f.IntVar(&o.limit, "limit", 10, "print `N` items for each compaction (0: all)")
}

func runLost(e *env, o *lostOptions, args []string) error {
	if o.limit < 0 {
		return usagef("--limit %d: must be 0 or more", o.limit)
	}
	r, leaf, err := o.reading(e, args, o.at)
	if err != nil {
		return err
	}
	all, stopped, err := reuse.Compactions(r, leaf, &tokens.Pi)
	if err != nil {
		return err
	}
	e.noteStop(stopped, "the compactions after it are unknown")
	about, err := outline.Headed(r.Session)
	if err != nil {
		return err
	}
	shown := show.LostForms.Of(show.Compactions{All: all, Limit: o.limit, Folder: about.CWD})
	return cmp.Or(o.reply(e, r, shown), found(len(all) == 0))
}
