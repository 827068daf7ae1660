package redact

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
)

// ParseValues returns the values in a file, one a line. An error has the position.
func ParseValues(file string, data []byte) (values []string, err error) {
	for n, line := range strings.Split(string(data), "\n") {
		switch line = strings.TrimSuffix(line, "\r"); {
		case len(line) >= MinValue:
			values = append(values, line)
		case line != "":
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: file, Line: n + 1}, Err: fmt.Errorf("must have at least %d bytes", MinValue)}
		}
	}
	return values, nil
}

// EnvValues returns the values of the environment variables with these names. A name must
// exist; short values that a pattern matches are left out.
func EnvValues(names, environ []string) (values []string, err error) {
	for _, name := range names {
		glob := strings.ContainsAny(name, "*?[")
		found := false
		for _, v := range environ {
			key, value, _ := strings.Cut(v, "=")
			ok, err := path.Match(name, key)
			switch {
			case err != nil:
				return nil, fmt.Errorf("%s: %w", name, err)
			case !ok:
				continue
			case len(value) >= MinValue:
				values = append(values, value)
			case !glob:
				return nil, fmt.Errorf("%s: a value of less than %d bytes would be found everywhere", name, MinValue)
			}
			found = true
		}
		if !found {
			return nil, fmt.Errorf("%s: no such variable", name)
		}
	}
	slices.Sort(values)
	return values, nil
}
