package main

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"ctxtool/internal/help"
	"ctxtool/internal/phrase"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/redact"

	"github.com/spf13/cobra"
)

// redaction are the flags that select what is redacted before a session is read.
type redaction struct {
	redact    bool
	structure bool
	images    bool
	patterns  string
	values    string
	env       []string
}

// flags registers the flags for a command that reads sessions.
func (o *redaction) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.redact, "redact", false, "redact the session before it is read")
	o.ruleFlags(cmd)
	help.Group(cmd.Flags(), "redaction", "redact", "structure-only", "patterns", "values", "env")
}

// ruleFlags registers the flags that select what is redacted.
func (o *redaction) ruleFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.structure, "structure-only", false, "redact every text; its size remains")
	f.StringVar(&o.patterns, "patterns", "", "redact by the rules in `FILE` too, in the format of gitleaks")
	f.StringVar(&o.values, "values", "", "redact the values in `FILE` too, one a line")
	f.StringSliceVar(&o.env, "env", nil, "redact the values of the environment variables `NAMES` too")
}

// start makes the redactor for every session that the command opens.
func (o *redaction) start(e *env) (err error) {
	if o.redact || o.structure {
		e.redactor, err = o.redactor(e)
	}
	return err
}

// redactor returns a redactor with the rules that the flags name.
func (o *redaction) redactor(e *env) (r *redact.Redactor, err error) {
	opt := redact.Options{StructureOnly: o.structure, Images: o.images}
	if o.patterns != "" {
		if opt.Patterns, err = e.readInput(o.patterns); err != nil {
			return nil, err
		}
	}
	if o.values != "" {
		data, err := e.readInput(o.values)
		if err != nil {
			return nil, err
		}
		for n, line := range strings.Split(string(data), "\n") {
			switch line = strings.TrimSuffix(line, "\r"); {
			case len(line) >= redact.MinValue:
				opt.Values = append(opt.Values, line)
			case line != "":
				return nil, noAnswer(&sessionfmt.Error{Pos: sessionfmt.Pos{File: o.values, Line: n + 1}, Err: fmt.Errorf("must have at least %d bytes", redact.MinValue)})
			}
		}
	}
	values, err := envValues(o.env, e.environ)
	if err != nil {
		return nil, err
	}
	opt.Values = append(opt.Values, values...)
	if r, err = redact.New(opt); err != nil {
		return nil, noAnswer(&sessionfmt.Error{Pos: sessionfmt.Pos{File: o.patterns}, Err: err})
	}
	return r, nil
}

// readInput reads a file that a flag names.
func (e *env) readInput(name string) ([]byte, error) {
	data, err := e.disk.ReadFile(name)
	if err != nil {
		return nil, noAnswer(unreadable(name, err))
	}
	return data, nil
}

// envValues returns the values of the environment variables with these names. A name must
// exist; short values that a pattern matches are left out.
func envValues(names, environ []string) (values []string, err error) {
	for _, name := range names {
		glob := strings.ContainsAny(name, "*?[")
		found := false
		for _, v := range environ {
			key, value, _ := strings.Cut(v, "=")
			ok, err := path.Match(name, key)
			switch {
			case err != nil:
				return nil, fmt.Errorf("--env %s: %w", name, err)
			case !ok:
				continue
			case len(value) >= redact.MinValue:
				values = append(values, value)
			case !glob:
				return nil, fmt.Errorf("--env %s: a value of less than %d bytes would be found everywhere", name, redact.MinValue)
			}
			found = true
		}
		if !found {
			return nil, fmt.Errorf("--env %s: no such variable", name)
		}
	}
	slices.Sort(values)
	return values, nil
}

// through returns the passes over the bytes of a session before it is read, nil for none.
func (e *env) through() iter.Seq[sessionfmt.Pass] {
	if e.redactor == nil {
		return nil
	}
	return e.redactor.Passes(nil)
}

// fileName returns the name of a session's file for answers. It is redacted too, since names
// of folders may have the name of a user.
func (e *env) fileName(name string) string {
	if e.redactor == nil {
		return name
	}
	return e.redactor.Text(name)
}

// redactBaseline redacts a baseline in place.
func (e *env) redactBaseline(b *prompt.Baseline) error {
	if e.redactor == nil {
		return nil
	}
	x := e.redactor.NewRun()
	defer x.Close()
	for k := range b.Parts {
		b.Parts[k].Text = x.Text(b.Parts[k].Text)
	}
	for k := range b.Tools {
		line, err := x.Definition(b.Tools[k].Raw)
		if err != nil {
			return err
		}
		b.Tools[k].Raw = slices.Clone(line)
		b.Tools[k].Name = cmp.Or(b.Tools[k].Raw.Get("name").Text(), b.Tools[k].Name)
	}
	return nil
}

// A secretScan counts likely secrets in the output of a command.
type secretScan struct {
	scanners sync.Pool
	mu       sync.Mutex
	found    map[int]map[string]int // by record, -1 for none, and by rule
}

// scan searches a piece of the output. It may be called concurrently.
func (s *secretScan) scan(record int, text []byte) {
	scanner := s.scanners.Get().(*redact.Scanner)
	defer s.scanners.Put(scanner)
	hits := scanner.Find(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, hit := range hits {
		if !hit.Secret() {
			continue
		}
		if s.found[record] == nil {
			s.found[record] = map[string]int{}
		}
		s.found[record][hit.Rule]++
	}
}

// namedSecrets is how many entries with likely secrets are named at most.
const namedSecrets = 10

// note prints where secrets were found, and never a secret.
func (s *secretScan) note(e *env, session *sessionfmt.Session) {
	if len(s.found) == 0 {
		return
	}
	total := 0
	var words []string
	for _, record := range slices.Sorted(maps.Keys(s.found)) {
		rules := s.found[record]
		for _, n := range rules {
			total += n
		}
		name := "the head"
		if record >= 0 {
			name = sessionfmt.Quote(session.ID(record))
		}
		words = append(words, fmt.Sprintf("%s (%s)", name, strings.Join(slices.Sorted(maps.Keys(rules)), ", ")))
	}
	if more := len(words) - namedSecrets; more > 0 {
		words = append(words[:namedSecrets], fmt.Sprintf("%d more", more))
	}
	e.note("%s: %s in %s; --redact removes them", session.Name, phrase.Count(total, "likely secret"), strings.Join(words, ", "))
}
