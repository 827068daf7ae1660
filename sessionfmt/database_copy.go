package sessionfmt

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"ctxtool/sessionfmt/dialect"
)

// copies keeps copies of databases, which SQLite opens in place of the originals, so that it never locks an
// agent's files. Each is made once, and again after the database changes.
type copies struct {
	mu  sync.Mutex
	all map[string]*database // by file name
}

// KeepCopies returns a disk that keeps its temporary copies of databases for later uses, until drop is called.
// SQLite only ever reads such copies.
func (d Disk) KeepCopies() (kept Disk, drop func()) {
	d.copies = &copies{all: map[string]*database{}}
	return d, d.copies.drop
}

func (c *copies) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, db := range c.all {
		db.close()
	}
	clear(c.all)
}

// A database is an open copy of an agent's database.
type database struct {
	by     *dialect.Dialect
	name   string
	tables map[string][]string // columns by table; nil until needed

	disk  Disk
	files []string // size of the copy, bytes
	size  int64    // lines of the sessions read so far
	state databaseState
	pool  *sql.DB
	conn  *sql.Conn
	made  []byte        // line of the last row
	zstd  *zstd.Decoder // decompressor; nil until a row is packed
}

func (db *database) close() {
	if db.zstd != nil {
		db.zstd.Close()
	}
	if db.conn != nil {
		db.conn.Close()
	}
	if db.pool != nil {
		db.pool.Close()
	}
	db.unname()
}

// unname removes the names of the copy while it is open, if the system allows that. Then no file remains,
// however the process ends.
func (db *database) unname() {
	db.files = slices.DeleteFunc(db.files, func(name string) bool {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		db.disk.temporary(name, false)
		return true
	})
}

// withDatabase calls do with a copy of the database. Concurrent callers for one database take turns.
func (d Disk) withDatabase(file string, do func(db *database) error) error {
	if d.copies == nil {
		kept, drop := d.KeepCopies()
		defer drop()
		d = kept
	}
	c := d.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	if db := c.all[file]; db != nil {
		if db.state == d.databaseState(file) {
			return do(db)
		}
		db.close()
		delete(c.all, file)
	}
	db, err := d.copyDatabase(file)
	if err != nil {
		return err
	}
	c.all[file] = db
	return do(db)
}

// Name suffixes of the files that SQLite keeps beside a database: the write-ahead log, and the journal of an
// unfinished transaction.
const logEnd, journalEnd, memoryEnd = "-wal", "-journal", "-shm"

// A databaseState differs if a database was written to.
type databaseState struct {
	file  string // size and time of the file, and the head of its log, which a checkpoint changes
	grown string // size and time of the log, which each transaction changes
}

func (d Disk) databaseState(file string) (s databaseState) {
	if info, err := d.Stat(file); err == nil {
		s.file = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	if info, err := d.Stat(file + logEnd); err == nil {
		s.grown = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		if log, err := d.OpenRegular(file + logEnd); err == nil {
			var head [32]byte
			n, _ := io.ReadFull(log, head[:])
			s.file += string(head[:n])
			log.Close()
		}
	}
	return s
}

// mostTries is how often copying is tried while another process writes to the database.
const mostTries = 3

// LimitDatabase limits the bytes of a text or row that SQLite reads. Importing sessionfmt/sqlite sets it;
// without that, databases are not read.
var LimitDatabase func(c *sql.Conn, bytes int) error

// copyDatabase copies a database with its log, and opens the copy. If the log grows meanwhile, it counts up to
// its last complete transaction.
func (d Disk) copyDatabase(file string) (*database, error) {
	if LimitDatabase == nil {
		return nil, &Error{Err: errors.New("this program reads no SQLite databases"),
			Hint: "it can where it imports ctxtool/sessionfmt/sqlite"}
	}
	if d.unfinished(file) {
		return nil, &Error{Err: errors.New("the database is locked: a transaction in its " + journalEnd +
			" file is not finished"), Hint: "let the agent finish, or start it once more"}
	}
	for range mostTries {
		db := &database{name: file, disk: d, state: d.databaseState(file)}
		err := db.copy()
		if err == nil && db.state.file != d.databaseState(file).file {
			db.close()
			continue
		}
		if err == nil {
			err = db.open()
		}
		if err != nil {
			db.close()
			return nil, err
		}
		return db, nil
	}
	return nil, &Error{Err: errors.New("the database is being written to"),
		Hint: "try again, or copy it together with its " + logEnd + " file"}
}

// unfinished reports whether a transaction has left its journal beside the database.
func (d Disk) unfinished(file string) bool {
	journal, err := d.OpenRegular(file + journalEnd)
	if err != nil {
		return false
	}
	defer journal.Close()
	var head [8]byte
	n, _ := io.ReadFull(journal, head[:])
	return len(bytes.Trim(head[:n], "\x00")) > 0
}

// plausible returns an error if the file is larger than its pages, or the log larger than an agent leaves it:
// such a copy could fill the disk.
func (db *database) plausible() error {
	file, err := db.disk.Stat(db.name)
	if err != nil {
		return plainPathError(err)
	}
	log, err := db.disk.Stat(db.name + logEnd)
	switch {
	case isSparse(file):
		return fmt.Errorf("the database has %d bytes, most of them holes", file.Size())
	case err != nil:
		return nil
	case !log.Mode().IsRegular():
		return fmt.Errorf("its %s file: %w", logEnd, errNotRegular)
	case isSparse(log):
		return fmt.Errorf("its %s file has %d bytes, most of them holes", logEnd, log.Size())
	case log.Size() > max(mostLog, 4*file.Size()):
		return fmt.Errorf("its %s file has %d bytes, and the database %d", logEnd, log.Size(), file.Size())
	}
	return nil
}

// mostLog is the size up to which any log is copied, bytes.
const mostLog = 1 << 30

// copy copies the files of a database to temporary ones.
func (db *database) copy() error {
	if err := db.plausible(); err != nil {
		return &Error{Err: err, Hint: "it was not written by an agent; start the agent once more if it was"}
	}
	sweep(os.TempDir(), "ctxtool-", justCopied)
	to, err := os.CreateTemp("", "ctxtool-*.db")
	if err != nil {
		return copyError(err)
	}
	db.files = []string{to.Name(), to.Name() + logEnd, to.Name() + memoryEnd} // SQLite creates the other files itself
	for _, name := range db.files {
		db.disk.temporary(name, true)
	}
	if err := db.fill(to, db.name); err != nil {
		return err
	}
	name := to.Name() + logEnd
	if !db.disk.Has(db.name + logEnd) {
		return nil
	}
	if to, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return copyError(err)
	}
	if err := db.fill(to, db.name+logEnd); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// fill copies a file into an open one, which it closes.
func (db *database) fill(to *os.File, name string) error {
	defer to.Close()
	hold(to)
	from, err := db.disk.OpenRegular(name)
	if err != nil {
		return plainPathError(err)
	}
	defer from.Close()
	plain, err := Unpack(from)
	if err != nil {
		return err
	}
	defer plain.Close()
	most := int64(math.MaxInt64)
	if info, err := from.Stat(); err == nil && strings.HasSuffix(name, PackedEnd) {
		most = db.disk.mostUnpacked(info.Size(), true)
	}
	n, err := io.Copy(&capped{to, most, most}, plain)
	db.size += n
	if err != nil {
		return copyError(err)
	}
	return nil
}

func copyError(err error) error {
	return &Error{Err: fmt.Errorf("cannot make a temporary copy of the database: %w", plainPathError(err)),
		Hint: "TMPDIR names the folder for temporary files"}
}
