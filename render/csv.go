package render

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"ctxtool/replay"
	"ctxtool/stats"
)

// writeCSV writes rows as a CSV file with the columns' names in its first line, numbers
// unrounded; what is nil or not there is an empty cell.
func writeCSV(w *bufio.Writer, columns []string, rows [][]any) error {
	out := csv.NewWriter(w)
	out.Write(columns)
	for _, row := range rows {
		record := make([]string, len(columns))
		for i, cell := range row {
			record[i] = csvCell(cell)
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error()
}

func csvCell(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case float64:
		return dollars(v)
	case *float64:
		if v == nil {
			return ""
		}
		return dollars(*v)
	case replay.Index:
		return orNothing(v)
	case stats.Line:
		return strings.Trim(fmt.Sprint([]int64(v)), "[]")
	}
	return fmt.Sprint(cell)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func dollars(d float64) string { return strconv.FormatFloat(d, 'g', -1, 64) }

func orNothing(n replay.Index) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}

// percent is a share for people.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
