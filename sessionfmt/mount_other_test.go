//go:build !linux

package sessionfmt

import "errors"

func mountSmall(string) (unmount func(), err error) {
	return nil, errors.New("it is known how on Linux only")
}
