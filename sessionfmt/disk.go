package sessionfmt

import (
	"errors"
	"io"
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

	// Skipped, if set, is called for each pipe, device or socket that Walk leaves out, and for each
	// folder that it cannot read. It may be called concurrently, and several times for one name.
	Skipped func(name string, mode fs.FileMode)

	// Taken, if set, is called for a file that is replaced and whose owner or group is not kept.
	Taken func(name string)

	// MaxSize limits what a compressed file or a session in a database is stored as while it is
	// read, bytes. If 0, it is 100 times the size of the file, at least 64 MB and at most 8 GB.
	MaxSize int64

	copies *copies // copies of databases; nil if each use makes its own
}

// ErrOutside is the error for a file outside the folders of Disk.Within; to the Disk it does not exist.
var ErrOutside error = outsideError{}

type outsideError struct{}

func (outsideError) Error() string        { return "outside the folder of sessions" }
func (outsideError) Is(target error) bool { return target == fs.ErrNotExist }

func (d Disk) temporary(name string, there bool) {
	if d.Temporary != nil {
		d.Temporary(name, there)
	}
}

// Path returns the name by which the process can open the file, for libraries that take no Disk.
func (d Disk) Path(name string) string {
	if d.Dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(d.Dir, name)
}

// Open opens a file for reading. In the folders of Within, to which others can write, it opens only regular
// files and folders.
func (d Disk) Open(name string) (*os.File, error) {
	if d.Within == nil {
		return d.openWith(name, 0)
	}
	return d.openOnly(name, func(m fs.FileMode) bool { return m.IsRegular() || m.IsDir() })
}

// OpenRegular opens a file that somebody else may have created. It refuses all but regular files: a device may
// never end, and a pipe may have no writer.
func (d Disk) OpenRegular(name string) (*os.File, error) {
	return d.openOnly(name, fs.FileMode.IsRegular)
}

// openOnly opens a file whose type may accepts, without waiting for the writer of a pipe.
func (d Disk) openOnly(name string, may func(m fs.FileMode) bool) (*os.File, error) {
	not := &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	if info, err := d.Stat(name); err == nil && !may(info.Mode()) {
		return nil, not // checked before opening too, since opening a device can have an effect
	}
	f, err := d.openWith(name, noWait)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !may(info.Mode()) {
		f.Close()
		return nil, not
	}
	return f, nil
}

// openWith opens a file for reading, with additional flags of the system.
func (d Disk) openWith(name string, flag int) (*os.File, error) {
	if d.Stop != nil {
		if err := d.Stop(); err != nil {
			return nil, err
		}
	}
	if d.Within == nil {
		return os.OpenFile(d.Path(name), os.O_RDONLY|flag, 0)
	}
	return within(d, name,
		func(r *os.Root, name string) (*os.File, error) { return r.OpenFile(name, os.O_RDONLY|flag, 0) })
}

// within calls do with the folder of Within that holds the file. A link may lead from one of these folders to
// another.
func within[T any](d Disk, name string, do func(r *os.Root, name string) (T, error)) (out T, err error) {
	err = &fs.PathError{Op: "open", Path: name, Err: ErrOutside}
	try := func(path string, resolve func(string) (string, error)) bool {
		for _, root := range d.Within {
			dir, fault := resolve(root.Name())
			if fault != nil {
				continue
			}
			if below, fault := filepath.Rel(dir, path); fault == nil && filepath.IsLocal(below) {
				out, err = do(root, below)
				return true
			}
		}
		return false
	}
	path := d.Path(name)
	if !try(path, func(dir string) (string, error) { return dir, nil }) || err == nil {
		return out, err
	}
	target, fault := filepath.EvalSymlinks(path)
	if fault == nil && target != path && !try(target, filepath.EvalSymlinks) {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrOutside}
	}
	return out, err
}

// ReadFile returns the contents of a file.
func (d Disk) ReadFile(name string) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
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

// Has reports whether a file or folder with that name exists.
func (d Disk) Has(name string) bool {
	_, err := d.Stat(name)
	return err == nil
}

// isRegular reports whether a name is that of a regular file, or of a link to one.
func (d Disk) isRegular(name string) bool {
	info, err := d.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Walk visits the files in a folder and its subfolders in the order of their names, each of which starts with
// root. It leaves out unreadable folders, pipes, devices and sockets, and passes them to Skipped.
func (d Disk) Walk(root string, visit func(name string, f fs.DirEntry)) error {
	at := d.Path(root)
	return filepath.WalkDir(at, func(name string, f fs.DirEntry, err error) error {
		if err != nil && name == at {
			return plainPathError(err)
		}
		if at != root {
			name = filepath.Join(root, strings.TrimPrefix(name, at))
		}
		switch {
		case err != nil && d.Skipped != nil && !errors.Is(err, fs.ErrNotExist):
			d.Skipped(name, fs.ModeDir)
		case err == nil && !f.IsDir():
			if mode := d.endless(name, f); mode != 0 {
				if d.Skipped != nil {
					d.Skipped(name, mode)
				}
				return nil
			}
			visit(name, f)
		}
		return nil
	})
}

// endless returns the type of a file that may never end (pipe, device, socket), and 0 for others. It follows
// symbolic links.
func (d Disk) endless(name string, f fs.DirEntry) fs.FileMode {
	mode := f.Type()
	if mode&fs.ModeSymlink != 0 {
		if info, err := d.Stat(name); err == nil {
			mode = info.Mode()
		}
	}
	return mode & (fs.ModeNamedPipe | fs.ModeDevice | fs.ModeCharDevice | fs.ModeSocket)
}

func (d Disk) sync(f *os.File) error {
	if d.Sync != nil {
		return d.Sync(f)
	}
	return f.Sync()
}
