//go:build !unix

package cachefile

import "io/fs"

// own reports whether a file is the user's: the cache folder is.
func own(fs.FileInfo) bool { return true }
