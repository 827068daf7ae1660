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

// walk is filepath.WalkDir, with the names below root beginning as root does.
func (d Disk) walk(root string, visit fs.WalkDirFunc) error {
	at := d.Path(root)
	if at == root {
		return filepath.WalkDir(root, visit)
	}
	return filepath.WalkDir(at, func(name string, e fs.DirEntry, err error) error {
		if name == at {
			return visit(root, e, err)
		}
		return visit(filepath.Join(root, strings.TrimPrefix(name, at)), e, err)
	})
}

func (d Disk) sync(f *os.File) error {
	if d.Sync != nil {
		return d.Sync(f)
	}
	return f.Sync()
}
