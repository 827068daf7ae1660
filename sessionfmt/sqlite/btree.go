package sqlite

import (
	"encoding/binary"
	"fmt"
)

// What a page is.
const (
	indexInterior = 2
	tableInterior = 5
	indexLeaf     = 10
	tableLeaf     = 13
)

// mostDepth is how deep a tree is at most.
const mostDepth = 24

// A walk is through a tree. A damaged one may lead back to itself: left is how many pages it may
// still have.
type walk struct {
	db   *DB
	left int64
}

func (db *DB) walk() *walk { return &walk{db, int64(db.pages) + 1} }

// node is the next page, of a kind of tree.
func (w *walk) node(page uint32, interior, leaf byte) (*node, error) {
	n, err := w.db.node(page)
	if err != nil {
		return nil, err
	}
	if w.left--; w.left < 0 || n.kind != interior && n.kind != leaf {
		return nil, n.damaged()
	}
	return n, nil
}

// A cell is one of a page.
type cell struct {
	child uint32 // of an interior page: what comes before it
	rowid int64  // of a table
	// Its content: as far as it is in the page, its size, and the first page of the rest.
	local []byte
	size  int64
	more  uint32
}

// A node is a page of a tree.
type node struct {
	db    *DB
	page  uint32
	data  []byte
	begin int // of the header
	kind  byte
	cells int
	right uint32 // the last child of an interior page
}

func (db *DB) node(page uint32) (n *node, err error) {
	n = &node{db: db, page: page}
	if n.data, err = db.read(page, nil); err != nil {
		return nil, err
	}
	if page == 1 {
		n.begin = 100
	}
	h := n.data[n.begin:]
	n.kind, n.cells = h[0], int(binary.BigEndian.Uint16(h[3:]))
	pointers := n.begin + 8
	if n.interior() {
		n.right, pointers = binary.BigEndian.Uint32(h[8:]), pointers+4
	}
	if n.kind != indexInterior && n.kind != tableInterior && n.kind != indexLeaf && n.kind != tableLeaf || pointers+2*n.cells > len(n.data) {
		return nil, n.damaged()
	}
	return n, nil
}

func (n *node) interior() bool { return n.kind == indexInterior || n.kind == tableInterior }

func (n *node) damaged() error {
	return fmt.Errorf("the database is damaged: page %d is no page of a table", n.page)
}

// cell reads a cell.
func (n *node) cell(k int) (c cell, err error) {
	pointers := n.begin + 8
	if n.interior() {
		pointers += 4
	}
	at := int(binary.BigEndian.Uint16(n.data[pointers+2*k:]))
	if at+4 > len(n.data) {
		return c, n.damaged()
	}
	b := n.data[at:]
	if n.interior() {
		c.child, b = binary.BigEndian.Uint32(b), b[4:]
	}
	if n.kind == tableInterior {
		c.rowid, _ = varint(b)
		return c, nil
	}
	size, w := varint(b)
	c.size, b = size, b[w:]
	most := (n.db.usable-12)*64/255 - 23
	if n.kind == tableLeaf {
		c.rowid, w = varint(b)
		b, most = b[w:], n.db.usable-35
	}
	local := int(min(c.size, int64(most)))
	if c.size > int64(most) {
		least := (n.db.usable-12)*32/255 - 23
		if local = least + int((c.size-int64(least))%int64(n.db.usable-4)); local > most {
			local = least
		}
	}
	if c.size < 0 || c.size > int64(n.db.pages)*int64(n.db.page) || local > len(b) || c.size > int64(local) && local+4 > len(b) {
		return c, n.damaged()
	}
	if c.local = b[:local]; c.size > int64(local) {
		c.more = binary.BigEndian.Uint32(b[local:])
	}
	return c, nil
}

// content is all of a cell's.
func (db *DB) content(c *cell) ([]byte, error) {
	if c.more == 0 {
		return c.local, nil
	}
	all := append(make([]byte, 0, c.size), c.local...)
	var buf []byte
	for page := c.more; int64(len(all)) < c.size; {
		var err error
		if buf, err = db.read(page, buf); err != nil {
			return nil, err
		}
		page = binary.BigEndian.Uint32(buf)
		all = append(all, buf[4:4+min(int64(db.usable-4), c.size-int64(len(all)))]...)
	}
	return all, nil
}

// scan passes the cells of a table to see, in the order of their rowids.
func (w *walk) scan(root uint32, see func(c *cell) error) error {
	n, err := w.node(root, tableInterior, tableLeaf)
	if err != nil {
		return err
	}
	for k := range n.cells {
		c, err := n.cell(k)
		if err == nil && n.interior() {
			err = w.scan(c.child, see)
		} else if err == nil {
			err = see(&c)
		}
		if err != nil {
			return err
		}
	}
	if n.interior() {
		return w.scan(n.right, see)
	}
	return nil
}

// find is the content of the row with a rowid, nil for none.
func (db *DB) find(root uint32, rowid int64) ([]byte, error) {
	w := &walk{db, mostDepth}
	for {
		n, err := w.node(root, tableInterior, tableLeaf)
		if err != nil {
			return nil, err
		}
		root = n.right
		for k := range n.cells {
			c, err := n.cell(k)
			switch {
			case err != nil:
				return nil, err
			case n.interior() && rowid <= c.rowid:
				root = c.child
			case !n.interior() && rowid == c.rowid:
				return db.content(&c)
			default:
				continue
			}
			break
		}
		if !n.interior() {
			return nil, nil
		}
	}
}

// look passes the rowids of an index's entries whose first column is a text to see, in order.
// It reports whether what follows could have more.
func (w *walk) look(root uint32, text string, see func(rowid int64)) (more bool, err error) {
	n, err := w.node(root, indexInterior, indexLeaf)
	if err != nil {
		return false, err
	}
	for k := range n.cells {
		c, err := n.cell(k)
		if err != nil {
			return false, err
		}
		content, err := w.db.content(&c)
		if err != nil {
			return false, err
		}
		row, err := decode(content)
		if err != nil || len(row) < 2 {
			return false, n.damaged()
		}
		key := string(row[0].Text)
		if key < text {
			continue
		}
		if n.interior() {
			if more, err = w.look(c.child, text, see); err != nil || !more {
				return false, err
			}
		}
		if key > text {
			return false, nil
		}
		see(row[len(row)-1].Int)
	}
	if n.interior() {
		return w.look(n.right, text, see)
	}
	return true, nil
}

// varint reads a number, and how many bytes it takes.
func varint(b []byte) (n int64, size int) {
	for k, c := range b {
		if k == 8 {
			return n<<8 | int64(c), 9
		}
		if n = n<<7 | int64(c&0x7f); c < 0x80 {
			return n, k + 1
		}
	}
	return 0, len(b)
}
