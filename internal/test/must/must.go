// Package must is for what a test needs and does not examine: an error there is a mistake in the
// test, so it panics.
package must

// Get returns a value. It panics with err unless that is nil.
func Get[T any](value T, err error) T {
	Do(err)
	return value
}

// Do panics with err unless that is nil.
func Do(err error) {
	if err != nil {
		panic(err)
	}
}
