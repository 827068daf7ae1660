// Package work counts what an answer costs, besides time: the steps of walks, the lines that are
// read after indexing, the messages that are decoded, and the bytes of JSON that are looked at. It
// counts only while a test asks for it.
package work

import "sync/atomic"

// A Count is the work since it was made.
type Count struct{ Steps, Lines, Decodes, Bytes atomic.Int64 }

// Now counts what is done from now on. It is nil where nothing is counted.
var Now *Count

// Step counts a step of a walk.
func Step() {
	if Now != nil {
		Now.Steps.Add(1)
	}
}

// Line counts a record whose lines are read.
func Line() {
	if Now != nil {
		Now.Lines.Add(1)
	}
}

// Decode counts a message that is decoded.
func Decode() {
	if Now != nil {
		Now.Decodes.Add(1)
	}
}

// Look counts bytes of JSON in which members or elements are looked for.
func Look(bytes int) {
	if Now != nil {
		Now.Bytes.Add(int64(bytes))
	}
}
