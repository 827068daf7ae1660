package sessionfmt

import (
	"errors"
	"io/fs"
	"os/exec"
)

func makePipe(string) error { return errors.ErrUnsupported }

func ownerOf(fs.FileInfo) (none [2]uint32) { return none }

func asUser(*exec.Cmd, uint32) bool { return false }
