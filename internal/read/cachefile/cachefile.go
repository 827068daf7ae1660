// Package cachefile keeps results that were computed from files, each for as long as its file does not change: its
// size, its time and its last bytes. The results of a kind are in one file of the user's cache folder, which may be
// deleted or copied at any time. It is written as a whole: of two processes, the last one wins. A file that is
// damaged, of another version or of another user is ignored, and so is a disk on which it cannot be written.
package cachefile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"ctxtool/sessionfmt"
)

// Limit is the size that a cache is kept below, in bytes. Beyond it, results that were not used are dropped.
const Limit = 64 << 20

// tail is how many of the last bytes of a file tell whether it has changed.
const tail = 4 << 10

// A Cache is results by the names of files. A nil Cache is empty and keeps nothing. Its methods may be called
// concurrently.
type Cache struct {
	disk    sessionfmt.Disk
	name    string
	head    []byte
	lock    sync.Mutex
	held    map[string]entry
	used    map[string]mark // of files that were asked for, as they were then
	changed bool
}

type mark [sha256.Size]byte

type entry struct {
	mark  mark
	value []byte
}

// Open reads the cache with a name. The version stands for what its values mean.
func Open(disk sessionfmt.Disk, name, version string) *Cache {
	c := &Cache{disk: disk, name: name, head: fmt.Appendf(nil, "ctxtool cache 1 %s\n", version),
		held: map[string]entry{}, used: map[string]mark{}}
	f, err := disk.OpenRegular(name)
	if err != nil {
		return c
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > 2*Limit || !own(info) {
		return c
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return c
	}
	body, ok := bytes.CutPrefix(data, c.head)
	if !ok || len(body) < sha256.Size || sha256.Sum256(body[sha256.Size:]) != [sha256.Size]byte(body) {
		return c
	}
	c.decode(body[sha256.Size:])
	return c
}

func (c *Cache) decode(body []byte) {
	next := func() (part []byte) {
		n, size := binary.Uvarint(body)
		if size <= 0 || n > uint64(len(body)-size) {
			body = nil
			return nil
		}
		part, body = body[size:size+int(n)], body[size+int(n):]
		return part
	}
	for len(body) > 0 {
		name, m, value := string(next()), next(), next()
		if len(m) == len(mark{}) {
			c.held[name] = entry{mark(m), value}
		}
	}
}

// Get returns the value of a file; ok is false if there is none, or if the file has changed. The value must not be
// changed.
func (c *Cache) Get(file string) (value []byte, ok bool) {
	if c == nil {
		return nil, false
	}
	m, ok := c.markOf(file)
	if !ok {
		return nil, false
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.used[file] = m
	e, ok := c.held[file]
	return e.value, ok && e.mark == m
}

// Set sets the value of a file as it was when Get was called. If it was not, Set does nothing.
func (c *Cache) Set(file string, value []byte) {
	if c == nil {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if m, ok := c.used[file]; ok {
		c.held[file], c.changed = entry{m, value}, true
	}
}

// markOf returns what tells whether a file has changed; ok is false for what is not a file.
func (c *Cache) markOf(name string) (m mark, ok bool) {
	f, err := c.disk.OpenRegular(name)
	if err != nil {
		return m, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, false
	}
	h := sha256.New()
	fmt.Fprintln(h, info.Size(), info.ModTime().UnixNano())
	n := min(info.Size(), tail)
	_, err = io.Copy(h, io.NewSectionReader(f, info.Size()-n, n))
	h.Sum(m[:0])
	return m, err == nil
}

// Save writes the cache if it has changed: values of files that were asked for, and others as long as there is room.
func (c *Cache) Save() error {
	if c == nil || !c.changed {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(c.held), func(a, b string) int {
		_, first := c.used[a]
		_, second := c.used[b]
		if first != second && first {
			return -1
		} else if first != second {
			return 1
		}
		return cmp.Compare(a, b)
	})
	var body []byte
	for _, name := range names {
		e := c.held[name]
		if len(body)+len(name)+len(e.value) > Limit {
			break
		}
		for _, part := range [][]byte{[]byte(name), e.mark[:], e.value} {
			body = append(binary.AppendUvarint(body, uint64(len(part))), part...)
		}
	}
	if err := c.disk.MkdirAll(filepath.Dir(c.name)); err != nil {
		return err
	}
	f, err := c.disk.Create(c.name)
	if err != nil {
		return err
	}
	defer f.Abort()
	f.Private() // sessions are
	sum := sha256.Sum256(body)
	f.Write(slices.Concat(c.head, sum[:], body))
	return f.Commit()
}
