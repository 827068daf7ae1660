package render

import (
	"bufio"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// WriteCacheJSON writes the rows of an account, or those of several sessions, an object
// a line, and the total as the last line.
func WriteCacheJSON[T any](w *bufio.Writer, rows []T, total *replay.CacheTotal) error {
	if err := WriteLines(w, rows); err != nil {
		return err
	}
	return WriteJSON(w, map[string]any{"total": total})
}

// cacheColumns are the columns of a CSV file; tokens, and dollars.
var cacheColumns = []string{
	"request", "entry", "model", "prompt", "shared_messages", "shared_tokens", "break_at", "cause", "break_entry", "break_op", "reason", "transformer",
	"again_tokens", "again_cost", "expected_read", "expected_write", "read", "write", "write1h", "rebilled_tokens", "rebilled_cost",
	"unserved_tokens", "unserved_cost", "outlived", "endless", "estimated",
}

// WriteCacheCSV writes the account of a session as a CSV file. What the file does not
// hold of the prompt is the row "hidden".
func WriteCacheCSV(w *bufio.Writer, c *replay.CacheReport) error {
	var rows [][]any
	if c.Total.Hidden > 0 {
		rows = append(rows, []any{"hidden", nil, nil, c.Total.Hidden})
	}
	for i := range c.Rows {
		rows = append(rows, cacheCells(&c.Rows[i]))
	}
	return writeCSV(w, cacheColumns, rows)
}

// cacheCells are a row's cells in a CSV file.
func cacheCells(r *replay.CacheRow) []any {
	cells := make([]any, len(cacheColumns))
	copy(cells, []any{r.Request, r.Entry, r.Model, r.Prompt})
	if s := r.Shared; s != nil {
		copy(cells[4:], []any{s.Messages, s.Tokens})
	}
	if b := r.Break; b != nil {
		copy(cells[6:], []any{b.At, b.Cause, b.Entry, b.Op, b.Reason, b.Transformer})
		copy(cells[12:], again(b.Again))
	}
	if e := r.Expected; e != nil {
		copy(cells[14:], []any{e.Read, e.Write})
	}
	if u := r.Recorded; u != nil {
		copy(cells[16:], []any{u.CacheRead, u.CacheWrite, u.CacheWrite1h})
	}
	copy(cells[19:], again(r.Rebilled))
	copy(cells[21:], again(r.Unserved))
	if r.Outlived > 0 {
		cells[23] = r.Outlived
	}
	for k, is := range []bool{r.Endless, r.Estimated} {
		if is {
			cells[24+k] = is
		}
	}
	return cells
}

// again are the cells of what was billed again, none for nothing.
func again(a replay.CacheAgain) []any {
	if a.Tokens == 0 {
		return nil
	}
	return []any{a.Tokens, a.Cost}
}

// WriteCachesCSV writes the accounts of several sessions as a CSV file.
func WriteCachesCSV(w *bufio.Writer, all []replay.CacheTotal) error {
	columns := []string{
		"file", "requests", "answered", "hidden", "prompt", "estimated", "expected_read", "expected_write", "read", "write", "write1h",
		"possible", "achieved", "rebilled_tokens", "rebilled_cost", "broken_tokens", "broken_cost", "unserved_tokens", "unserved_cost", "error",
	}
	rows := make([][]any, len(all))
	for i := range all {
		t := &all[i]
		cells := []any{
			sessionfmt.Clean(t.File), t.Requests, t.Answered, t.Hidden, t.Prompt, t.Estimated, nil, nil, nil, nil, nil, t.HitRate.Possible, t.HitRate.Achieved,
			t.Rebilled.Tokens, t.Rebilled.Cost, t.Broken.Tokens, t.Broken.Cost, t.Unserved.Tokens, t.Unserved.Cost, t.Error,
		}
		if e := t.Expected; e != nil {
			copy(cells[6:], []any{e.Read, e.Write})
		}
		if u := t.Recorded; t.Answered > 0 {
			copy(cells[8:], []any{u.CacheRead, u.CacheWrite, u.CacheWrite1h})
		}
		rows[i] = cells
	}
	return writeCSV(w, columns, rows)
}
