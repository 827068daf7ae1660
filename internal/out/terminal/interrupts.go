package terminal

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Interrupts remove the existing temporary files when a signal ends the process. While
// there are none, signals have their usual effect.
type Interrupts struct {
	Status int // with which the process ends if the signal does not

	mu      sync.Mutex
	files   map[string]bool
	signals chan os.Signal // nil while there is no file
}

// ending are the signals that end a process by default.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}

// Note records that a temporary file exists, or no longer does.
func (x *Interrupts) Note(name string, there bool) {
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

// wait waits for a signal, removes the files, and lets the signal take effect.
func (x *Interrupts) wait(signals chan os.Signal) {
	s, ok := <-signals
	if !ok {
		return
	}
	x.mu.Lock() // for good: no file is renamed any more
	for name := range x.files {
		os.Remove(name)
	}
	if s == syscall.SIGPIPE { // Go's runtime only handles one that a write causes
		os.Exit(128 + int(syscall.SIGPIPE))
	}
	signal.Reset(s)
	if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(s) == nil {
		time.Sleep(time.Second) // it arrives at once
	}
	os.Exit(x.Status)
}
