package sessionfmt

import (
	"errors"
	"io/fs"
)

func makePipe(string) error { return errors.ErrUnsupported }

func ownerOf(fs.FileInfo) (none [2]uint32) { return none }
