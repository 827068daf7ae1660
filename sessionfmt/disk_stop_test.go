package sessionfmt

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"ctxtool/internal/test/corpus"
)

// TestStop: a stopped disk ends the reading of an open session, and opens no other.
func TestStop(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	opt := Options{Disk: Disk{Stop: ctx.Err}}
	name := filepath.Join(corpus.Root(t), "testdata/sessions/demo.jsonl")
	s, err := Open(name, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stop()
	if _, err := s.NewReader().Line(s.Len() / 2); !errors.Is(err, context.Canceled) {
		t.Errorf("read after the stop: %v", err)
	}
	if _, err := Open(name, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("opened after the stop: %v", err)
	}
}
