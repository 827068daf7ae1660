package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// interrupts remove the temporary files that there are when a signal ends the process.
// While there is none, signals do what they always do.
type interrupts struct {
	mu      sync.Mutex
	files   map[string]bool
	signals chan os.Signal // nil while there is no file
}

// ending are the signals that end a process unless it says otherwise.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}

// note records that there is a temporary file, or no longer is.
func (x *interrupts) note(name string, there bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !there {
		delete(x.files, name)
		if len(x.files) == 0 && x.signals != nil {
			signal.Stop(x.signals)
			close(x.signals)
			x.signals = nil
		}
		return
	}
	if x.signals == nil {
		x.files, x.signals = map[string]bool{}, make(chan os.Signal, 1)
		for _, s := range ending {
			if !signal.Ignored(s) { // nohup
				signal.Notify(x.signals, s)
			}
		}
		go x.wait(x.signals)
	}
	x.files[name] = true
}

// wait waits for a signal, removes the files, and has the signal do what it does.
func (x *interrupts) wait(signals chan os.Signal) {
	s, ok := <-signals
	if !ok {
		return
	}
	x.mu.Lock() // and never let go: no file gets its name any more
	for name := range x.files {
		os.Remove(name)
	}
	if s == syscall.SIGPIPE { // which Go's runtime heeds only where it comes from a write
		os.Exit(128 + int(syscall.SIGPIPE))
	}
	signal.Reset(s)
	if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(s) == nil {
		time.Sleep(time.Second) // it comes at once
	}
	os.Exit(exitNothing)
}
