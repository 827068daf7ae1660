// Package sessionfmt reads coding agents' session files, appends to them, and
// loses nothing.
//
// A session is an append-only tree of JSON lines: a header, then entries, each
// with an id and the id of its parent (spec/pi-format.md 1). [Open] indexes a
// file without holding it: every line is validated, and what is kept is where
// it stands, its kind, its id and its parent. [OpenTail] reads only the end.
// Damage never ends a reading: it is left in Session.Findings, with line and
// entry.
//
// [Session.Point] finds an entry by what people call it: leaf, request:7, a label, the
// beginning of an id. Entries are known by their record, from 0 in the order of the file;
// [Session.Path] are the records from the root to one of them.
//
// A line is read to three depths by one mechanism, the [Scanner]: its head
// (type, id, parentId, timestamp and role), which validates all of it on the
// way; a [Value], which is raw JSON with accessors and keeps the bytes that were
// in the file; and a [Cursor], which decodes in one pass without copying.
//
// A session changes in one way: a [Batch] of new entries goes behind its last line,
// by [Session.Append], whole or not at all. Files are made and replaced by [NewFile].
// What both assume of disks and of other programs is listed in docs/design.md.
//
// Sizes are bytes and texts UTF-8, but where JavaScript counts we count as it
// does: in UTF-16 units. Offsets count from 0, lines from 1.
package sessionfmt
