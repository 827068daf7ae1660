package export

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// A record is a struct of Thrift's compact protocol, in which Parquet has its metadata: values by the
// numbers of their fields. These are bool, int32, int64, string, record, and slices of them.
type record map[int]any

// The numbers of types in the protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftInt32  = 5
	thriftInt64  = 6
	thriftText   = 8
	thriftList   = 9
	thriftRecord = 12
)

// appendTo appends the encoded record.
func (r record) appendTo(b []byte) []byte {
	last := 0
	for _, id := range slices.Sorted(maps.Keys(r)) {
		kind, value := thrift(r[id])
		b = append(b, byte(id-last)<<4|kind) // ids are less than 16 apart
		b = append(b, value...)
		last = id
	}
	return append(b, 0)
}

// thrift returns the type of a value, and the value as it is encoded.
func thrift(v any) (kind byte, value []byte) {
	switch v := v.(type) {
	case bool:
		if v {
			return thriftTrue, nil
		}
		return thriftFalse, nil
	case int32:
		return thriftInt32, binary.AppendVarint(nil, int64(v))
	case int64:
		return thriftInt64, binary.AppendVarint(nil, v)
	case string:
		return thriftText, append(binary.AppendUvarint(nil, uint64(len(v))), v...)
	case []int32:
		return thriftList, thriftSlice(thriftInt32, v)
	case []string:
		return thriftList, thriftSlice(thriftText, v)
	case []record:
		return thriftList, thriftSlice(thriftRecord, v)
	}
	return thriftRecord, v.(record).appendTo(nil)
}

func thriftSlice[T any](kind byte, list []T) []byte {
	b := []byte{byte(len(list))<<4 | kind}
	if len(list) >= 15 {
		b = binary.AppendUvarint([]byte{15<<4 | kind}, uint64(len(list)))
	}
	for _, v := range list {
		_, value := thrift(v)
		b = append(b, value...)
	}
	return b
}

// A cursor reads bytes, until something is wrong with them.
type cursor struct {
	data []byte
	err  error
}

// errForeign is the error about a file that cannot be read.
var errForeign = errors.New("damaged, or not written by ctxtool")

func (c *cursor) fail() { c.data, c.err = nil, errForeign }

// take returns the next bytes.
func (c *cursor) take(n uint64) (b []byte) {
	if n > uint64(len(c.data)) {
		c.fail()
		return nil
	}
	b, c.data = c.data[:n], c.data[n:]
	return b
}

// number returns the next bytes as a number, the lowest ones first.
func (c *cursor) number(size uint64) (n uint64) {
	for i, b := range c.take(size) {
		n |= uint64(b) << (8 * i)
	}
	return n
}

func (c *cursor) uvarint() uint64 {
	n, size := binary.Uvarint(c.data)
	if size <= 0 {
		c.fail()
		return 0
	}
	c.data = c.data[size:]
	return n
}

// record reads a record: of its values, all numbers are int64, and lists []any.
func (c *cursor) record(deepest int) record {
	r, id := record{}, 0
	for deepest > 0 && c.err == nil {
		head := c.number(1)
		if head == 0 {
			return r
		}
		id += int(head >> 4)
		r[id] = c.value(head&15, deepest-1)
	}
	c.fail()
	return nil
}

// value reads a value of a type.
func (c *cursor) value(kind uint64, deepest int) any {
	switch kind {
	case thriftTrue, thriftFalse:
		return kind == thriftTrue
	case thriftInt32, thriftInt64:
		n := c.uvarint()
		return int64(n>>1) ^ -int64(n&1)
	case thriftText:
		return string(c.take(c.uvarint()))
	case thriftRecord:
		return c.record(deepest)
	case thriftList:
		head := c.number(1)
		n := head >> 4
		if n == 15 {
			n = c.uvarint()
		}
		var list []any
		for ; n > 0 && c.err == nil; n-- {
			list = append(list, c.value(head&15, deepest))
		}
		return list
	}
	c.fail()
	return nil
}

// number returns a number of a record that was read, 0 for none.
func (r record) number(id int) int64 {
	n, _ := r[id].(int64)
	return n
}

// record returns a record of one that was read.
func (r record) record(id int) record {
	one, _ := r[id].(record)
	return one
}

// list returns the records of a list that was read.
func (r record) list(id int) (all []record) {
	list, _ := r[id].([]any)
	for _, v := range list {
		one, _ := v.(record)
		all = append(all, one)
	}
	return all
}
