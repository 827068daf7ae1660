package sessionfmt

import (
	"io/fs"
	"os"
)

// Files are opened as they are: only privileged users can make links, and pipes are no files.
const noFollow, noWait = 0, 0

func hardLinks(fs.FileInfo) uint64 { return 1 }

func isSparse(fs.FileInfo) bool { return false }

// keepOwner leaves the owner to the folder, as Windows does.
func keepOwner(*os.File, fs.FileInfo) (owner, group bool) { return true, true }

// hold reports that a file may be in use: a locked one could not be written to here.
func hold(*os.File) bool { return false }
