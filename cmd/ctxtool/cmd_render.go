package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxtool/internal/base/times"
	"ctxtool/internal/lens/redact"
	"ctxtool/internal/out/page"
	"ctxtool/internal/out/transcript"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
)

// commentSize is the maximum length of a comment on GitHub, characters.
const commentSize = 65536

type renderOptions struct {
	readFlags
	target, leaf     string
	period           // also points and git revisions
	files            []string
	all              bool
	include, exclude []string
	maxLines, budget int
	assets           string
	split            int
	open             bool
	entry            string // place at which --open opens the page; empty for its beginning
	noSubAgents      bool
	known            *models.Table

	parts page.Parts
}

func (o *renderOptions) define(f *flagSet) {
	o.readFlags.flags(f, "markdown", "text", "html")
	f.Lookup("format").DefValue = "markdown, on a terminal text"
	f.choice(&o.target, "target", "comment", "write Markdown for `TARGET`:", "unknown target",
		[]string{"comment", "file"})
	f.StringVar(&o.leaf, "leaf", "", "render the branch that ends at `POINT`")
	f.StringVar(&o.since, "since", "", "only turns since `POINT`, TIME or git revision")
	f.StringVar(&o.until, "until", "", "only turns until `POINT`, TIME or git revision")
	f.StringSliceVar(&o.files, "files", nil, "only turns that touched `PATHS`")
	f.BoolVar(&o.all, "all", false, "render all branches, the active one first")
	f.StringSliceVar(&o.include, "include", nil, "render `PARTS` too (ctxtool help parts)")
	f.StringSliceVar(&o.exclude, "exclude", nil, "leave `PARTS` out")
	f.IntVar(&o.maxLines, "max-lines", 40, "shorten blocks to `LINES` (0: no limit)")
	f.IntVar(&o.budget, "budget", 0, "fold the page to `CHARACTERS` (default: by the target)")
	f.noSubAgents(&o.noSubAgents)
	f.models(&o.known)
	f.StringVar(&o.assets, "assets", "", "write images into the folder `DIR`")
	f.BoolVar(&o.open, "open", false, "open the page (-f html) in the browser")
	f.Var(countFlag(&o.split), "split", "with -f html, split pages by `MEGABYTES` of the session")
	f.complete("include", page.PartNames())
	f.complete("exclude", page.PartNames())
}

// check checks the flags, before any input is opened.
func (o *renderOptions) check(e *env) (err error) {
	if err := o.checkHTML(e); err != nil {
		return err
	}
	if o.maxLines < 0 || o.budget < 0 {
		return errors.New("--max-lines and --budget must be 0 or more")
	}
	o.parts, err = page.ParseParts(o.include, o.exclude)
	return err
}

func runRender(e *env, o *renderOptions, args []string) error {
	if !o.given("format") && e.toTerminal(o.output) {
		o.format = "text"
	}
	if o.open {
		return o.browse(e, args)
	}
	return o.render(e, args)
}

func (o *renderOptions) render(e *env, args []string) error {
	if err := o.check(e); err != nil {
		return usage(err)
	}
	if o.format == "html" && len(args) > 0 && e.isDir(args[0]) {
		return o.htmlStore(e, args[0])
	}
	r, leaf, err := o.reading(e, args, o.leaf)
	if err != nil {
		return err
	}
	s := r.Session
	r.Options.Models = o.known
	if o.format == "html" {
		return o.html(e, s, r.Options)
	}
	p := &page.Page{
		Session: s, Markdown: o.format == "markdown", File: o.target == "file", Parts: o.parts, MaxLines: o.maxLines,
		Budget: o.budget, Models: o.known,
	}
	if p.Budget == 0 && p.Markdown && !p.File {
		p.Budget = commentSize
	}
	if o.assets != "" {
		p.Asset = (&assets{disk: e.disk, dir: o.assets, page: o.output}).store
	}
	if err = o.conversation(e, p, r, leaf); err != nil {
		return err
	}
	if p.About, err = outline.Headed(s); err == nil {
		err = outline.Entitle(&p.About, s, leaf)
	}
	if err != nil {
		return err
	}
	if err := e.strictly(s, r.AllFindings(), o.strict); err != nil {
		return err
	}
	return o.write(e, p)
}

