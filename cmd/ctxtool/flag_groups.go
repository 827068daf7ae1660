package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/gate"
	"ctxtool/internal/redact"
	"ctxtool/render"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// gateFlags are the flags of a gate, and the gate.
type gateFlags struct {
	budgets          []string
	file, against    string
	drift            string
	broken, unpriced string
	allowEmpty       bool

	gated bool // there is a gate
	gate  gate.Gate
	said  *gate.Report // nil without a gate
}

var gateForms = []string{"github", "junit"}

func (o *gateFlags) flags(f *flagSet) {
	f.StringSliceVar(&o.budgets, "require", nil, "exit with 1 if a figure crosses `LIMIT`")
	f.StringVar(&o.file, "check", "", "exit with 1 if a figure crosses a limit in the TOML `FILE`")
	f.StringVar(&o.against, "against", "", "exit with 1 if a figure differs from the run saved in `FILE`")
	f.StringVar(&o.drift, "drift", "", "tolerate `AMOUNT` between a figure and the saved run: 5%, +5%, 1000")
	f.choice(&o.broken, "broken", "", "`ACTION` for sessions that cannot be read to the end: fail (default), warn",
		"--broken", []string{"fail", "warn"})
	f.choice(&o.unpriced, "unpriced", "", "`ACTION` for calls without a price: fail (default), ignore", "--unpriced",
		[]string{"fail", "ignore"})
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "accept a gate over no session")
	f.complete("require", gate.FigureNames())
	f.before(func() error { return o.check(f.env) })
}

// check checks the flags and reads the files that they name, before any session is opened.
func (o *gateFlags) check(e *env) error {
	o.gated = len(o.budgets) > 0 || o.file != "" || o.against != ""
	if !o.gated && (o.drift != "" || o.broken != "" || o.unpriced != "" || o.allowEmpty) {
		return errors.New("--drift, --broken, --unpriced and --allow-empty require --require, --check or --against")
	}
	if o.drift != "" && o.against == "" {
		return errors.New("--drift requires --against")
	}
	for _, text := range o.budgets {
		b, err := gate.ParseBudget(text)
		if err != nil {
			return withFlag("--require", err)
		}
		o.gate.Budgets = append(o.gate.Budgets, b)
	}
	if o.drift != "" {
		o.gate.Drift = &gate.Drift{}
		if err := o.gate.Drift.UnmarshalText([]byte(o.drift)); err != nil {
			return withFlag("--drift", err)
		}
	}
	return o.load(e)
}

// load reads the file of budgets and the saved run, which are input.
func (o *gateFlags) load(e *env) error {
	if o.file != "" {
		data, err := e.readInput(o.file)
		if err == nil {
			err = noAnswer(o.gate.Load(o.file, data))
		}
		if err != nil {
			return err
		}
	}
	// The command line overrides the file.
	if o.broken != "" {
		o.gate.WarnBroken = o.broken == "warn"
	}
	if o.unpriced != "" {
		o.gate.IgnoreUnpriced = o.unpriced == "ignore"
	}
	if o.against == "" {
		return nil
	}
	data, err := e.readInput(o.against)
	if err != nil {
		return err
	}
	o.gate.Saved, err = gate.LoadSaved(o.against, data)
	return noAnswer(err)
}

// ready prepares the gate for the lenses that are computed.
func (o *gateFlags) ready(format string, lenses []string) error {
	if !o.gated {
		if slices.Contains(gateForms, format) {
			return fmt.Errorf("-f %s requires --require, --check or --against", format)
		}
		return nil
	}
	return noAnswer(o.gate.Start(lenses))
}

func (o *gateFlags) judge(sum *stats.Report) error {
	if !o.gated {
		return nil
	}
	said, err := o.gate.Judge(sum)
	if err != nil && !o.allowEmpty {
		return err
	}
	o.said, sum.Gate = said, said
	return nil
}

// verdict returns the result of the gate. It prints on standard error what the form does not
// show.
func (o *gateFlags) verdict(e *env, format string) error {
	if format == "csv" {
		for i := range o.said.Verdicts {
			if v := &o.said.Verdicts[i]; v.State == gate.Crossed {
				e.note("%s", render.GateLine(v))
			}
		}
	}
	return found(!o.said.Passed)
}

// redaction are the flags that select what is redacted before a session is read.
type redaction struct {
	flagged   bool // flags select the rules, not the configuration
	structure bool
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

// ruleFlags registers the flags that select what is redacted. Other commands than redact take them
// from the configuration.
func (o *redaction) ruleFlags(f *flagSet) {
	o.flagged = true
	f.BoolVar(&o.structure, "structure-only", false, "redact every text; its size remains")
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
	opt := redact.Options{StructureOnly: o.structure, DropImages: o.images == "drop"}
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
