//go:build unix

package jsonl

import (
	"strings"
	"testing"
)

// TestRoom: memory that is not there is an error before it is asked for.
func TestRoom(t *testing.T) {
	for _, line := range []int64{0, 1 << 20, 32 << 20} {
		if err := Room(line); err != nil {
			t.Errorf("%d bytes: %v", line, err)
		}
	}
	if err := Room(1 << 46); err == nil || !strings.HasPrefix(err.Error(), "out of memory: a line of 70368744 MB ") {
		t.Errorf("70 TB: %v", err)
	}
}
