package render

import (
	"bufio"

	"ctxtool/sessionfmt"
)

// A ConfigRow is a setting, with the value in effect and where it comes from.
type ConfigRow struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	From    string `json:"from"`
	Unknown bool   `json:"unknown,omitempty"` // a file says it, and nothing reads it
}

// WriteConfigJSON writes settings as one object, schema ctxtool/config/1.
func WriteConfigJSON(w *bufio.Writer, rows []ConfigRow) error {
	o := object{w: w}
	o.text("schema", "ctxtool/config/1")
	o.value("settings", rows)
	o.close()
	return w.WriteByte('\n')
}

// WriteConfig writes settings as a table.
func WriteConfig(w *bufio.Writer, rows []ConfigRow, width int) error {
	columns := []Column{{Name: "setting"}, {Name: "value", Flex: true}, {Name: "from"}}
	cells := make([][]string, len(rows))
	for i, r := range rows {
		from := r.From
		if r.Unknown {
			from += " (unknown setting)"
		}
		cells[i] = []string{sessionfmt.Clean(r.Key), sessionfmt.Clean(r.Value), sessionfmt.Clean(from)}
	}
	return WriteTable(w, columns, cells, width)
}
