// Package parallel does pieces of work on several processors.
package parallel

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// InOrder does n pieces of work, numbered from 0, and yields what comes of them in
// order. Each worker takes pieces in turn; start makes one, and is called by the
// goroutine that ranges. No more than ahead pieces are begun and not yet used. When
// the range ends, so has all work.
func InOrder[T any](n, workers, ahead int, start func() func(k int) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		if workers = min(workers, n); workers <= 1 {
			work := start()
			for k := range n {
				if !yield(work(k)) {
					return
				}
			}
			return
		}
		slots := make([]chan T, min(n, ahead)) // of piece k: k modulo their number
		for i := range slots {
			slots[i] = make(chan T, 1)
		}
		var (
			free = make(chan struct{}, len(slots)) // takes one for each piece that is not yet used
			stop = make(chan struct{})
			next atomic.Int64
			wg   sync.WaitGroup
		)
		defer wg.Wait()
		defer close(stop)
		for range workers {
			work := start()
			wg.Go(func() {
				for {
					select {
					case free <- struct{}{}:
					case <-stop:
						return
					}
					k := int(next.Add(1)) - 1
					if k >= n {
						return
					}
					slots[k%len(slots)] <- work(k)
				}
			})
		}
		for k := range n {
			if !yield(<-slots[k%len(slots)]) {
				return
			}
			<-free
		}
	}
}

// Each does n pieces of work on all processors, and returns the error of the first
// piece that has one. Later pieces may have been done by then.
func Each(n int, start func() func(k int) error) error {
	for err := range InOrder(n, runtime.GOMAXPROCS(0), n, start) {
		if err != nil {
			return err
		}
	}
	return nil
}
