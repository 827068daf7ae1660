//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// Verdicts.
const (
	killed     = "killed"
	survived   = "survived"
	notViable  = "not viable"
	equivalent = "equivalent"
)

// A result is the verdict on one mutant, and a line of the state file.
type result struct {
	Key     string  `json:"key"`
	At      string  `json:"at"` // file:line
	Verdict string  `json:"verdict"`
	By      string  `json:"by,omitempty"`   // the package whose tests killed it
	Test    string  `json:"test,omitempty"` // the first test that failed, or timeout
	Detail  string  `json:"detail,omitempty"`
	Seconds float64 `json:"seconds"`
}

// A timing is what the tests of an unmutated package take, and a line of the state file.
type timing struct {
	Package  string   `json:"package"`
	Time     float64  `json:"time"`               // seconds
	Memory   int64    `json:"memory,omitempty"`   // bytes of the largest process
	Slow     []string `json:"slow,omitempty"`     // tests that take more than 10 seconds
	SlowTime float64  `json:"slowTime,omitempty"` // what these take together
}

// add adds an event of tests that pass.
func (t *timing) add(e event) {
	switch {
	case e.Action != "pass":
	case e.Test == "":
		t.Package, t.Time = e.Package, max(e.Elapsed, 0.001)
	case e.Elapsed > 10 && !strings.Contains(e.Test, "/"):
		t.Slow = append(t.Slow, e.Test)
		t.SlowTime += e.Elapsed
	}
}

// units returns the runs of a package's tests. Where slow tests take most of the time,
// the others run before them.
func (t timing) units(pkg string) []unit {
	if t.SlowTime < 20 {
		return []unit{{pkg: pkg, time: t.Time}}
	}
	names := "^(" + strings.Join(t.Slow, "|") + ")$"
	return []unit{
		{pkg: pkg, args: []string{"-skip=" + names}, time: max(t.Time-t.SlowTime, 1)},
		{pkg: pkg, args: []string{"-run=" + names}, time: t.SlowTime},
	}
}

// A state has the results so far. Each is appended to the file at once, so that a run
// that ends early can be continued.
type state struct {
	mu      sync.Mutex
	file    *os.File // nil: results are not kept
	results map[string]result
	times   map[string]timing
}

func openState(name string) (*state, error) {
	s := &state{results: map[string]result{}, times: map[string]timing{}}
	if name == "" {
		return s, nil
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	s.file = file
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	// A run that was killed may have left a torn line.
	whole := bytes.LastIndexByte(data, '\n') + 1
	err = file.Truncate(int64(whole))
	if err == nil {
		_, err = file.Seek(int64(whole), io.SeekStart)
	}
	n := 0
	for line := range bytes.Lines(data[:whole]) {
		n++
		var row struct {
			result
			timing
		}
		if e := json.Unmarshal(line, &row); e != nil {
			err = errors.Join(err, fmt.Errorf("%s:%d: %w", name, n, e))
			break
		}
		if row.Package != "" {
			s.times[row.Package] = row.timing
		} else {
			s.results[row.Key] = row.result
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

func (s *state) add(res result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[res.Key] = res
	return s.write(res)
}

func (s *state) addTime(t timing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[t.Package] = t
	return s.write(t)
}

func (s *state) write(row any) error {
	if s.file == nil {
		return nil
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // keys have operators in them
	if err := enc.Encode(row); err != nil {
		return err
	}
	if _, err := s.file.Write(line.Bytes()); err != nil {
		return err
	}
	return s.file.Sync()
}

// readTimes adds the times of packages from the output of go test -json ./....
func (s *state) readTimes(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	times := map[string]*timing{}
	for line := range bytes.Lines(data) {
		var e event
		if json.Unmarshal(line, &e) != nil || e.Action != "pass" {
			continue
		}
		if times[e.Package] == nil {
			times[e.Package] = &timing{}
		}
		times[e.Package].add(e)
	}
	for _, pkg := range slices.Sorted(maps.Keys(times)) {
		if t := times[pkg]; t.Time > 0 && s.times[pkg].Time == 0 {
			if err := s.addTime(*t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *state) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
