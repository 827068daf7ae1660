package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A finding is a secret in a file, or the numbers of its first UTF-16 unit and of the one after it.
type finding struct {
	file, secret string
	from, to     int
}

// A scanner is another program that finds secrets.
type scanner struct {
	name    string
	command []string // the folder follows
	in      string   // what of the folder
	read    func(out []byte) ([]finding, error)
}

func gitleaks(module string) scanner {
	return scanner{"gitleaks", []string{
		"go", "run", module, "dir", "--no-banner", "--log-level=error", "--exit-code=0", "--max-decode-depth=3",
		"--report-format=json", "--report-path=-",
	}, "", func(out []byte) (all []finding, err error) {
		var found []struct{ File, Secret string }
		err = json.Unmarshal(out, &found)
		for _, f := range found {
			all = append(all, finding{file: f.File, secret: f.Secret})
		}
		return all, err
	}}
}

// installed are scanners that are measured where they are on the PATH.
var installed = []scanner{
	{"trufflehog", []string{"trufflehog", "filesystem", "--no-verification", "--no-update", "--json", "--log-level=-1"}, "", func(out []byte) (all []finding, err error) {
		for line := range bytes.Lines(out) {
			var found struct {
				SourceMetadata struct {
					Data struct{ Filesystem struct{ File string } }
				}
				Raw, RawV2 string
			}
			if err := json.Unmarshal(line, &found); err != nil {
				return nil, err
			}
			for _, secret := range []string{found.RawV2, found.Raw} {
				all = append(all, finding{file: found.SourceMetadata.Data.Filesystem.File, secret: secret})
			}
		}
		return all, nil
	}},
	{"secretlint", []string{
		"secretlint", "--format=json", `--secretlintrcJSON={"rules":[{"id":"@secretlint/secretlint-rule-preset-recommend"}]}`,
	}, "*", func(out []byte) (all []finding, err error) {
		var found []struct {
			FilePath string
			Messages []struct{ Range [2]int }
		}
		err = json.Unmarshal(out, &found)
		for _, f := range found {
			for _, m := range f.Messages {
				all = append(all, finding{file: f.FilePath, from: m.Range[0], to: m.Range[1]})
			}
		}
		return all, err
	}},
}

// left returns what is left of each text if every secret that the scanner finds is removed.
func (s scanner) left(texts []string) ([]string, error) {
	dir, err := os.MkdirTemp("", "labelled")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for k, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(k)), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(s.command[0], append(s.command[1:], filepath.Join(dir, s.in))...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1 for findings
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	found, err := s.read(out)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	left := append([]string{}, texts...)
	for _, f := range found {
		k, err := strconv.Atoi(filepath.Base(f.file))
		if err != nil {
			return nil, fmt.Errorf("%s reports the file %s", s.name, f.file)
		}
		if f.to > 0 {
			f.secret = string(utf16.Decode(utf16.Encode([]rune(texts[k]))[f.from:f.to]))
		}
		if f.secret != "" {
			left[k] = strings.ReplaceAll(left[k], f.secret, "\x00")
		}
	}
	return left, nil
}
