package main

import (
	"ctxtool/internal/lens/redact"
	"ctxtool/sessionfmt"
	"fmt"
	"strconv"
	"strings"
)

// redaction are the flags that select what is redacted before a session is read.
type redaction struct {
	flagged   bool // the flags select the rules, not the configuration
	structure bool
	names     bool
	images    string
	patterns  string
	values    string
	env       []string
}

// flags registers the flags for a command that reads sessions.
func (o *redaction) flags(f *flagSet) {
	f.redacts()
	f.before(func() error { return o.start(f.env) })
}

// redacts declares that the command takes --redact and --fail-on-secret.
func (e *env) redacts() { e.taken = append(e.taken, "redact", "fail-on-secret") }

// ruleFlags registers the flags that select what is redacted. Commands other than redact take them from the
// configuration.
func (o *redaction) ruleFlags(f *flagSet) {
	o.flagged = true
	f.BoolVar(&o.structure, "structure-only", false, "redact every text; its size remains")
	f.BoolVar(&o.names, "names", false, "redact the names of home directories everywhere, not only in paths")
	f.StringVar(&o.patterns, "patterns", "", "redact by the rules in `FILE` too, in the format of gitleaks")
	f.StringVar(&o.values, "values", "", "redact the values in `FILE` too, one per line")
	f.StringSliceVar(&o.env, "env", nil, "redact the values of the environment variables `NAMES` too")
}

// configured takes the rules from the configuration, where no flags select them.
func (o *redaction) configured(e *env) error {
	if o.flagged {
		return nil
	}
	for _, s := range []struct {
		name string
		set  func(text string) error
	}{
		{"patterns", func(text string) error { o.patterns = text; return nil }},
		{"values", func(text string) error { o.values = text; return nil }},
		{"env", func(text string) error { o.env = strings.Split(text, ","); return nil }},
		{"structure-only", func(text string) (err error) { o.structure, err = strconv.ParseBool(text); return err }},
		{"names", func(text string) (err error) { o.names, err = strconv.ParseBool(text); return err }},
	} {
		text, err := e.setting(s.name)
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		if s.set(text) != nil {
			return fmt.Errorf("configuration: %s: %q: must be true or false", s.name, sessionfmt.Quote(text))
		}
	}
	return nil
}

// start makes the redactor for every session that the command opens.
func (o *redaction) start(e *env) (err error) {
	if err = o.configured(e); err != nil {
		return err
	}
	if e.redact || o.structure {
		e.redactor, err = o.redactor(e)
	}
	if e.leaks = e.redactor; err == nil && e.leaks == nil && e.leakless {
		e.leaks, err = o.redactor(e)
	}
	if !e.leakless {
		e.leaks = nil
	}
	return err
}

// redactor returns a redactor with the rules that the flags name.
func (o *redaction) redactor(e *env) (r *redact.Redactor, err error) {
	opt := redact.Options{StructureOnly: o.structure, Names: o.names, DropImages: o.images == "drop"}
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
		if opt.Values, err = redact.ParseValues(o.values, data); err != nil {
			return nil, noAnswer(err)
		}
	}
	values, err := redact.EnvValues(o.env, e.environ)
	if err != nil {
		return nil, fmt.Errorf("--env %w", err)
	}
	opt.Values = append(opt.Values, values...)
	if r, err = redact.New(opt); err != nil {
		return nil, noAnswer(&sessionfmt.Error{Pos: sessionfmt.Pos{File: o.patterns}, Err: err})
	}
	return r, nil
}
