package corpus

import (
	"bytes"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"testing"
)

// Requests are the recorded requests of a folder of vectors.
func Requests[T any](t testing.TB, folder string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return Decoded[T](t, func(yield func([]byte, error) bool) {
		for line := range bytes.Lines(data) {
			if !yield(line, nil) {
				return
			}
		}
	})
}

// Decoded are JSON values as Go's own decoder reads them.
func Decoded[T any, V ~[]byte](t testing.TB, values iter.Seq2[V, error]) (all []T) {
	t.Helper()
	for value, err := range values {
		var one T
		if err == nil {
			err = json.Unmarshal(value, &one)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}
