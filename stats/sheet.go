package stats

// A Sheet is a table of a lens: what is printed as text, Markdown or CSV.
type Sheet struct {
	Lens    string
	Title   string // empty for the lens's first
	Columns []Column
	// Rows have a cell a column: a string, an int64, a float64, an About, a Line, or nil
	// where there is nothing to say.
	Rows  [][]any
	Chart *Chart   // what people see in place of the rows; machine forms have these
	Notes []string // sentences below the table
}

// A Chart is a size that changes along a path.
type Chart struct {
	Bars  []Bar
	Limit int64 // what no bar should reach, 0 where nobody knows
}

// A Bar is one of a chart's sizes. Mark is a letter below it, 0 for none.
type Bar struct {
	Size int64
	Mark byte
}

// A Column is a column of a sheet.
type Column struct {
	Name string
	Unit Unit
	Flex bool // its texts are cut where the terminal is narrow
}

// A Unit says what a column's numbers are.
type Unit uint8

const (
	Text   Unit = iota
	Number      // of things
	Tokens      // of the counter, or the provider's
	Bytes
	Dollars
	Share // 0 to 1
)

// An About is a number that is an estimate.
type About int64

// A Line is sizes one after the other, which people see as a line of little bars.
type Line []int64
