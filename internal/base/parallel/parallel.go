// Package parallel runs work on several CPUs.
package parallel

import (
	"iter"
	"runtime"
	"sync"
)

// Map applies a function to each element of a sequence, in parallel, and yields the results in
// order. A separate goroutine reads the sequence. Each worker gets its function from start. At
// most ahead results are pending. All workers have finished when the iteration ends.
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

// InOrder is Map over the numbers below n.
func InOrder[T any](n, workers, ahead int, start func() func(k int) T) iter.Seq[T] {
	return Map(func(yield func(int) bool) {
		for k := 0; k < n && yield(k); k++ {
		}
	}, min(workers, n), ahead, start)
}

// Each runs n tasks in parallel, and returns the error of the first task with one. Later tasks
// may have run by then.
func Each(n int, start func() func(k int) error) error {
	for err := range InOrder(n, runtime.GOMAXPROCS(0), n, start) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Ordered runs work on each element of all, in parallel, and calls use with the results in
// order; end is true for the last one. At most two results per CPU are pending. It stops at the
// first error of either function.
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
