package labelled

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A scanner is another program that finds secrets: its name and its command, which a folder follows.
type scanner struct {
	name    string
	command []string
}

// scanners returns gitleaks, a module with its version, and what is installed beside it.
func scanners(module string) []scanner {
	return []scanner{
		{"gitleaks", []string{
			"go", "run", module, "dir", "--no-banner", "--log-level=error", "--exit-code=0", "--max-decode-depth=3",
			"--report-format=json", "--report-path=-",
		}},
		{"trufflehog", []string{"trufflehog", "filesystem", "--no-verification", "--no-update", "--json", "--log-level=-1"}},
	}
}

// A finding is what a scanner says of a secret.
type finding struct {
	File, Secret   string // of gitleaks
	Raw, RawV2     string // of trufflehog
	SourceMetadata struct {
		Data struct{ Filesystem struct{ File string } }
	}
}

// left returns what is left of each text if every secret that the scanner names is removed.
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
	cmd := exec.Command(s.command[0], append(s.command[1:], dir)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	left := append([]string{}, texts...)
	found := json.NewDecoder(bytes.NewReader(out))
	if bytes.HasPrefix(out, []byte("[")) {
		found.Token() // the findings are in an array
	}
	for found.More() {
		var f finding
		if err := found.Decode(&f); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		name := f.File + f.SourceMetadata.Data.Filesystem.File
		k, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			return nil, fmt.Errorf("%s reports the file %s", s.name, name)
		}
		for _, secret := range []string{f.Secret, f.RawV2, f.Raw} {
			if secret != "" {
				left[k] = strings.ReplaceAll(left[k], secret, "\x00")
			}
		}
	}
	return left, nil
}
