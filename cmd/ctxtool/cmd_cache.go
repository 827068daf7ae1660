package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/replay/cache"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
)

// cacheOptions are the flags of ctxtool cache.
type cacheOptions struct {
	readFlags
	all, collapse bool
	failOver      string

	limit   float64 // of failOver, below 0 for none
	percent bool    // it is one of tokens, not dollars
	replay.Options
}

func newCacheCommand(e *env) *cobra.Command {
	o := &cacheOptions{}
	cmd := &cobra.Command{
		Use:   "cache [flags] SESSION|DIR...",
		Short: "Account for the prompt cache: what it could serve, what it did, what broke it",
		Long: "Account for the prompt cache, a row a request: how much of its beginning an earlier\n" +
			"request of the same model had within the cache's lifetime, what broke it and why,\n" +
			"what a provider could read and write by that, and what it recorded. Tokens that it\n" +
			"could have read and did not are marked (!), beyond 1,024 of them, with the dollars\n" +
			"that they cost again. Of several sessions there is a row each.\n\n" +
			"Tokens are the provider's where it recorded any. Prompt and tools that the file does\n" +
			"not hold are the row hidden. Without recorded usage there are expectations only.\n\n" +
			filesHelp +
			"\nForms (-f):\n" +
			"  text   a table, the totals, and what broke the cache, the most expensive first\n" +
			"  jsonl  an object a request, the totals on the last line (docs/formats.md)\n" +
			"  csv    the rows\n\n" +
			"Exit status: 0 the account was made, also that before a broken patch, 1 more than\n" +
			"--fail-over was billed again, 2 the command line is wrong, 3 there is no answer:\n" +
			"the input is missing or no session, or --strict found something.",
		Example: "  ctxtool cache s.jsonl\n" +
			"  ctxtool cache s.jsonl -f jsonl | jq -c 'select(.break).break'\n" +
			"  ctxtool cache sessions/ --fail-over 10%",
		RunE: func(_ *cobra.Command, args []string) error { return runCache(e, o, args) },
	}
	f := cmd.Flags()
	o.readFlags.flags(cmd, "text", "jsonl", "csv")
	f.BoolVar(&o.all, "all", false, "the requests of all branches, in the order of the file")
	f.BoolVar(&o.collapse, "collapse-system", false, "send later system messages before all messages, for models that take none between them")
	f.StringVar(&o.failOver, "fail-over", "", "fail where more was billed again than `AMOUNT` dollars, or than a share of the prompts' tokens with %")
	return cmd
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
		return fmt.Errorf("--fail-over %q: want dollars as 0.50, or a share as 10%%", sessionfmt.Quote(o.failOver))
	}
	o.limit, o.percent = limit, percent
	return nil
}

func runCache(e *env, o *cacheOptions, args []string) error {
	var err error
	o.Rules, err = o.start(e)
	if err = cmp.Or(err, o.check()); err != nil {
		return usage(err)
	}
	files, err := e.sessions(args)
	known, wrong := e.config.models()
	if err = cmp.Or(err, wrong); err != nil {
		return usage(err)
	}
	o.Models = known
	total, err := o.account(e, files, args)
	if err != nil {
		return err
	}
	if o.over(total) {
		return errFound
	}
	return nil
}

// account writes the account of one session, or of several.
func (o *cacheOptions) account(e *env, files []listedFile, args []string) (*cache.Total, error) {
	if len(files) != 1 || len(args) > 0 && e.isDir(args[0]) {
		return o.accounts(e, files)
	}
	s, err := e.open(files[0].path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	r, report, err := o.of(s)
	if err != nil {
		return nil, err
	}
	return report.Total, o.reply(e, r, report, func() error {
		if report.Stopped != nil {
			e.note("%s: the requests after it are listed without what a cache could do", report.Stopped)
		}
		return nil
	})
}

// of makes the account of a session.
func (o *cacheOptions) of(s *sessionfmt.Session) (*replay.Replay, *cache.Report, error) {
	opt := o.Options
	opt.Leaf = s.Leaf()
	r := replay.New(s, opt)
	report, err := cache.Account(r, cache.Options{Leaf: s.Leaf(), All: o.all, Collapse: o.collapse, Counter: &tokens.Pi})
	return r, report, err
}

// accounts writes the accounts of several sessions. One that cannot be read is a row
// with its reason.
func (o *cacheOptions) accounts(e *env, files []listedFile) (*cache.Total, error) {
	all := inParallel(e, files, func(f listedFile, _ func(done, size int64)) cache.Total { return o.session(e, f) })
	broken := 0
	for i := range all {
		if all[i].Error != "" {
			broken++
		}
	}
	if err := noneBroken(o.strict, broken, len(all), "cannot be accounted for"); err != nil {
		return nil, err
	}
	sum := cache.Sum(all)
	return sum, e.print(&o.answer, paths(files), render.Caches{All: all, Sum: sum})
}

// session is the account of one of several sessions.
func (o *cacheOptions) session(e *env, f listedFile) (row cache.Total) {
	s, err := sessionfmt.Open(f.path, e.opening(1))
	if err == nil {
		defer s.Close()
		r, report, fault := o.of(s)
		if err = fault; err == nil {
			row, err = *report.Total, noFindings(o.strict, f.name, len(r.AllFindings()))
		}
	}
	if err != nil {
		row = cache.Total{Prices: models.Date, Error: reason(err)}
	}
	row.Schema, row.File = "ctxtool/cache.session/2", e.fileName(f.name)
	return row
}

// over reports that more was billed again than --fail-over allows.
func (o *cacheOptions) over(t *cache.Total) bool {
	if o.percent {
		return o.limit >= 0 && float64(t.Rebilled.Tokens)*100 > o.limit*float64(t.Prompt)
	}
	return o.limit >= 0 && t.Rebilled.Cost > o.limit
}
