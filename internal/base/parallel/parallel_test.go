package parallel

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// TestInOrder: all pieces come in order, by any number of workers, and no more are
// begun than may be ahead.
func TestInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 100} {
		for _, workers := range []int{0, 1, 2, 7} {
			inOrder(t, n, workers, workers)
			inOrder(t, n, workers, 2*workers)
		}
	}
}

func inOrder(t *testing.T, n, workers, ahead int) {
	t.Helper()
	var used, begun atomic.Int64
	want := 0
	for k := range InOrder(n, workers, ahead, func() func(int) int {
		return func(k int) int {
			if begun := int(begun.Add(1) - used.Load()); workers > 1 && begun > ahead {
				t.Errorf("%d pieces, %d workers: %d ahead", n, workers, begun)
			}
			time.Sleep(time.Duration(k*37%5) * 100 * time.Microsecond)
			return k
		}
	}) {
		if k != want {
			t.Fatalf("%d pieces, %d workers: got %d, want %d", n, workers, k, want)
		}
		want++
		used.Add(1)
	}
	if want != n {
		t.Errorf("%d pieces, %d workers: %d came", n, workers, want)
	}
}

// TestStop: when the range ends no work continues.
func TestStop(t *testing.T) {
	var busy atomic.Int64
	for k := range InOrder(1000, 4, 8, func() func(int) int {
		return func(k int) int {
			defer busy.Add(-1)
			busy.Add(1)
			time.Sleep(time.Millisecond)
			return k
		}
	}) {
		if k == 10 {
			break
		}
	}
	if n := busy.Load(); n != 0 {
		t.Errorf("%d pieces are still worked on", n)
	}
}

// TestEach: of several errors the first piece's is returned.
func TestEach(t *testing.T) {
	err := Each(50, func() func(int) error {
		return func(k int) error {
			time.Sleep(time.Duration(50-k) * 50 * time.Microsecond)
			if k%10 == 9 {
				return fmt.Errorf("piece %d", k)
			}
			return nil
		}
	})
	if err == nil || err.Error() != "piece 9" {
		t.Errorf("%v", err)
	}
	if err := Each(0, func() func(int) error { return func(int) error { return nil } }); err != nil {
		t.Errorf("no piece: %v", err)
	}
}
