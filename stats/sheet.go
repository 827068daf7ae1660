package stats

// A Sheet is a table of a lens: what is printed as text, Markdown or CSV.
type Sheet struct {
	Lens    string
	Title   string // empty for the lens's first
	Columns []Column
	// Rows have a cell a column: a string, an int64, a float64, an About, or nil where
	// there is nothing to say.
	Rows  [][]any
	Notes []string // sentences below the table
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

var unitNames = []string{"text", "number", "tokens", "bytes", "dollars", "share"}

// String is the unit's name.
func (u Unit) String() string { return unitNames[u] }
