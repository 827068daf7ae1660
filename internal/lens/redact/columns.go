package redact

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Limits of tables whose first row has the names.
const (
	mostRows    = 64  // that are read
	longestRow  = 600 // bytes of a row that is read
	mostColumns = 64
)

// A cell is a range of a row.
type cell struct{ start, end int }

// columns looks for values below the name, if it heads a column. It returns the end of the table.
func (a *assignment) columns() (end int) {
	start, stop := lineAround(a.text, a.name.start)
	if stop-start > longestRow {
		return stop
	}
	head := a.text[start:stop]
	sign := a.delimiter(start, stop)
	a.cost += len(head)
	var names []int // columns with secrets, by number
	var spans []cell
	var strengths []strength
	for k, c := range cells(head, sign) {
		name := bytes.Trim(head[c.start:c.end], " \t\"'`*_#")
		if len(name) == 0 || len(name) > 40 || k >= mostColumns {
			continue
		}
		if is := a.s.namer.judge(name); is > weakName {
			names, spans, strengths = append(names, k), append(spans, c), append(strengths, is)
		}
	}
	if len(names) == 0 {
		return stop
	}
	width := len(cells(head, sign))
	if first := cells(head, sign)[0]; width < 2 || sign == 0 && head[first.end-1] == ':' { // a name before a value
		return stop
	}
	end = stop
	for range mostRows {
		if end >= len(a.text) {
			break
		}
		from := end + 1
		to := from + bytes.IndexByte(a.text[from:min(len(a.text), from+longestRow)], '\n')
		if to < from {
			to = min(len(a.text), from+longestRow)
		}
		row := a.text[from:to]
		a.cost += len(row)
		if isRule(row[shared(head, row):]) {
			end = to
			continue
		}
		all := cells(row, sign)
		if len(all) < 2 && sign != 0 || len(bytes.TrimSpace(row)) == 0 {
			break
		}
		for k, col := range names {
			var c cell
			switch {
			case sign != 0 && len(all) == width:
				c = all[col]
			case sign == 0:
				c = under(all, spans[k], head, row)
			}
			for c.start < c.end && bytes.IndexByte([]byte(" \t\"'`*"), row[c.start]) >= 0 {
				c.start++
			}
			for c.start < c.end && bytes.IndexByte([]byte(" \t\"'`*\r"), row[c.end-1]) >= 0 {
				c.end--
			}
			v := assignment{name: naming{strength: strengths[k]}, how: beside}
			if c.end > c.start && bytes.IndexByte(row[c.start:c.end], ' ') < 0 && v.isValue(row[c.start:c.end], true) {
				a.found = append(a.found, [2]int{from + c.start, from + c.end})
			}
		}
		end = to
	}
	return end
}

// lineAround returns where the line with text[at] begins and ends.
func lineAround(text []byte, at int) (start, end int) {
	low := max(0, at-longestRow)
	start = low + bytes.LastIndexByte(text[low:at], '\n') + 1
	high := min(len(text), at+longestRow)
	if n := bytes.IndexByte(text[at:high], '\n'); n >= 0 {
		return start, at + n
	}
	return start, high
}

// delimiter returns what divides the cells of a row, text[start:stop]: the sign beside a name, or 0 for several spaces.
func (a *assignment) delimiter(start, stop int) rune {
	for i := a.name.end; i < stop; {
		r, n := utf8.DecodeRune(a.text[i:])
		if isDelimiter(r) {
			return r
		}
		wide := r == ' ' && i+1 < stop && a.text[i+1] == ' '
		if !besideDelimiter(r) || wide && !isDelimiter(nextRune(a.text[i:stop])) {
			break
		}
		i += n
	}
	for i := a.name.start; i > start; {
		r, n := utf8.DecodeLastRune(a.text[start:i])
		if isDelimiter(r) {
			return r
		}
		if !besideDelimiter(r) || r == ' ' && i-2 > start && a.text[i-2] == ' ' && a.text[i-3] != '|' {
			break
		}
		i -= n
	}
	return 0
}

// nextRune returns the first character of a text that is no space.
func nextRune(text []byte) rune {
	r, _ := utf8.DecodeRune(bytes.TrimLeft(text, " "))
	return r
}

// besideDelimiter reports whether a character may lie between a name and the end of its cell.
func besideDelimiter(r rune) bool {
	return r == ' ' || r == '"' || r == '\'' || r == '`' || r == '*' || r < utf8.RuneSelf && isAlpha(byte(r))
}

func isDelimiter(r rune) bool {
	switch r {
	case '│', '┃', '║', '¦', '|', '\t', ';', ',':
		return true
	}
	return false
}

// cells divides a row.
func cells(row []byte, sign rune) (all []cell) {
	start := 0
	if sign == 0 {
		for i := 0; i < len(row); i++ {
			if row[i] == ' ' {
				continue
			}
			start = i
			for i < len(row) && !(row[i] == ' ' && (i+1 == len(row) || row[i+1] == ' ')) {
				i++
			}
			all = append(all, cell{start, i})
		}
		return all
	}
	for i, r := range string(row) {
		if r == sign {
			all = append(all, cell{start, i})
			start = i + utf8.RuneLen(r)
		}
	}
	return append(all, cell{start, len(row)})
}

// under returns the cell below a heading, by what columns they begin or end in.
func under(all []cell, heading cell, head, row []byte) cell {
	at := utf8.RuneCount(head[:heading.start])
	for _, c := range all {
		from, to := utf8.RuneCount(row[:c.start]), utf8.RuneCount(row[:c.end])
		if from <= at+heading.end-heading.start && to > at {
			return c
		}
	}
	return cell{}
}

// isRule reports whether a row is a line that divides a table.
func isRule(row []byte) bool {
	if len(bytes.TrimSpace(row)) == 0 {
		return false
	}
	for _, r := range string(row) {
		if !strings.ContainsRune(" -+=|:\r\t>#", r) && (r < 0x2500 || r >= 0x2600) {
			return false
		}
	}
	return true
}