func (o *renderOptions) write(e *env, p *page.Page) error {
	asset := p.Asset
	found, err := o.publish(e, p.Session, func(scan func(int, []byte), last bool) document {
		p.Scan, p.Asset = scan, nil
		if last {
			p.Asset = asset
		}
		return p
	})
	if large, ok := errors.AsType[*page.TooLargeError](err); ok {
		return &sessionfmt.Error{
			Pos: sessionfmt.Pos{File: p.Session.Name}, Err: err,
			Hint: fmt.Sprintf("set --budget %d, select turns with --since, or use --target file, which has no limit",
				large.Need),
		}
	}
	if err == nil {
		e.noteSecrets(found, p.Session)
	}
	return err
}

// A document is a rendered session.
type document interface{ Write(w io.Writer) error }

// publish writes a document and searches it for secrets. With --fail-on-secret it first searches a separate
// document, and writes one only if that has no secret. made returns a new document, which passes its texts to
// scan; last is set for the document that is written.
func (o *renderOptions) publish(e *env, s *sessionfmt.Session, made func(scan func(record int, text []byte),
	last bool) document) (*redact.Leaks, error) {
	found, err := o.secrets(e)
	if err != nil {
		return nil, err
	}
	scan := found.Add
	if e.leakless {
		if err := made(scan, false).Write(io.Discard); err != nil {
			return nil, err
		}
		if found.Summary(s) != "" {
			e.noteSecrets(found, s)
			return nil, errFound
		}
		scan = nil
	}
	o.searched = true
	return found, e.answer(&o.answer, []string{s.Name},
		func(w *bufio.Writer) error { return made(scan, true).Write(w) })
}

// noteSecrets prints where secrets were found, and never a secret.
func (e *env) noteSecrets(found *redact.Leaks, s *sessionfmt.Session) {
	if summary := found.Summary(s); summary != "" {
		e.note("%s: %s; --redact removes them", s.Name, summary)
	}
}

// secrets returns a search for secrets, by the rules of the session's redaction.
func (o *renderOptions) secrets(e *env) (*redact.Leaks, error) {
	redactor, err := e.redactor, error(nil)
	if redactor == nil {
		redactor, err = o.redaction.redactor(e)
	}
	if err != nil {
		return nil, err
	}
	return redact.NewLeaks(redactor), nil
}

// conversation sets the page to the conversation on the path, or on all branches.
func (o *renderOptions) conversation(e *env, p *page.Page, r *replay.Replay, leaf int) error {
	if size := r.Session.Size(); size > largeSession && size < 8*largeSession {
		e.collect(50) // texts are short-lived: a few more megabytes save time
	}
	c, err := transcript.NewConversation(r, leaf, o.all)
	if err != nil {
		return err
	}
	if c.Stopped != nil {
		p.Notes = append(p.Notes, c.Stopped.Error()+": the effects of compactions and transforms after it are unknown")
	}
	since, until, err := o.limits(func(text string) (limit, error) { return o.newLimit(e, r.Session, text, leaf) })
	if err != nil {
		return err
	}
	part := since.set || until.set || len(o.files) > 0 || leaf != r.Session.Leaf()
	if path, _ := r.Session.Path(leaf); !o.all && len(path) < r.Session.Coverage.Entries {
		const one = "one branch: %d of %d entries, and its requests%s alone; --all adds the others"
		p.Notes = append(p.Notes, fmt.Sprintf(one, len(path), r.Session.Coverage.Entries, phrase.If(part, " and cost")))
	}
	for _, cut := range []struct {
		on   bool
		to   func() error
		note string
	}{
		{since.set, func() error { return c.Since(since.from) }, "only entries since " + o.since},
		{until.set, func() error { return c.Until(until.to) }, "only entries until " + o.until},
		{len(o.files) > 0, func() error { return c.Touching(o.files) }, "only turns that changed " +
			strings.Join(o.files, ", ")},
	} {
		if !cut.on {
			continue
		}
		if err := cut.to(); err != nil {
			return err
		}
		p.Notes = append(p.Notes, cut.note)
	}
	p.Chapters = c.Chapters()
	return o.spent(e, p, part)
}

