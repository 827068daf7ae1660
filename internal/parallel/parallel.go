// Package parallel does pieces of work on several processors.
package parallel

import (
	"iter"
	"runtime"
	"sync"
)

// Map does a piece of work on each of a sequence, and yields what comes of them in order.
// The sequence is visited by a goroutine of its own. Each worker takes pieces in turn;
// start makes one. No more than ahead pieces are begun and not yet used. When the range
// ends, so has all work.
func Map[T, U any](seq iter.Seq[T], workers, ahead int, start func() func(T) U) iter.Seq[U] {
	return func(yield func(U) bool) {
		if workers <= 1 {
			work := start()
			for piece := range seq {
				if !yield(work(piece)) {
					return
				}
			}
			return
		}
		type job struct {
			piece T
			done  chan U
		}
		var (
			jobs  = make(chan job)
			order = make(chan chan U, max(0, ahead-1))
			stop  = make(chan struct{})
			wg    sync.WaitGroup
		)
		defer wg.Wait()
		defer close(stop)
		wg.Go(func() {
			defer close(order)
			defer close(jobs)
			for piece := range seq {
				done := make(chan U, 1)
				select {
				case order <- done:
					jobs <- job{piece, done}
				case <-stop:
					return
				}
			}
		})
		for range workers {
			work := start()
			wg.Go(func() {
				for j := range jobs {
					j.done <- work(j.piece)
				}
			})
		}
		for done := range order {
			if !yield(<-done) {
				return
			}
		}
	}
}

// InOrder is Map of the numbers below n.
func InOrder[T any](n, workers, ahead int, start func() func(k int) T) iter.Seq[T] {
	return Map(func(yield func(int) bool) {
		for k := 0; k < n && yield(k); k++ {
		}
	}, min(workers, n), ahead, start)
}

// Each does n pieces of work in parallel, and returns the error of the first
// piece that has one. Later pieces may have been done by then.
func Each(n int, start func() func(k int) error) error {
	for err := range InOrder(n, runtime.GOMAXPROCS(0), n, start) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Ordered works on each of all, in parallel, and uses what comes of it in their
// order; end is true for the last. It is no further ahead than twice as many as there are
// processors, and ends at the first error of a piece or of its use.
func Ordered[T, R any](all []T, work func(T) (R, error), use func(r R, end bool) error) error {
	type made struct {
		r   R
		err error
	}
	workers, k := runtime.GOMAXPROCS(0), 0
	for m := range InOrder(len(all), workers, 2*workers, func() func(int) made {
		return func(k int) made {
			r, err := work(all[k])
			return made{r, err}
		}
	}) {
		if m.err != nil {
			return m.err
		}
		k++
		if err := use(m.r, k == len(all)); err != nil {
			return err
		}
	}
	return nil
}
