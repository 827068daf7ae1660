// Package sqlite reads the tables of an SQLite database as its file and its write-ahead log
// hold them (https://www.sqlite.org/fileformat2.html). It runs no SQL, locks nothing and writes
// nothing. It does not read UTF-16 databases, virtual tables, and tables without rowid.
package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Magic is how a database begins.
const Magic = "SQLite format 3\x00"

// ErrNewer is the error for a database of a newer version of the file format.
var ErrNewer = errors.New("the database is of a newer version of SQLite's file format")

// A DB is a database. It is safe for concurrent use.
type DB struct {
	file   io.ReaderAt
	wal    io.ReaderAt
	head   [32]byte         // of the log
	frames map[uint32]int64 // offsets of pages in the log
	page   int              // bytes of a page
	usable int              // of those
	pages  uint32           // of the database
	schema []object
}

// Open reads the schema of a database of size bytes. wal is its write-ahead log, nil for none.
func Open(file io.ReaderAt, size int64, wal io.ReaderAt) (*DB, error) {
	var h [100]byte
	if _, err := file.ReadAt(h[:], 0); err != nil || string(h[:16]) != Magic {
		return nil, errors.New("not an SQLite database, or its beginning is missing")
	}
	db := &DB{file: file, page: int(binary.BigEndian.Uint16(h[16:])), frames: map[uint32]int64{}}
	if db.page == 1 {
		db.page = 1 << 16
	}
	db.usable = db.page - int(h[20])
	switch {
	case h[19] > 2:
		return nil, ErrNewer
	case db.page < 512 || db.page&(db.page-1) != 0 || db.usable < 480:
		return nil, errors.New("the header of the database is damaged")
	case binary.BigEndian.Uint32(h[56:]) > 1:
		return nil, errors.New("databases in UTF-16 are not read")
	}
	db.pages = uint32(size / int64(db.page))
	if wal != nil {
		if err := db.readLog(wal); err != nil {
			return nil, err
		}
	}
	return db, db.readSchema()
}

// readLog finds the pages of the log's last complete transaction, and of those before it. What
// follows is of one that was not committed, or that a checkpoint has already copied.
func (db *DB) readLog(wal io.ReaderAt) error {
	h := &db.head
	if n, err := wal.ReadAt(h[:], 0); n < len(h) {
		if err == io.EOF {
			err = nil // an empty log
		}
		return err
	}
	magic := binary.BigEndian.Uint32(h[:])
	if magic&^1 != 0x377f0682 || int(binary.BigEndian.Uint32(h[8:])) != db.page {
		return errors.New("the write-ahead log is not that of the database")
	}
	sum := checksum{order: binary.LittleEndian}
	if magic&1 == 1 {
		sum.order = binary.BigEndian
	}
	if sum.add(h[:24]); !sum.is(h[24:]) {
		return nil // not complete, and so not in use
	}
	db.wal = wal
	since := map[uint32]int64{} // of the transaction at hand
	frame := make([]byte, 24+db.page)
	for off := int64(len(h)); ; off += int64(len(frame)) {
		if n, err := wal.ReadAt(frame, off); n < len(frame) {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		sum.add(frame[:8])
		sum.add(frame[24:])
		if string(frame[8:16]) != string(h[16:24]) || !sum.is(frame[16:]) {
			return nil
		}
		since[binary.BigEndian.Uint32(frame)] = off + 24
		if pages := binary.BigEndian.Uint32(frame[4:]); pages > 0 {
			db.pages = pages
			for page, at := range since {
				db.frames[page] = at
			}
			clear(since)
		}
	}
}

// LogStands reports whether the log still begins as when it was read: no checkpoint has begun
// another one.
func (db *DB) LogStands() bool {
	var h [32]byte
	if db.wal != nil {
		db.wal.ReadAt(h[:], 0)
	}
	return db.wal == nil || h == db.head
}

// A checksum is that of a log.
type checksum struct {
	order binary.ByteOrder
	a, b  uint32
}

func (c *checksum) add(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		c.a += c.order.Uint32(data) + c.b
		c.b += c.order.Uint32(data[4:]) + c.a
	}
}

func (c *checksum) is(sums []byte) bool {
	return binary.BigEndian.Uint32(sums) == c.a && binary.BigEndian.Uint32(sums[4:]) == c.b
}

// read reads a page into buf.
func (db *DB) read(page uint32, buf []byte) ([]byte, error) {
	if page == 0 || page > db.pages {
		return nil, fmt.Errorf("the database is damaged: it has %d pages, and refers to page %d", db.pages, page)
	}
	if cap(buf) < db.page {
		buf = make([]byte, db.page)
	}
	buf = buf[:db.page]
	at, logged := db.frames[page]
	from := db.wal
	if !logged {
		at, from = int64(page-1)*int64(db.page), db.file
	}
	if _, err := from.ReadAt(buf, at); err != nil {
		if err == io.EOF {
			err = errors.New("the file ends before it")
		}
		return nil, fmt.Errorf("page %d of %d: %w", page, db.pages, err)
	}
	return buf, nil
}