// spent sets the usage of the session, with its sub-agents. A page of part of the session has the usage of that
// part.
func (o *renderOptions) spent(e *env, p *page.Page, part bool) error {
	s := p.Session
	opt := stats.Options{Open: e.opening(1), NoSubAgents: o.noSubAgents, Family: e.family}
	opt.Replay.Models, opt.Open.Opened = o.known, nil
	path, _ := s.Path(s.Leaf())
	p.NoSubAgents = o.noSubAgents
	if owner := s.Owner(); owner != "" {
		p.Notes = append(p.Notes, "a sub-agent: its cost is part of that of session "+owner)
	}
	var cost *stats.CostPart
	var err error
	switch {
	case part:
		p.NoSubAgents = o.noSubAgents || s.HasAside() || len(e.family(s.Name)) > 0
		return nil
	case o.all || len(path) == s.Coverage.Entries || s.Name == "-":
		cost, err = opt.SubAgents(s)
	default:
		if cost, err = opt.Cost(s.Name); err == nil {
			p.Used = new(page.Spent)
			*p.Used = spent(&cost.CostSum)
		}
	}
	if err != nil {
		return err
	}
	p.SubAgents = spent(&cost.Kinds.SubAgents)
	e.noteUnread(cost)
	return nil
}

// spent returns a sum as pages have it.
func spent(c *stats.CostSum) page.Spent {
	t := &c.Tokens
	return page.Spent{Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite,
		Dollars: c.Cost.Total, Computed: c.Cost.Total > c.Cost.Recorded}
}

// noteUnread notes sub-agents whose cost is missing.
func (e *env) noteUnread(cost *stats.CostPart) {
	for _, sub := range cost.Unread {
		e.note("not in the cost: sub-agent %s: %s", sessionfmt.Quote(sub.File), sub.Error)
	}
}

// newLimit resolves a TIME, a POINT or a git revision.
func (o *renderOptions) newLimit(e *env, s *sessionfmt.Session, text string, leaf int) (limit, error) {
	l, err := e.newLimit(s, text, leaf)
	if err != nil {
		if at, ok := e.commitTime(text); ok {
			return limit{time: at, set: true}, nil
		}
	}
	return l, err
}

// commitTime returns when a git revision of the current folder was committed. The folder may be somebody
// else's, so git reads a single object with a command that runs nothing that a repository can configure: no
// pagers, signatures, diffs, filters, hooks or monitors, and it fetches nothing that is missing.
func (e *env) commitTime(revision string) (at times.Span, ok bool) {
	if strings.HasPrefix(revision, "-") {
		return at, false
	}
	ctx, stop := context.WithTimeout(context.Background(), gitPatience)
	defer stop()
	git := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath="+os.DevNull, "cat-file",
		"commit", revision)
	git.Dir, git.Env = e.disk.Dir, append(slices.DeleteFunc(slices.Clone(e.environ), changesGit),
		"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
	git.WaitDelay = time.Second
	out, err := git.Output()
	if err != nil {
		return at, false
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if n := len(words); n > 2 && words[0] == "committer" {
			seconds, err := strconv.ParseInt(words[n-2], 10, 64)
			ms := seconds * 1000
			return times.Span{From: ms, To: ms + 1}, err == nil
		} else if n == 0 {
			break
		}
	}
	return at, false
}

// gitPatience is the time limit for git to read an object.
const gitPatience = 10 * time.Second

// changesGit reports whether an environment variable tells git more than where the repository is.
func changesGit(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, "GIT_") &&
		!slices.Contains([]string{"GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_CEILING_DIRECTORIES"}, name)
}

// An assets keeps the images of a page in a folder.
type assets struct {
	disk      sessionfmt.Disk
	dir, page string
}

// extensions are the file extensions of images, by their type.
var extensions = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif",
	"image/webp": ".webp"}

// store returns the address of an image relative to the page, or "" for data that is not an
// image. The name of its file is derived from its bytes; with write, store writes the file.
func (a *assets) store(mime string, data jsonl.Value, write bool) (name string, err error) {
	image, err := base64.StdEncoding.DecodeString(data.Text())
	ext := extensions[mime]
	if err != nil || ext == "" {
		return "", nil
	}
	name = filepath.Join(a.dir, fmt.Sprintf("%x%s", sha256.Sum256(image), ext)[52:])
	if write {
		if err := a.disk.MkdirAll(a.dir); err != nil {
			return "", err
		}
		f, err := a.disk.Create(name)
		if err != nil {
			return "", err
		}
		defer f.Abort()
		if _, err := f.Write(image); err != nil {
			return "", err
		}
		if err := f.Commit(); err != nil {
			return "", err
		}
	}
	if a.page != "" && a.page != "-" {
		if below, err := filepath.Rel(filepath.Dir(a.page), name); err == nil {
			name = below
		}
	}
	return (&url.URL{Path: filepath.ToSlash(name)}).EscapedPath(), nil
}
