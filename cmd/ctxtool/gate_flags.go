package main

import (
	"ctxtool/internal/lens/gate"
	"ctxtool/internal/out/show"
	"ctxtool/stats"
	"errors"
	"fmt"
	"slices"
)

// gateFlags are the flags of a gate, and the gate.
type gateFlags struct {
	budgets          []string
	file, against    string
	drift            string
	broken, unpriced string
	allowEmpty       bool

	gated bool // a gate is requested
	gate  gate.Gate
	said  *gate.Report // nil without a gate
}

// gateForms are the output forms that consist of the verdicts of a gate.
var gateForms = []string{"github", "junit", "sarif"}

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

// verdict returns the result of the gate, and prints on standard error what the form does not show.
func (o *gateFlags) verdict(e *env, format string) error {
	if format == "csv" {
		for i := range o.said.Verdicts {
			if v := &o.said.Verdicts[i]; v.State == gate.Crossed {
				e.note("%s", show.GateLine(v))
			}
		}
	}
	return found(!o.said.Passed)
}
