package main

import (
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"ctxtool/internal/lens/redact"
	"ctxtool/internal/out/config"
	"ctxtool/internal/out/terminal"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
)

// A machine is the environment in which a command runs. No command changes it; each test has its own, so that
// tests run in parallel.
type machine struct {
	stdin          *os.File
	stdout, stderr io.Writer
	disk           sessionfmt.Disk
	environ        []string // NAME=VALUE; the last value of a name counts
	home           string   // home folder, empty if there is none
	configDir      string   // user's configuration folder, empty if there is none
	now            func() time.Time
	zone           *time.Location // zone of local time; nil for UTC
	wait           time.Duration  // how long to wait for a lock; 0 for the default of sessionfmt

	gcPercent func(percent int) int // settings for debug; nil if other commands run in the process
}

// settings are the flags that all commands have, and the configuration.
type settings struct {
	config      *config.Config // nil until it is read; serve has read it for its commands
	configFile  string         // value of --config
	sessionsDir string
	archive     string // value of the setting archive
	color       string // see screen
	pager       string // command of the pager; empty for the one in the environment
	noPager     bool
	quiet       bool // print only the answer
	json        bool // answer in JSON
	redact      bool // redact what is read, or what a command prints that writes sessions
	leakless    bool // fail on a secret
}

// hiding keeps texts out of answers.
type hiding struct {
	redactor *redact.Redactor // redacts every session before it is read; nil without --redact
	asIs     bool             // or what it prints, if it writes sessions
	said     *redact.Run      // redacts plans; may be nil
	leaks    *redact.Redactor // finds secrets in answers, which then fail; nil without --fail-on-secret
}

// A setup is what is known about a command before its command line is read: nothing, except for commands that
// serve runs.
type setup struct {
	settings
	hiding
}

// declared is what a command declares while it is created.
type declared struct {
	checks []func() error // checks of its flags; see before
	taken  []string       // flags of certain commands that it accepts; see help.Take
}

// env is a command while it runs.
type env struct {
	machine
	setup
	declared

	args     []string           // as typed
	anywhere bool               // without arguments, a session of any folder will do
	aside    *aside             // what it reports besides the answer
	store    func() store.Store // returns the result of newStore, whose files are listed once
	opened   []io.Closer        // sessions that stay open until the command ends; see held

	again func(m machine, known setup, args []string) int // runs another command; for serve
}

// noting returns the command with another standard error, for its work on one of several sessions.
func (e *env) noting(w io.Writer) *env {
	own := *e
	own.stderr = w
	return &own
}

func thisMachine() machine {
	m := machine{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(),
		now: time.Now, zone: time.Local, gcPercent: debug.SetGCPercent,
	}
	m.disk.Temporary = (&terminal.Interrupts{Status: exitNothing}).Note
	m.home, _ = os.UserHomeDir()
	m.configDir, _ = os.UserConfigDir()
	return m
}

// getenv returns the value of an environment variable, or "" if it is not set.
func (m *machine) getenv(name string) (value string) {
	for _, v := range m.environ {
		if key, text, _ := strings.Cut(v, "="); key == name {
			value = text
		}
	}
	return value
}
