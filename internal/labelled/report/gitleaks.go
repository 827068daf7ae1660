package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"ctxtool/internal/labelled"
)

// gitleaks runs gitleaks' own program, a module with its version, and returns what is left of each
// text if every secret that it names is removed.
func gitleaks(module string, cases []labelled.Case, plain []labelled.Harmless) ([]string, error) {
	dir, err := os.MkdirTemp("", "labelled")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	texts := make([]string, 0, len(cases)+len(plain))
	for _, c := range cases {
		texts = append(texts, c.Text)
	}
	for _, h := range plain {
		texts = append(texts, h.Text)
	}
	in := filepath.Join(dir, "texts")
	if err := os.Mkdir(in, 0o700); err != nil {
		return nil, err
	}
	for k, text := range texts {
		if err := os.WriteFile(filepath.Join(in, strconv.Itoa(k)), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	report := filepath.Join(dir, "report.json")
	cmd := exec.Command("go", "run", module, "dir", "--no-banner", "--log-level=error", "--exit-code=0", "--max-decode-depth=3",
		"--report-format=json", "--report-path="+report, in)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", module, err)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		return nil, err
	}
	var found []struct{ File, Secret string }
	if err := json.Unmarshal(data, &found); err != nil {
		return nil, err
	}
	for _, f := range found {
		k, err := strconv.Atoi(filepath.Base(f.File))
		if err != nil {
			return nil, fmt.Errorf("%s reports the file %s", module, f.File)
		}
		if f.Secret != "" {
			texts[k] = strings.ReplaceAll(texts[k], f.Secret, "\x00")
		}
	}
	return texts, nil
}
