package sessionfmt

import (
	"io/fs"
	"os"
)

// No flags: only privileged users can create links, and pipes are not files.
const noFollow, noWait = 0, 0

func hardLinks(fs.FileInfo) uint64 { return 1 }

func isSparse(fs.FileInfo) bool { return false }

// keepOwner does nothing: on Windows the folder determines the owner.
func keepOwner(*os.File, fs.FileInfo) (owner, group bool) { return true, true }

// hold reports false, for a file that may be in use: a locked one could not be written to here.
func hold(*os.File) bool { return false }
