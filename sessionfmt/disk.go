package sessionfmt

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Disk reads and writes files by name. Its zero value is the file system as the process sees
// it.
type Disk struct {
	Dir  string               // base of relative names; the process's working directory if empty
	Sync func(*os.File) error // makes written data durable; File.Sync if nil

	// Temporary, if set, is called for each temporary file with there true when it is created
	// and false when it is removed, so that a caller that exits early can remove it. It may be
	// called concurrently.
	Temporary func(name string, there bool)

	// Within, if set, are the only folders in which files are opened and described for reading,
	// symbolic links resolved; their names are absolute. Any other file is [ErrOutside].
	Within []*os.Root

	// Stop, if set, is asked before a file is opened for reading, and before bytes of a session
	// are read. Its error ends the reading. It may be called concurrently.
	Stop func() error

	copies *copies // of databases; nil if each use makes its own
}

// ErrOutside is the error of a file that is not in the folders of a Disk, for which it does not
// exist.
var ErrOutside error = outsideError{}

type outsideError struct{}

func (outsideError) Error() string        { return "outside the folder of sessions" }
func (outsideError) Is(target error) bool { return target == fs.ErrNotExist }

func (d Disk) temporary(name string, there bool) {
	if d.Temporary != nil {
		d.Temporary(name, there)
	}
}

// Path returns the name by which the process finds a file, for callees that take no Disk.
func (d Disk) Path(name string) string {
	if d.Dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(d.Dir, name)
}

// Open opens a file for reading.
func (d Disk) Open(name string) (*os.File, error) {
	if d.Stop != nil {
		if err := d.Stop(); err != nil {
			return nil, err
		}
	}
	if d.Within == nil {
		return os.Open(d.Path(name))
	}
	return within(d, name, (*os.Root).Open)
}

// within opens or describes a file in one of the disk's folders.
func within[T any](d Disk, name string, do func(r *os.Root, name string) (T, error)) (out T, err error) {
	for _, root := range d.Within {
		if below, err := filepath.Rel(root.Name(), d.Path(name)); err == nil && filepath.IsLocal(below) {
			return do(root, below)
		}
	}
	return out, &fs.PathError{Op: "open", Path: name, Err: ErrOutside}
}

// ReadFile returns the contents of a file.
func (d Disk) ReadFile(name string) ([]byte, error) {
	if d.Within == nil {
		return os.ReadFile(d.Path(name))
	}
	return within(d, name, (*os.Root).ReadFile)
}

// Stat describes a file, following symbolic links.
func (d Disk) Stat(name string) (os.FileInfo, error) {
	if d.Within == nil {
		return os.Stat(d.Path(name))
	}
	return within(d, name, (*os.Root).Stat)
}

// Lstat describes a file without following symbolic links.
func (d Disk) Lstat(name string) (os.FileInfo, error) { return os.Lstat(d.Path(name)) }

// MkdirAll makes a folder and its parents.
func (d Disk) MkdirAll(name string) error { return os.MkdirAll(d.Path(name), 0o777) }

// Remove removes a file.
func (d Disk) Remove(name string) error { return os.Remove(d.Path(name)) }

// Has reports whether a file or folder has that name.
func (d Disk) Has(name string) bool {
	_, err := d.Stat(name)
	return err == nil
}

// Walk visits the files in a folder and its subfolders in the order of their names, which start
// with root. It skips folders that it cannot read.
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
