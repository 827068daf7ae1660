package sessionfmt

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Disk is where files are read and written by name. Its zero value is the machine's own
// as the process sees it.
type Disk struct {
	Dir  string               // where relative names start; the process's working directory when empty
	Sync func(*os.File) error // makes what was written last; File.Sync when nil

	// Temporary, if set, is told of each temporary file that is made, and when it is
	// there no more: who ends the process before removes it. It is called by several
	// goroutines.
	Temporary func(name string, there bool)
}

func (d Disk) temporary(name string, there bool) {
	if d.Temporary != nil {
		d.Temporary(name, there)
	}
}

// Path is the name by which the process finds a file, for what takes no Disk.
func (d Disk) Path(name string) string {
	if d.Dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(d.Dir, name)
}

// Open opens a file for reading.
func (d Disk) Open(name string) (*os.File, error) { return os.Open(d.Path(name)) }

// ReadFile is all of a file.
func (d Disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(d.Path(name)) }

// Stat describes the file that name leads to.
func (d Disk) Stat(name string) (os.FileInfo, error) { return os.Stat(d.Path(name)) }

// Lstat describes what has the name, which may be a symbolic link.
func (d Disk) Lstat(name string) (os.FileInfo, error) { return os.Lstat(d.Path(name)) }

// MkdirAll makes a folder, and those above it.
func (d Disk) MkdirAll(name string) error { return os.MkdirAll(d.Path(name), 0o777) }

// Remove removes a file.
func (d Disk) Remove(name string) error { return os.Remove(d.Path(name)) }

// Has reports whether there is a file or a folder called name.
func (d Disk) Has(name string) bool {
	_, err := d.Stat(name)
	return err == nil
}

// Walk visits the files of a folder and of those in it, in the order of their names,
// which begin as root does. A folder in it that cannot be read hides nothing else.
func (d Disk) Walk(root string, visit func(name string, f fs.DirEntry)) error {
	at := d.Path(root)
	return filepath.WalkDir(at, func(name string, f fs.DirEntry, err error) error {
		switch {
		case err != nil && name == at:
			return plainPathError(err)
		case err == nil && !f.IsDir():
			if at != root {
				name = filepath.Join(root, strings.TrimPrefix(name, at))
			}
			visit(name, f)
		}
		return nil
	})
}

func (d Disk) sync(f *os.File) error {
	if d.Sync != nil {
		return d.Sync(f)
	}
	return f.Sync()
}
